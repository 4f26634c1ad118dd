"""B3: what a cycle costs in a cluster that runs.

35 running pods per node, one gang per node, ten gangs that wait for more than there is. After 0, 10 or 100 changes (a
pod that moved, as when one ends and another begins) a cycle takes them in, decides and closes. Then the same with ten
thousand hopeless gangs in front of the ten: plain ones, and such as have a small leader and state the minimums of their
roles.
"""

from random import Random
from statistics import median

from msgspec import structs

from bench.report import milliseconds, record, table
from bench.timing import TimedEngine, engine, phases, without_collector
from bench.worlds import NAMESPACE, gang, nodes, queue, running, shape
from posse.cluster.facts import Observation, TaskFact
from posse.cluster.records import CycleInput
from posse.cluster.world import World

PER_NODE = 35
RUNNING, WAITING, HOPELESS, LEADER = shape(500), shape(14_000), shape(64_000), shape(100)
SIZES = (500, 1_000, 4_000, 10_000)
CHANGES = (0, 10, 100)
REPEATS = 9
IN_FRONT = {"none": (0, False), "10,000": (10_000, False), "10,000 led": (10_000, True)}


def _world(node_count: int, hopeless: int, *, led: bool) -> World:
    world = World()
    world.observe([queue(), *nodes(node_count)])
    for number in range(node_count):
        world.observe(running(f"run-{number}", PER_NODE, RUNNING, f"node-{number}", age=number))
    for number in range(hopeless):
        age, leader = 10**6 + number, LEADER if led else None
        world.observe(gang(f"hopeless-{number}", 4, HOPELESS, age=age, asks=False, by_role=led, leader=leader))
    for number in range(10):
        world.observe(gang(f"waiting-{number}", 2 * node_count, WAITING, age=2 * 10**6 + number, asks=False))
    return world


def _changes(world: World, count: int, node_count: int, random: Random) -> tuple[Observation, ...]:
    """Pods that run elsewhere than they did."""
    found: list[Observation] = []
    for _ in range(count):
        key = f"{NAMESPACE}/run-{random.randrange(node_count)}-worker-{random.randrange(PER_NODE)}"
        fact = world.tasks.facts[world.tasks.find(key)]
        assert isinstance(fact, TaskFact)
        found.append(structs.replace(fact, node=f"node-{random.randrange(node_count)}"))
    return tuple(found)


def _measured(decider: TimedEngine, node_count: int, hopeless: str, changes: int) -> dict[str, object]:
    random, cycles = Random(changes), []
    for repeat in range(REPEATS):
        given = CycleInput(now=repeat, observations=_changes(decider.world, changes, node_count, random))
        decider.cycle(given)
        cycles.append({"cycle": decider.times["cycle"], **phases(decider)})
    middle = {phase: median(each[phase] for each in cycles) for phase in cycles[0]}
    least = min(each["cycle"] for each in cycles)
    figures = {f"{phase}_s": seconds for phase, seconds in middle.items()}
    return {
        "nodes": node_count,
        "pods": node_count * PER_NODE,
        "hopeless": hopeless,
        "changes": changes,
        **figures,
        "least_s": least,
    }


def run(*, full: bool) -> None:
    """Measure."""
    figures = []
    for hopeless, (count, led) in IN_FRONT.items():
        for node_count in SIZES if full or not count else SIZES[2:3]:
            decider = engine(_world(node_count, count, led=led))
            decider.cycle(CycleInput(now=0))
            with without_collector():
                figures += [_measured(decider, node_count, hopeless, changes) for changes in CHANGES]
    phases_shown = ("ingest", "open", "actions", "close", "cycle", "least")
    rows = [
        [
            f"{figure['nodes']:,}",
            f"{figure['pods']:,}",
            figure["hopeless"],
            figure["changes"],
            *(milliseconds(float(str(figure[f"{phase}_s"]))) for phase in phases_shown),
        ]
        for figure in figures
    ]
    note = f"Default configuration, CPU ms, the middle of {REPEATS} cycles (least: the quickest) after the first."
    table("B3: a cycle in a running cluster", note, ["nodes", "pods", "hopeless gangs", "changes", *phases_shown], rows)
    record("B3", figures)
