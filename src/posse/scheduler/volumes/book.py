"""The book of volumes: where pods can go with the volumes that they claim, and what each claim is promised.

It keeps the rules of Kubernetes' own scheduler (VolumeBinding, VolumeZone, NodeVolumeLimits, and ReadWriteOncePod of
VolumeRestrictions), and applies them to members of a gang one after the other, each seeing what the others have been
promised. A copy of a book has the same promises and reads another world.
"""

from collections.abc import Iterable
from typing import Any

from msgspec import structs

from posse.cluster.facts import ClaimReference
from posse.cluster.records import Payload
from posse.cluster.volume_plans import VolumePlan
from posse.cluster.world import World
from posse.scheduler.claims import Objection, Wanted
from posse.scheduler.volumes.matching import NONE
from posse.scheduler.volumes.planning import Plan, Planner, Step
from posse.scheduler.volumes.promised import Promise, Promised

Token = tuple[tuple[str, Promise], ...]
"""Claims, and what they were promised."""


class VolumeBook:
    """Keeps claims of volumes.

    `strict`: whatever a claim needs must be there; else what nobody has told of is taken to be in order.
    """

    def __init__(self, *, strict: bool = True) -> None:
        self._strict = strict
        self._promised = Promised()
        self._changes = 0
        self._planner: Planner | None = None
        self._last: tuple[object, Plan] | None = None

    @property
    def version(self) -> int:
        """Rises whenever what is promised changes."""
        return self._changes

    def settled(self, world: World, claims: Wanted) -> Iterable[Objection] | None:
        """The same for whoever has these claims, where one is not ready, or all have their volumes and no limits."""
        return self._planner_of(world).settled(claims)

    def objections(self, world: World, task: int, claims: Wanted) -> Iterable[Objection]:
        """Which node rows will not do for a task's claims, and why."""
        return self._plan(world, task, claims).objections

    def reserve(self, world: World, task: int, node: int, claims: Wanted) -> Token:
        """Promise a task's claims what they get on a node."""
        plan = self._plan(world, task, claims)
        token = tuple((step.claim.key, self._promise(world, node, step)) for step in plan.steps)
        self.redo(token)
        return token

    def undo(self, token: Any) -> None:
        """Take promises back."""
        self._count(token, -1)

    def redo(self, token: Any) -> None:
        """Promise the same again."""
        self._count(token, 1)

    def payloads(self, world: World, task: int, node: int, claims: Wanted) -> tuple[Payload, ...]:
        """What must be done for a task's claims before it is bound: nothing for those that have their volume."""
        found = ((claim, self._promised.get(claim.name)) for claim in claims)
        return tuple(_payload(claim, promise) for claim, promise in found if promise is not None)

    def portrait(self) -> dict[str, Promise]:
        """All that is promised, by claim."""
        return self._promised.portrait()

    def _planner_of(self, world: World) -> Planner:
        if self._planner is None or self._planner.world is not world:
            self._planner, self._last = Planner(world, strict=self._strict), None
        return self._planner

    def _plan(self, world: World, task: int, claims: Wanted) -> Plan:
        planner = self._planner_of(world)
        self._promised.settle(world.storage)
        columns = world.columns
        ends = (columns.log_epoch, *columns.ledger.log_ends.tolist())
        key = (claims, task, self._changes, world.storage.version, world.node_facts_version, ends)
        if self._last is None or self._last[0] != key:
            self._last = (key, planner.plan(task, claims, self._promised))
        return self._last[1]

    def _promise(self, world: World, node: int, step: Step) -> Promise:
        """What a claim gets on a node."""
        claim, number = step.claim, int(step.choice[node])
        promise = self._promised.get(claim.key)
        if promise is not None and promise.claim_uid == claim.uid:
            return promise
        made = Promise(claim.uid, claim.storage_class, claim.size)
        if number == NONE:
            return structs.replace(made, node=claim.selected_node or world.nodes.keys[node])
        volume = self._planner_of(world).matching.volumes[number]
        return structs.replace(made, volume=volume.name, volume_uid=volume.uid)

    def _count(self, token: Token, pods: int) -> None:
        if token:
            self._changes += 1
        for claim, promise in token:
            self._promised.count(claim, promise, pods)

    def __deepcopy__(self, memo: dict[int, Any]) -> "VolumeBook":
        other = VolumeBook(strict=self._strict)
        other._promised = self._promised.fork()
        other._changes = self._changes
        return other


def _payload(claim: ClaimReference, promise: Promise) -> Payload:
    plan = VolumePlan(promise.claim_uid, promise.volume, promise.volume_uid, promise.node)
    return plan.for_claim(claim.name)
