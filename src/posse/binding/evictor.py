"""The evictor carries out the evictions of a cycle, and reports which pods stay.

It asks: the Eviction API honours disruption budgets, and whose budget is used up is kept. That is told at once and not
tried again here, for the next cycle may find somebody else, or that nobody need leave any more. A plain delete, which
asks no budget, is for those who name it.

That a pod leaves is seen by all, so only `Kept` is reported. A pod that is gone, or another pod under its name, is as
good. An answer that was lost is asked for again: with its uid, a pod is evicted once however often it is said.
"""

import asyncio
from collections.abc import Iterable
from random import Random as Lots
from typing import Protocol
from urllib.parse import quote

from msgspec import Struct

from posse.binding.answers import CONFLICT, NOT_FOUND, NOT_THE_SAME
from posse.binding.crew import Crew
from posse.binding.limiter import Limiter
from posse.binding.terms import (
    ANSWER,
    CLOSED,
    DEADLINE,
    NOT_LEADER,
    STARTING,
    Fault,
    Fence,
    Report,
    defect,
    is_stranger,
    rest_after,
    said,
)
from posse.cluster.records import Effect, Evict, Kept
from posse.kube.api.answers import ApiError, LostError
from posse.kube.api.backing_off import Random
from posse.kube.api.client import Sleep
from posse.kube.api.credentials import Clock, CredentialError


class EvictionsApi(Protocol):
    """What we need of an API server; `ApiClient` is one. It should not repeat by itself (`Backoff(attempts=1)`)."""

    async def evict(self, namespace: str, name: str, uid: str, *, grace: int | None = None) -> None:
        """Ask a pod to leave."""

    async def delete(
        self, path: str, *, uid: str = "", version: str = "", grace: int | None = None, propagation: str = ""
    ) -> bytes:
        """Delete an object."""


class Leaving(Struct, eq=False):
    """An eviction, and how it stands. `deadline` is a time of the clock."""

    evict: Evict
    deadline: float
    failures: int = 0


class Evictor:
    """Carries out evictions. Lives in one event loop; `may_evict` is asked before each request."""

    def __init__(
        self,
        client: EvictionsApi,
        report: Report,
        *,
        limiter: Limiter,
        may_evict: Fence,
        clock: Clock,
        sleep: Sleep,
        random: Random | None = None,
        by_delete: bool = False,
        deadline: float = DEADLINE,
    ) -> None:
        self._client = client
        self._report = report
        self._limiter = limiter
        self._may_evict = may_evict
        self._clock = clock
        self._random = random or Lots().random
        self._ask = self._delete if by_delete else self._evict
        self._deadline = deadline
        self._open: dict[str, Leaving] = {}
        self._crew = Crew(self._advance, self._end_all, limiter, sleep)
        self._closed = False
        self._idle = asyncio.Event()
        self._idle.set()

    @property
    def open(self) -> int:
        """How many pods have been neither kept nor sent away yet."""
        return len(self._open)

    @property
    def in_flight(self) -> int:
        """How many of them are in hand at this moment."""
        return self._crew.working

    def carry_out(self, effects: Iterable[Effect]) -> None:
        """Begin what a cycle decided. Returns at once. Who is being sent away already is not sent twice."""
        for it in effects:
            if not isinstance(it, Evict) or it.uid in self._open:
                continue
            if self._closed:
                self._report(Kept(it.pod, it.uid, CLOSED))
                continue
            leaving = self._open[it.uid] = Leaving(it, self._clock() + self._deadline)
            self._idle.clear()
            self._crew.give(0, [leaving])

    async def drain(self, deadline: float) -> None:
        """Take nothing new, and wait until all is done; what is not after so many seconds is given up."""
        self._closed = True
        await self._crew.finish(self._idle, deadline)

    async def _advance(self, leaving: Leaving) -> None:
        """One request for a pod, and what follows from its answer."""
        try:
            await self._step(leaving)
        except Exception as fault:
            self._keep(leaving, defect(fault))
            raise

    async def _step(self, leaving: Leaving) -> None:
        left = leaving.deadline - self._clock()
        if left <= 0:
            self._keep(leaving, "not evicted in time")
            return
        if not self._may_evict():
            self._keep(leaving, NOT_LEADER)
            return
        began, sent = self._clock(), self._limiter.sent
        try:
            async with asyncio.timeout(min(left, ANSWER)):
                await self._ask(leaving.evict)
        except (ApiError, LostError, CredentialError, TimeoutError) as fault:
            self._limiter.learn(sent, self._clock() - began, fault, full=self._crew.full)
            self._not_sent_away(leaving, fault)
        else:
            self._limiter.learn(sent, self._clock() - began, full=self._crew.full)
            self._end(leaving)

    async def _evict(self, it: Evict) -> None:
        namespace, _, name = it.pod.partition("/")
        await self._client.evict(namespace, name, it.uid)

    async def _delete(self, it: Evict) -> None:
        namespace, _, name = it.pod.partition("/")
        await self._client.delete(f"/api/v1/namespaces/{namespace}/pods/{quote(name)}", uid=it.uid)

    def _not_sent_away(self, leaving: Leaving, fault: Fault) -> None:
        """What follows if a pod was not simply sent away."""
        may_pass = not isinstance(fault, ApiError) or fault.passing
        if may_pass or (is_stranger(fault) and leaving.failures < STARTING):
            self._rest(leaving, fault)
        elif is_gone(fault):
            self._end(leaving)
        else:
            self._keep(leaving, budget_in(fault) or said(fault))

    def _rest(self, leaving: Leaving, fault: Fault) -> None:
        """Let a pod wait before its next turn; unless that would be too late."""
        seconds = rest_after(fault, leaving.failures, self._random)
        leaving.failures += 1
        if self._clock() + seconds < leaving.deadline:
            self._crew.give_later(0, leaving, seconds)
        else:
            self._keep(leaving, f"not evicted in time: {said(fault)}")

    def _keep(self, leaving: Leaving, reason: str) -> None:
        if self._end(leaving):
            self._report(Kept(leaving.evict.pod, leaving.evict.uid, reason))

    def _end(self, leaving: Leaving) -> bool:
        """Whether this is the end of it, and not a second one."""
        ended = self._open.pop(leaving.evict.uid, None) is not None
        if not self._open:
            self._idle.set()
        return ended

    def _end_all(self) -> None:
        """Nothing will be sent any more, for whatever reason."""
        self._closed = True
        for leaving in list(self._open.values()):
            self._keep(leaving, CLOSED)


def is_gone(fault: Fault) -> bool:
    """Whether the pod that was meant is not there any more."""
    if not isinstance(fault, ApiError):
        return False
    return fault.status == NOT_FOUND or (fault.status == CONFLICT and bool(NOT_THE_SAME.search(fault.message)))


def budget_in(fault: Fault) -> str:
    """What a disruption budget says; empty if it was not one that refused."""
    if not isinstance(fault, ApiError) or not fault.by_budget:
        return ""
    return next((it.message for it in fault.details.causes if it.reason == "DisruptionBudget" and it.message), "")
