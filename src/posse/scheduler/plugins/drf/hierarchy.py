"""Hierarchical fairness: shares that are fair among siblings at every level of the tree of queues.

A branch has what its children have, scaled so that a child with much does not hide one with little: each child that
could still use more counts as if it had the share of the least served of them. A child is *saturated* when it has all
it asks for of some resource, or asks for one that is used up everywhere; it counts in full, and stands behind those
that are not. From that follows a share for each branch, up to the root.

Two queues are compared from the root down, as far as both paths reach: unsaturated first, then the smaller share by
weight.
"""

from collections.abc import Iterable, Sequence
from functools import total_ordering

import numpy as np
from numpy.typing import NDArray

from posse.cluster.facts import QueueFact
from posse.cluster.views import Gang, Task
from posse.cluster.world import World
from posse.scheduler.plugins.drf.branches import grow
from posse.scheduler.plugins.drf.tree import Tree
from posse.scheduler.supply import Supply

Amounts = NDArray[np.int64]

NEVER = (-1, -1)

Level = tuple[bool, float]
"""How a branch stands among its siblings: whether it is saturated, and its share by weight. The smaller goes first."""


@total_ordering
class Rank:
    """How the branches on the way to a queue stand. Two of them are compared as far down as both reach."""

    __slots__ = ("levels",)
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, levels: Iterable[Level]) -> None:
        self.levels = tuple(levels)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Rank):
            return NotImplemented
        return all(mine == theirs for mine, theirs in zip(self.levels, other.levels, strict=False))

    def __lt__(self, other: "Rank") -> bool:
        reach = min(len(self.levels), len(other.levels))
        return self.levels[:reach] < other.levels[:reach]


class Hierarchy:
    """The tree of queues of a world, and how its branches stand."""

    def __init__(self, world: World, supply: Supply) -> None:
        self._world, self._supply = world, supply
        self._facts: list[QueueFact | None] = []
        self._branches = grow([])
        self._ranks: list[Rank] = []
        self._moment = NEVER

    def arrange(self, facts: Sequence[QueueFact | None]) -> None:
        """Take in what queues declare, by row."""
        if self._facts != facts:
            self._facts = list(facts)
            self._branches = grow(self._facts)
            self._moment = NEVER

    def rank(self, queue: int) -> Rank:
        """Say how the branches on the way to a queue stand now."""
        columns = self._world.columns
        moment = (int(columns.ledger.moment[0]), self._world.node_facts_version)
        if moment != self._moment:
            self._moment = moment
            self._ranks = self._look_at(Tree(self._world, self._branches, self._supply))
        return self._ranks[queue]

    def victims(self, own: Gang, request: Amounts, candidates: Sequence[Task]) -> list[Task]:
        """Name those whose queue would stand behind the asker's even without them, were the asker given its request."""
        tree = Tree(self._world, self._branches, self._supply)
        tree.give(own.row, request)
        queue = own.queue.row
        answers: dict[tuple[int, int], bool] = {}
        victims = []
        for task in candidates:
            gang = task.gang
            if gang is None or gang.row not in tree:
                continue
            alike = (gang.row, task.shape_row)
            if alike not in answers:
                answers[alike] = self._stays_behind(tree, task, gang, queue)
            if answers[alike]:
                victims.append(task)
        return victims

    def _stays_behind(self, tree: Tree, task: Task, gang: Gang, queue: int) -> bool:
        request = self._world.columns.ledger.shape_request[task.shape_row]
        tree.give(gang.row, -request)
        ranks = self._look_at(tree)
        tree.give(gang.row, request)
        return ranks[queue] < ranks[gang.queue.row]

    def _look_at(self, tree: Tree) -> list[Rank]:
        """Say how each queue stands, by row."""
        shares, saturated = tree.standings()
        levels = list(zip(saturated, shares, strict=True))
        return [Rank(levels[branch] for branch in path) for path in self._branches.paths]
