"""Attaching: which claims are in use where, and how many volumes of each driver are attached to each node.

The pod log says who came and went, so nothing is counted anew. A volume that several pods of a node use is attached
once, whether they share a claim or have one each. What a claim counts as changes when it gets its volume.
"""

from collections import Counter
from collections.abc import Collection, Hashable
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from posse.cluster.headcount import NODE, SHAPE, SIGN
from posse.cluster.status import OCCUPIES, Status
from posse.cluster.storage import Storage
from posse.cluster.storage_facts import VOLUME_CLAIM, VolumeClaimFact
from posse.cluster.world import World
from posse.scheduler.placement.node_traits import stamp_of
from posse.scheduler.volumes.reaching import Mask

Counts = NDArray[np.int64]
Volume = tuple[str, str]
"""A driver, and its name for a volume."""

Key = TypeVar("Key", bound=Hashable)

NO_VOLUME: Volume = ("", "")
NO_LIMIT = np.iinfo(np.int64).max


def counted_as(claim: VolumeClaimFact, storage: Storage) -> Volume:
    """What attaching a claim's volume counts as. One that is not there yet counts by the class that makes it."""
    volume = storage.volumes.get(claim.volume) if claim.volume else None
    if volume is not None:
        return (volume.driver, volume.handle) if volume.driver and volume.handle else NO_VOLUME
    storage_class = storage.classes.get(claim.storage_class)
    return (storage_class.provisioner, f"claim {claim.key}") if storage_class is not None else NO_VOLUME


class Attachments:
    """Claims and volumes in use in one world, by node row."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._seen = (-1, 0)
        self._version = -1
        self._claims_of: list[tuple[str, ...]] = []
        """By shape row, the claims of volumes that it has."""
        self._limits: dict[str, Counts] = {}
        self._stamp: tuple[int, tuple[int, int]] = (-1, (-1, 0))
        self._forget()

    def is_used(self, claim: str) -> bool:
        """Whether a pod that has a node uses a claim."""
        self._catch_up()
        return claim in self._where

    def full(self, driver: str, handles: Collection[str]) -> Mask:
        """The nodes to which not all of these volumes of a driver could be attached."""
        self._catch_up()
        more = np.full(len(self._world.nodes), len(handles), np.int64)
        for handle in handles:
            more[list(self._attached.get((driver, handle), ()))] -= 1
        return (more > 0) & (self._count(driver) > self._limit(driver) - more)

    # ------------------------------------------------------------------ limits

    def is_limited(self, driver: str) -> bool:
        """Whether any node can bear only so many volumes of a driver."""
        return bool(driver) and bool((self._limit(driver) < NO_LIMIT).any())

    def _limit(self, driver: str) -> Counts:
        """How many volumes of a driver each node can bear."""
        stamp = (self._world.storage.version, stamp_of(self._world))
        if self._stamp != stamp:
            self._limits.clear()
            self._stamp = stamp
        found = self._limits.get(driver)
        if found is None:
            found = self._limits[driver] = np.full(len(self._world.nodes), NO_LIMIT, np.int64)
            for fact in self._world.storage.limits.values():
                row = self._world.nodes.find(fact.node)
                if row >= 0:
                    found[row] = dict(fact.limits).get(driver, NO_LIMIT)
        return found

    # ------------------------------------------------------------------ what is counted

    def _forget(self) -> None:
        self._where: dict[str, Counter[int]] = {}
        """By claim, how many pods use it on which node."""
        self._volumes: dict[str, Volume] = {}
        """By claim in use, what it counts as."""
        self._attached: dict[Volume, Counter[int]] = {}
        """By volume, how many claims use it on which node."""
        self._counts: dict[str, Counts] = {}
        """By driver, how many volumes are attached to each node."""

    def _count(self, driver: str) -> Counts:
        nodes = len(self._world.nodes)
        count = self._counts.get(driver)
        if count is None or len(count) < nodes:
            grown = np.zeros(nodes, np.int64)
            grown[: 0 if count is None else len(count)] = 0 if count is None else count
            count = self._counts[driver] = grown
        return count

    def _use(self, claim: str, node: int, sign: int) -> None:
        """A pod that uses a claim comes to a node or leaves it."""
        if claim not in self._where:
            self._volumes[claim] = self._counted_as(claim)
        if _step(self._where, claim, node, sign):
            self._attach(self._volumes[claim], node, sign)
        if claim not in self._where:
            del self._volumes[claim]

    def _attach(self, volume: Volume, node: int, sign: int) -> None:
        if volume != NO_VOLUME and _step(self._attached, volume, node, sign):
            self._count(volume[0])[node] += sign

    def _counted_as(self, claim: str) -> Volume:
        fact = self._world.storage.claims.get(claim)
        return counted_as(fact, self._world.storage) if fact is not None else NO_VOLUME

    # ------------------------------------------------------------------ what happened since

    def _catch_up(self) -> None:
        self._read_shapes()
        self._follow_pods()
        if self._version != self._world.storage.version:
            self._version = self._world.storage.version
            self._follow_claims()

    def _read_shapes(self) -> None:
        for shape in self._world.shapes[len(self._claims_of) :]:
            self._claims_of.append(tuple(claim.name for claim in shape.claims if claim.kind == VOLUME_CLAIM))

    def _follow_pods(self) -> None:
        columns = self._world.columns
        end = int(columns.ledger.log_ends[1])
        if self._seen[0] != columns.log_epoch:
            self._forget()
            self._count_all()
        elif self._seen[1] < end:
            entries = columns.ledger.pod_log[self._seen[1] : end, [SHAPE, NODE, SIGN]]
            for shape, node, sign in entries.tolist():
                for claim in self._claims_of[shape]:
                    self._use(claim, node, sign)
        self._seen = (columns.log_epoch, end)

    def _count_all(self) -> None:
        ledger, tasks = self._world.columns.ledger, len(self._world.tasks)
        status, node = ledger.task_status[:tasks], ledger.task_node[:tasks]
        lying = np.flatnonzero((OCCUPIES[status] | (status == Status.PIPELINED)) & (node >= 0))
        for shape, row in zip(ledger.task_shape[lying].tolist(), node[lying].tolist(), strict=True):
            for claim in self._claims_of[shape]:
                self._use(claim, row, 1)

    def _follow_claims(self) -> None:
        """Count claims as what they are now."""
        for claim, before in list(self._volumes.items()):
            volume = self._counted_as(claim)
            if volume != before:
                self._volumes[claim] = volume
                for node in self._where[claim]:
                    self._attach(before, node, -1)
                    self._attach(volume, node, 1)


def _step(counters: dict[Key, Counter[int]], key: Key, node: int, sign: int) -> bool:
    """Count one up or down. Whether that made it the first, or was the last."""
    counter = counters.setdefault(key, Counter())
    before = counter[node]
    counter[node] = before + sign
    if counter[node]:
        return not before
    del counter[node]
    if not counter:
        del counters[key]
    return True
