"""Fullness: points by how full a node would be with one more task of a shape on it.

The arithmetic is Kubernetes' and Volcano's, remainders dropped where they drop them. LeastAllocated and
MostAllocated see cpu and memory as scores see them (a container without a request counts as 100m and 200 MB);
BalancedAllocation and binpack see requests. Promised pods count for the first three and not for binpack.
"""

import numpy as np
from numpy.typing import NDArray

from posse.cluster.names import CPU, MEMORY
from posse.cluster.world import World
from posse.scheduler.placement.terms import HIGHEST, ResourceRule, ResourceScore, Rows, Scores

Amounts = NDArray[np.int64]

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


def _least_or_most(world: World, score: ResourceScore, shape: int, candidates: Rows) -> Scores:
    """The mean of what would be free, or used, in percent."""
    total = np.zeros(len(candidates), np.int64)
    weights = np.zeros(len(candidates), np.int64)
    for resource, weight in score.resources:
        dimension = world.dimensions.known(resource)
        if dimension is None:
            continue
        capacity = world.columns.traits.node_allocatable[dimension, candidates]
        used = _as_scores_see(world, dimension, shape, candidates)
        counts = capacity > 0
        amount = np.minimum(used, capacity) if score.rule is ResourceRule.MOST else np.maximum(capacity - used, 0)
        total += np.where(counts, amount * HIGHEST // np.where(counts, capacity, 1) * weight, 0)
        weights += np.where(counts, weight, 0)
    points = np.where(weights > 0, total // np.maximum(weights, 1), 0)
    return (points * score.weight).astype(np.float64)


def _as_scores_see(world: World, dimension: int, shape: int, candidates: Rows) -> Amounts:
    """What would be used with one more task."""
    ledger, account = world.columns.ledger, SCORED.get(dimension)
    if account is None:
        return _requested(world, dimension, shape, candidates)
    used: Amounts = ledger.node_scored[account, candidates] + ledger.shape_scored[shape, account]
    return used


def _requested(world: World, dimension: int, shape: int, candidates: Rows) -> Amounts:
    """What pods would ask for with one more task, promised ones included."""
    ledger = world.columns.ledger
    used = ledger.node_used[dimension, candidates] + ledger.node_pipelined[dimension, candidates]
    requested: Amounts = used + ledger.shape_request[shape, dimension]
    return requested


def _balanced(world: World, score: ResourceScore, shape: int, candidates: Rows) -> Scores:
    """100 minus the deviation of the used shares in percent. A task that asks for none of the resources gets nothing.

    Extended resources count only where the task asks for them.
    """
    ledger, traits = world.columns.ledger, world.columns.traits
    request, fractions = ledger.shape_request[shape], list[Scores]()
    known = [dimension for name, _ in score.resources if (dimension := world.dimensions.known(name)) is not None]
    if not request[known].any():
        return np.zeros(len(candidates), np.float64)
    for dimension in known:
        if request[dimension] > 0 or dimension in SCORED:
            capacity = traits.node_allocatable[dimension, candidates]
            used = _requested(world, dimension, shape, candidates)
            share = np.minimum(used / np.where(capacity > 0, capacity, 1), 1.0)
            fractions.append(np.where(capacity > 0, share, np.nan))
    return np.trunc((1 - _deviation(np.array(fractions))) * HIGHEST) * float(score.weight)


def _deviation(fractions: NDArray[np.float64]) -> Scores:
    """The standard deviation of each column, over what is not NaN; of two it is half their difference."""
    counts = ~np.isnan(fractions)
    number, filled = counts.sum(axis=0), np.where(counts, fractions, 0.0)
    total, squares = np.zeros(fractions.shape[1]), np.zeros(fractions.shape[1])
    for row in filled:
        total += row
    mean = total / np.maximum(number, 1)
    for row, counted in zip(filled, counts, strict=True):
        squares += np.where(counted, (row - mean) * (row - mean), 0.0)
    of_two = np.abs(np.nanmax(fractions, axis=0, initial=0.0) - np.nanmin(fractions, axis=0, initial=1.0)) / 2
    deviation = np.where(number == 2, of_two, np.sqrt(squares / np.maximum(number, 1)))
    return np.where(number < 2, 0.0, deviation)


def _binpack(world: World, score: ResourceScore, shape: int, candidates: Rows) -> Scores:
    """The weighted mean of the used shares; nothing where the task would overfill the node."""
    ledger, traits = world.columns.ledger, world.columns.traits
    points = np.zeros(len(candidates), np.float64)
    fits, weights = np.ones(len(candidates), np.bool_), 0
    for resource, weight in score.resources:
        dimension = world.dimensions.known(resource)
        request = 0 if dimension is None else int(ledger.shape_request[shape, dimension])
        if dimension is None or not request:
            continue
        weights += weight
        if not weight:
            continue
        capacity = traits.node_allocatable[dimension, candidates]
        used = ledger.node_used[dimension, candidates] + request
        fits &= (capacity == 0) | (used <= capacity)
        points += np.where(capacity > 0, used * float(weight) / np.where(capacity > 0, capacity, 1), 0.0)
    points = points / float(weights) if weights > 0 else points
    return np.where(fits, points * float(HIGHEST * score.weight), 0.0)
