"""The service: a scheduler on a cluster, started and ended.

    kinds that the server has ──▶ work (watches, cycles, binds, statuses) ──▶ until asked to end ──▶ drained
                                    └── beside it: the lease, the pages, the configuration's file

All of it lives in one event loop and in one task group: what fails for good ends the whole, with its reason. A server
that does not answer at the start is such a reason; one that goes away later is waited for. When asked to end, it
decides nothing more, sees what is under way to its end, and gives the lease back.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager

from posse.cluster.world import World
from posse.errors import InputError
from posse.kube.api.access import Access
from posse.kube.api.backing_off import Backoff
from posse.kube.api.client import ApiClient
from posse.kube.api.resources import is_served, resource_of
from posse.kube.api.transport import HttpTransport
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
from posse.live.figures import Figures
from posse.live.journal import Journal
from posse.live.listening import Listener
from posse.live.log import Log
from posse.live.options import ServiceOptions
from posse.live.pages import Pages
from posse.live.reloading import Reloading
from posse.live.volumes import STORAGE, books
from posse.live.work import Work
from posse.scheduler.configuration import Configuration
from posse.scheduler.engine import Engine
from posse.scheduler.registry import Registry

BUILT_IN: tuple[type[KubeObject], ...] = (
    Namespace,
    PriorityClass,
    Node,
    ResourceQuota,
    PodDisruptionBudget,
    *STORAGE,
    Pod,
)
CUSTOM: tuple[type[KubeObject], ...] = (Queue, PodGroup)
"""Kinds that are there only if somebody has installed them."""

ONCE = Backoff(attempts=1)
"""Binds are asked for again by the binder, which asks first whether it still may."""


class Service:
    """One scheduler on one cluster."""

    def __init__(
        self,
        access: Access,
        configuration: Configuration,
        registry: Registry,
        options: ServiceOptions,
        log: Log,
        *,
        clock: Callable[[], int] = time.time_ns,
    ) -> None:
        self._access, self._options, self._log, self._clock = access, options, log, clock
        self._engine = Engine(World(), configuration, registry, books(), heals=True)
        self._figures = Figures()
        self._journal = Journal(log, self._figures, self._engine, time.monotonic, dry_run=options.dry_run)
        for warning in self._engine.warnings:
            log.warning("configuration", warning=warning)
        self._work: Work | None = None
        self._ended = asyncio.Event()
        self._reload = asyncio.Event()

    def end(self) -> None:
        """Ask it to end in good order."""
        self._ended.set()

    def reload(self) -> None:
        """Have the configuration read again."""
        if self._options.source is None:
            self._log.warning("nothing to reload: the configuration comes from no file")
        self._reload.set()

    async def run(self) -> None:
        """Schedule until asked to end."""
        async with AsyncExitStack() as stack:
            client = await stack.enter_async_context(ApiClient(self._access))
            fenced = HttpTransport(self._access, may_change=self._leads)
            binding = await stack.enter_async_context(ApiClient(self._access, fenced, backoff=ONCE))
            kinds = await self._kinds(client)
            work = self._work = Work(
                client, binding, kinds, self._engine, self._options, self._journal, self._figures, clock=self._clock
            )
            pages = Pages(work)
            await stack.enter_async_context(self._listening(pages))
            await self._serve(work, pages)

    def _leads(self) -> bool:
        return self._work is not None and self._work.leads()

    async def _kinds(self, client: ApiClient) -> Sequence[type[KubeObject]]:
        """The kinds that the server has; the first question to it, so it must be there."""
        kinds = [*BUILT_IN, *[kind for kind in CUSTOM if await is_served(client, resource_of(kind))]]
        for kind in sorted({*CUSTOM} - {*kinds}, key=lambda each: each.KIND):
            self._log.warning(
                "kind is not served: `posse install crds` installs it", kind=kind.KIND, version=kind.API_VERSION
            )
        return kinds

    async def _serve(self, work: Work, pages: Pages) -> None:
        async with asyncio.TaskGroup() as tasks:
            running = [tasks.create_task(each) for each in work.tasks()]
            if self._options.source is not None:
                reloading = Reloading(self._options.source, self._engine, self._log, self._figures, work.wake)
                running.append(tasks.create_task(reloading.run(self._reload)))
            deciding = tasks.create_task(work.loop.run())
            await self._ended.wait()
            pages.is_ending = True
            work.loop.close()
            await deciding
            await work.drain(self._options.drain_seconds)
            for task in running:
                task.cancel()
        self._journal.end()
        await work.give_back()

    @asynccontextmanager
    async def _listening(self, pages: Pages) -> AsyncIterator[None]:
        """Give pages, if anybody is to have them."""
        address = self._options.listen
        async with AsyncExitStack() as stack:
            if address is not None:
                try:
                    port = await stack.enter_async_context(Listener(pages.by_path()).at(address))
                    self._log.info("listening", host=address.host or "everywhere", port=port)
                except InputError as fault:
                    if address.must:
                        raise
                    self._log.warning("no pages are given", why=fault.message)
            yield
