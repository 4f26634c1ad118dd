"""One cycle of the engine decides exactly what the plain rules decide, one task and one node at a time.

This holds the kernel that fills nodes with runs of equal pods to those rules, too; and it is held to choosing pod by
pod, of which it is a faster form.
"""

from typing import Any

import msgspec
import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs
from numpy.typing import NDArray

from posse.cluster.columns import tie_rank
from posse.cluster.facts import Fact, Shape, TaskFact
from posse.cluster.records import Bind, CycleInput
from posse.cluster.status import Status
from posse.scheduler.engine import Engine
from posse.scheduler.placement.filler import Filler
from tests.builders import binds, conf, crew, cycle, engine, gang, node
from tests.properties.crowds import crowded_world
from tests.properties.effort import tried
from tests.reference.cluster import Cluster
from tests.reference.cycle import Policy, run_cycle
from tests.reference.gangs import is_ready
from tests.reference.placement import Chooser
from tests.reference.quirks import MEANT, Quirks
from tests.reference.scores import Binpack, NodeOrder
from tests.worlds.random_worlds import random_world
from tests.worlds.strategies import seeds
from tests.worlds.traits import EVERYTHING, Trait

ROLES_GIVE_UP = Quirks(role_memory=True)
"""Once a member of a role found no node, the others of its role are not tried."""
WITHOUT_ROLES = EVERYTHING - {"roles", "nominated"}
"""What was promised before a restart is promised again, which the reference knows nothing of.

It also lets a node that refused one member refuse all of its role, which the engine does not. So roles are looked at by
themselves, where what one of a role cannot have no other can.
"""
ROLES_AND_ROOM: frozenset[Trait] = frozenset({"roles", "queues", "priorities", "admission", "leaving", "finished"})
SECOND_SEED = 7
DEFAULT = "enqueue, allocate, backfill"


def text(gang_order: str, actions: str) -> str:
    """The default plugins and binpack, gangs in one of the two orders."""
    gang = {"name": "gang", "arguments": {"gang.order": gang_order}}
    return conf(
        ["priority", gang, "conformance"], "overcommit drf predicates proportion nodeorder binpack", actions=actions
    )


def decided(running: Engine) -> tuple[dict[str, str], dict[str, str]]:
    """The binds of one cycle, and what it promises."""
    binds = {effect.pod: effect.node for effect in cycle(running).effects if isinstance(effect, Bind)}
    world, ledger = running.world, running.world.columns.ledger
    promised = {
        world.tasks.keys[row]: world.nodes.keys[ledger.task_node[row]]
        for row in world.tasks.declared()
        if ledger.task_status[row] == Status.PIPELINED
    }
    return binds, promised


def by_plain_rules(
    facts: list[Fact], gang_order: Any, actions: str, seed: int
) -> tuple[dict[str, str], dict[str, str]]:
    """The same, by the reference. A gang is promised its nodes as a whole, those included whose room is free."""
    cluster, chooser = Cluster.of(facts), Chooser(lambda name: tie_rank(seed, name), scorers=(NodeOrder(), Binpack()))
    outcome = run_cycle(cluster, chooser, Policy(actions=tuple(actions.split(", ")), quirks=ROLES_GIVE_UP), gang_order)
    promised = {
        key: cluster.place[key]
        for key, task in cluster.tasks.items()
        if cluster.status[key] == "allocated" and is_ready(cluster, cluster.gangs[task.gang], MEANT, promised=True)
    }
    return outcome.binds, outcome.pipelined | promised


def assert_alike(facts: list[Fact], gang_order: str, actions: str) -> None:
    switches = [{"name": "compatibility", "arguments": {"running-gang-admission": "upstream"}}]
    given = conf_with(text(gang_order, actions), switches)
    found = decided(engine(given, *facts, seed=SECOND_SEED, checks=True))
    assert found == by_plain_rules(facts, gang_order, actions, SECOND_SEED)


def orderly(facts: list[Fact]) -> list[Fact]:
    """The same world, where the members of a role ask for the same, and every name ends in a number.

    (Names with and without number have no order that holds among any three of them.)
    """
    shapes: dict[tuple[str, str], Shape] = {}
    result: list[Fact] = []
    for number, fact in enumerate(facts):
        if isinstance(fact, TaskFact) and fact.gang and not fact.node:
            shape = shapes.setdefault((fact.gang, fact.role), fact.shape)
            result.append(structs.replace(fact, name=f"{fact.name}-{number}", shape=shape))
        else:
            result.append(fact)
    return result


def conf_with(conf_text: str, configurations: list[dict[str, Any]]) -> str:
    return msgspec.json.encode({**msgspec.json.decode(conf_text), "configurations": configurations}).decode()


orders = st.sampled_from(("ready-first", "unready-first"))
actions = st.sampled_from((DEFAULT, "allocate, backfill", "enqueue, backfill, allocate"))


@tried(200)
@given(seed=seeds, gang_order=orders, actions=actions)
def test_a_cycle_decides_as_the_plain_rules_do(seed: int, gang_order: str, actions: str) -> None:
    assert_alike(random_world(seed, traits=WITHOUT_ROLES), gang_order, actions)


@tried(100)
@given(seed=seeds, gang_order=orders, actions=actions)
def test_so_it_does_for_gangs_with_roles_that_only_want_room(seed: int, gang_order: str, actions: str) -> None:
    assert_alike(orderly(random_world(seed, traits=ROLES_AND_ROOM)), gang_order, actions)


@tried(60)
@given(seed=seeds, gang_order=orders, actions=actions)
def test_so_it_does_for_crowds_of_equal_gangs(seed: int, gang_order: str, actions: str) -> None:
    assert_alike(crowded_world(seed), gang_order, actions)


class NeverFills(Filler):
    """A filler that leaves every task to be placed by itself."""

    def can_fill(self, shape: int, tasks: NDArray[np.int32]) -> bool:
        """Whether the kernel may place these tasks."""
        return False


def one_by_one(running: Engine) -> Engine:
    """The same engine, without the kernel."""
    running._filler.__class__ = NeverFills
    return running


@tried(100)
@given(seed=seeds)
def test_filling_says_and_does_what_choosing_one_by_one_would(seed: int) -> None:
    facts = random_world(seed)
    filling, choosing = (
        engine(text("ready-first", DEFAULT), *facts),
        one_by_one(engine(text("ready-first", DEFAULT), *facts)),
    )
    for now in range(3):
        results = [msgspec.json.encode(running.cycle(CycleInput(now))) for running in (filling, choosing)]
        assert results[0] == results[1]


def test_large_gangs_are_filled_as_they_would_be_one_by_one() -> None:
    facts = [
        *(node(f"n{number}", cpu=number % 7 + 2, memory=number % 5 + 4, gpu=number % 3) for number in range(40)),
        *(gang(name, min=30) for name in "abc"),
        *crew("a", 50, cpu=0.5, memory=1),
        *crew("b", 40, cpu=1.5),
        *crew("c", 31, cpu=0.25, gpu=1),
    ]
    filling, choosing = (
        engine(text("ready-first", DEFAULT), *facts),
        one_by_one(engine(text("ready-first", DEFAULT), *facts)),
    )
    first, second = binds(filling), binds(choosing)

    assert len(first) > 80
    assert list(first.items()) == list(second.items())
