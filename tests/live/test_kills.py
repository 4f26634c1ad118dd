"""A scheduler that is killed again and again, at any moment, while gangs come and go: nothing is lost, nothing doubled.

Each of these tests kills ten times by a seed of its own, which its name tells. One runs by default; POSSE_KILLS=200
makes it twenty, and `make test-long` sets that. A seed decides what comes, what goes and when each scheduler dies: some
moments from its start, or when it asks for its next bind but so many.
"""

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from random import Random
from threading import Event

import pytest

from tests.cluster.checker.checking import Watch, checking
from tests.cluster.control_plane import ControlPlane
from tests.cluster.processes import Process
from tests.cluster.waiting import PATIENCE, comes_true
from tests.live.clusters import CUSTOM, Manifest, add_nodes, hire, is_ready, node, placed, start, whole
from tests.live.gatekeeper import Asked, Gatekeeper

KILLS_EACH = 10
SEEDS = range(max(1, int(os.environ.get("POSSE_KILLS", "10")) // KILLS_EACH))
MOST_PODS = 110
"""At once. There is room for 120."""


class Traffic:
    """Gangs that come and go, a few each second, in numbers for which there is always room."""

    def __init__(self, plane: ControlPlane, namespace: str, watch: Watch, seed: int) -> None:
        self._plane, self._namespace, self._watch, self._lots = plane, namespace, watch, Random(seed)
        self._made = 0
        self.gangs: dict[str, int] = {}
        """Those that are there, and their sizes."""

    def go_on(self, over: Event) -> None:
        """Let gangs come and go until it is over."""
        while not over.wait(self._lots.uniform(0, 0.2)):
            size = self._lots.randint(2, 8)
            if sum(self.gangs.values()) + size > MOST_PODS or (self.gangs and self._lots.random() < 0.4):
                self._leave(self._lots.choice(sorted(self.gangs)))
            else:
                self._come(size)

    def _come(self, size: int) -> None:
        name = f"g{self._made}"
        self._made += 1
        manifests = whole(self._namespace, name, size)
        self._lots.shuffle(manifests)
        for each in manifests:
            each["metadata"]["labels"] = {"gang": name}
            self._plane.client.create(self._collection(each), each)
        self.gangs[name] = size

    def _leave(self, name: str) -> None:
        """Delete a gang: its pods, and its PodGroup before or after them."""
        self._watch.asked(f"{self._namespace}/{name}")
        paths = [
            f"/api/v1/namespaces/{self._namespace}/pods?labelSelector=gang%3D{name}&gracePeriodSeconds=0",
            f"{CUSTOM}/namespaces/{self._namespace}/podgroups/{name}",
        ]
        self._lots.shuffle(paths)
        for path in paths:
            self._plane.client.delete(path)
        del self.gangs[name]

    def _collection(self, thing: Manifest) -> str:
        group = "/api/v1" if thing["kind"] == "Pod" else CUSTOM
        return f"{group}/namespaces/{self._namespace}/{thing['kind'].lower()}s"


@contextmanager
def flowing(traffic: Traffic) -> Iterator[None]:
    """Let gangs come and go for a while."""
    over = Event()
    with ThreadPoolExecutor(1) as beside:
        done = beside.submit(traffic.go_on, over)
        try:
            yield
        finally:
            over.set()
            done.result()


def is_due(gatekeeper: Gatekeeper, left: int) -> tuple[Event, Event]:
    """Say when so many more binds have been asked for. The last of them is answered when we say that we are done."""
    due, done = Event(), Event()

    def story(_: Asked) -> str:
        if len(gatekeeper.binds) >= until and not due.is_set():
            due.set()
            done.wait(PATIENCE)
        return ""

    until = len(gatekeeper.binds) + left
    gatekeeper.asks(story)
    return due, done


def live_and_die(posse: Process, lots: Random, watch: Watch, gatekeeper: Gatekeeper) -> None:
    """Let a scheduler live for some moments from its start, or, mostly, until it has bound some pods; and kill it."""
    if lots.random() < 0.2:
        Event().wait(lots.uniform(0, 2))
        posse.stop()
        return
    with watch.standstill():
        posse.until(lambda: is_ready(posse))
    due, done = is_due(gatekeeper, lots.randint(1, 40))
    try:
        comes_true(lambda: due.is_set() or not posse.running)
        assert due.is_set(), f"nothing is bound any more; the last words:\n{posse.last_words()}"
    finally:
        posse.stop()
        done.set()


@pytest.mark.parametrize("seed", SEEDS)
def test_ten_kills_while_gangs_come_and_go(
    control_plane: ControlPlane, cluster: str, gatekeeper: Gatekeeper, seed: int
) -> None:
    add_nodes(control_plane, *(node(f"{cluster}-m{number}", cpu=8) for number in range(14)))
    account, lots = hire(control_plane), Random(seed)
    with checking(control_plane, schedulers={"posse"}, repair_time=15, explain_time=60) as watch:
        traffic = Traffic(control_plane, cluster, watch, seed)
        with flowing(traffic):
            for _ in range(KILLS_EACH):
                with start(control_plane, account, "--no-lease") as posse:
                    live_and_die(posse, lots, watch, gatekeeper)
        with start(control_plane, account, "--no-lease"):
            assert comes_true(lambda: all(placed(control_plane, cluster).values())), f"seed {seed}"
        watch.verify(started=[f"{cluster}/{name}" for name in traffic.gangs])
