"""Scoring: how good each candidate is for a task, as the sum of all plugins' points in plugin order.

Fixed terms are asked once per shape and kept until a node changes; normalised ones are brought to scale over the candidates of the
moment; resource terms look at how full a node would be; live terms are asked each time. Points are float64 and added in plugin
order, so the same candidates get the same sums everywhere.
"""

import numpy as np
from numpy.typing import NDArray

from posse.cluster.views import Node, Task
from posse.cluster.world import World
from posse.scheduler.placement.fullness import resource_points
from posse.scheduler.placement.terms import FixedScore, LiveScore, NormalisedScore, ResourceScore, Rows, Score, Scores
from posse.scheduler.tiers import Tiers


class Scoring:
    """Points per candidate, for the shapes of one world."""

    def __init__(self, world: World, tiers: Tiers) -> None:
        self._world, self._tiers = world, tiers
        self._terms: dict[int, tuple[Score, ...]] = {}
        self._version = -1

    def terms(self, shape: int) -> tuple[Score, ...]:
        """All score terms of a shape, in plugin order."""
        if self._version != self._world.node_facts_version:
            self._terms.clear()
            self._version = self._world.node_facts_version
        terms = self._terms.get(shape)
        if terms is None:
            terms = tuple(term for plugin in self._tiers.scoring for term in plugin.scores(shape))
            self._terms[shape] = terms
        return terms

    def points(self, task: int, candidates: Rows) -> Scores:
        """The points of each candidate."""
        shape = int(self._world.columns.ledger.task_shape[task])
        points = np.zeros(len(candidates), np.float64)
        for term in self.terms(shape):
            points += self._of(term, task, shape, candidates)
        for plugin in self._tiers.scoring_singly:
            asked = Task(self._world, task)
            points += [plugin.node_score(asked, Node(self._world, node)) for node in candidates.tolist()]
        return points

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
