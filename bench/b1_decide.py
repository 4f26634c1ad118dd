"""B1: how fast gangs are decided.

One cycle over a cluster that has never been seen: everything is pending, everything fits. The time is that of the
cycle: opening, enqueue, allocate and backfill, closing with a verdict on every gang. Telling the world of nodes and
pods is shown apart.
"""

from bench.checking import check_against_reference
from bench.report import milliseconds, record, table
from bench.timing import TimedEngine, cpu_seconds, engine, phases, without_collector
from bench.worlds import gang, mixed, nodes, queue
from posse.cluster.records import CycleInput
from posse.cluster.world import World

SHAPES = ((10_000, 1), (500, 20), (20, 500), (1, 10_000))
SMALL = ((1_000, SHAPES), (5_000, SHAPES))
REPEATS = 3


def _equal(node_count: int, gangs: int, size: int, *, by_role: bool = False) -> World:
    world = World()
    world.observe([queue(), *nodes(node_count)])
    for number in range(gangs):
        world.observe(gang(f"gang-{number}", size, age=number, by_role=by_role))
    return world


def _mixed(node_count: int, pods: int) -> World:
    world = World()
    world.observe(nodes(node_count, tainted_every=10))
    world.observe(mixed(pods))
    return world


def _measured(name: str, node_count: int, gangs: int, build: object, repeats: int = REPEATS) -> dict[str, object]:
    best: TimedEngine | None = None
    for _ in range(repeats):
        began = cpu_seconds()
        world = build()  # type: ignore[operator]
        told = cpu_seconds() - began
        decider = engine(world)
        with without_collector():
            result = decider.cycle(CycleInput(now=0))
        if best is None or decider.times["cycle"] < best.times["cycle"]:
            best, bound, ingest = decider, len(result.effects), told
    assert best is not None
    cycle, parts = best.times["cycle"], phases(best)
    return {
        "world": name,
        "nodes": node_count,
        "gangs": gangs,
        "bound": bound,
        "told_s": ingest,
        **{f"{part}_s": seconds for part, seconds in parts.items() if part != "ingest"},
        "cycle_s": cycle,
        "pods_per_s": bound / cycle,
        "gangs_per_s": gangs / cycle,
    }


def run(*, full: bool) -> None:
    """Measure."""
    checked = check_against_reference()
    figures = []
    for node_count, shapes in SMALL:
        for gangs, size in shapes:
            build = lambda n=node_count, g=gangs, s=size: _equal(n, g, s)  # noqa: E731
            figures.append(_measured(f"{gangs}×{size}", node_count, gangs, build))
    figures.append(_measured("10000×1 by role", 5_000, 10_000, lambda: _equal(5_000, 10_000, 1, by_role=True)))
    world = _mixed(5_000, 100_000)
    figures.append(_measured("mixed 100,000", 5_000, len(world.gangs), lambda: _mixed(5_000, 100_000), 1))
    if full:
        figures.append(_measured("50,000×20", 50_000, 50_000, lambda: _equal(50_000, 50_000, 20), 1))
    rows = [
        [
            figure["world"],
            figure["nodes"],
            figure["bound"],
            *(milliseconds(float(str(figure[f"{part}_s"]))) for part in ("told", "open", "actions", "close", "cycle")),
            f"{figure['pods_per_s']:,.0f}",
            f"{figure['gangs_per_s']:,.0f}",
        ]
        for figure in figures
    ]
    note = f"Default configuration, best of {REPEATS}, CPU ms; told is not part of the cycle. {checked}"
    columns = ["gangs×pods", "nodes", "bound", "told", "open", "actions", "close", "cycle", "pods/s", "gangs/s"]
    table("B1: decisions from an empty cluster", note, columns, rows)
    record("B1", figures)
