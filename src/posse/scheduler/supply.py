"""Supply: what all nodes have together, and how great a share of it somebody has.

The sum is kept until a node changes, so asking costs nothing. A dominant share is the greatest part of any resource;
pods are a resource like the others, and one that no node has is left out.
"""

import numpy as np
from numpy.typing import NDArray

from posse.cluster.world import World

Amounts = NDArray[np.int64]
Fractions = NDArray[np.float64]


class Supply:
    """The allocatable resources of all nodes of a world."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._version = (-1, -1)
        self._total: Amounts = np.zeros(0, np.int64)
        self._whole: Fractions = np.zeros(0, np.float64)

    @property
    def total(self) -> Amounts:
        """[D] the sum over all nodes."""
        self._refresh()
        return self._total

    def share(self, amounts: Amounts) -> float:
        """The dominant share of amounts [D]."""
        self._refresh()
        share: float = max((amounts / self._whole).tolist())
        return share

    def shares(self, amounts: Amounts | Fractions) -> Fractions:
        """The dominant share of each row of amounts [.., D]."""
        self._refresh()
        shares: Fractions = (amounts / self._whole).max(axis=-1)
        return shares

    def _refresh(self) -> None:
        allocatable = self._world.columns.traits.node_allocatable
        version = (self._world.node_facts_version, len(allocatable))
        if version != self._version:
            self._version = version
            self._total = allocatable.sum(axis=1)
            self._whole = np.where(self._total > 0, self._total, np.inf)
