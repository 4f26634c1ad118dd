"""The service: everything that a scheduler on a cluster is made of, put together, started and ended.

    watches ──▶ intake ──▶ loop ──▶ binder, evictor, reports ──▶ API server

All of it lives in one event loop and in one task group: what fails for good ends the whole, with its reason. When asked
to end, it decides nothing more, sees what is under way to its end, and gives the lease back.
"""

import asyncio
import gc
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from random import Random

from msgspec import Struct

from posse.binding.binder import Binder
from posse.binding.evictor import Evictor
from posse.binding.limiter import Limiter, Pace
from posse.cluster.records import Bind, CycleResult, Evict
from posse.cluster.world import World
from posse.dialects.customs import Customs
from posse.dialects.translator import Translator
from posse.kube.api.access import Access
from posse.kube.api.backing_off import Backoff
from posse.kube.api.client import ApiClient
from posse.kube.api.events import EventRecorder
from posse.kube.api.leases import Candidate, LeaseTiming
from posse.kube.api.records import Interrupted, Unreadable
from posse.kube.api.resources import is_served, resource_of
from posse.kube.api.watching import Watch
from posse.kube.meta import KubeObject
from posse.kube.objects import (
    Namespace,
    Node,
    Pod,
    PodDisruptionBudget,
    PodGroup,
    PriorityClass,
    Queue,
    ResourceQuota,
)
from posse.live.intake import Intake
from posse.live.loop import Carrier, Loop, Reporter
from posse.live.reports import Reports
from posse.scheduler.configuration import Configuration
from posse.scheduler.engine import Engine
from posse.scheduler.registry import Registry

BUILT_IN: tuple[type[KubeObject], ...] = (
    Namespace,
    PriorityClass,
    Node,
    ResourceQuota,
    PodDisruptionBudget,
    Pod,
)
CUSTOM: tuple[type[KubeObject], ...] = (Queue, PodGroup)
"""Kinds that are there only if somebody has installed them."""

ONCE = Backoff(attempts=1)
"""Binds are asked for again by the binder, which asks first whether it still may."""

LEASE = LeaseTiming(duration=5.0, renew_within=4.0, retry=1.0)
Tell = Callable[[str], None]


class ServiceOptions(Struct, frozen=True, kw_only=True):
    """How a scheduler runs."""

    scheduler_names: tuple[str, ...] = ("posse",)
    dry_run: bool = False
    """Decide and say, and change nothing."""
    lease_namespace: str = "kube-system"
    lease_name: str = "posse"
    identity: str = "posse"
    elects: bool = True
    """Whether there may be others of its name, of which one leads."""
    drain_seconds: float = 30.0


class Service:
    """One scheduler on one cluster."""

    def __init__(
        self,
        access: Access,
        configuration: Configuration,
        registry: Registry,
        options: ServiceOptions,
        tell: Tell,
        *,
        clock: Callable[[], int] = time.time_ns,
    ) -> None:
        self._access, self._options, self._tell, self._clock = access, options, tell, clock
        self._engine = Engine(World(), configuration, registry, heals=True)
        self._translator = Translator(options.scheduler_names, Customs.under(configuration.compatibility.side))
        self._ended = asyncio.Event()

    def end(self) -> None:
        """Ask it to end in good order."""
        self._ended.set()

    async def run(self) -> None:
        """Schedule until asked to end."""
        async with AsyncExitStack() as stack:
            client = await stack.enter_async_context(ApiClient(self._access))
            binding = await stack.enter_async_context(ApiClient(self._access, backoff=ONCE))
            kinds = [*BUILT_IN, *[kind for kind in CUSTOM if await is_served(client, resource_of(kind))]]
            for kind in sorted({*CUSTOM} - {*kinds}, key=lambda each: each.KIND):
                self._tell(f"{kind.KIND} ({kind.API_VERSION}) is not served here; `posse install crds` installs it")
            await self._serve(client, binding, kinds)

    async def _serve(self, client: ApiClient, binding: ApiClient, kinds: Sequence[type[KubeObject]]) -> None:
        options = self._options
        candidate = Candidate(client, options.lease_namespace, options.lease_name, options.identity, timing=LEASE)
        leads = (lambda: candidate.is_leader) if options.elects and not options.dry_run else (lambda: True)
        intake = Intake(self._translator, kinds)
        events = EventRecorder(client, "posse", options.identity)
        reports = Reports(client, events)
        limiter = Limiter(Pace(), clock=time.monotonic, sleep=asyncio.sleep, random=Random().random)
        binder = Binder(
            binding, intake.report, limiter=limiter, may_bind=leads, clock=time.monotonic, sleep=asyncio.sleep
        )
        evictor = Evictor(
            binding, intake.report, limiter=limiter, may_evict=leads, clock=time.monotonic, sleep=asyncio.sleep
        )
        carriers: list[Carrier] = [] if options.dry_run else [binder, evictor]
        reporters: list[Reporter] = [self._tell_of] if options.dry_run else [self._tell_of, reports]
        loop = Loop(self._engine, intake, carriers, may_decide=leads, clock=self._clock, reporters=reporters)
        async with asyncio.TaskGroup() as tasks:
            running = [
                *[tasks.create_task(self._watch(client, kind, intake, reports)) for kind in kinds],
                tasks.create_task(reports.run()),
                tasks.create_task(events.run()),
            ]
            if options.elects and not options.dry_run:
                running.append(tasks.create_task(candidate.run()))
            deciding = tasks.create_task(loop.run())
            await self._ended.wait()
            loop.close()
            await deciding
            await asyncio.gather(binder.drain(options.drain_seconds), evictor.drain(options.drain_seconds))
            for task in running:
                task.cancel()
        if options.elects and not options.dry_run:
            await candidate.release()

    def _tell_of(self, now: int, result: CycleResult) -> None:
        """Say what a cycle decided, gang by gang."""
        would = "would " if self._options.dry_run else ""
        for gang, count in Counter(effect.gang for effect in result.effects if isinstance(effect, Bind)).items():
            self._tell(f"{gang}: {would}bind {count} {'pod' if count == 1 else 'pods'}")
        for effect in result.effects:
            if isinstance(effect, Evict):
                self._tell(f"{effect.by}: {would}evict {effect.pod} from {effect.node}: {effect.reason}")

    async def _watch(self, client: ApiClient, kind: type[KubeObject], intake: Intake, reports: Reports) -> None:
        async for records in Watch(client, resource_of(kind)).records():
            was_synced = intake.is_synced
            for record in records:
                intake.put(record)
                reports.put(record)
                if isinstance(record, Unreadable | Interrupted):
                    self._tell(f"{record.kind.KIND}: {record.why}")
            if intake.is_synced and not was_synced:
                gc.collect()
                gc.freeze()
                self._tell("ready: all kinds are listed")
