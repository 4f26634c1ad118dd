"""B5: what a cluster weighs in memory, and how long it takes from manifests to a world that is ready to decide.

Of a cluster as an API server tells it (see `stream`), each object is decoded, translated, told and dropped; what the
process has grown by is the world, its engine and the translator. *At once*: nothing is told before everything has come,
as a scheduler starts that must not decide from half a cluster. For comparison, a *plain* cluster: facts of equal pods,
told to a world and its engine, without a translator; and its manifests with nothing in them that nobody reads.

Every weight is taken in a process of its own, where nobody has used memory before.
"""

import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from subprocess import PIPE, Popen

import msgspec

from bench.report import record, table
from bench.timing import cpu_seconds, engine, resident, without_collector
from bench.worlds import NODE, running, shape
from bench.worlds import nodes as node_facts
from bench.worlds import queue as queue_fact
from posse.cluster.facts import Observation
from posse.cluster.records import CycleInput
from posse.cluster.world import World
from posse.dialects.translator import Translator
from posse.kube.manifests import parse
from posse.kube.quantity import format_amounts
from posse.scheduler.warming import warm
from posse.simulation.admission import Admission

SIZES = ((1_000, 30_000), (5_000, 150_000))
OURS = ("volcano",)
"""Whose pods we place; of the others the room they take counts."""

Figures = dict[str, float]


def _one_by_one(node_count: int, pods: int) -> Figures:
    """A cluster as an API server tells it."""
    return _streamed(node_count, pods, at_once=False)


def _at_once(node_count: int, pods: int) -> Figures:
    """The same, kept until all has come."""
    return _streamed(node_count, pods, at_once=True)


def _streamed(node_count: int, pods: int, *, at_once: bool) -> Figures:
    warm()
    translator, world, before = Translator(OURS), World(), resident()
    waiting: list[Observation] = []
    decoded = told = 0.0
    for line in _lines(node_count, pods):
        began = cpu_seconds()
        things = [manifest.decode() for manifest in parse(line)]
        at_hand = cpu_seconds()
        for thing in things:
            waiting += translator.put(thing)
        if not at_once:
            world.observe(waiting)
            waiting.clear()
        decoded, told = decoded + at_hand - began, told + cpu_seconds() - at_hand
    began = cpu_seconds()
    world.observe(waiting)
    waiting = []
    decided = cpu_seconds()
    decider = engine(world)
    decider.cycle(CycleInput(now=0))
    ended = cpu_seconds()
    return _weight(resident() - before, len(world.tasks)) | _times(decoded, told + decided - began, ended - decided)


def _lines(node_count: int, pods: int) -> Iterator[bytes]:
    """The objects of a cluster, made by another process."""
    with Popen([sys.executable, "-m", "bench.stream", str(node_count), str(pods)], stdout=PIPE) as source:
        assert source.stdout is not None
        yield from source.stdout


def _plain(node_count: int, pods: int) -> Figures:
    """Equal pods, as facts; and as manifests, for the time they take."""
    warm()
    small, size = shape(500), pods // node_count
    before = resident()
    world = World()
    world.observe([queue_fact(), *node_facts(node_count)])
    for number in range(node_count):
        world.observe(running(f"run-{number}", size, small, f"node-{number}", age=number))
    decider = engine(world)
    decider.cycle(CycleInput(now=0))
    weight = _weight(resident() - before, pods)
    with without_collector():
        return weight | _ready(_manifests(node_count, pods))


def _ready(text: bytes) -> Figures:
    """Seconds from text to a world that has decided once."""
    began = cpu_seconds()
    things = [manifest.decode() for manifest in parse(text)]
    decoded = cpu_seconds()
    translator, world = Translator(), World()
    world.observe([queue_fact()])
    world.observe(fact for thing in Admission().admit(things, 0) for fact in translator.put(thing))
    told = cpu_seconds()
    engine(world).cycle(CycleInput(now=0))
    return _times(decoded - began, told - decoded, cpu_seconds() - told)


def _manifests(node_count: int, pods: int) -> bytes:
    """A `kubectl get -o json` of a cluster, without what nobody reads."""
    node_items = [
        {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": f"node-{number}", "uid": f"n{number}"},
            "status": {"allocatable": format_amounts(NODE)},
        }
        for number in range(node_count)
    ]
    pod_items = [
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {
                "name": f"pod-{number}",
                "namespace": "bench",
                "uid": f"p{number}",
                "labels": {"app": f"a{number // 30}"},
            },
            "spec": {
                "nodeName": f"node-{number % node_count}",
                "containers": [
                    {"name": "c", "image": "i", "resources": {"requests": {"cpu": "500m", "memory": "1Gi"}}}
                ],
            },
            "status": {"phase": "Running"},
        }
        for number in range(pods)
    ]
    return msgspec.json.encode({"apiVersion": "v1", "kind": "List", "items": [*node_items, *pod_items]})


def _weight(grown: int, pods: int) -> Figures:
    return {"world_bytes": grown, "bytes_per_pod": grown // pods, "resident_bytes": resident()}


def _times(decode: float, tell: float, first_cycle: float) -> Figures:
    ready = decode + tell + first_cycle
    return {"decode_s": decode, "tell_s": tell, "first_cycle_s": first_cycle, "ready_s": ready}


CLUSTERS: dict[str, Callable[[int, int], Figures]] = {"as told": _one_by_one, "at once": _at_once, "plain": _plain}


def _apart(measure: Callable[[int, int], Figures], node_count: int, pods: int) -> Figures:
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(measure, node_count, pods).result()


def run(*, full: bool) -> None:
    """Measure."""
    figures = [
        {"cluster": name, "nodes": node_count, "pods": pods, **_apart(measure, node_count, pods)}
        for node_count, pods in (SIZES if full else SIZES[1:])
        for name, measure in CLUSTERS.items()
    ]
    rows = [
        [
            figure["cluster"],
            f"{figure['nodes']:,}",
            f"{figure['pods']:,}",
            f"{figure['world_bytes'] / 2**20:,.0f}",
            f"{figure['bytes_per_pod']:,}",
            f"{figure['resident_bytes'] / 2**20:,.0f}",
            *(f"{figure[key]:.2f}" for key in ("decode_s", "tell_s", "first_cycle_s", "ready_s")),
        ]
        for figure in figures
    ]
    columns = [
        "cluster",
        "nodes",
        "pods",
        "MiB",
        "bytes/pod",
        "process MiB",
        "decode s",
        "tell s",
        "cycle s",
        "ready s",
    ]
    note = (
        "What the process grows by: world, engine and (not in plain) translator;"
        " and CPU seconds from JSON to the end of the first cycle."
    )
    table("B5: memory, and readiness after a start", note, columns, rows)
    record("B5", figures)
