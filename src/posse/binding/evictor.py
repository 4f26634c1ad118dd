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

from posse.binding.answers import CONFLICT, NOT_FOUND, NOT_THE_SAME, Fault, said
from posse.binding.binder import ANSWER, CLOSED, DEADLINE, NOT_LEADER, RESTS, Fence, Report
from posse.binding.crew import Crew
from posse.binding.limiter import Limiter
from posse.binding.line import Line
from posse.cluster.records import Effect, Evict, Kept
from posse.kube.api.answers import ApiError, LostError
from posse.kube.api.backing_off import Backoff, Random
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
        answer: float = ANSWER,
        rests: Backoff = RESTS,
    ) -> None:
        self._client = client
        self._report = report
        self._limiter = limiter
        self._may_evict = may_evict
        self._clock = clock
        self._sleep = sleep
        self._random = random or Lots().random
        self._ask = self._delete if by_delete else self._evict
        self._deadline = deadline
        self._answer = answer
        self._rests = rests
        self._open: dict[str, Leaving] = {}
        self._line: Line[Leaving] = Line()
        self._crew = Crew(self._line, self._advance, limiter, self._end_all)
        self._closed = False
        self._idle = asyncio.Event()
        self._idle.set()

    @property
    def open(self) -> int:
        """How many pods have been neither kept nor sent away yet."""
        return len(self._open)

    @property
    def in_flight(self) -> int:
        """How many of them are being carried out at this moment."""
        return self._crew.working

    def carry_out(self, effects: Iterable[Effect]) -> None:
        """Begin what a cycle decided. Returns at once. Who is being sent away already is not sent twice."""
        for it in effects:
            if isinstance(it, Evict) and it.uid not in self._open:
                if self._closed:
                    self._report(Kept(it.pod, it.uid, CLOSED))
                    continue
                leaving = self._open[it.uid] = Leaving(it, self._clock() + self._deadline)
                self._line.join(0, [leaving])
        if self._open:
            self._idle.clear()
        self._crew.call()

    async def drain(self, deadline: float) -> None:
        """Take nothing new, and wait until all is done; what is not after so many seconds is given up."""
        self._closed = True
        try:
            async with asyncio.timeout(deadline):
                await self._idle.wait()
        except TimeoutError:
            pass
        finally:
            await self._crew.dismiss()
            self._end_all()

    async def _advance(self, leaving: Leaving) -> None:
        """One request for a pod, and what follows from its answer."""
        try:
            await self._step(leaving)
        except Exception as defect:
            self._keep(leaving, f"{type(defect).__name__}: {defect}")
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
            async with asyncio.timeout(min(left, self._answer)):
                await self._ask(leaving.evict)
        except (ApiError, LostError, CredentialError, TimeoutError) as fault:
            self._learn(leaving, fault, sent, began)
        else:
            self._limiter.answered(sent, self._clock() - began, full=self._crew.full)
            self._end(leaving)

    async def _evict(self, it: Evict) -> None:
        namespace, _, name = it.pod.partition("/")
        await self._client.evict(namespace, name, it.uid)

    async def _delete(self, it: Evict) -> None:
        namespace, _, name = it.pod.partition("/")
        await self._client.delete(f"/api/v1/namespaces/{namespace}/pods/{quote(name)}", uid=it.uid)

    def _learn(self, leaving: Leaving, fault: Fault, sent: int, began: float) -> None:
        """What it tells that a pod was not simply sent away."""
        if isinstance(fault, ApiError) and not fault.passing:
            self._limiter.answered(sent, self._clock() - began, full=self._crew.full)
            if is_gone(fault):
                self._end(leaving)
            else:
                self._keep(leaving, budget_in(fault) or said(fault))
            return
        if isinstance(fault, ApiError) and fault.busy:
            self._limiter.busy(sent, fault.retry_after)
        else:
            self._limiter.failed(sent)
        self._rest(leaving, fault)

    def _rest(self, leaving: Leaving, fault: Fault) -> None:
        """Let a pod wait before its next turn; unless that would be too late."""
        told = fault.retry_after if isinstance(fault, ApiError) else 0.0
        delay = max(told, self._rests.delay(leaving.failures, self._random))
        leaving.failures += 1
        if self._clock() + delay < leaving.deadline:
            self._crew.send(self._again(leaving, delay))
        else:
            self._keep(leaving, f"not evicted in time: {said(fault)}")

    async def _again(self, leaving: Leaving, delay: float) -> None:
        await self._sleep(delay)
        self._line.join(0, [leaving])
        self._crew.call()

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


def is_gone(fault: ApiError) -> bool:
    """Whether the pod that was meant is not there any more."""
    return fault.status == NOT_FOUND or (fault.status == CONFLICT and NOT_THE_SAME in fault.message)


def budget_in(fault: ApiError) -> str:
    """What a disruption budget says; empty if it was not one that refused."""
    if not fault.by_budget:
        return ""
    return next((it.message for it in fault.details.causes if it.reason == "DisruptionBudget" and it.message), "")
