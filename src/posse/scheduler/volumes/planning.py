"""Planning: what becomes of all of a pod's claims of volumes, on every node at once.

    claims that have their volume     the node must reach it
    claims that wait for a pod        the smallest volume that will do and is left, else one is made there
    all of them                       no more of a driver's volumes than the node can bear

The smallest claims choose first, and what one gets on a node another does not get there. A claim for which a volume is
being made somewhere goes there; pods that may use it from several nodes at a time may also go elsewhere while one of
ours goes there, for who waits with the whole gang cannot wait for the volume to be seen.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from posse.cluster.storage import Storage
from posse.cluster.storage_facts import VolumeClaimFact
from posse.cluster.world import World
from posse.scheduler.claims import Objection, Wanted
from posse.scheduler.placement.node_traits import stamp_of
from posse.scheduler.volumes.attaching import Attachments, counted_as
from posse.scheduler.volumes.making import Making
from posse.scheduler.volumes.matching import NONE, Matching, Numbers
from posse.scheduler.volumes.promised import Promised
from posse.scheduler.volumes.reaching import Mask, Reach
from posse.scheduler.volumes.sorting import SINGLE_POD, Having, NotReady, Waiting, standing

ELSEWHERE = "volume cannot be reached"
OTHER_ZONE = "volume is in another zone"
NOTHING_TO_BIND = "no volume to bind"
NO_ROOM = "not enough room to make a volume"

SHARED = frozenset({"ReadWriteMany", "ReadOnlyMany"})
"""Ways of access from several nodes at a time."""


class Step(Struct, frozen=True):
    """What a claim that waits would get on each node row: the number of a volume, or `NONE`: one that is made there."""

    claim: VolumeClaimFact
    choice: Numbers


class Plan(Struct, frozen=True):
    """Which nodes will not do, and what becomes of the claims on the others."""

    objections: tuple[Objection, ...]
    steps: tuple[Step, ...] = ()


class Planner:
    """Plans for the pods of one world."""

    def __init__(self, world: World, *, strict: bool) -> None:
        self.world, self._strict = world, strict
        self._reach, self._attachments = Reach(world), Attachments(world)
        self._making = Making(world.storage, self._reach)
        self._matching: Matching | None = None
        self._stamp: tuple[int, tuple[int, int]] = (-1, (-1, 0))

    @property
    def matching(self) -> Matching:
        """The volumes that there are, as they stand."""
        stamp = (self._storage.version, stamp_of(self.world))
        if self._matching is None or self._stamp != stamp:
            self._matching, self._stamp = Matching(self._storage, self._reach), stamp
        return self._matching

    @property
    def _storage(self) -> Storage:
        return self.world.storage

    def settled(self, claims: Wanted) -> tuple[Objection, ...] | None:
        """The objections to whoever has these claims, if nothing decides but whether and where their volumes are; else
        None.
        """
        stands = [standing(each, "", self._storage, strict=self._strict) for each in claims if not each.is_own]
        late = [each.why for each in stands if isinstance(each, NotReady)]
        if late:
            return (self._never(late[0]),)
        having = [each for each in stands if isinstance(each, Having)]
        if len(having) + stands.count(None) < len(claims) or any(self._is_limited(each.claim) for each in having):
            return None
        return tuple(self._out_of_reach(having))

    def _is_limited(self, claim: VolumeClaimFact) -> bool:
        """Whether it matters how many pods use a claim, or volumes like its own."""
        return SINGLE_POD in claim.modes or self._attachments.is_limited(counted_as(claim, self._storage)[0])

    def plan(self, task: int, claims: Wanted, promised: Promised) -> Plan:
        """What becomes of a task's claims."""
        fact = self.world.tasks.facts[task]
        uid = fact.uid if fact is not None else ""
        stands = [each for c in claims if (each := standing(c, uid, self._storage, strict=self._strict)) is not None]
        late = [each.why for each in stands if isinstance(each, NotReady)]
        ready = [each for each in stands if not isinstance(each, NotReady)]
        late += [
            f"volume claim {each.claim.key} is used by another pod"
            for each in ready
            if SINGLE_POD in each.claim.modes and self._attachments.is_used(each.claim.key)
        ]
        if late:
            return Plan((self._never(late[0]),))
        having = [each for each in ready if isinstance(each, Having)]
        waiting = sorted(
            (each for each in ready if isinstance(each, Waiting)), key=lambda each: (each.claim.size, each.claim.key)
        )
        steps, objections = self._served(waiting, promised)
        limits = self._too_many([each.claim for each in ready])
        return Plan((*self._out_of_reach(having), *objections, *limits), steps)

    def _never(self, why: str) -> Objection:
        return Objection(why, self._reach.everywhere(), of_pod=True)

    def _out_of_reach(self, having: Iterable[Having]) -> Iterable[Objection]:
        for each in having:
            yield Objection(ELSEWHERE, ~self._reach.of(each.volume))
            yield Objection(OTHER_ZONE, ~self._reach.zones_of(each.volume))

    # ------------------------------------------------------------------ claims that wait for a pod

    def _served(self, waiting: Sequence[Waiting], promised: Promised) -> tuple[tuple[Step, ...], list[Objection]]:
        steps: list[Step] = []
        objections: list[Objection] = []
        beside: defaultdict[str, NDArray[np.int64]] = defaultdict(lambda: np.zeros(len(self.world.nodes), np.int64))
        for each in waiting:
            claim = each.claim
            if promised.node_of(claim) or claim.selected_node:
                choice = np.full(len(self.world.nodes), NONE, np.int64)
                objections.append(Objection(NOTHING_TO_BIND, ~self._near(each, promised)))
            else:
                choice = self._choice(claim, [step.choice for step in steps], promised)
            steps.append(Step(claim, choice))
            if not promised.node_of(claim):
                objections += self._makers(each, choice, beside[claim.storage_class], promised)
                beside[claim.storage_class] += np.where(choice == NONE, claim.size, 0)
        return tuple(steps), objections

    def _choice(self, claim: VolumeClaimFact, before: Sequence[Numbers], promised: Promised) -> Numbers:
        mine = promised.volume_of(claim)
        return self.matching.only(mine) if mine else self.matching.best(claim, promised.volumes(), before)

    def _near(self, waiting: Waiting, promised: Promised) -> Mask:
        """Where pods may go whose volume is being made at a node, or is to be."""
        promise = promised.node_of(waiting.claim)
        there = self._reach.at(promise or waiting.claim.selected_node)
        if promise and SHARED.intersection(waiting.claim.modes):
            there |= self._making.allowed(waiting.storage_class)
        return there

    def _makers(
        self, waiting: Waiting, choice: Numbers, beside: NDArray[np.int64], promised: Promised
    ) -> list[Objection]:
        """Where a volume would have to be made, and cannot."""
        unmatched = choice == NONE
        if not unmatched.any():
            return []
        allowed = self._making.allowed(waiting.storage_class)
        ordered = promised.ordered(self.world, but=waiting.claim)
        room = self._making.with_room(waiting.claim, waiting.storage_class, ordered, beside)
        return [Objection(NOTHING_TO_BIND, unmatched & ~allowed), Objection(NO_ROOM, unmatched & ~room)]

    # ------------------------------------------------------------------ limits

    def _too_many(self, claims: Iterable[VolumeClaimFact]) -> Iterable[Objection]:
        handles: defaultdict[str, set[str]] = defaultdict(set)
        for claim in claims:
            driver, handle = counted_as(claim, self._storage)
            if driver:
                handles[driver].add(handle)
        for driver, of in sorted(handles.items()):
            yield Objection(f"too many volumes of {driver}", self._attachments.full(driver, of))
