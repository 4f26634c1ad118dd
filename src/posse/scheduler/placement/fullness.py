"""Fullness: points by how full a node would be with one more task of a shape on it.

The arithmetic is Kubernetes' and Volcano's, remainders dropped where they drop them. LeastAllocated and MostAllocated
see cpu and memory as scores see them (a container without a request counts as 100m and 200 MB); BalancedAllocation and
binpack see requests. Promised pods count for the first three and not for binpack.

It is written once, for one node: whoever scores all candidates asks it of each, and `fill` asks it of the node that
changed.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from posse.cluster.columns import Traits
from posse.cluster.compiled import kernel, part
from posse.cluster.ledger import Ledger
from posse.cluster.world import World
from posse.scheduler.placement.terms import HIGHEST, ResourceRule, ResourceScore, Scores
from posse.scheduler.placement.terms import Rows as Candidates

MOST, BALANCED, BINPACK = int(ResourceRule.MOST), int(ResourceRule.BALANCED), int(ResourceRule.BINPACK)

Rows = NDArray[np.int32]
Vector = NDArray[np.int64]
Amounts = NDArray[np.int64]


class Rules(NamedTuple):
    """Resource scores, one per row."""

    kinds: NDArray[np.int8]
    """`ResourceRule`."""
    scales: NDArray[np.float64]
    """What a rule's points are multiplied by."""
    dimensions: Rows
    """[rules, resources] -1: a resource that nobody ever had."""
    weights: Vector
    """[rules, resources]"""


class Stock(NamedTuple):
    """What nodes have, and what a shape wants of it: the part of the ledger that the innermost loops look at.

    They get it as an argument of its own, because a kernel that hands a tuple on copies it, and the ledger is large.
    """

    allocatable: Amounts
    used: Amounts
    releasing: Amounts
    pipelined: Amounts
    scored: Amounts
    request: Vector
    scored_request: Vector


def stock(ledger: Ledger, traits: Traits, shape: int) -> Stock:
    """What a shape looks at."""
    return Stock(
        traits.node_allocatable,
        ledger.node_used,
        ledger.node_releasing,
        ledger.node_pipelined,
        ledger.node_scored,
        ledger.shape_request[shape],
        ledger.shape_scored[shape],
    )


stock_of = part(stock)
"""The same for kernels."""


@part
def least_or_most(stock: Stock, dimensions: Rows, weights: Vector, node: int, most: bool) -> float:
    """Kubernetes' LeastAllocated or MostAllocated."""
    total, weight = 0, 0
    for i in range(dimensions.shape[0]):
        d = dimensions[i]
        if d < 0:
            continue
        capacity = stock.allocatable[d, node]
        if capacity <= 0:
            continue
        if d < 2:
            used = stock.scored[d, node] + stock.scored_request[d]
        else:
            used = stock.used[d, node] + stock.pipelined[d, node] + stock.request[d]
        amount = min(used, capacity) if most else capacity - used
        weight += weights[i]
        if amount > 0:
            total += (amount * HIGHEST // capacity) * weights[i]
    return float(total // weight) if weight > 0 else 0.0


@part
def balanced(stock: Stock, dimensions: Rows, node: int) -> float:
    """Kubernetes' BalancedAllocation."""
    asks = False
    count, total, first, second = 0, 0.0, 0.0, 0.0
    for i in range(dimensions.shape[0]):
        d = dimensions[i]
        if d < 0:
            continue
        asks = asks or stock.request[d] > 0
        capacity = stock.allocatable[d, node]
        if capacity > 0 and (d < 2 or stock.request[d] > 0):
            share = min((stock.used[d, node] + stock.pipelined[d, node] + stock.request[d]) / capacity, 1.0)
            first, second = second, share
            total += share
            count += 1
    if not asks:
        return 0.0
    deviation = 0.0
    if count == 2:
        deviation = abs(first - second) / 2
    elif count > 2:
        mean, squares = total / count, 0.0
        for i in range(dimensions.shape[0]):
            d = dimensions[i]
            if d >= 0 and stock.allocatable[d, node] > 0 and (d < 2 or stock.request[d] > 0):
                used = stock.used[d, node] + stock.pipelined[d, node] + stock.request[d]
                share = min(used / stock.allocatable[d, node], 1.0)
                squares += (share - mean) * (share - mean)
        deviation = np.sqrt(squares / count)
    return float(int((1 - deviation) * HIGHEST))


@part
def binpack(stock: Stock, dimensions: Rows, weights: Vector, node: int) -> float:
    """Volcano's binpack, between 0 and 1."""
    total, weight = 0.0, 0
    for i in range(dimensions.shape[0]):
        d = dimensions[i]
        if d < 0 or stock.request[d] <= 0:
            continue
        capacity, used = stock.allocatable[d, node], stock.used[d, node] + stock.request[d]
        weight += weights[i]
        if capacity <= 0 or weights[i] == 0:
            continue
        if used > capacity:
            return 0.0
        total += float(used) * float(weights[i]) / capacity
    return total / float(weight) if weight > 0 else 0.0


@part
def fullness(stock: Stock, rules: Rules, row: int, node: int) -> float:
    """What a rule says of a node, brought to scale."""
    points = 0.0
    if rules.kinds[row] == BALANCED:
        points = balanced(stock, rules.dimensions[row], node)
    elif rules.kinds[row] == BINPACK:
        points = binpack(stock, rules.dimensions[row], rules.weights[row], node)
    else:
        most = rules.kinds[row] == MOST
        points = least_or_most(stock, rules.dimensions[row], rules.weights[row], node, most)
    return points * float(rules.scales[row])


@kernel
def fullness_of_all(stock: Stock, rules: Rules, row: int, candidates: Candidates, points: Scores) -> None:
    """What a rule says of each candidate."""
    for at in range(candidates.shape[0]):
        points[at] = fullness(stock, rules, row, candidates[at])


def resource_points(world: World, score: ResourceScore, shape: int, candidates: Candidates) -> Scores:
    """The points of each candidate, the score's weight included."""
    points = np.empty(len(candidates), np.float64)
    seen = stock(world.columns.ledger, world.columns.traits, shape)
    fullness_of_all(seen, rules_of(world, [score]), 0, candidates, points)
    return points


def rules_of(world: World, scores: Sequence[ResourceScore]) -> Rules:
    """Resource scores as arrays."""
    width = max((len(score.resources) for score in scores), default=0)
    dimensions = np.full((len(scores), width), -1, np.int32)
    weights = np.zeros((len(scores), width), np.int64)
    for row, score in enumerate(scores):
        for at, (name, weight) in enumerate(score.resources):
            known = world.dimensions.known(name)
            dimensions[row, at], weights[row, at] = -1 if known is None else known, weight
    return Rules(
        kinds=np.array([int(score.rule) for score in scores], np.int8),
        scales=np.array([_scale(score) for score in scores], np.float64),
        dimensions=dimensions,
        weights=weights,
    )


def _scale(score: ResourceScore) -> float:
    """The weight, and for binpack, which gives a share of 1, what makes it 100 as well."""
    return float(score.weight * HIGHEST if score.rule is ResourceRule.BINPACK else score.weight)
