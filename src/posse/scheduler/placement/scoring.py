"""Scoring: how good each candidate is for a task, as the sum of all plugins' points in plugin order.

Fixed terms are asked once per shape and kept until a node changes; normalised ones are brought to scale over the
candidates of the moment; resource terms look at how full a node would be; live terms are asked each time.

Points are float64, so the order in which they are added is part of the rule, and it is Volcano's: first, in plugin
order, what a node is worth by itself (fixed terms, binpack, plugins that speak of one task and one node); then,
added up apart, what nodes are worth compared with each other. So the same candidates get the same sums everywhere.
"""

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from posse.cluster.views import Node, Task
from posse.cluster.world import World
from posse.scheduler.placement.fullness import resource_points
from posse.scheduler.placement.node_traits import stamp_of
from posse.scheduler.placement.terms import (
    FixedScore,
    LiveScore,
    NormalisedScore,
    ResourceRule,
    ResourceScore,
    Rows,
    Score,
    Scores,
)
from posse.scheduler.plugin import Plugin
from posse.scheduler.tiers import Tiers


class ShapeScores(Struct, frozen=True):
    """What all plugins together say of a shape: of nodes by themselves, and of nodes compared with each other.

    A plugin among the terms is one that is asked about one task and one node.
    """

    alone: tuple[Score | Plugin, ...]
    compared: tuple[Score, ...]


class Scoring:
    """Points per candidate, for the shapes of one world."""

    def __init__(self, world: World, tiers: Tiers) -> None:
        self._world, self._tiers = world, tiers
        self._scores: dict[int, ShapeScores] = {}
        self._stamp = (-1, 0)

    def scores(self, shape: int) -> ShapeScores:
        """All that is said of a shape, in plugin order."""
        stamp = stamp_of(self._world)
        if self._stamp != stamp:
            self._scores.clear()
            self._stamp = stamp
        found = self._scores.get(shape)
        if found is None:
            found = self._scores[shape] = self._ask(shape)
        return found

    def terms(self, shape: int) -> tuple[Score, ...]:
        """All score terms of a shape, in the order in which they are added; plugins that are asked singly aside."""
        found = self.scores(shape)
        return (*(term for term in found.alone if not isinstance(term, Plugin)), *found.compared)

    def _ask(self, shape: int) -> ShapeScores:
        alone, compared = list[Score | Plugin](), list[Score]()
        for plugin in self._tiers.plugins:
            for term in plugin.scores(shape) if plugin in self._tiers.scoring else ():
                (alone if _is_of_one_node(term) else compared).append(term)
            if plugin in self._tiers.scoring_once:
                every = np.arange(len(self._world.nodes))
                alone.append(FixedScore(self._singly(plugin, self._world.some_task_of(shape), every)))
            if plugin in self._tiers.scoring_singly:
                alone.append(plugin)
        return ShapeScores(tuple(alone), tuple(compared))

    def points(self, task: int, candidates: Rows) -> Scores:
        """The points of each candidate."""
        shape = int(self._world.columns.ledger.task_shape[task])
        found, alone, compared = self.scores(shape), *np.zeros((2, len(candidates)), np.float64)
        for term in found.alone:
            if isinstance(term, Plugin):
                alone += self._singly(term, task, candidates)
            else:
                alone += self._of(term, task, shape, candidates)
        for term in found.compared:
            if not isinstance(term, LiveScore) or term.concerns(np.array([task], np.int32)):
                compared += self._of(term, task, shape, candidates)
        points: Scores = alone + compared
        return points

    def _singly(self, plugin: Plugin, task: int, candidates: Rows) -> Scores:
        asked, present = Task(self._world, task), self._world.columns.traits.node_present
        nodes = [Node(self._world, node) for node in candidates.tolist()]
        return np.array([plugin.node_score(asked, node) if present[node.row] else 0.0 for node in nodes], np.float64)

    def _of(self, term: Score, task: int, shape: int, candidates: Rows) -> Scores:
        match term:
            case FixedScore():
                return term.points[candidates]
            case NormalisedScore():
                return term.of(candidates)
            case ResourceScore():
                return resource_points(self._world, term, shape, candidates)
            case LiveScore():
                return term.points(task, candidates)

    def best(self, task: int, candidates: Rows) -> int:
        """The candidate with the most points; between equals the one of the lowest rank."""
        if len(candidates) == 1:
            return int(candidates[0])
        points = self.points(task, candidates)
        leaders: NDArray[np.intp] = candidates[points == points.max()]
        ranks = self._world.columns.traits.node_rank[leaders]
        return int(leaders[np.argmin(ranks)])


def _is_of_one_node(term: Score) -> bool:
    return isinstance(term, FixedScore) or (isinstance(term, ResourceScore) and term.rule is ResourceRule.BINPACK)
