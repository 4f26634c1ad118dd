"""One cycle of the engine decides exactly what the plain rules decide, one task and one node at a time.

This also holds the kernel that fills nodes with runs of equal pods to those rules; and it is held to the way of choosing pod by pod, of which
it is a faster form.
"""

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from posse.cluster.columns import tie_rank
from posse.cluster.facts import Fact, QueueFact
from posse.cluster.status import Status
from posse.scheduler.engine import Engine
from posse.scheduler.placement.filler import Filler
from posse.scheduler.records import Bind, CycleInput
from tests.builders import conf, cycle, engine
from tests.properties.effort import tried
from tests.properties.lives import Life
from tests.reference.cluster import Cluster
from tests.reference.gangs import is_ready
from tests.reference.cycle import Policy, run_cycle
from tests.reference.placement import Chooser
from tests.reference.quirks import MEANT
from tests.reference.scores import Binpack, NodeOrder
from tests.worlds.random_worlds import random_world
from tests.worlds.strategies import seeds
from tests.worlds.traits import EVERYTHING, Trait

WITHOUT_ROLES = EVERYTHING - {"roles"}
"""Once a pod of a role found no node, the engine does not try the others of its role; the plain rules do. Where roles have no
rules of their own this cannot be seen."""
ROLES_AND_ROOM: frozenset[Trait] = frozenset({"roles", "queues", "priorities", "admission", "leaving", "finished"})
SECOND_SEED = 7


def text(gang_order: str, actions: str) -> str:
    """The default plugins and binpack, gangs in one of the two orders."""
    gang = {"name": "gang", "arguments": {"gang.order": gang_order}}
    return conf(["priority", gang, "conformance"], "overcommit drf predicates proportion nodeorder binpack", actions=actions)


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


def by_plain_rules(facts: list[Fact], gang_order: Any, actions: str, seed: int) -> tuple[dict[str, str], dict[str, str]]:
    """The same, by the reference. A gang is promised its nodes as a whole, those included whose room is free."""
    cluster, chooser = Cluster.of(facts), Chooser(lambda name: tie_rank(seed, name), scorers=(NodeOrder(), Binpack()))
    outcome = run_cycle(cluster, chooser, Policy(actions=tuple(actions.split(", "))), gang_order)
    promised = {
        key: cluster.place[key]
        for key, task in cluster.tasks.items()
        if cluster.status[key] == "allocated" and is_ready(cluster, cluster.gangs[task.gang], MEANT, promised=True)
    }
    return outcome.binds, outcome.pipelined | promised


def assert_alike(facts: list[Fact], gang_order: str, actions: str) -> None:
    facts = facts if any(isinstance(each, QueueFact) for each in facts) else [QueueFact(key="default", name="default"), *facts]
    switches = [{"name": "compatibility", "arguments": {"running-gang-admission": "upstream"}}]
    given = conf_with(text(gang_order, actions), switches)
    found = decided(engine(given, *facts, seed=SECOND_SEED, checks=True))
    assert found == by_plain_rules(facts, gang_order, actions, SECOND_SEED)


def conf_with(conf_text: str, configurations: list[dict[str, Any]]) -> str:
    return msgspec.json.encode({**msgspec.json.decode(conf_text), "configurations": configurations}).decode()


orders = st.sampled_from(("ready-first", "unready-first"))
actions = st.sampled_from(("enqueue, allocate, backfill", "allocate, backfill", "enqueue, backfill, allocate"))


@tried(300)
@given(seed=seeds, gang_order=orders, actions=actions)
def test_a_cycle_decides_as_the_plain_rules_do(seed: int, gang_order: str, actions: str) -> None:
    assert_alike(random_world(seed, traits=WITHOUT_ROLES), gang_order, actions)


@tried(150)
@given(seed=seeds, gang_order=orders, actions=actions)
def test_so_it_does_for_gangs_with_roles_that_only_want_room(seed: int, gang_order: str, actions: str) -> None:
    assert_alike(random_world(seed, traits=ROLES_AND_ROOM), gang_order, actions)
