"""Volumes made ready: each claim of a gang gets what was decided for it, before any member is bound.

    look at the claim ──bound──▶ ready, if the node reaches its volume
         ▲    │ not yet
         │    ├─ a volume was chosen: keep it for the claim
         │    └─ one is to be made: say at which node
         └──rest──┘

Who binds claims and makes volumes is the cluster: we say what is wanted and look what comes of it, again and again
until the deadline. So it does not matter what was done before us, or whether an answer was lost. Every change names the
version that we looked at.

Undone is only what can be: a volume that is not made yet is no longer asked for, if it was us who did and no other pod
of ours needs it. What is kept for a claim stays so; it may be bound already, and the next decision goes by it.
"""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from random import Random as Lots
from typing import Any, Protocol, TypeVar, cast
from urllib.parse import quote

import msgspec
from msgspec import Struct, field

from posse.binding.answers import CONFLICT, NOT_FOUND
from posse.binding.preparing import NotPreparedError
from posse.binding.terms import ANSWER, NOT_LEADER, Fence, said
from posse.cluster.records import Bind, Payload
from posse.cluster.selectors import NodeTerm, Operator, Requirement
from posse.cluster.volume_plans import VolumePlan, plan_in
from posse.kube.api.answers import ApiError, LostError
from posse.kube.api.backing_off import Backoff, Random
from posse.kube.api.client import Patch
from posse.kube.api.credentials import CredentialError
from posse.kube.api.records import Record, Seen
from posse.kube.meta import LabelRequirement
from posse.kube.volumes import PersistentVolumeClaim, PersistentVolumeClaimSpec, PersistentVolumeSpec

DEADLINE = 600.0
"""Seconds that making a volume may take, as with Kubernetes' own scheduler."""
LOOKS = Backoff(first=0.25, longest=8.0)
"""Between two looks at a claim of which no news comes."""
AT_ONCE = 32
"""Requests under way at the most."""

SELECTED_NODE = "volume.kubernetes.io/selected-node"
BIND_COMPLETED = "pv.kubernetes.io/bind-completed"
BOUND_BY_CONTROLLER = "pv.kubernetes.io/bound-by-controller"


Thing = TypeVar("Thing")


class StorageApi(Protocol):
    """What we need of an API server; `ApiClient` is one."""

    async def get(self, path: str, *, deadline: float | None = None) -> bytes:
        """Read an object, as it is now."""

    async def patch(self, path: str, body: bytes, kind: Patch = Patch.MERGE) -> bytes:
        """Write what shall be different."""


class _Meta(Struct, frozen=True, rename="camel"):
    uid: str = ""
    resource_version: str = ""
    labels: dict[str, str] = field(default_factory=dict)
    annotations: dict[str, str] = field(default_factory=dict)

    @property
    def as_seen(self) -> dict[str, str]:
        """What makes a change one of this object in this version."""
        return {"uid": self.uid, "resourceVersion": self.resource_version}


class _Claim(Struct, frozen=True):
    metadata: _Meta = _Meta()
    spec: PersistentVolumeClaimSpec = PersistentVolumeClaimSpec()

    @property
    def is_bound(self) -> bool:
        return bool(self.spec.volume_name) and BIND_COMPLETED in self.metadata.annotations

    @property
    def selected_node(self) -> str:
        return self.metadata.annotations.get(SELECTED_NODE, "")


class _Volume(Struct, frozen=True):
    metadata: _Meta = _Meta()
    spec: PersistentVolumeSpec = PersistentVolumeSpec()


class _Node(Struct, frozen=True):
    metadata: _Meta = _Meta()


class _Asked(Struct):
    """A claim for which a volume is to be made: which of our pods need it, and whether it was us who asked."""

    pods: set[str] = field(default_factory=set)
    by_us: bool = False


class VolumePreparer:
    """Makes volumes ready. `put` may be told what a watch of claims tells, so that nobody waits longer than needed."""

    def __init__(
        self,
        client: StorageApi,
        *,
        may_bind: Fence,
        random: Random | None = None,
        deadline: float = DEADLINE,
    ) -> None:
        self._client, self._may_bind = client, may_bind
        self._random, self._deadline = random or Lots().random, deadline
        self._asked: dict[str, _Asked] = {}
        """By the uid of the claim."""
        self._news: dict[str, asyncio.Event] = {}
        """By claim, set when something is heard of one that is waited for."""
        self._line = asyncio.Semaphore(AT_ONCE)

    @property
    def deadline(self) -> float:
        """Seconds that preparing one may take, and undoing it."""
        return self._deadline

    def put(self, record: Record) -> None:
        """Hear of a claim."""
        if isinstance(record, Seen) and isinstance(record.object, PersistentVolumeClaim):
            meta = record.object.metadata
            event = self._news.get(f"{meta.namespace}/{meta.name}")
            if event is not None:
                event.set()

    async def prepare(self, bind: Bind, payload: Payload) -> None:
        """Have a claim bound to what was decided for it."""
        plan = plan_in(payload)
        asked = self._asked.setdefault(plan.claim_uid, _Asked())
        asked.pods.add(bind.uid)
        seen_asked = False

        async def advance() -> bool:
            nonlocal seen_asked
            claim = await self._claim(payload.name, plan)
            if claim.is_bound:
                await self._check(claim, bind, plan)
                return True
            if plan.volume:
                await self._keep(plan, payload.name, claim)
            elif claim.selected_node == plan.node:
                seen_asked = True
            elif claim.selected_node:
                raise NotPreparedError(f"its volume is being made at {claim.selected_node}")
            elif seen_asked:
                raise NotPreparedError(f"no volume could be made at {plan.node}")
            else:
                asked.by_us = True
                await self._select(payload.name, claim, plan.node)
                seen_asked = True
            return False

        await self._until(payload.name, advance)
        self._asked.pop(plan.claim_uid, None)

    async def undo(self, bind: Bind, payload: Payload) -> None:
        """Ask no longer for a volume that is not made yet, if nobody else needs it."""
        plan = plan_in(payload)
        asked = self._asked.get(plan.claim_uid)
        if asked is None:
            return
        asked.pods.discard(bind.uid)
        if asked.pods:
            return
        del self._asked[plan.claim_uid]

        async def advance() -> bool:
            with suppress(NotPreparedError):  # it is gone: there is nothing to undo
                claim = await self._claim(payload.name, plan)
                if not claim.is_bound and claim.selected_node == plan.node:
                    await self._select(payload.name, claim, None)
            return True

        if asked.by_us and plan.node:
            await self._until(payload.name, advance)

    # ------------------------------------------------------------------ steps

    async def _until(self, claim: str, advance: Callable[[], Awaitable[bool]]) -> None:
        """Take a step again and again until it says that all is done; what may pass is waited out."""
        looks = 0
        event = self._news.setdefault(claim, asyncio.Event())
        try:
            while True:
                event.clear()
                try:
                    async with self._line, asyncio.timeout(ANSWER):
                        if await advance():
                            return
                except ApiError as fault:
                    if fault.status != CONFLICT and not fault.passing:
                        raise NotPreparedError(said(fault)) from fault
                except (LostError, CredentialError, TimeoutError):
                    pass
                await self._rest(event, LOOKS.delay(looks, self._random))
                looks += 1
        finally:
            if self._news.get(claim) is event:
                del self._news[claim]

    async def _rest(self, event: asyncio.Event, seconds: float) -> None:
        """Wait for news, and no longer than so many seconds."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await event.wait()

    async def _claim(self, key: str, plan: VolumePlan) -> _Claim:
        """The claim as it is now."""
        claim = await self._read(_claim_path(key), _Claim)
        if claim is None:
            raise NotPreparedError("the claim is gone")
        if claim.metadata.uid != plan.claim_uid:
            raise NotPreparedError("the claim is gone: another has its name")
        return claim

    async def _keep(self, plan: VolumePlan, key: str, claim: _Claim) -> None:
        """Keep a volume for a claim."""
        namespace, _, name = key.partition("/")
        volume = await self._volume(plan.volume)
        if plan.volume_uid and volume.metadata.uid != plan.volume_uid:
            raise NotPreparedError(f"volume {plan.volume} is gone: another has its name")
        kept = volume.spec.claim_ref
        is_kept = kept is not None and (kept.namespace, kept.name) == (namespace, name)
        is_ours = is_kept and kept is not None and kept.uid in ("", claim.metadata.uid)
        if kept is not None and not is_ours:
            raise NotPreparedError(f"volume {plan.volume} is kept for claim {kept.namespace}/{kept.name}")
        if kept is not None and kept.uid:
            return
        meta: dict[str, Any] = dict(volume.metadata.as_seen)
        if kept is None:
            meta["annotations"] = {BOUND_BY_CONTROLLER: "yes"}
        reference = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "namespace": namespace, "name": name}
        change = {"metadata": meta, "spec": {"claimRef": reference | claim.metadata.as_seen}}
        await self._change(_volume_path(plan.volume), change)

    async def _select(self, key: str, claim: _Claim, node: str | None) -> None:
        """Say at which node a claim's volume is to be made, or that none is."""
        await self._change(
            _claim_path(key), {"metadata": {**claim.metadata.as_seen, "annotations": {SELECTED_NODE: node}}}
        )

    async def _check(self, claim: _Claim, bind: Bind, plan: VolumePlan) -> None:
        """Make sure that a pod can use the volume that its claim got."""
        name = claim.spec.volume_name
        if plan.volume and name != plan.volume:
            raise NotPreparedError(f"it has volume {name} by now, not {plan.volume}")
        if plan.node in ("", bind.node):
            return
        volume, node = await self._volume(name), await self._read(f"/api/v1/nodes/{quote(bind.node)}", _Node)
        if node is None or not _is_reached(volume, node):
            raise NotPreparedError(f"its volume, made at {plan.node}, cannot be reached from {bind.node}")

    # ------------------------------------------------------------------ requests

    async def _volume(self, name: str) -> _Volume:
        volume = await self._read(_volume_path(name), _Volume)
        if volume is None:
            raise NotPreparedError(f"volume {name} is gone")
        return volume

    async def _read(self, path: str, kind: type[Thing]) -> Thing | None:
        """An object as it is now, None if it is not there."""
        try:
            return msgspec.json.decode(await self._client.get(path), type=kind)
        except ApiError as fault:
            if fault.status == NOT_FOUND:
                return None
            raise

    async def _change(self, path: str, change: dict[str, Any]) -> None:
        if not self._may_bind():
            raise NotPreparedError(NOT_LEADER)
        await self._client.patch(path, msgspec.json.encode(change))


def _claim_path(key: str) -> str:
    namespace, _, name = key.partition("/")
    return f"/api/v1/namespaces/{quote(namespace)}/persistentvolumeclaims/{quote(name)}"


def _volume_path(name: str) -> str:
    return f"/api/v1/persistentvolumes/{quote(name)}"


def _is_reached(volume: _Volume, node: _Node) -> bool:
    """Whether a volume can be reached from a node."""
    required = volume.spec.node_affinity.required if volume.spec.node_affinity else None
    if required is None:
        return True
    terms = (
        NodeTerm(_demands(term.match_expressions), _demands(term.match_fields)) for term in required.node_selector_terms
    )
    return any(term.matches("", node.metadata.labels) for term in terms)


def _demands(written: tuple[LabelRequirement, ...]) -> tuple[Requirement, ...]:
    return tuple(Requirement(each.key, cast(Operator, each.operator), each.values) for each in written)
