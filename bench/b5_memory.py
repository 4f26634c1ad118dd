"""B5: what a cluster weighs in memory, and how long it takes from manifests to a world that is ready to decide."""

from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import msgspec

from bench.report import record, table
from bench.timing import cpu_seconds, engine, resident, without_collector
from bench.worlds import NODE, running, shape
from bench.worlds import nodes as node_facts
from bench.worlds import queue as queue_fact
from posse.cluster.records import CycleInput
from posse.cluster.world import World
from posse.dialects.translator import Translator
from posse.kube.manifests import parse
from posse.kube.quantity import format_amounts
from posse.scheduler.warming import warm
from posse.simulation.admission import Admission

SIZES = ((1_000, 30_000), (5_000, 150_000))


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


def _ready(text: bytes) -> dict[str, float]:
    """Seconds from text to a world that has decided once."""
    began = cpu_seconds()
    things = [manifest.decode() for manifest in parse(text)]
    decoded = cpu_seconds()
    translator, world = Translator(), World()
    world.observe([queue_fact()])
    world.observe(fact for thing in Admission().admit(things, 0) for fact in translator.put(thing))
    told = cpu_seconds()
    engine(world).cycle(CycleInput(now=0))
    ended = cpu_seconds()
    return {
        "decode_s": decoded - began,
        "tell_s": told - decoded,
        "first_cycle_s": ended - told,
        "ready_s": ended - began,
    }


def _weight_apart(node_count: int, pods: int) -> dict[str, int]:
    """The same in a process of its own, where nobody has used memory before."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(_weight, node_count, pods).result()


def _weight(node_count: int, pods: int) -> dict[str, int]:
    """Bytes that a world and its engine hold, facts included."""
    warm()
    small, size = shape(500), pods // node_count
    before = resident()
    world = World()
    world.observe([queue_fact(), *node_facts(node_count)])
    for number in range(node_count):
        world.observe(running(f"run-{number}", size, small, f"node-{number}", age=number))
    decider = engine(world)
    decider.cycle(CycleInput(now=0))
    grown = resident() - before
    return {"world_bytes": grown, "bytes_per_pod": grown // pods, "resident_bytes": resident()}


def run(*, full: bool) -> None:
    """Measure."""
    figures = []
    for node_count, pods in SIZES if full else SIZES[1:]:
        weight = _weight_apart(node_count, pods)
        with without_collector():
            ready = _ready(_manifests(node_count, pods))
        figures.append({"nodes": node_count, "pods": pods, **weight, **ready})
    rows = [
        [
            f"{figure['nodes']:,}",
            f"{figure['pods']:,}",
            f"{figure['world_bytes'] / 2**20:,.0f}",
            f"{figure['bytes_per_pod']:,}",
            f"{figure['resident_bytes'] / 2**20:,.0f}",
            *(f"{figure[key]:.2f}" for key in ("decode_s", "tell_s", "first_cycle_s", "ready_s")),
        ]
        for figure in figures
    ]
    columns = ["nodes", "pods", "world MiB", "bytes/pod", "process MiB", "decode s", "tell s", "cycle s", "ready s"]
    note = "What a world and its engine hold, facts included; and from JSON to the end of the first cycle."
    table("B5: memory, and readiness after a start", note, columns, rows)
    record("B5", figures)
