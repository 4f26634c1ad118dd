"""Points by who lies near: preferred affinity and anti-affinity, by the terms of both sides.

What a node's domains come to is stretched from the least (0) to the most (100) among the candidates.
"""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from posse.cluster.facts import Shape
from posse.cluster.world import World
from posse.scheduler.placement.domains import around
from posse.scheduler.placement.node_traits import NodeTraits
from posse.scheduler.placement.pod_terms import LyingTerms, Namespaces, PodCounts, Voice
from posse.scheduler.placement.terms import HIGHEST, Rows, Scores


class PodScore:
    """Points by who lies near."""

    def __init__(self, world: World, traits: NodeTraits, counts: PodCounts) -> None:
        self._world, self._traits, self._counts = world, traits, counts
        self._namespaces = Namespaces(world)
        self._lying = LyingTerms(world, self._namespaces, counts, _preferences)

    def points(self, shape: Shape, weight: int, task: int, candidates: Rows) -> Scores:
        """The points of each candidate."""
        raw = np.zeros(len(self._world.nodes), np.int64)
        for term, worth in _preferences(shape):
            meant = self._counts.chosen(self._namespaces.choice(term))
            raw += worth * around(self._traits.label(term.topology_key), meant)
        for voice in self._lying.meaning(int(self._world.columns.ledger.task_kin[task])):
            term, worth = voice
            raw += worth * around(self._traits.label(term.topology_key), self._lying.bearers(voice))
        return _stretched(raw[candidates]) * float(weight)

    def concerns(self, shape: Shape, tasks: NDArray[np.int32]) -> bool:
        """Whether tasks of a shape, or anybody who ever was here and means them, prefer anything."""
        return bool(shape.preferred_near or shape.preferred_apart) or self._lying.mean_any(tasks)


def _preferences(shape: Shape) -> Iterable[Voice]:
    yield from ((term, term.weight) for term in shape.preferred_near)
    yield from ((term, -term.weight) for term in shape.preferred_apart)


def _stretched(raw: NDArray[np.int64]) -> Scores:
    if not len(raw) or raw.min() == raw.max():
        return np.zeros(len(raw), np.float64)
    low, high = int(raw.min()), int(raw.max())
    return np.trunc(HIGHEST * ((raw - low) / float(high - low)))
