"""The world as it is told: what is observed, what is assumed, and which of the two holds."""

import pytest

from posse.cluster.audit import audit
from posse.cluster.facts import GangFact, Gone, PriorityClassFact, TaskFact
from posse.cluster.phases import GangPhase
from posse.cluster.status import Status
from posse.cluster.views import Node
from posse.cluster.world import World
from tests.builders import amounts, crew, gang, node, queue, task, the_gang, the_task

SOME = amounts(cpu=1, pods=1)


def told(*facts: object) -> World:
    world = World()
    world.observe([queue("default"), *facts])
    return world


def assume(world: World, name: str, status: Status, on: str = "n1") -> None:
    world.move([the_task(world, name).row], [status], [world.nodes.find(on)])


def used(world: World, name: str) -> object:
    return world.amounts(world.columns.ledger.node_used[:, world.nodes.find(name)])


# ---------------------------------------------------------------------- what is observed


@pytest.mark.parametrize(
    ("fact", "status"),
    [
        (task("p"), Status.PENDING),
        (task("p", gates=("example.com/wait",)), Status.GATED),
        (task("p", node="n1"), Status.BOUND),
        (task("p", on="n1"), Status.RUNNING),
        (task("p", node="n1", phase="Unknown"), Status.RUNNING),
        (task("p", on="n1", terminating=True), Status.RELEASING),
        (task("p", node="n1", phase="Succeeded", terminating=True), Status.SUCCEEDED),
        (task("p", node="n1", phase="Failed"), Status.FAILED),
        (task("p", nominated="n1"), Status.PIPELINED),
        (task("p", "g", nominated="n1"), Status.PENDING),
    ],
)
def test_what_a_pod_says_of_itself_is_its_status(fact: TaskFact, status: Status) -> None:
    assert the_task(told(node("n1"), fact), "p").status is status


@pytest.mark.parametrize(
    ("fact", "takes"),
    [
        (task("p", on="n1"), SOME),
        (task("p", on="n1", terminating=True), SOME),
        (task("p", node="n1", phase="Succeeded"), ()),
        (task("p", nominated="n1"), ()),
    ],
)
def test_a_pod_takes_room_until_it_has_ended_or_is_gone(fact: TaskFact, takes: object) -> None:
    assert used(told(node("n1"), fact), "n1") == takes


def test_a_pod_may_name_a_node_before_the_node_is_seen() -> None:
    world = told(task("p", on="late"))
    assert not world.columns.traits.node_present[world.nodes.find("late")]

    world.observe([node("late", cpu=4)])

    assert Node(world, world.nodes.find("late")).idle("cpu") == 3000


def test_pods_that_stay_on_a_lost_node_are_counted_when_it_comes_back() -> None:
    world = told(node("n1", cpu=4), task("p", on="n1"))
    world.observe([Gone(kind="node", key="n1"), node("n1", cpu=8)])

    assert Node(world, world.nodes.find("n1")).idle("cpu") == 7000


def test_a_lost_node_has_nothing_to_give() -> None:
    world = told(node("n1"), task("p", on="n1"))
    world.observe([Gone(kind="node", key="n1")])

    assert Node(world, world.nodes.find("n1")).idle("cpu") == -1000
    assert not world.columns.traits.node_present[world.nodes.find("n1")]


def test_an_older_death_does_not_touch_a_successor_of_the_same_name() -> None:
    world = told(task("p", uid="second", on="n1"))
    world.observe([Gone(kind="task", key="default/p", uid="first")])

    assert the_task(world, "p").status is Status.RUNNING


def test_a_successor_takes_nothing_over_from_its_predecessor() -> None:
    world = told(node("n1"), gang("g"), task("p", "g", uid="first", on="n1"), task("p", "g", uid="second"))

    assert the_task(world, "p").status is Status.PENDING
    assert used(world, "n1") == ()
    assert the_gang(world, "g").size == 1


def test_a_pod_can_change_its_gang() -> None:
    world = told(gang("a"), gang("b"), task("p", "a"), task("p", "b"))

    assert (the_gang(world, "a").size, the_gang(world, "b").size) == (0, 1)


def test_members_that_came_before_their_gang_are_counted_by_role_once_it_is_declared() -> None:
    world = told(task("p", "g", role="ps"), task("q", "g", role="worker"))
    assert not the_gang(world, "g").is_declared

    world.observe([gang("g", min_roles=(("ps", 1),))])

    assert {name: role.size for name, role in the_gang(world, "g").roles.items()} == {"ps": 1, "worker": 1}


def test_a_gang_that_changes_its_queue_takes_along_what_it_uses() -> None:
    world = told(node("n1"), queue("red"), queue("blue"), gang("g", queue="red"), task("p", "g", on="n1"))
    world.observe([gang("g", queue="blue")])

    allocated = world.columns.ledger.queue_allocated
    assert world.amounts(allocated[world.queues.find("red")]) == ()
    assert world.amounts(allocated[world.queues.find("blue")]) == SOME


def test_a_gang_that_is_no_longer_declared_lives_on_in_its_members() -> None:
    world = told(gang("g"), *crew("g", 2), Gone(kind="gang", key="default/g"))
    assert (the_gang(world, "g").is_declared, the_gang(world, "g").size) == (False, 2)

    world.observe(Gone(kind="task", key=f"default/g-worker-{number}") for number in range(2))

    assert "default/g" not in world.gangs


# ---------------------------------------------------------------------- phases and priorities


def test_the_phase_of_a_gang_is_read_at_first_sight_only() -> None:
    world = told(gang("g", phase="Inqueue"))
    world.observe([gang("g", phase="Running", min=2)])

    assert the_gang(world, "g").phase is GangPhase.INQUEUE


def test_a_gang_of_the_same_name_and_another_uid_is_seen_for_the_first_time() -> None:
    world = told(
        gang("g", phase="Inqueue"),
        GangFact(key="default/g", namespace="default", name="g", uid="other", phase="Running"),
    )

    assert the_gang(world, "g").phase is GangPhase.RUNNING


def test_priority_classes_may_come_late_change_and_go() -> None:
    world = told(gang("g", priority_class="high"))
    seen = [the_gang(world, "g").priority]
    for news in (
        PriorityClassFact(name="high", value=5),
        PriorityClassFact(name="high", value=7),
        Gone(kind="priority-class", key="high"),
        PriorityClassFact(name="usual", value=3, is_default=True),
        PriorityClassFact(name="also", value=2, is_default=True),
    ):
        world.observe([news])
        seen.append(the_gang(world, "g").priority)

    assert seen == [0, 5, 7, 0, 3, 2]


# ---------------------------------------------------------------------- what is assumed


@pytest.mark.parametrize("status", [Status.ALLOCATED, Status.PIPELINED, Status.HELD, Status.BINDING, Status.BOUND])
def test_an_observation_without_a_node_undoes_no_decision(status: Status) -> None:
    world = told(node("n1"), gang("g"), task("p", "g"))
    assume(world, "p", status)

    world.observe([task("p", "g", labels={"news": "older"})])

    assert the_task(world, "p").status is status
    assert the_task(world, "p").node == world.nodes.find("n1")


def test_an_observation_with_a_node_settles_where_a_pod_is() -> None:
    world = told(node("n1"), node("n2"), gang("g"), task("p", "g"))
    assume(world, "p", Status.BINDING, on="n1")

    world.observe([task("p", "g", on="n2")])

    assert (used(world, "n1"), used(world, "n2")) == ((), SOME)


def test_a_pod_that_we_evict_does_not_come_back_to_life_by_older_news() -> None:
    world = told(node("n1"), gang("g"), task("p", "g", on="n1"))
    assume(world, "p", Status.RELEASING)

    world.observe([task("p", "g", on="n1", labels={"news": "older"})])

    assert the_task(world, "p").status is Status.RELEASING


def test_deleting_a_pod_that_is_being_bound_frees_its_room() -> None:
    world = told(node("n1"), gang("g"), task("p", "g"))
    assume(world, "p", Status.BINDING)

    world.observe([task("p", "g", terminating=True)])

    assert used(world, "n1") == ()
    assert the_task(world, "p").status is Status.RELEASING


def test_a_deleted_pod_leaves_no_promise_behind() -> None:
    world = told(node("n1"), gang("g"), task("p", "g"))
    assume(world, "p", Status.PIPELINED)
    world.promises[the_task(world, "p").row] = 5

    world.observe([Gone(kind="task", key="default/p")])

    assert world.promises == {}
    assert audit(world) == []


# ---------------------------------------------------------------------- rows and copies


def test_rows_are_used_again_and_remember_nothing() -> None:
    world = told(node("n1"), gang("g"), *(task(f"p{number}", "g", on="n1") for number in range(3)))
    world.observe(Gone(kind="task", key=f"default/p{number}") for number in range(3))
    rows = len(world.tasks)
    world.observe([task("other"), task("third")])

    assert len(world.tasks) == rows
    assert the_task(world, "other").gang is None
    assert audit(world) == []


def test_a_world_grows_as_it_must() -> None:
    world = told(
        *(node(f"n{number}", cpu=1) for number in range(40)),
        *(queue(f"q{number}") for number in range(9)),
        *(gang(f"g{number}", queue=f"q{number % 9}", min_roles=((f"r{number}", 1),)) for number in range(40)),
        *(task(f"p{number}", f"g{number % 40}", cpu=number + 1, role=f"r{number % 40}") for number in range(150)),
        node("rare", gpu=1),
    )

    assert audit(world) == []
    assert world.columns.ledger.gang_count.sum() == 150


def test_a_copy_and_its_original_go_their_own_ways() -> None:
    world = told(node("n1"), gang("g"), *crew("g", 2))
    copy = world.fork()

    copy.observe([node("n2"), Gone(kind="task", key="default/g-worker-0"), gang("g", min=2)])
    assume(copy, "g-worker-1", Status.BINDING)

    assert [world.nodes.keys[row] for row in world.nodes.declared()] == ["n1"]
    assert (the_gang(world, "g").size, the_gang(world, "g").minimum) == (2, 1)
    assert the_task(world, "g-worker-1").status is Status.PENDING
    assert used(copy, "n1") == SOME
    assert (audit(world), audit(copy)) == ([], [])


def test_amounts_are_named_sorted_and_without_zeros() -> None:
    world = told(node("n1", memory=1, cpu=2, gpu=1, pods=0))

    shown = world.amounts(world.columns.traits.node_allocatable[:, world.nodes.find("n1")])

    assert shown == amounts(cpu=2, memory=1, gpu=1)
