"""Which of the candidate nodes is best? Each score, and their weighted sum.

A score is an integer from 0 to 100, cut off after each step as integer arithmetic does, times an integer weight; only
binpack is a fraction. Candidates are the nodes compared with each other: what is stretched over "the highest" is
stretched over these alone.
"""

import math
from dataclasses import dataclass, field

from posse.cluster.facts import NodeFact, TaskFact

from .cluster import CPU, MEMORY, Cluster, amount
from .node_rules import tolerates
from .pod_terms import affinity_scores
from .spreading import spread_scores

GPU = "nvidia.com/gpu"
MEBI = 2**20

Scores = dict[str, int]


@dataclass(frozen=True)
class NodeOrder:
    """The weights of the nodeorder plugin."""

    least_requested: int = 1
    most_requested: int = 0
    balanced: int = 1
    node_affinity: int = 2
    pod_affinity: int = 2
    taint_toleration: int = 3
    image_locality: int = 1
    topology_spread: int = 2


@dataclass(frozen=True)
class Binpack:
    """The weights of the binpack plugin: of its score, and of the resources that count."""

    weight: int = 1
    resources: dict[str, int] = field(default_factory=lambda: {CPU: 1, MEMORY: 1})


Scorer = NodeOrder | Binpack


def requested_scores(cluster: Cluster, task: TaskFact, node: NodeFact) -> tuple[int, int]:
    """Least requested and most requested, from what pods count for in scores."""
    least = most = compared = 0
    residents = [*cluster.residents(node.name), task]
    for resource, counted in (
        (CPU, sum(each.shape.scored_cpu for each in residents)),
        (MEMORY, sum(each.shape.scored_memory for each in residents)),
    ):
        capacity = amount(node.allocatable, resource)
        if capacity == 0:
            continue
        compared += 1
        least += (capacity - counted) * 100 // capacity if counted <= capacity else 0
        most += min(counted, capacity) * 100 // capacity
    return (least // compared, most // compared) if compared else (0, 0)


def balanced_score(cluster: Cluster, task: TaskFact, node: NodeFact) -> int:
    """How equal the used shares of cpu, memory and (if asked for) GPUs would be, from true requests."""
    asked = {resource: amount(task.shape.requests, resource) for resource in (CPU, MEMORY, GPU)}
    if not any(asked.values()):
        return 0
    shares = []
    for resource, request in asked.items():
        capacity = amount(node.allocatable, resource)
        if capacity == 0 or (resource == GPU and request == 0):
            continue
        taken = sum(amount(each.shape.requests, resource) for each in cluster.residents(node.name))
        shares.append(min(1.0, float(taken + request) / float(capacity)))
    return int((1 - _deviation(shares)) * 100.0)


def _deviation(shares: list[float]) -> float:
    if len(shares) == 2:
        return abs((shares[0] - shares[1]) / 2)
    if len(shares) < 2:
        return 0.0
    total = squares = 0.0
    for share in shares:
        total += share
    mean = total / float(len(shares))
    for share in shares:
        squares += (share - mean) * (share - mean)
    return math.sqrt(squares / float(len(shares)))


def node_affinity_scores(task: TaskFact, candidates: list[NodeFact]) -> Scores:
    """The weights of the preferred terms a node matches, relative to the best candidate."""
    raw = {
        node.name: sum(
            preferred.weight
            for preferred in task.shape.preferred_nodes
            if preferred.term.matches(node.name, node.labels)
        )
        for node in candidates
    }
    highest = max(raw.values())
    return {name: 100 * score // highest if highest else 0 for name, score in raw.items()}


def taint_scores(task: TaskFact, candidates: list[NodeFact]) -> Scores:
    """Fewer discouraging taints that the pod does not tolerate, relative to the worst candidate."""
    bearing = [t for t in task.shape.tolerations if t.effect in ("", "PreferNoSchedule")]
    raw = {
        node.name: sum(
            taint.effect == "PreferNoSchedule" and not any(tolerates(t, taint) for t in bearing)
            for taint in node.taints
        )
        for node in candidates
    }
    highest = max(raw.values())
    return {name: 100 - (100 * count // highest if highest else 0) for name, count in raw.items()}


def image_score(cluster: Cluster, task: TaskFact, node: NodeFact) -> int:
    """The bytes of the pod's images that need not be pulled, each weighed by how many of all nodes have it."""
    total = 0
    for image in task.shape.images:
        sizes = [known.size for known in node.images if image in known.names]
        if sizes:
            homes = sum(any(image in known.names for known in each.images) for each in cluster.nodes.values())
            total += int(float(sizes[0]) * (float(homes) / float(len(cluster.nodes))))
    low, high = 23 * MEBI, 1000 * MEBI * len(task.shape.images)
    if not task.shape.images:
        return 0
    return 100 * (max(low, min(high, total)) - low) // (high - low)


def binpack_score(cluster: Cluster, task: TaskFact, node: NodeFact, weights: Binpack) -> float:
    """How full the node would be, over the requested resources that have a weight. One that does not fit now: 0."""
    score, weighed = 0.0, 0
    for resource in [CPU, MEMORY, *sorted({name for name, _ in task.shape.requests} - {CPU, MEMORY})]:
        request, weight = amount(task.shape.requests, resource), weights.resources.get(resource)
        if request == 0 or weight is None:
            continue
        capacity, full = amount(node.allocatable, resource), request + cluster.used(node.name, resource)
        if capacity and weight:
            if full > capacity:
                return 0.0
            score += float(full) * float(weight) / float(capacity)
        weighed += weight
    if weighed > 0:
        score /= float(weighed)
    return score * float(100 * weights.weight)


def total_scores(
    cluster: Cluster,
    task: TaskFact,
    candidates: list[NodeFact],
    scorers: tuple[Scorer, ...],
    speaking: frozenset[str] | None = None,
) -> dict[str, float]:
    """The sum that decides: scores of single nodes first, in the order of the scorers, then those of all candidates."""
    totals = dict.fromkeys((node.name for node in candidates), 0.0)
    for scorer in scorers:
        for node in candidates:
            if isinstance(scorer, Binpack):
                totals[node.name] += binpack_score(cluster, task, node, scorer) if scorer.weight else 0.0
            else:
                totals[node.name] += float(image_score(cluster, task, node) * scorer.image_locality)
    batches = dict.fromkeys(totals, 0)
    for scorer in scorers:
        if isinstance(scorer, NodeOrder):
            for name, score in _compared(cluster, task, candidates, scorer, speaking).items():
                batches[name] += score
    return {name: total + float(batches[name]) for name, total in totals.items()}


def _compared(
    cluster: Cluster, task: TaskFact, candidates: list[NodeFact], weights: NodeOrder, speaking: frozenset[str] | None
) -> Scores:
    """All of nodeorder but the images."""
    near = affinity_scores(cluster, task, candidates, speaking)
    affine, untainted = node_affinity_scores(task, candidates), taint_scores(task, candidates)
    spread = spread_scores(cluster, task, candidates)
    totals = {}
    for node in candidates:
        name, (least, most) = node.name, requested_scores(cluster, task, node)
        totals[name] = (
            weights.least_requested * least
            + weights.most_requested * most
            + weights.balanced * balanced_score(cluster, task, node)
            + weights.node_affinity * affine[name]
            + weights.pod_affinity * near[name]
            + weights.taint_toleration * untainted[name]
            + weights.topology_spread * spread[name]
        )
    return totals
