"""The binder carries out the binds of a cycle, gang by gang, and reports what came of each.

It decides nothing. Who goes where, what becomes of a gang of which a member was refused, when to try again: all that is
for the next cycle, which gets the outcomes as its input. What the binder promises is this: nothing of a gang is bound
before all of it is prepared; no pod has two requests under way; each bind has exactly one outcome, in finite time; and
`Bound` is only said of what the API server has said.

An answer may be lost on its way back, so that nobody knows. Then the pod is looked at (never in the server's cache,
which may be older than our own request), and if it has no node it is bound again, until the deadline.
"""

import asyncio
from collections.abc import Callable, Iterable, Mapping
from random import Random as Lots
from typing import Protocol
from urllib.parse import quote

import msgspec

from posse.binding.answers import Doubt, meaning, seen, seen_fault
from posse.binding.crew import Crew
from posse.binding.limiter import Limiter
from posse.binding.preparing import NotPreparedError, Preparer, preparations, prepare_all, undo_all
from posse.binding.terms import ANSWER, CLOSED, DEADLINE, NOT_LEADER, Fault, Fence, Report, defect, rest_after, said
from posse.binding.transactions import Book, Member, Transaction
from posse.cluster.records import Bind, Bound, Effect, Outcome, Refused, TimedOut
from posse.kube.api.answers import ApiError, LostError
from posse.kube.api.backing_off import Random
from posse.kube.api.client import Sleep
from posse.kube.api.credentials import Clock, CredentialError


class PodsApi(Protocol):
    """What we need of an API server; `ApiClient` is one.

    It should not repeat by itself (`Backoff(attempts=1)`): the fence must be asked before each request.
    """

    async def bind(self, namespace: str, name: str, uid: str, node: str, *, deadline: float | None = None) -> None:
        """Give a pod its node."""

    async def get(self, path: str, *, deadline: float | None = None) -> bytes:
        """Read an object, as it is now."""


class Binder:
    """Carries out binds. Lives in one event loop.

    `may_bind` is asked before each request that would change something: a scheduler that has lost its lease binds
    nothing. `observe` is told how long the API server took for each bind that it took.
    """

    def __init__(
        self,
        client: PodsApi,
        report: Report,
        *,
        limiter: Limiter,
        may_bind: Fence,
        clock: Clock,
        sleep: Sleep,
        random: Random | None = None,
        preparers: Mapping[str, Preparer] | None = None,
        deadline: float = DEADLINE,
        observe: Callable[[float], None] = lambda _: None,
    ) -> None:
        self._client = client
        self._report = report
        self._limiter = limiter
        self._may_bind = may_bind
        self._clock = clock
        self._random = random or Lots().random
        self._preparers = preparers or {}
        self._deadline = deadline
        self._observe = observe
        self._book = Book()
        self._crew = Crew(self._advance, self._end_all, limiter, sleep)
        self._closed = False
        self._idle = asyncio.Event()
        self._idle.set()

    # what the scheduler's shell does with it

    @property
    def open(self) -> int:
        """How many binds have no outcome yet."""
        return self._book.open

    @property
    def in_flight(self) -> int:
        """How many of them are in hand at this moment."""
        return self._crew.working

    def carry_out(self, effects: Iterable[Effect]) -> None:
        """Begin what a cycle decided. Returns at once."""
        binds = [it for it in effects if isinstance(it, Bind)]
        if self._closed:
            for bind in binds:
                self._report(not_done(bind, CLOSED))
        elif binds:
            self._idle.clear()
            self._begin(self._book.enter(binds))

    async def drain(self, deadline: float) -> None:
        """Take nothing new, and wait until all is done; what is not after so many seconds is given up."""
        self._closed = True
        await self._crew.finish(self._idle, deadline)

    # a gang

    def _begin(self, transactions: Iterable[Transaction]) -> None:
        for it in transactions:
            if any(member.bind.payloads for member in it.members):
                self._crew.send(self._prepare(it))
            else:
                self._bind(it)

    async def _prepare(self, transaction: Transaction) -> None:
        try:
            wanted = preparations((it.bind for it in transaction.members), self._preparers)
            if not self._may_bind():
                raise NotPreparedError(NOT_LEADER)
            await prepare_all(wanted)
        except NotPreparedError as fault:
            for member in transaction.members:
                self._end(member, not_done(member.bind, str(fault)))
        else:
            self._bind(transaction)

    def _bind(self, transaction: Transaction) -> None:
        transaction.begin_binding(self._clock() + self._deadline)
        self._crew.give(transaction.number, transaction.members)

    # a member: one step each time that its turn comes

    async def _advance(self, member: Member) -> None:
        """One request for a member, and what follows from its answer."""
        try:
            await self._step(member)
        except Exception as fault:
            self._give_up(member, defect(fault))
            raise

    async def _step(self, member: Member) -> None:
        left = member.transaction.deadline - self._clock()
        if left <= 0:
            self._give_up(member, "not bound in time")
        elif member.look:
            await self._look(member, min(left, ANSWER))
        elif not self._may_bind():
            self._give_up(member, NOT_LEADER)
        else:
            await self._ask(member, min(left, ANSWER))

    async def _ask(self, member: Member, seconds: float) -> None:
        """Ask for the bind."""
        bind, doubted = member.bind, member.doubt
        namespace, _, name = bind.pod.partition("/")
        member.look = member.doubt = True
        began, sent = self._clock(), self._limiter.sent
        try:
            async with asyncio.timeout(seconds):
                await self._client.bind(namespace, name, bind.uid, bind.node, deadline=seconds)
        except (ApiError, LostError, CredentialError, TimeoutError) as fault:
            self._limiter.learn(sent, self._clock() - began, fault, full=self._crew.full)
            meant = meaning(bind, fault, member.failures)
            if not isinstance(meant, Doubt):
                self._end_as_told(member, meant)
                return
            if meant is Doubt.AGAIN:
                member.look, member.doubt = False, doubted
            self._rest(member, fault)
        else:
            took = self._clock() - began
            self._limiter.learn(sent, took, full=self._crew.full)
            self._observe(took)
            self._end(member, Bound(bind.pod, bind.uid, bind.node))

    async def _look(self, member: Member, seconds: float) -> None:
        """Look what became of the last request."""
        namespace, _, name = member.bind.pod.partition("/")
        path = f"/api/v1/namespaces/{namespace}/pods/{quote(name)}"
        began, sent = self._clock(), self._limiter.sent
        try:
            async with asyncio.timeout(seconds):
                outcome = seen(member.bind, await self._client.get(path, deadline=seconds))
            self._limiter.learn(sent, self._clock() - began, full=self._crew.full)
        except msgspec.DecodeError:
            self._rest(member, LostError("what the pod is like could not be read"))
            return
        except (ApiError, LostError, CredentialError, TimeoutError) as fault:
            self._limiter.learn(sent, self._clock() - began, fault, full=self._crew.full)
            outcome = seen_fault(member.bind, fault)
            if outcome is None:
                self._rest(member, fault)
                return
        if outcome is not None:
            self._end_as_told(member, outcome)
        else:
            member.look = False
            self._crew.give(member.transaction.number, [member])

    def _rest(self, member: Member, fault: Fault) -> None:
        """Let a member wait before its next turn; unless that would be too late."""
        seconds = rest_after(fault, member.failures, self._random)
        member.failures += 1
        if self._clock() + seconds < member.transaction.deadline:
            self._crew.give_later(member.transaction.number, member, seconds)
        else:
            self._give_up(member, f"not bound in time: {said(fault)}")

    # how it ends

    def _give_up(self, member: Member, reason: str) -> None:
        """Nothing more will be sent for a member."""
        bind = member.bind
        self._end(member, TimedOut(bind.pod, bind.uid, reason) if member.doubt else not_done(bind, reason))

    def _end_as_told(self, member: Member, outcome: Outcome) -> None:
        """Give a member the outcome that the API server gave it, and give back what it does not need now."""
        if isinstance(outcome, Refused) and member.bind.payloads and self._may_bind():
            self._crew.send(self._undo(member, outcome))
        else:
            self._end(member, outcome)

    async def _undo(self, member: Member, outcome: Outcome) -> None:
        try:
            await undo_all(preparations([member.bind], self._preparers))
        finally:
            self._end(member, outcome)

    def _end(self, member: Member, outcome: Outcome) -> None:
        if member.outcome is None:
            self._begin(self._book.close(member, outcome))
            if not self._book.open:
                self._idle.set()
            self._report(outcome)

    def _end_all(self) -> None:
        """Nothing will be sent any more, for whatever reason."""
        self._closed = True
        for member in self._book.members():
            self._give_up(member, CLOSED)


def not_done(bind: Bind, reason: str) -> Refused:
    """A bind that was not carried out. That we may not, or not any more, is no fault of the pod's."""
    return Refused(bind.pod, bind.uid, reason, tried=reason not in (NOT_LEADER, CLOSED))
