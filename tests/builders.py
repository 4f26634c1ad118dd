"""Small clusters in few words, for tests that tell a story.

    running = engine(conf("gang", "predicates"), node("n1", cpu=4), gang("a", min=2), *crew("a", 2, cpu=1))
    assert binds(running) == {"a-worker-0": "n1", "a-worker-1": "n1"}

Amounts are what people say: cpu in cores, memory in GiB, gpu in devices (`nvidia.com/gpu`), pods in pods. Everything
lives in the namespace `default` and, unless it says otherwise, in the queue `default`. Names are given bare; keys are
`default/<name>`.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from posse.cluster.facts import Amounts, GangFact, NodeFact, Observation, QueueFact, Shape, TaskFact
from posse.cluster.records import Bind, CycleInput, CycleResult
from posse.cluster.selectors import Requirement
from posse.cluster.views import Gang, Queue, Task
from posse.cluster.world import World
from posse.scheduler.claims import Book
from posse.scheduler.configuration import load
from posse.scheduler.engine import Engine
from posse.scheduler.registry import Registry, built_in
from posse.scheduler.switches import Side
from posse.scheduler.victims import victims

NAMESPACE = "default"
GPU = "nvidia.com/gpu"
UNITS = {"cpu": 1000, "memory": 1 << 30, "gpu": 1000, "pods": 1}


def amounts(**given: float) -> Amounts:
    """Amounts in model units, of what is given at all. A zero that is given is there."""
    named = {GPU if name == "gpu" else name: round(value * UNITS[name]) for name, value in given.items()}
    return tuple(sorted(named.items()))


def node(name: str, *, cpu: float = 8, memory: float = 32, gpu: float = 0, pods: int = 110, **fields: Any) -> NodeFact:
    """A node. `fields` are further fields of the fact."""
    has = {"cpu": cpu, "memory": memory, "pods": pods, **({"gpu": gpu} if gpu else {})}
    return NodeFact(name=name, uid=name, allocatable=amounts(**has), **fields)


def task(
    name: str,
    gang: str = "",
    *,
    cpu: float = 1,
    memory: float = 0,
    gpu: float = 0,
    on: str = "",
    shape: Mapping[str, Any] | None = None,
    **fields: Any,
) -> TaskFact:
    """A pod. With `on` it runs there. `shape` are further fields of the shape, `fields` of the fact."""
    asks = {key: value for key, value in (("cpu", cpu), ("memory", memory), ("gpu", gpu)) if value}
    requests = amounts(**asks, pods=1)
    scored = dict(requests)
    return TaskFact(
        **{
            "namespace": NAMESPACE,
            "name": name,
            "uid": name,
            "gang": f"{NAMESPACE}/{gang}" if gang else "",
            "node": on,
            "phase": "Running" if on else "Pending",
            "shape": Shape(
                requests=requests,
                scored_cpu=scored.get("cpu", 100),
                scored_memory=scored.get("memory", 200 << 20),
                **(shape or {}),
            ),
            **fields,
        }
    )


def crew(gang: str, count: int, *, start: int = 0, **fields: Any) -> list[TaskFact]:
    """So many equal members of a gang: `<gang>-worker-0`, `<gang>-worker-1`, ..."""
    return [task(f"{gang}-worker-{number}", gang, **fields) for number in range(start, start + count)]


def gang(name: str, *, min: int = 1, queue: str = "default", **fields: Any) -> GangFact:  # noqa: A002 - reads well
    """A gang. `fields` are further fields of the fact."""
    return GangFact(
        key=f"{NAMESPACE}/{name}", namespace=NAMESPACE, name=name, uid=name, queue=queue, min_member=min, **fields
    )


def queue(name: str, **fields: Any) -> QueueFact:
    """A queue. `fields` are further fields of the fact; `capability` and the like take `amounts(...)`."""
    return QueueFact(key=name, name=name, uid=name, **fields)


def conf(*tiers: str | Sequence[str | Mapping[str, Any]], actions: str = "allocate", **top: Any) -> str:
    """A configuration. A tier is names in one text, or a list in which a plugin may be a mapping with its settings."""
    lists = [tier.split() if isinstance(tier, str) else tier for tier in tiers]
    plugins = [[{"name": each} if isinstance(each, str) else each for each in tier] for tier in lists]
    return json.dumps({"actions": actions, "tiers": [{"plugins": tier} for tier in plugins], **top})


def engine(
    conf_text: str,
    *facts: Observation,
    mode: Side | None = None,
    seed: int = 0,
    registry: Registry | None = None,
    books: Mapping[str, Book] | None = None,
    heals: bool = False,
    checks: bool = False,
) -> Engine:
    """A scheduler that has seen these facts. The queue `default` is there unless they bring their own."""
    known = registry or built_in()
    configuration = load(conf_text, registry=known.plugin_specs(), actions=known.action_specs(), mode=mode)
    world = World(seed)
    world.observe([queue("default"), *facts])
    return Engine(world, configuration, known, books, heals=heals, checks=checks)


def cycle(running: Engine, *observations: Observation, now: int = 0) -> CycleResult:
    """One cycle that has seen these."""
    return running.cycle(CycleInput(now, observations))


def binds(running: Engine, *observations: Observation, now: int = 0) -> dict[str, str]:
    """The binds of one cycle: pods by bare name, and their nodes."""
    effects = cycle(running, *observations, now=now).effects
    return {bare(effect.pod): effect.node for effect in effects if isinstance(effect, Bind)}


def bare(key: str) -> str:
    """A key as tests write it."""
    return key.removeprefix(f"{NAMESPACE}/")


def the_gang(of: Engine | World, name: str) -> Gang:
    """A gang of a world, to ask."""
    world = of.world if isinstance(of, Engine) else of
    return Gang(world, world.gangs.find(f"{NAMESPACE}/{name}"))


def the_task(of: Engine | World, name: str) -> Task:
    """A pod of a world, to ask."""
    world = of.world if isinstance(of, Engine) else of
    return Task(world, world.tasks.find(f"{NAMESPACE}/{name}"))


def the_queue(of: Engine | World, name: str) -> Queue:
    """A queue of a world, to ask."""
    world = of.world if isinstance(of, Engine) else of
    return Queue(world, world.queues.find(name))


def in_turn(running: Engine, *names: str) -> list[str]:
    """The bare names of gangs in the order in which they would be asked."""
    gangs = [the_gang(running, name) for name in names]
    return [bare(each.key) for each in sorted(gangs, key=running.tiers.gang_key)]


def queues_in_turn(running: Engine, *names: str) -> list[str]:
    """The names of queues in the order in which they would be asked after a cycle."""
    cycle(running)
    return sorted(names, key=lambda name: running.tiers.queue_key(the_queue(running, name)))


def given_up(
    running: Engine, point: Literal["preemptable", "reclaimable"], by: str, candidates: Sequence[str]
) -> list[str]:
    """The bare names of the candidates that may go for a task, in the order given."""
    tasks = [the_task(running, name) for name in candidates]
    return [bare(each.key) for each in victims(running.tiers, point, the_task(running, by), tasks)]


def promised(running: Engine) -> dict[str, str]:
    """Who is promised which node, by bare names."""
    world = running.world
    nodes = world.columns.ledger.task_node
    return {bare(world.tasks.keys[row]): world.nodes.keys[nodes[row]] for row, _ in running.promises()}


def only_on(name: str) -> dict[str, object]:
    """What the shape of a pod asks for that wants one node, which has its name as a label."""
    return {"node_selector": (Requirement("name", "In", (name,)),)}
