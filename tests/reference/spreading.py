"""Topology spread: how evenly pods of one kind must, or should, lie over the values of a topology key.

Hard constraints compare a value's count with the smallest count of all values; soft ones score fewer pods higher.
"""

import math

from posse.cluster.facts import NodeFact, Spread, TaskFact

from .cluster import Cluster
from .node_rules import node_affinity, untolerated_taint

HOSTNAME = "kubernetes.io/hostname"


def _constraints(task: TaskFact, *, hard: bool) -> list[Spread]:
    return [spread for spread in task.shape.spread if spread.hard is hard]


def _has_all_keys(node: NodeFact, constraints: list[Spread]) -> bool:
    return all(constraint.topology_key in node.labels for constraint in constraints)


def _is_counted(cluster: Cluster, task: TaskFact, node: NodeFact, constraint: Spread) -> bool:
    """Whether the pods of a node count, given the constraint's policies on node affinity and taints."""
    if constraint.honor_affinity and node_affinity(cluster, task, node) is not None:
        return False
    return not (constraint.honor_taints and untolerated_taint(cluster, task, node) is not None)


def _matching(cluster: Cluster, task: TaskFact, node: NodeFact, constraint: Spread) -> int:
    """Pods of the constraint's kind on a node. Terminating ones do not count, and an empty selector counts none."""
    selector = constraint.selector
    if selector is None or not selector.requirements:
        return 0
    return sum(
        other.namespace == task.namespace and not other.terminating and selector.matches(other.labels)
        for other in cluster.residents(node.name)
    )


def uneven(cluster: Cluster, task: TaskFact, node: NodeFact) -> str | None:
    """The hard constraints: with this pod, the node's value may exceed the smallest one by `max_skew` at most."""
    constraints = _constraints(task, hard=True)
    for constraint in constraints:
        key = constraint.topology_key
        if key not in node.labels:
            return "topology spread: missing label"
        counts: dict[str, int] = {}
        for home in cluster.nodes.values():
            if _has_all_keys(home, constraints) and _is_counted(cluster, task, home, constraint):
                value = home.labels[key]
                counts[value] = counts.get(value, 0) + _matching(cluster, task, home, constraint)
        smallest = min(counts.values()) if len(counts) >= max(constraint.min_domains, 1) else 0
        counts_itself = constraint.selector is not None and constraint.selector.matches(task.labels)
        if counts.get(node.labels[key], 0) + counts_itself - smallest > constraint.max_skew:
            return "topology spread"
    return None


def spread_scores(cluster: Cluster, task: TaskFact, candidates: list[NodeFact]) -> dict[str, int]:
    """The soft constraints: fewer pods of the kind in the node's values score higher, rarer values weigh less.

    Candidates that lack a key score 0. Pods count wherever they lie, but only in values that a candidate has.
    """
    constraints = _constraints(task, hard=False)
    if not constraints:
        return dict.fromkeys((node.name for node in candidates), 0)
    scored = [node for node in candidates if _has_all_keys(node, constraints)]
    crowds = {node.name: 0.0 for node in scored}
    for constraint in constraints:
        counts, values = _soft_counts(cluster, task, scored, constraints, constraint)
        weight = math.log(float(values + 2))
        for name in crowds:
            crowds[name] += float(counts[name]) * weight + float(constraint.max_skew - 1)
    raw = {name: _round(crowd) for name, crowd in crowds.items()}
    low, high = min(raw.values(), default=0), max(raw.values(), default=0)
    return {
        node.name: 0 if node.name not in raw else 100 if high == 0 else 100 * (high + low - raw[node.name]) // high
        for node in candidates
    }


def _soft_counts(
    cluster: Cluster, task: TaskFact, scored: list[NodeFact], constraints: list[Spread], constraint: Spread
) -> tuple[dict[str, int], int]:
    """Pods that count against each scored node, and how many values the key has among them."""
    key = constraint.topology_key
    if key == HOSTNAME:
        return {node.name: _matching(cluster, task, node, constraint) for node in scored}, len(scored)
    counts = {node.labels[key]: 0 for node in scored}
    for home in cluster.nodes.values():
        counted = _has_all_keys(home, constraints) and _is_counted(cluster, task, home, constraint)
        if counted and home.labels[key] in counts:
            counts[home.labels[key]] += _matching(cluster, task, home, constraint)
    return {node.name: counts[node.labels[key]] for node in scored}, len(counts)


def _round(value: float) -> int:
    """Halves away from zero; the values here are not negative."""
    whole = math.floor(value)
    return whole + (value - whole >= 0.5)
