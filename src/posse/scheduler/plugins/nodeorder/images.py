"""Points for images that a node has and need not pull: their size, weighed by how many of all nodes have them.

Less than 23 MiB is nothing, and 1000 MiB per container is all. Which nodes have an image is kept by its name, and
followed as nodes change.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from posse.cluster.facts import NodeFact
from posse.cluster.world import World
from posse.scheduler.placement.node_traits import NodeWatch
from posse.scheduler.placement.terms import HIGHEST

MEBI = 2**20
NOTHING, ALL_PER_CONTAINER = 23 * MEBI, 1000 * MEBI


class ImageScore:
    """Who has which image."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._watch = NodeWatch(world)
        self._facts: dict[int, NodeFact] = {}
        self._homes: dict[str, dict[int, int]] = {}

    def points(self, images: Sequence[str]) -> NDArray[np.float64]:
        """The points of each node row, whole numbers. An image that two containers use counts twice."""
        self._follow()
        total = np.zeros(len(self._world.nodes), np.int64)
        for image in images:
            homes = self._homes.get(image)
            if homes:
                share = float(len(homes)) / float(len(self._facts))
                sizes = np.array(list(homes.values()), np.float64)
                total[list(homes)] += (sizes * share).astype(np.int64)
        most = ALL_PER_CONTAINER * len(images)
        return (HIGHEST * (np.clip(total, NOTHING, most) - NOTHING) // (most - NOTHING)).astype(np.float64)

    def _follow(self) -> None:
        for row in self._watch.changed():
            before, now = self._facts.pop(row, None), self._world.nodes.facts[row]
            if before is not None:
                for name in _sizes(before):
                    del self._homes[name][row]
            if now is not None:
                self._facts[row] = now
                for name, size in _sizes(now).items():
                    self._homes.setdefault(name, {})[row] = size


def _sizes(fact: NodeFact) -> dict[str, int]:
    """The images of a node by each of their names; of two with one name the first counts."""
    return {name: image.size for image in reversed(fact.images) for name in image.names}
