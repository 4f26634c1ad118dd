"""Runs: one shape, one binder, one fresh control plane.

`drain`: all pods are there before the binder begins, and its rate is that from its first bind to its last; how long it
took to the first, its own start included, is told apart. `open`: pods arrive while it works, and the time is that from
the first created to the last bound. The clock is the observer's, a watch of its own; the null binder is told of pods by
the same observer.
"""

import asyncio
import os
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Literal

from msgspec import Struct

from bench.cluster.costs import spent, usage, writes_in
from bench.cluster.load import Shape, create, groups_of, node, pods_of
from bench.cluster.observer import Observer, bind_all
from posse.kube.api.access import find_access
from posse.kube.api.client import ApiClient
from posse.kube.crds.definitions import definitions
from posse.kube.crds.installing import install
from tests.cluster.control_plane import ControlPlane, Options, control_plane
from tests.cluster.processes import Process

Mode = Literal["drain", "open"]
PATIENCE = 600.0
RBAC = Path(__file__).parents[2] / "deploy" / "rbac.yaml"


class Peer(Struct, frozen=True):
    """Who schedules, by the name that pods give. Without a command it is the null binder."""

    name: str
    command: str = ""
    """`{kubeconfig}` in it is replaced."""
    ready: str = ""
    """What its log says when it is ready."""


NULL = Peer("null")
SCHEDULER = f"{shlex.quote(sys.executable)} -m posse scheduler --kubeconfig {{kubeconfig}}"
POSSE = Peer("posse", SCHEDULER, "ready")


class Run(Struct, frozen=True):
    """What came of one run. Times in seconds."""

    peer: str
    shape: str
    mode: str
    bound: int
    first: float
    """Until the first bind."""
    seconds: float
    rate: float
    p50: float
    p99: float
    writes: float
    """Per pod, its creation left out."""
    cpu_ms: dict[str, float]
    """Per pod, by process."""
    others: float
    """The part of the machine that other processes took."""


def run(peer: Peer, shape: Shape, mode: Mode, nodes: int, rate: float) -> Run:
    """Run once, on a control plane of its own."""
    with (
        tempfile.TemporaryDirectory(prefix="posse-bench-") as folder,
        control_plane(Path(folder), Options(fsync=False, fairness=False)) as plane,
    ):
        return asyncio.run(_run(plane, peer, shape, mode, nodes, rate))


async def _run(plane: ControlPlane, peer: Peer, shape: Shape, mode: Mode, nodes: int, rate: float) -> Run:
    async with ApiClient(find_access({}, str(plane.kubeconfig))) as client:
        await _prepare(plane, client, shape, nodes)
        observer = Observer(shape.pods)
        watching = asyncio.create_task(observer.run(client))
        pods = pods_of(shape, peer.name)
        if mode == "drain":
            await create(client, pods)
            await _within(observer.all_created)
        async with _scheduling(plane, peer, waits_for_ready=mode == "open") as process:
            pids = {"client": os.getpid(), "apiserver": plane.apiserver.pid, "etcd": plane.etcd.pid}
            pids |= {"scheduler": process.pid} if process else {}
            writes, before, began = writes_in(await _metrics(client)), usage(pids, time.monotonic()), time.monotonic()
            binding = None if process else asyncio.create_task(bind_all(client, observer, nodes))
            if mode == "open":
                await create(client, pods, rate)
            await _within(observer.all_bound)
            if binding is not None:
                await binding
            costs = spent(before, usage(pids, time.monotonic()))
            written = writes_in(await _metrics(client)) - writes
        watching.cancel()
    first = min(observer.bound.values(), default=began)
    since = min(observer.created.values()) if mode == "open" else first
    seconds = max(observer.bound.values(), default=began) - since
    waits = observer.waits(0.0 if mode == "open" else first)
    count = len(observer.bound)
    return Run(
        peer=peer.name,
        shape=shape.name,
        mode=mode,
        bound=count,
        first=first - (since if mode == "open" else began),
        seconds=seconds,
        rate=count / seconds if count else 0.0,
        p50=waits[len(waits) // 2] if waits else 0.0,
        p99=waits[min(len(waits) - 1, len(waits) * 99 // 100)] if waits else 0.0,
        writes=(sum(written.values()) - written["POST pods"]) / max(1, count),
        cpu_ms={name: 1000 * cpu / max(1, count) for name, cpu in costs.items() if name != "others"},
        others=costs["others"],
    )


async def _prepare(plane: ControlPlane, client: ApiClient, shape: Shape, nodes: int) -> None:
    plane.kubectl("apply", "-f", str(RBAC))
    async for _ in install(client, definitions()):
        pass
    await create(client, [node(number) for number in range(nodes)])
    await create(client, groups_of(shape))


@asynccontextmanager
async def _scheduling(plane: ControlPlane, peer: Peer, *, waits_for_ready: bool) -> AsyncIterator[Process | None]:
    """Run a scheduler, if the peer is one. In a drain its own start is part of the time."""
    if not peer.command:
        yield None
        return
    kubeconfig = plane.service_account("kube-system", "posse") if peer is POSSE else plane.kubeconfig
    command = shlex.split(peer.command.format(kubeconfig=kubeconfig))
    log = plane.folder / f"{peer.name}.log"
    with Process(peer.name, command, log) as process:
        if waits_for_ready and peer.ready:
            process.until(lambda: peer.ready in log.read_text("utf-8", "replace"))
        yield process


async def _metrics(client: ApiClient) -> str:
    return (await client.get("/metrics", accept="text/plain")).decode()


async def _within(event: asyncio.Event) -> None:
    """Wait, and go on all the same with what there is if it takes too long."""
    try:
        async with asyncio.timeout(PATIENCE):
            await event.wait()
    except TimeoutError:
        print("given up waiting")


def available() -> bool:
    """Whether a control plane can be had here."""
    return subprocess.run([sys.executable, "-m", "tests.cluster.binaries"], check=False).returncode == 0
