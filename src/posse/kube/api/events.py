"""Events for people: what was decided about an object, where `kubectl describe` shows it.

Whoever tells never waits: `tell` takes a note, and `run` writes it when there is time. Saying the same again counts
(`series`) instead of making another object. What would bury the rest, too much about one object or more than the queue
holds, is dropped and counted: an event is never worth a decision's delay.
"""

import asyncio
import time
from collections import OrderedDict, deque
from urllib.parse import quote

import msgspec
from msgspec import Struct

from posse.kube.api.answers import ApiError, LostError
from posse.kube.api.client import ApiClient, Patch
from posse.kube.api.credentials import Clock, CredentialError
from posse.kube.api.resources import NOT_FOUND
from posse.kube.api.times import micro_time
from posse.kube.meta import KubeObject

LONGEST_NOTE = 1000
"""The server takes 1024 bytes."""
LONGEST_NAME = 230
"""Of an object in the name of an event, which may have 253 in all."""
CONFLICT = 409


class EventLimits(Struct, frozen=True):
    """How much is too much."""

    waiting: int = 2000
    """How many events wait to be written."""
    remembered: int = 4000
    """How many kinds of event are remembered, to count them when they are told again."""
    burst: int = 25
    """How many events one object gets at once,"""
    refill: float = 300.0
    """and after how many seconds one more. Both are what client-go allows."""
    forgotten: float = 360.0
    """After how many seconds of silence the same is something new."""


class Reference(Struct, frozen=True, rename="camel", omit_defaults=True):
    """The object that an event is about."""

    api_version: str
    kind: str
    name: str
    namespace: str = ""
    uid: str = ""


def reference_to(thing: KubeObject) -> Reference:
    """Name an object."""
    meta = thing.metadata
    return Reference(thing.api_version, thing.kind_name, meta.name, meta.namespace, meta.uid)


class _Said(Struct, frozen=True):
    """What makes two events the same."""

    regarding: Reference
    type: str
    reason: str
    action: str
    note: str


class _Entry(Struct):
    """What became of it."""

    name: str
    first: float
    last: float
    heard: float
    count: int = 1
    written: int = 0
    waiting: bool = True


class _Tokens(Struct):
    """How many more events an object may get."""

    left: float
    at: float


class EventRecorder:
    """Writes events in the name of a controller."""

    def __init__(
        self,
        client: ApiClient,
        controller: str,
        instance: str,
        *,
        limits: EventLimits = EventLimits(),  # noqa: B008 - immutable
        clock: Clock = time.monotonic,
        wall_clock: Clock = time.time,
    ) -> None:
        self.dropped = 0
        """How many were told and are not written, unless as part of a later count."""
        self._client = client
        self._controller = controller
        self._instance = instance
        self._limits = limits
        self._clock = clock
        self._wall_clock = wall_clock
        self._entries: OrderedDict[_Said, _Entry] = OrderedDict()
        self._tokens: OrderedDict[Reference, _Tokens] = OrderedDict()
        self._queue: deque[_Said] = deque()
        self._filled = asyncio.Event()

    def tell(
        self,
        regarding: KubeObject | Reference,
        reason: str,
        note: str,
        *,
        type: str = "Normal",  # noqa: A002 - the field's name; the other one is Warning
        action: str = "Scheduling",
    ) -> None:
        """Take a note of what happened to an object. `reason` is one word, `note` is for people."""
        about = regarding if isinstance(regarding, Reference) else reference_to(regarding)
        said = _Said(about, type, reason, action, shortened(note))
        entry = self._entry(said)
        if entry.waiting:
            return
        if len(self._queue) >= self._limits.waiting or not self._may_write(about):
            self.dropped += 1
            return
        entry.waiting = True
        self._queue.append(said)
        self._filled.set()

    async def run(self) -> None:
        """Write what was told, until cancelled."""
        while True:
            await self._filled.wait()
            await self.flush()

    async def flush(self) -> None:
        """Write all that waits."""
        while self._queue:
            said = self._queue.popleft()
            if entry := self._entries.get(said):
                entry.waiting = False
                await self._write(said, entry)
            else:  # so much else was told since that it is forgotten
                self.dropped += 1
        self._filled.clear()

    def _entry(self, said: _Said) -> _Entry:
        """What is known of an event, with this time counted."""
        now, heard = self._wall_clock(), self._clock()
        entry = self._entries.get(said)
        if entry and heard - entry.heard < self._limits.forgotten:
            entry.count, entry.last, entry.heard = entry.count + 1, now, heard
        else:
            entry = _Entry(f"{said.regarding.name[:LONGEST_NAME]}.{int(now * 1e9):x}", now, now, heard, waiting=False)
            self._entries[said] = entry
        self._entries.move_to_end(said)
        if len(self._entries) > self._limits.remembered + self._limits.waiting:
            self._entries.popitem(last=False)
        return entry

    def _may_write(self, about: Reference) -> bool:
        """Whether an object may get one more event now."""
        now = self._clock()
        tokens = self._tokens.get(about) or _Tokens(self._limits.burst, now)
        tokens.left = min(self._limits.burst, tokens.left + (now - tokens.at) / self._limits.refill)
        tokens.at = now
        self._tokens[about] = tokens
        self._tokens.move_to_end(about)
        if len(self._tokens) > self._limits.remembered:
            self._tokens.popitem(last=False)
        if tokens.left < 1:
            return False
        tokens.left -= 1
        return True

    async def _write(self, said: _Said, entry: _Entry) -> None:
        count = entry.count
        try:
            if not (entry.written and await self._count(said, entry)):
                await self._create(said, entry)
            entry.written = count
        except (ApiError, LostError, CredentialError):
            self.dropped += 1

    async def _count(self, said: _Said, entry: _Entry) -> bool:
        """Say that it happened again. Events are deleted after an hour: no, if it is not there any more."""
        body = msgspec.json.encode({"series": self._series(entry)})
        try:
            await self._client.patch(f"{self._collection(said)}/{quote(entry.name)}", body, Patch.MERGE, repeat=True)
        except ApiError as refusal:
            if refusal.status != NOT_FOUND:
                raise
            return False
        return True

    async def _create(self, said: _Said, entry: _Entry) -> None:
        body = {
            "apiVersion": "events.k8s.io/v1",
            "kind": "Event",
            "metadata": {"name": entry.name},
            "eventTime": micro_time(entry.first),
            "reportingController": self._controller,
            "reportingInstance": self._instance,
            "type": said.type,
            "reason": said.reason,
            "action": said.action,
            "note": said.note,
            "regarding": said.regarding,
            **({"series": self._series(entry)} if entry.count > 1 else {}),
        }
        try:
            await self._client.create(self._collection(said), msgspec.json.encode(body), repeat=True)
        except ApiError as refusal:
            if refusal.status != CONFLICT:  # it was sent twice, and the first one arrived
                raise

    def _series(self, entry: _Entry) -> dict[str, object]:
        return {"count": entry.count, "lastObservedTime": micro_time(entry.last)}

    def _collection(self, said: _Said) -> str:
        """Where events about an object are: those about objects without a namespace in `default`."""
        return f"/apis/events.k8s.io/v1/namespaces/{quote(said.regarding.namespace or 'default')}/events"


def shortened(note: str) -> str:
    """A note that the server takes."""
    encoded = note.encode()
    return note if len(encoded) <= LONGEST_NOTE else encoded[: LONGEST_NOTE - 4].decode(errors="ignore") + " …"
