"""Inter-pod affinity: which pods a term means, where a pod may lie because of others, and where it would rather.

A pod that lies somewhere speaks for a whole topology value: it counts for every node with the same value under a
term's key.
"""

from collections import Counter
from collections.abc import Iterator

from posse.cluster.facts import NodeFact, PodTerm, TaskFact

from .cluster import Cluster

Pair = tuple[str, str]
"""A topology key and one of its values."""


def means_for_incoming(cluster: Cluster, term: PodTerm, other: TaskFact) -> bool:
    """Whether a term of the pod to place means a pod that lies somewhere.

    Its namespace selector is read as names of known namespaces; one without requirements means every namespace.
    """
    selected = term.namespace_selector
    if selected is None:
        chosen = False
    elif not selected.requirements:
        chosen = True
    else:
        chosen = other.namespace in cluster.namespaces and selected.matches(cluster.namespaces[other.namespace].labels)
    return (chosen or other.namespace in term.namespaces) and _selects(term, other)


def means_for_lying(cluster: Cluster, term: PodTerm, incoming: TaskFact) -> bool:
    """Whether a term of a pod that lies somewhere means the pod to place. An unknown namespace has no labels."""
    known = cluster.namespaces.get(incoming.namespace)
    selected = term.namespace_selector
    chosen = selected is not None and selected.matches(known.labels if known else {})
    return (chosen or incoming.namespace in term.namespaces) and _selects(term, incoming)


def _selects(term: PodTerm, task: TaskFact) -> bool:
    return term.selector is not None and term.selector.matches(task.labels)


def lying_pods(cluster: Cluster) -> Iterator[tuple[NodeFact, TaskFact]]:
    """Every pod that lies on a known node, with the node."""
    for node in cluster.nodes.values():
        for task in cluster.residents(node.name):
            yield node, task


def matches_all(cluster: Cluster, task: TaskFact, other: TaskFact) -> bool:
    """Whether one pod satisfies all required affinity terms at once; only such a pod counts for any of them."""
    return bool(task.shape.near) and all(means_for_incoming(cluster, term, other) for term in task.shape.near)


def required_near(cluster: Cluster, task: TaskFact, node: NodeFact) -> str | None:
    """Pods that must be there: for every term, a counting pod under the node's topology value."""
    terms = task.shape.near
    if not terms:
        return None
    friends: set[Pair] = set()
    for home, other in lying_pods(cluster):
        if matches_all(cluster, task, other):
            friends |= {
                (term.topology_key, home.labels[term.topology_key])
                for term in terms
                if term.topology_key in home.labels
            }
    if any(term.topology_key not in node.labels for term in terms):
        return "pod affinity"
    if all((term.topology_key, node.labels[term.topology_key]) in friends for term in terms):
        return None
    is_first_of_its_kind = not friends and matches_all(cluster, task, task)
    return None if is_first_of_its_kind else "pod affinity"


def required_apart(cluster: Cluster, task: TaskFact, node: NodeFact) -> str | None:
    """Pods that must not be there, by the terms of the pod to place."""
    for term in task.shape.apart:
        for home, other in lying_pods(cluster):
            if _shares_domain(term, home, node) and means_for_incoming(cluster, term, other):
                return "pod anti-affinity"
    return None


def kept_away(cluster: Cluster, task: TaskFact, node: NodeFact, speaking: frozenset[str] | None = None) -> str | None:
    """Pods that must not be there, by the terms of those that lie (on the `speaking` nodes only, if given)."""
    for home, other in lying_pods(cluster):
        if speaking is not None and home.name not in speaking:
            continue
        for term in other.shape.apart:
            if _shares_domain(term, home, node) and means_for_lying(cluster, term, task):
                return "existing pods' anti-affinity"
    return None


def _shares_domain(term: PodTerm, one: NodeFact, other: NodeFact) -> bool:
    key = term.topology_key
    return key in one.labels and key in other.labels and one.labels[key] == other.labels[key]


def preferred_domains(cluster: Cluster, task: TaskFact, speaking: frozenset[str] | None = None) -> Counter[Pair]:
    """How much each topology value is preferred, by the pod's own terms and by those of the pods that lie.

    Empty if no term means anybody, which is not the same as all zero.
    """
    shape, wanted = task.shape, Counter[Pair]()
    has_preferences = bool(shape.preferred_near or shape.preferred_apart)

    def add(term: PodTerm, home: NodeFact, sign: int) -> None:
        if term.topology_key in home.labels:
            wanted[(term.topology_key, home.labels[term.topology_key])] += sign * term.weight

    for home, other in lying_pods(cluster):
        if not has_preferences and speaking is not None and home.name not in speaking:
            continue
        for terms, sign in ((shape.preferred_near, 1), (shape.preferred_apart, -1)):
            for term in terms:
                if means_for_incoming(cluster, term, other):
                    add(term, home, sign)
        for terms, sign in ((other.shape.preferred_near, 1), (other.shape.preferred_apart, -1)):
            for term in terms:
                if means_for_lying(cluster, term, task):
                    add(term, home, sign)
    return wanted


def affinity_scores(
    cluster: Cluster, task: TaskFact, candidates: list[NodeFact], speaking: frozenset[str] | None = None
) -> dict[str, int]:
    """Preference per candidate, stretched from the least preferred (0) to the most preferred (100) of them."""
    wanted = preferred_domains(cluster, task, speaking)
    raw = {node.name: sum(wanted.get((key, value), 0) for key, value in node.labels.items()) for node in candidates}
    low, high = min(raw.values()), max(raw.values())
    if not wanted or high == low:
        return dict.fromkeys(raw, 0)
    return {name: int(100.0 * (float(score - low) / float(high - low))) for name, score in raw.items()}


def nodes_with_affinity(cluster: Cluster) -> frozenset[str]:
    """Nodes that hold a pod with any affinity or anti-affinity term."""
    return frozenset(home.name for home, task in lying_pods(cluster) if _has_terms(task))


def nodes_with_anti_affinity(cluster: Cluster) -> frozenset[str]:
    """Nodes that hold a pod with a required anti-affinity term."""
    return frozenset(home.name for home, task in lying_pods(cluster) if task.shape.apart)


def _has_terms(task: TaskFact) -> bool:
    shape = task.shape
    return bool(shape.near or shape.apart or shape.preferred_near or shape.preferred_apart)
