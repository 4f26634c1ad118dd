"""Hierarchical fairness: shares that are fair among siblings at every level of the tree of queues.

A branch has what its children have, scaled so that a child with much does not hide one with little: each child that could still use
more counts as if it had the share of the least served of them. A child is *saturated* when it has all it asks for of some
resource, or asks for one that is used up everywhere; it counts in full, and stands behind those that are not. From that follows a
share for each branch, up to the root.

Two queues are compared from the root down, as far as both paths reach: unsaturated first, then the smaller share by weight.
"""

from collections.abc import Iterator, Sequence
from functools import total_ordering

import numpy as np
from numpy.typing import NDArray

from posse.cluster.facts import QueueFact
from posse.cluster.views import Gang, Task
from posse.cluster.world import World
from posse.scheduler.plugins.drf.branches import Branches, grow
from posse.scheduler.supply import Supply

Amounts = NDArray[np.int64]
Fractions = NDArray[np.float64]

Level = tuple[bool, float]
"""How a branch stands among its siblings: whether it is saturated, and its share by weight. The smaller goes first."""


@total_ordering
class Standing:
    """How the branches on the way to a queue stand. Two of them are compared as far down as both reach."""

    __slots__ = ("levels",)
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, levels: Sequence[Level]) -> None:
        self.levels = tuple(levels)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Standing):
            return NotImplemented
        return all(mine == theirs for mine, theirs in zip(self.levels, other.levels, strict=False))

    def __lt__(self, other: "Standing") -> bool:
        reach = min(len(self.levels), len(other.levels))
        return self.levels[:reach] < other.levels[:reach]


class Hierarchy:
    """The tree of queues of a world, and how its branches stand."""

    def __init__(self, world: World, supply: Supply) -> None:
        self._world, self._supply = world, supply
        self._facts: list[QueueFact | None] = []
        self._branches = grow([])
        self._moment = (-1, -1, -1)
        self._standings: dict[int, Standing] = {}

    def rebuild(self) -> None:
        """Look at how queues are arranged now."""
        if self._facts != self._world.queues.facts:
            self._facts = list(self._world.queues.facts)
            self._branches = grow(self._facts)
            self._moment = (-1, -1, -1)

    def standing(self, queue: int) -> Standing:
        """How the branches on the way to a queue stand now."""
        columns = self._world.columns
        moment = (columns.log_epoch, int(columns.ledger.log_ends[1]), self._world.node_facts_version)
        if moment != self._moment:
            self._moment = moment
            tree = Tree(self._world, self._branches, self._supply)
            self._standings = dict(enumerate(tree.standings()))
        return self._standings[queue]

    def victims(self, own: Gang, request: Amounts, candidates: Sequence[Task]) -> list[Task]:
        """Candidates of queues that would still stand behind the asker's after losing them, when the asker has what it asks for."""
        tree = Tree(self._world, self._branches, self._supply)
        tree.give(own.row, request)
        answers: dict[tuple[int, int], bool] = {}
        victims = []
        for task in candidates:
            gang = task.gang
            if gang is None or not gang.is_declared:
                continue
            alike = (gang.row, task.shape_row)
            if alike not in answers:
                answers[alike] = tree.stays_behind(gang, task, own.queue.row)
            if answers[alike]:
                victims.append(task)
        return victims
