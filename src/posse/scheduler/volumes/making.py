"""Making: at which nodes a volume could be made for a claim.

Its class must have somebody who makes volumes, and must allow the node. Where the driver tells how much room it has, a
capacity that the node reaches must be large enough, less what is promised of it to claims whose volumes are not made
yet; for two members of a gang must not both count on the last of it.
"""

from collections.abc import Sequence

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from posse.cluster.storage import Storage
from posse.cluster.storage_facts import StorageCapacityFact, StorageClassFact, VolumeClaimFact
from posse.scheduler.volumes.reaching import Mask, Reach

Sizes = NDArray[np.int64]

NO_PROVISIONER = ("", "kubernetes.io/no-provisioner")
"""What a class says of which nobody makes volumes."""


class Ordered(Struct, frozen=True):
    """A volume that is to be made at a node (its row, -1 if it is gone)."""

    storage_class: str
    node: int
    size: int


class Making:
    """Where volumes could be made in one world."""

    def __init__(self, storage: Storage, reach: Reach) -> None:
        self._storage, self._reach = storage, reach

    def allowed(self, storage_class: StorageClassFact) -> Mask:
        """The nodes at which volumes of a class may be made."""
        if storage_class.provisioner in NO_PROVISIONER:
            return ~self._reach.everywhere()
        return self._reach.for_making(storage_class)

    def with_room(
        self, claim: VolumeClaimFact, storage_class: StorageClassFact, ordered: Sequence[Ordered], beside: Sizes
    ) -> Mask:
        """The nodes that reach room enough for a claim. `beside`: what its pod wants of the class there already."""
        driver = self._storage.drivers.get(storage_class.provisioner)
        if not claim.size or driver is None or not driver.tells_capacity:
            return self._reach.everywhere()
        found = ~self._reach.everywhere()
        for capacity in self._storage.capacities.values():
            if capacity.storage_class == storage_class.name and capacity.nodes is not None:
                nodes = self._reach.selected(capacity.nodes)
                found |= nodes & self._is_enough(capacity, nodes, claim.size, ordered, beside)
        return found

    @staticmethod
    def _is_enough(
        capacity: StorageCapacityFact, nodes: Mask, size: int, ordered: Sequence[Ordered], beside: Sizes
    ) -> Mask | bool:
        largest = capacity.capacity if capacity.largest is None else capacity.largest
        if largest is None or largest < size:
            return False
        if capacity.capacity is None:
            return True
        promised = sum(
            each.size
            for each in ordered
            if each.storage_class == capacity.storage_class and each.node >= 0 and nodes[each.node]
        )
        enough: Mask = beside <= capacity.capacity - promised - size
        return enough
