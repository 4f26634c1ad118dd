"""The observer: when each pod was first seen, and when with a node. It stands outside of whoever schedules."""

import asyncio
import time
from collections import defaultdict
from contextlib import aclosing

from posse.kube.api.client import ApiClient
from posse.kube.api.records import Seen
from posse.kube.api.resources import resource_of
from posse.kube.api.watching import Watch
from posse.kube.objects import Pod


class Observer:
    """Follows all pods."""

    def __init__(self, expected: int) -> None:
        self.expected = expected
        self.created: dict[str, float] = {}
        self.bound: dict[str, float] = {}
        self.all_created, self.all_bound = asyncio.Event(), asyncio.Event()
        self.waiting: asyncio.Queue[tuple[str, str]] = asyncio.Queue()
        """Pods (name and uid) in the order in which they were first seen."""

    async def run(self, client: ApiClient) -> None:
        """Follow, until cancelled."""
        async with aclosing(Watch(client, resource_of(Pod)).records()) as told:
            async for records in told:
                now = time.monotonic()
                for record in records:
                    if isinstance(record, Seen) and isinstance(record.object, Pod):
                        self._see(record.object, now)

    def _see(self, pod: Pod, now: float) -> None:
        name = pod.metadata.name
        if name not in self.created:
            self.created[name] = now
            self.waiting.put_nowait((name, pod.metadata.uid))
        if pod.spec.node_name:
            self.bound.setdefault(name, now)
        if len(self.created) >= self.expected:
            self.all_created.set()
        if len(self.bound) >= self.expected:
            self.all_bound.set()

    def waits(self, since: float = 0.0) -> list[float]:
        """By gang, seconds from its last pod (or a later moment) to its last bind; sorted."""
        created: dict[str, float] = defaultdict(float)
        bound: dict[str, float] = defaultdict(float)
        for name, when in self.bound.items():
            gang = name.rpartition("-")[0]
            created[gang] = max(created[gang], self.created[name], since)
            bound[gang] = max(bound[gang], when)
        return sorted(bound[gang] - created[gang] for gang in bound)


async def bind_all(client: ApiClient, observer: Observer, nodes: int, at_once: int = 64) -> None:
    """The null binder: every pod to a node in turn, as it is seen, deciding nothing."""
    left = iter(range(observer.expected))

    async def work() -> None:
        for number in left:
            name, uid = await observer.waiting.get()
            await client.bind("default", name, uid, f"n{number % nodes}")

    async with asyncio.TaskGroup() as tasks:
        for _ in range(at_once):
            tasks.create_task(work())
