"""A gang of sub-gangs is placed as the plain rules place it, one task at a time."""

from random import Random

from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from posse.cluster.facts import GangFact, SubgroupPolicy, TaskFact
from posse.cluster.status import Status
from tests.builders import UNITS, conf, cycle, engine, gang, node, task
from tests.properties.effort import tried
from tests.reference.subgangs import OneNode
from tests.worlds.strategies import seeds

CONF = conf("priority gang", "predicates", actions="allocate")
IDLE = st.integers(0, 12)
FREED = st.sampled_from((0, 0, 1, 3, 6))


def replicated(random: Random) -> tuple[GangFact, list[TaskFact]]:
    """A gang of one or two kinds of replicas, and some pods of neither."""
    kinds = random.sample("ab", random.choice((1, 2, 2)))
    policies = tuple(
        SubgroupPolicy(
            name=kind, size=random.choice((1, 2, 2, 3)), min_groups=random.choice((0, 1, 1, 2)), match_keys=(kind,)
        )
        for kind in kinds
    )
    members: list[TaskFact] = []
    for kind in [*kinds, ""]:
        for number in range(random.choice((1, 2, 2, 3)) if kind else random.choice((0, 0, 1))):
            labels = {kind: str(number)} if kind else {}
            cpu = random.choice((1, 1, 1, 2))
            for _ in range(random.choice((1, 2, 2, 3, 4))):
                odd = random.choice((2, 99)) if random.random() < 0.1 else cpu
                priority = 5 if random.random() < 0.1 else None
                on = "n1" if random.random() < 0.15 else ""
                members.append(task(f"g-w-{len(members)}", "g", cpu=odd, labels=labels, priority=priority, on=on))
    random.shuffle(members)
    members = [structs.replace(each, name=f"g-w-{number}") for number, each in enumerate(members)]
    return gang("g", min=random.randint(1, len(members)), subgroups=policies), members


@tried(200)
@given(seed=seeds, idle=IDLE, freed=FREED)
def test_sub_gangs_are_placed_as_the_plain_rules_place_them(seed: int, idle: int, freed: int) -> None:
    declared, members = replicated(Random(seed))
    used = sum(dict(each.shape.requests)["cpu"] for each in members if each.node) // UNITS["cpu"]
    leaving = [task("old", cpu=freed, on="n1", terminating=True)] if freed else []
    running = engine(CONF, node("n1", cpu=used + idle + freed), *leaving, declared, *members, checks=True)
    plain = OneNode(declared, members, idle * UNITS["cpu"], (idle + freed) * UNITS["cpu"])

    bound = {effect.pod for effect in cycle(running).effects}
    plain.run()

    starts = plain.starts()
    assert bound == {pod for pod, how in plain.place.items() if starts and how == "node"}
    statuses = running.world.columns.ledger.task_status
    promised = {each.key for each in members if statuses[running.world.tasks.find(each.key)] == Status.PIPELINED}
    assert promised == {pod for pod, how in plain.place.items() if how == "promised" or (how == "node" and not starts)}
