"""One of several who may lead: whoever holds a Lease, and only while that is sure.

The holder writes the time into the Lease every few seconds. Another one may take it when it has watched the Lease for
its full duration without seeing it change. That is measured on the watcher's own clock from when it saw the last
change, so clocks of different machines need not agree; the times in the Lease are for people.

The leader on its side stops believing earlier: `is_leader` holds until `renew_within` seconds after the last renewal
*was sent*, which is sooner than anybody else can have waited `duration` since it *arrived*. It is a comparison with the
clock each time it is asked, so a process that stood still and wakes up knows at once that it may have been deposed. The
clock goes on while a machine sleeps, where there is such a clock. What is under way at that moment, nobody can call
back: that is what preconditions (a uid, a resourceVersion) are for.
"""

import asyncio
import math
import time
from collections.abc import Callable
from contextlib import suppress
from random import Random as Lots
from urllib.parse import quote

import msgspec
from msgspec import Struct, structs

from posse.kube.api.answers import ApiError, LostError
from posse.kube.api.backing_off import Random
from posse.kube.api.client import ApiClient, Patch, Sleep
from posse.kube.api.credentials import Clock, CredentialError
from posse.kube.api.resources import NOT_FOUND
from posse.kube.api.times import micro_time


class LeaseTiming(Struct, frozen=True):
    """In seconds; each must be larger than the next, and by more than clocks differ in speed."""

    duration: float = 15.0
    """How long others must see no change before they take the lease."""
    renew_within: float = 10.0
    """How long a renewal lets us lead."""
    retry: float = 2.0
    """How often it is renewed, or tried to be taken."""


class LeaseSpec(Struct, frozen=True, rename="camel"):
    """Who holds a lease, and how it came to that."""

    holder_identity: str | None = None
    lease_duration_seconds: int | None = None
    acquire_time: str | None = None
    renew_time: str | None = None
    lease_transitions: int | None = None


class LeaseMeta(Struct, frozen=True, rename="camel", omit_defaults=True):
    """Which lease, and which version of it: a write with a version holds only if that is still the last."""

    name: str = ""
    resource_version: str = ""


class Lease(Struct, frozen=True, rename="camel"):
    """A lease as far as we read and write it. As a patch it leaves the rest as it is."""

    metadata: LeaseMeta
    spec: LeaseSpec = LeaseSpec()


def steady_clock() -> float:
    """Seconds that go on while the machine sleeps, where the system has such a clock."""
    boot = getattr(time, "CLOCK_BOOTTIME", None)
    return time.monotonic() if boot is None else time.clock_gettime(boot)


class Candidate:
    """One who would lead. `identity` must be nobody else's, not even that of our own former life."""

    def __init__(
        self,
        client: ApiClient,
        namespace: str,
        name: str,
        identity: str,
        *,
        timing: LeaseTiming = LeaseTiming(),  # noqa: B008 - immutable
        on_change: Callable[[bool], None] | None = None,
        clock: Clock = steady_clock,
        wall_clock: Clock = time.time,
        sleep: Sleep = asyncio.sleep,
        random: Random | None = None,
    ) -> None:
        if not timing.duration > timing.renew_within > timing.retry > 0:
            raise ValueError(f"{timing}: duration must exceed renew_within, and that retry")
        self.identity = identity
        self.trouble = ""
        """What went wrong the last time that something did."""
        self._client = client
        self._name = name
        self._collection = f"/apis/coordination.k8s.io/v1/namespaces/{quote(namespace)}/leases"
        self._path = f"{self._collection}/{quote(name)}"
        self._timing = timing
        self._on_change = on_change
        self._clock = clock
        self._wall_clock = wall_clock
        self._sleep = sleep
        self._random = random or Lots().random
        self._leads_until: float | None = None
        self._told = False
        self._spec = LeaseSpec()
        self._version = ""
        self._seen_at = 0.0

    @property
    def is_leader(self) -> bool:
        """Whether we lead, and nobody else can yet."""
        return self._leads_until is not None and self._clock() < self._leads_until

    @property
    def leader(self) -> str:
        """Who held the lease when it was last looked at; empty for nobody."""
        return self._spec.holder_identity or ""

    @property
    def term(self) -> int:
        """How often the lease had changed hands when it was last looked at. Only grows."""
        return self._spec.lease_transitions or 0

    async def run(self) -> None:
        """Try to lead, and to go on leading, until cancelled. `release` is up to whoever cancels."""
        while True:
            await self.try_once()
            await self._sleep(self._timing.retry * (1 + self._random() / 5))

    async def try_once(self) -> bool:
        """Take or renew the lease if it is ours to take, and say whether we lead."""
        asked_at = self._clock()
        try:
            if not (self.is_leader and self._version):
                await self._look()
            if self._may_take():
                await self._take()
                self._leads_until = asked_at + self._timing.renew_within
        except (ApiError, LostError, CredentialError, msgspec.MsgspecError) as fault:
            self._version = ""  # somebody may have written it, perhaps we did: look before the next time
            self.trouble = str(fault)
        self._tell()
        return self.is_leader

    async def release(self) -> None:
        """Lead no more, and let others know, so that they need not wait until the lease runs out."""
        led, self._leads_until = self.is_leader, None
        self._tell()
        if led and self._version:
            freed = structs.replace(self._spec, holder_identity=None, renew_time=self._now(), lease_duration_seconds=1)
            with suppress(ApiError, LostError, CredentialError, msgspec.MsgspecError):
                await self._write(freed, self._timing.retry)

    async def _look(self) -> None:
        """Read the lease, and note when we saw it change."""
        try:
            answer = await self._client.get(self._path, deadline=self._patience())
        except ApiError as refusal:
            if refusal.status != NOT_FOUND:
                raise
            answer = b'{"metadata":{}}'
        self._note(msgspec.json.decode(answer, type=Lease))

    def _note(self, lease: Lease) -> None:
        if lease.spec != self._spec:
            self._spec, self._seen_at = lease.spec, self._clock()
        self._version = lease.metadata.resource_version

    def _may_take(self) -> bool:
        """Whether it is ours, nobody's, or somebody's who has not been heard of for as long as it was given."""
        if self.leader in ("", self.identity):
            return True
        duration = max(self._spec.lease_duration_seconds or 0, self._timing.duration)
        return self._clock() >= self._seen_at + duration

    async def _take(self) -> None:
        """Write that it is ours. It fails if somebody else was faster."""
        ours = self.leader == self.identity
        now = self._now()
        spec = LeaseSpec(
            holder_identity=self.identity,
            lease_duration_seconds=math.ceil(self._timing.duration),
            acquire_time=self._spec.acquire_time if ours else now,
            renew_time=now,
            lease_transitions=self.term + (not ours and self._spec != LeaseSpec()),
        )
        await self._write(spec, self._patience())

    async def _write(self, spec: LeaseSpec, deadline: float) -> None:
        lease = Lease(LeaseMeta(self._name, self._version), spec)
        body = msgspec.json.encode(lease)
        if self._version:
            answer = await self._client.request("PATCH", self._path, body, Patch.MERGE, deadline=deadline)
        else:
            answer = await self._client.request("POST", self._collection, body, deadline=deadline)
        self._note(msgspec.json.decode(answer, type=Lease))

    def _patience(self) -> float:
        """How long to wait for an answer: a leader no longer than it leads."""
        if self._leads_until is None:
            return self._timing.renew_within
        return max(self._timing.retry, self._leads_until - self._clock())

    def _now(self) -> str:
        return micro_time(self._wall_clock())

    def _tell(self) -> None:
        leads = self.is_leader
        if leads != self._told:
            self._told = leads
            if self._on_change:
                self._on_change(leads)
