"""The tree at one moment: what gangs have, and what follows from it for the branches above them.

It is a copy, so it can also be asked how things would stand if a gang had more or less.
"""

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from posse.cluster.world import World
from posse.scheduler.plugins.drf.branches import Branches
from posse.scheduler.supply import Supply

Amounts = NDArray[np.int64]
Fractions = NDArray[np.float64]

NOWHERE = -1


class Children(Struct):
    """Gangs or branches side by side: what each has, its dominant share, and whether it is saturated."""

    has: Fractions
    """[n, D]"""
    shares: Fractions
    saturated: NDArray[np.bool_]


class Tree:
    """What gangs have, by branch."""

    def __init__(self, world: World, branches: Branches, supply: Supply) -> None:
        count, ledger = len(world.gangs), world.columns.ledger
        self._branches, self._supply = branches, supply
        ends = _ends(world, branches)[ledger.gang_queue[:count]]
        order = np.argsort(ends, kind="stable")
        rows = order[ends[order] != NOWHERE]
        self._has = (ledger.gang_allocated[rows] + ledger.gang_promised[rows]).astype(np.float64)
        self._asks = ledger.gang_requested[rows]
        self._place = np.full(count, NOWHERE)
        self._place[rows] = np.arange(len(rows))
        self._starts = np.searchsorted(ends[rows], np.arange(len(branches.parents) + 1))
        """Where the gangs of each branch begin."""

    def __contains__(self, gang: int) -> bool:
        return bool(self._place[gang] != NOWHERE)

    def give(self, gang: int, amounts: Amounts) -> None:
        """Let a gang have so much more; negative amounts take it away."""
        self._has[self._place[gang]] += amounts

    def standings(self) -> tuple[list[float], list[bool]]:
        """The share by weight of each branch, and whether it is saturated."""
        leaves = self._leaves()
        count, dimensions = len(self._branches.parents), self._has.shape[1]
        every = Children(np.zeros((count, dimensions)), np.zeros(count), np.ones(count, np.bool_))
        parents = np.array(self._branches.parents)
        for branch in reversed(range(count)):
            below = np.flatnonzero(parents == branch)
            below = below[below > branch]
            gangs = slice(self._starts[branch], self._starts[branch + 1])
            children = _beside(_some(leaves, gangs), _some(every, below))
            every.has[branch] = _together(children)
            every.saturated[branch] = children.saturated.all()
            every.shares[branch] = self._supply.shares(every.has[branch])
        return (every.shares / np.array(self._branches.weights)).tolist(), every.saturated.tolist()

    def _leaves(self) -> Children:
        has, asks = self._has, self._asks
        used_up = has.sum(axis=0) >= self._supply.total
        saturated = (has > 0) & (asks > 0) & ((has >= asks) | used_up)
        return Children(has, self._supply.shares(has), saturated.any(axis=1))


def _ends(world: World, branches: Branches) -> NDArray[np.int64]:
    """Per queue row, the branch that its gangs hang from; nowhere for a queue that does not exist."""
    facts = world.queues.facts
    return np.array([NOWHERE if fact is None else branches.end(row) for row, fact in enumerate(facts)])


def _some(children: Children, which: slice | NDArray[np.intp]) -> Children:
    return Children(children.has[which], children.shares[which], children.saturated[which])


def _beside(left: Children, right: Children) -> Children:
    if not len(right.shares):
        return left
    return Children(
        np.concatenate((left.has, right.has)),
        np.concatenate((left.shares, right.shares)),
        np.concatenate((left.saturated, right.saturated)),
    )


def _together(children: Children) -> Fractions:
    """[D] what children count for together: those that could use more, each as if it had the least share among them."""
    counts = children.shares > 0
    scaled = counts & ~children.saturated
    least = children.shares[scaled].min(initial=1.0)
    factors = counts.astype(np.float64)
    factors[scaled] = least / children.shares[scaled]
    total: Fractions = (children.has * factors[:, None]).sum(axis=0)
    return total
