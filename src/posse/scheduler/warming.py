"""Warming: every kernel is run once on a made-up cluster, so that none is compiled while somebody waits for a decision.

The first time on a machine that compiles them, which takes seconds; after that they are loaded from the cache, which
takes a fraction of one.
"""

from msgspec.structs import replace

from posse.cluster.facts import GangFact, NodeFact, Port, QueueFact, Shape, TaskFact
from posse.cluster.records import CycleInput
from posse.cluster.world import World
from posse.scheduler.configuration import load
from posse.scheduler.engine import Engine
from posse.scheduler.registry import built_in

CONF = """\
actions: "allocate"
tiers:
- plugins:
  - name: gang
  - name: predicates
  - name: nodeorder
  - name: binpack
"""
ROOM = (("cpu", 2000), ("memory", 1 << 30), ("pods", 10))
SMALL = Shape(requests=(("cpu", 1000), ("memory", 1 << 20), ("pods", 1)), scored_cpu=1000, scored_memory=1 << 20)
CHOOSY = replace(SMALL, ports=(Port(80),))
"""Whose nodes are looked at one by one."""


def warm() -> None:
    """Run all kernels once: small gangs in a crowd, one that is refused, one that is hopeless, one of a choosy pod."""
    registry, world = built_in(), World()
    configuration = load(CONF, registry=registry.plugin_specs(), actions=registry.action_specs())
    world.observe([QueueFact(key="q", name="q"), *(NodeFact(name=f"n{each}", allocatable=ROOM) for each in range(2))])
    for size, gang, shape in ((1, "a", SMALL), (1, "b", SMALL), (3, "c", SMALL), (9, "d", SMALL), (1, "e", CHOOSY)):
        world.observe([GangFact(key=gang, namespace="", name=gang, queue="q", min_member=size)])
        members = (
            TaskFact(namespace="", name=f"{gang}{at}", uid=f"{gang}{at}", gang=gang, shape=shape) for at in range(size)
        )
        world.observe(members)
    engine = Engine(world, configuration, registry)
    for now in range(2):
        engine.cycle(CycleInput(now))
