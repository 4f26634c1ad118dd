"""A real API server, as tests of the client use it: pods, a client for a while, and somebody who listens."""

import asyncio
import json
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing, asynccontextmanager
from pathlib import Path
from typing import Any

from posse.kube.api.access import find_access
from posse.kube.api.backing_off import Backoff
from posse.kube.api.client import ApiClient
from posse.kube.api.records import Interrupted, Record, Seen, Synced, Vanished
from posse.kube.api.resources import resource_of
from posse.kube.api.watching import Selection, Timing, Watch
from posse.kube.objects import Pod
from tests.cluster.control_plane import ControlPlane

PODS = resource_of(Pod)
PATIENCE = 120.0
"""Seconds that anything may take, on a machine that has other things to do."""
SOON = Timing(quiet=3.0, backoff=Backoff(first=0.1, longest=0.5))


def manifest(name: str, **spec: Any) -> bytes:
    body = {"metadata": {"name": name}, "spec": {"containers": [{"name": "main", "image": "none"}], **spec}}
    return json.dumps(body).encode()


async def make_pods(client: ApiClient, namespace: str, names: list[str]) -> dict[str, str]:
    """Make pods, and give their uids."""
    answers = await asyncio.gather(*(client.create(PODS.path(namespace), manifest(name)) for name in names))
    return {name: json.loads(answer)["metadata"]["uid"] for name, answer in zip(names, answers, strict=True)}


def with_client(plane: ControlPlane, use: Callable[[ApiClient], Awaitable[Any]], kubeconfig: Path | None = None) -> Any:
    async def story() -> Any:
        async with asyncio.timeout(PATIENCE), ApiClient(find_access({}, str(kubeconfig or plane.kubeconfig))) as client:
            return await use(client)

    return asyncio.run(story())


class View:
    """What somebody knows who listens to a watch."""

    def __init__(self) -> None:
        self.there: dict[str, Seen] = {}
        self.told: Counter[type[Record]] = Counter()
        self.vanished: list[Vanished] = []
        self.interruptions: list[str] = []
        self.moved = asyncio.Event()

    def take(self, records: list[Record]) -> None:
        for record in records:
            self.told[type(record)] += 1
            match record:
                case Seen(it):
                    self.there[it.metadata.name] = record
                case Vanished():
                    self.vanished.append(record)
                    assert self.there.pop(record.name).object.metadata.uid == record.uid
                case Interrupted(_, why):
                    self.interruptions.append(why)
        self.moved.set()

    async def until(self, question: Callable[[], bool]) -> None:
        while not question():
            self.moved.clear()
            await self.moved.wait()

    def node_of(self, name: str) -> str:
        it = self.there[name].object
        assert isinstance(it, Pod)
        return it.spec.node_name


@asynccontextmanager
async def listening(
    client: ApiClient, selection: Selection, timing: Timing = SOON, *, streaming: bool = True, **more: Any
) -> AsyncIterator[View]:
    """Listen to pods, and have heard what is there."""
    view = View()
    watch = Watch(client, PODS, selection, timing=timing, **more)
    watch._streams_lists = streaming

    async def listen() -> None:
        async with aclosing(watch.records()) as batches:
            async for records in batches:
                view.take(records)

    task = asyncio.create_task(listen())
    try:
        await view.until(lambda: view.told[Synced] > 0)
        yield view
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def first_of(watch: Watch) -> AsyncIterator[list[Record]]:
    async with aclosing(watch.records()) as batches:
        async for records in batches:
            yield records
            if any(isinstance(it, Synced) for it in records):
                return
