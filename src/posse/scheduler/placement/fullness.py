"""Fullness: points by how full a node would be with one more task of a shape on it.

The arithmetic is Kubernetes' and Volcano's, remainders dropped where they drop them: LeastAllocated, MostAllocated and
BalancedAllocation see cpu and memory as scores see them (a container without a request counts as 100m and 200 MB), binpack sees requests.
"""

import numpy as np
from numpy.typing import NDArray

from posse.cluster.names import CPU, MEMORY
from posse.cluster.world import World
from posse.scheduler.placement.terms import HIGHEST, ResourceRule, ResourceScore, Rows, Scores

SCORED = {CPU: 0, MEMORY: 1}
"""Dimensions of which scores keep an account of their own, and its row."""


def resource_points(world: World, score: ResourceScore, shape: int, candidates: Rows) -> Scores:
    """The points of each candidate, the score's weight included."""
    match score.rule:
        case ResourceRule.LEAST | ResourceRule.MOST:
            return _least_or_most(world, score, shape, candidates)
        case ResourceRule.BALANCED:
            return _balanced(world, score, shape, candidates)
        case ResourceRule.BINPACK:
            return _binpack(world, score, shape, candidates)


def _scored_use(
    world: World, dimension: int, shape: int, candidates: Rows
) -> tuple[NDArray[np.int64], NDArray[np.int64], int]:
    """What is allocatable, what would be used as scores see it, and what the task itself asks for."""
    ledger, traits = world.columns.ledger, world.columns.traits
    capacity = traits.node_allocatable[dimension, candidates]
    account = SCORED.get(dimension)
    if account is None:
        request = int(ledger.shape_request[shape, dimension])
        used = ledger.node_used[dimension, candidates] + ledger.node_pipelined[dimension, candidates]
    else:
        request = int(ledger.shape_scored[shape, account])
        used = ledger.node_scored[account, candidates]
    return capacity, used + request, request


def _least_or_most(world: World, score: ResourceScore, shape: int, candidates: Rows) -> Scores:
    total = np.zeros(len(candidates), np.int64)
    weights = np.zeros(len(candidates), np.int64)
    for resource, weight in score.resources:
        dimension = world.dimensions.known(resource)
        if dimension is None:
            continue
        capacity, used, _ = _scored_use(world, dimension, shape, candidates)
        counts = capacity > 0
        safe = np.where(counts, capacity, 1)
        amount = np.minimum(used, capacity) if score.rule is ResourceRule.MOST else capacity - used
        points = np.where(counts & (amount > 0), amount * HIGHEST // safe, 0)
        total += points * weight
        weights += np.where(counts, weight, 0)
    points = np.where(weights > 0, total // np.maximum(weights, 1), 0)
    return (points * score.weight).astype(np.float64)


def _balanced(world: World, score: ResourceScore, shape: int, candidates: Rows) -> Scores:
    fractions = []
    counted = []
    for resource, _ in score.resources:
        dimension = world.dimensions.known(resource)
        if dimension is None:
            continue
        capacity, used, request = _scored_use(world, dimension, shape, candidates)
        counts = (capacity > 0) & (request > 0 or dimension in SCORED)
        fractions.append(np.where(counts, np.minimum(used / np.where(counts, capacity, 1), 1.0), 0.0))
        counted.append(counts)
    points = np.array([_evenness([f[i] for f, c in zip(fractions, counted, strict=True) if c[i]]) for i in range(len(candidates))])
    return points * float(score.weight)


def _evenness(fractions: list[float]) -> float:
    """How evenly used: 100 minus the deviation of the fractions in percent, remainder dropped."""
    if len(fractions) < 2:
        return float(HIGHEST)
    if len(fractions) == 2:
        deviation = abs(fractions[0] - fractions[1]) / 2
    else:
        mean = sum(fractions) / len(fractions)
        deviation = (sum((each - mean) ** 2 for each in fractions) / len(fractions)) ** 0.5
    return float(int((1 - deviation) * HIGHEST))


def _binpack(world: World, score: ResourceScore, shape: int, candidates: Rows) -> Scores:
    ledger, traits = world.columns.ledger, world.columns.traits
    total = np.zeros(len(candidates), np.float64)
    weights = 0
    for resource, weight in score.resources:
        dimension = world.dimensions.known(resource)
        request = 0 if dimension is None else int(ledger.shape_request[shape, dimension])
        if not request or dimension is None:
            continue
        capacity = traits.node_allocatable[dimension, candidates]
        used = ledger.node_used[dimension, candidates] + request
        fits = (capacity > 0) & (used <= capacity)
        total += np.where(fits, used * weight / np.where(fits, capacity, 1), 0.0)
        weights += weight
    points = total / weights if weights > 0 else total
    return points * float(HIGHEST) * float(score.weight)
