"""The work: the parts of a scheduler, each told of the others that it needs.

    watches ──▶ intake ──▶ loop ──▶ binder, evictor, reports ──▶ API server
                  ▲          │           │
                  └──────────┼─ outcomes ┘
                             ▼
                          journal ──▶ log, figures ──▶ pages

Who makes it says when it begins and ends.
"""

import asyncio
import time
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from random import Random
from typing import Any

from posse.binding.binder import Binder
from posse.binding.evictor import Evictor
from posse.binding.limiter import Limiter, Pace
from posse.cluster.records import Outcome
from posse.dialects.customs import Customs
from posse.dialects.translator import Translator
from posse.kube.api.client import ApiClient
from posse.kube.api.events import EventRecorder
from posse.kube.api.leases import Candidate, LeaseTiming
from posse.kube.meta import KubeObject
from posse.live.explaining import explained
from posse.live.figures import Figures
from posse.live.intake import Intake
from posse.live.journal import Journal
from posse.live.loop import Carrier, Loop, Reporter
from posse.live.options import ServiceOptions
from posse.live.reports import Reports
from posse.live.volumes import preparers, volume_preparer
from posse.live.waits import Waits
from posse.live.watches import Watches
from posse.scheduler.engine import Engine
from posse.scheduler.metrics.series import Series, series

LEASE = LeaseTiming(duration=5.0, renew_within=4.0, retry=1.0)
TICK = 1.0
"""Seconds between two looks at what nobody is told of."""


class Work:
    """Everything that has to be done on one cluster."""

    def __init__(
        self,
        client: ApiClient,
        binding: ApiClient,
        kinds: Sequence[type[KubeObject]],
        engine: Engine,
        options: ServiceOptions,
        journal: Journal,
        figures: Figures,
        *,
        clock: Callable[[], int],
    ) -> None:
        self._engine, self._options, self._journal, self._figures = engine, options, journal, figures
        self._elects = options.elects and not options.dry_run
        place = (options.lease_namespace, options.lease_name, options.identity)
        self._candidate = Candidate(client, *place, timing=LEASE, on_change=journal.leads)
        customs = Customs.under(engine.configuration.compatibility.side)
        self.intake = Intake(Translator(options.scheduler_names, customs), kinds)
        self._events = EventRecorder(client, "posse", options.identity)
        self._reports = Reports(client, self._events)
        self._limiter = Limiter(Pace(), clock=time.monotonic, sleep=asyncio.sleep, random=Random().random)
        self._volumes = volume_preparer(binding, self.leads)
        self._binder, self._evictor = self._hands(binding)
        self._watches = Watches(client, kinds, self.intake, [self._reports.put, self._volumes.put], journal)
        self.loop = self._loop(clock)

    def _hands(self, binding: ApiClient) -> tuple[Binder, Evictor]:
        """Who carries out what is decided. They meet the same server, and share what they learn of it."""
        limiter, clock, sleep = self._limiter, time.monotonic, asyncio.sleep
        observe = self._figures.binds.observe
        return (
            Binder(
                binding,
                self._learn,
                limiter=limiter,
                may_bind=self.leads,
                clock=clock,
                sleep=sleep,
                preparers=preparers(self._volumes),
                observe=observe,
            ),
            Evictor(binding, self._learn, limiter=limiter, may_evict=self.leads, clock=clock, sleep=sleep),
        )

    def _loop(self, clock: Callable[[], int]) -> Loop:
        carriers: list[Carrier] = [self._binder, self._evictor]
        reporters: list[Reporter] = [self._journal.cycle, Waits(self._engine.world, self._journal.bound)]
        acts = not self._options.dry_run
        return Loop(
            self._engine,
            self.intake,
            carriers if acts else (),
            may_decide=self.leads,
            clock=clock,
            reporters=[*reporters, self._reports] if acts else reporters,
            beat=self._journal.beat,
            seconds=time.monotonic,
        )

    def _learn(self, outcome: Outcome) -> None:
        self._journal.outcome(outcome)
        self.intake.report(outcome)

    # ------------------------------------------------------------------ from beginning to end

    def tasks(self) -> Iterator[Coroutine[Any, Any, None]]:
        """Everything that goes on beside the cycles, for ever."""
        yield from (self._watches.run(kind) for kind in self._watches.kinds)
        yield self._reports.run()
        yield self._events.run()
        yield self._look_after()
        if self._elects:
            yield self._candidate.run()

    async def _look_after(self) -> None:
        while True:
            await asyncio.sleep(TICK)
            if self._candidate.trouble:
                self._journal.lease_unsure(self._candidate.trouble)
                self._candidate.trouble = ""
            self._journal.tick()

    def wake(self) -> None:
        """Have a cycle run soon, whether or not anything came in."""
        self.intake.woken.set()

    async def drain(self, seconds: float) -> None:
        """See what is under way to its end."""
        await asyncio.gather(self._binder.drain(seconds), self._evictor.drain(seconds))

    async def give_back(self) -> None:
        """Let another one lead."""
        if self._elects:
            await self._candidate.release()

    # ------------------------------------------------------------------ how it stands

    def leads(self) -> bool:
        """Whether it may change anything."""
        return not self._elects or self._candidate.is_leader

    @property
    def leader(self) -> str:
        """Who leads, as far as is known; empty for nobody."""
        return self._candidate.leader

    def is_ready(self) -> bool:
        """Whether it knows all that there is."""
        return self.intake.is_synced

    def silence(self) -> float:
        """For how many seconds it has stood still that should turn."""
        return self.loop.silence()

    def metrics(self) -> str:
        """All figures, as Prometheus reads them."""
        return self._figures.text(self._engine, self._standing())

    def explain(self, gang: str) -> Mapping[str, Any] | None:
        """Why a gang waits; nothing if there is none of this name."""
        return explained(self._engine, self._figures.tally, gang)

    def _standing(self) -> Iterator[Series]:
        yield series("posse_is_leader", self.leads())
        yield series("posse_ready", self.intake.is_synced)
        yield series("posse_binds_open", self._binder.open)
        yield series("posse_binds_in_flight", self._binder.in_flight)
        yield series("posse_evictions_open", self._evictor.open)
        yield series("posse_api_limit", self._limiter.limit)
        yield series("posse_events_dropped_total", self._events.dropped)
        yield series("posse_status_failures_total", self._reports.failures)
        yield series("posse_unreadable_objects", len(self.intake.unreadable))
