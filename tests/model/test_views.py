"""Rows that read like objects: what counts for what in a gang, a role, a sub-gang."""

import pytest

from posse.cluster.facts import Rules, SubgroupPolicy
from posse.cluster.status import Status
from posse.cluster.views import Gang, Queue
from posse.cluster.world import World
from tests.builders import crew, gang, node, queue, task, the_gang, the_task


def with_one_of_each(**fields: object) -> Gang:
    """A gang that has a member in every status, each named after it."""
    world = World()
    names = [status.name.lower() for status in Status if status is not Status.GONE]
    world.observe([queue("default"), node("n1", cpu=50), gang("g", **fields), *(task(name, "g") for name in names)])
    for name in names:
        status = Status[name.upper()]
        on = -1 if status in (Status.PENDING, Status.GATED) else world.nodes.find("n1")
        world.move([the_task(world, name).row], [status], [on])
    return the_gang(world, "g")


def test_whoever_has_a_node_or_ended_well_is_ready() -> None:
    assert with_one_of_each().ready_count == len(("allocated", "binding", "bound", "running", "succeeded"))


def test_whoever_is_promised_a_node_waits_for_it() -> None:
    assert with_one_of_each().waiting_count == len(("pipelined", "held"))


def test_whoever_could_still_be_part_of_it_is_valid() -> None:
    ready_and_promised = 7
    assert with_one_of_each().valid_count == ready_and_promised + len(("pending",))


def test_a_gated_member_is_valid_where_gated_ones_count() -> None:
    assert with_one_of_each(rules=Rules(gated_count=True)).valid_count == 9


@pytest.mark.parametrize(
    ("minimum", "ready", "pipelined", "starving"),
    [(5, True, True, False), (6, False, True, False), (7, False, True, False), (8, False, False, True)],
)
def test_what_a_minimum_makes_of_the_counts(minimum: int, ready: bool, pipelined: bool, starving: bool) -> None:
    team = with_one_of_each(min=minimum)

    assert (team.is_ready, team.is_pipelined, team.is_starving) == (ready, pipelined, starving)


def test_waiting_members_that_ask_for_nothing_count_as_ready_but_do_not_feed_the_starving() -> None:
    world = World()
    world.observe([queue("default"), gang("g", min=2), *crew("g", 2, cpu=0)])
    team = the_gang(world, "g")

    assert (team.is_ready, team.is_starving) == (True, True)


def test_roles_are_asked_if_the_gang_needs_at_least_as_many_as_they_do_together() -> None:
    world = World()
    roles = (("ps", 1), ("worker", 2))
    world.observe([gang("all", min=3, min_roles=roles), gang("some", min=2, min_roles=roles)])

    assert (the_gang(world, "all").roles_count, the_gang(world, "some").roles_count) == (True, False)


def test_a_role_that_nobody_plays_is_there_and_empty() -> None:
    world = World()
    world.observe([gang("g", min=2, min_roles=(("ps", 1),)), task("w", "g", role="worker")])
    roles = the_gang(world, "g").roles

    assert {name: (role.size, role.minimum, role.is_ready) for name, role in roles.items()} == {
        "ps": (0, 1, False),
        "worker": (1, 0, True),
    }


def test_the_priority_of_a_sub_gang_is_its_highest_members() -> None:
    world = World()
    parts = SubgroupPolicy(name="part", match_keys=("part",))
    members = [task(f"p{number}", "g", labels={"part": "a"}, priority=number) for number in range(3)]
    world.observe([gang("g", subgroups=(parts,)), *members, task("q", "g", labels={"part": "b"}, priority=-5)])

    assert [each.priority for each in the_gang(world, "g").subgangs] == [2, 0]


def test_members_come_in_their_default_order() -> None:
    world = World()
    world.observe([gang("g"), *reversed(crew("g", 12))])

    assert [member.fact.name for member in the_gang(world, "g").members] == [
        f"g-worker-{number}" for number in range(12)
    ]


def test_a_queue_that_is_only_named_is_not_declared() -> None:
    world = World()
    world.observe([queue("default"), gang("g", queue="later")])

    assert [Queue(world, world.queues.find(name)).is_declared for name in ("default", "later")] == [True, False]


def test_a_task_knows_its_gang_shape_and_priority() -> None:
    world = World()
    world.observe([gang("g"), task("p", "g", cpu=2, priority=4), task("lone")])
    member, lone = the_task(world, "p"), the_task(world, "lone")

    assert member.gang is not None
    assert (member.gang.key, member.shape.requests[0], member.priority) == ("default/g", ("cpu", 2000), 4)
    assert (lone.gang, lone.priority, lone.is_best_effort) == (None, 1, False)
