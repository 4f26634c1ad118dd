"""Allocate: all of what a gang needs or nothing, in turns."""

from posse.cluster.phases import GangPhase
from posse.cluster.records import CycleInput
from posse.cluster.status import Status
from tests.builders import amounts, bare, binds, conf, crew, cycle, engine, gang, node, queue, task, the_gang, the_task

CONF = conf("priority gang", "predicates nodeorder", actions="allocate")


def test_a_gang_that_fits_is_bound_at_once() -> None:
    running = engine(CONF, node("n1", cpu=2), gang("a", min=2), *crew("a", 2), checks=True)

    assert binds(running) == {"a-worker-0": "n1", "a-worker-1": "n1"}


def test_one_that_does_not_is_not_bound_at_all_and_leaves_its_room_to_the_next() -> None:
    running = engine(
        CONF,
        node("n1", cpu=2),
        gang("a", min=3, created=1),
        *crew("a", 3),
        gang("b", min=2, created=2),
        *crew("b", 2),
        checks=True,
    )

    assert sorted(binds(running)) == ["b-worker-0", "b-worker-1"]


def test_members_beyond_the_minimum_are_bound_as_far_as_they_fit() -> None:
    running = engine(CONF, node("n1", cpu=3), gang("a", min=2), *crew("a", 5), checks=True)

    assert sorted(binds(running)) == ["a-worker-0", "a-worker-1", "a-worker-2"]


def test_so_they_are_in_a_cycle_of_which_nobody_is_told() -> None:
    running = engine(CONF, node("n1", cpu=5), gang("a", min=3), *crew("a", 6), checks=True)

    assert len(running.cycle(CycleInput(0), tell=False).effects) == 5


def test_beyond_the_minimum_gangs_take_turns_where_shares_come_first() -> None:
    running = engine(
        conf("drf gang", "predicates", actions="allocate"),
        node("n1", cpu=4),
        *(gang(name, min=1) for name in "ab"),
        *crew("a", 4),
        *crew("b", 4),
        checks=True,
    )

    assert list(binds(running)) == ["a-worker-0", "b-worker-0", "a-worker-1", "b-worker-1"]


def test_a_ready_gang_goes_before_one_that_is_not() -> None:
    running = engine(
        CONF,
        node("n1", cpu=2),
        gang("a", min=1),
        task("a-0", "a", on="n1"),
        *crew("a", 1),
        gang("b", created=-1),
        *crew("b", 1),
    )

    assert binds(running) == {"a-worker-0": "n1"}


def test_members_of_higher_priority_go_first() -> None:
    running = engine(CONF, node("n1", cpu=1), gang("a"), task("a-w-0", "a"), task("a-w-1", "a", priority=5))

    assert binds(running) == {"a-w-1": "n1"}


def test_without_enqueue_everybody_is_admitted_here() -> None:
    running = engine(CONF, gang("a", min=2, phase="Pending"), *crew("a", 1))
    cycle(running)

    assert the_gang(running, "a").phase is GangPhase.INQUEUE


def test_with_enqueue_who_is_not_admitted_is_not_placed() -> None:
    text = conf("gang proportion", "predicates", actions="enqueue, allocate")
    closed = queue("shut", state="Closed")
    running = engine(text, node("n1"), closed, gang("a", queue="shut", min_resources=amounts(cpu=1)), *crew("a", 1))

    assert binds(running) == {}
    assert the_gang(running, "a").phase is GangPhase.PENDING


def test_a_gang_of_an_undeclared_queue_waits() -> None:
    running = engine(CONF, node("n1"), gang("a", queue="later"), *crew("a", 1))
    assert binds(running) == {}

    assert binds(running, queue("later")) == {"a-worker-0": "n1"}


def test_a_node_that_was_promised_before_is_taken_again_if_it_will_do() -> None:
    nodes = [node(f"n{number}", cpu=4) for number in range(8)]
    running = engine(
        CONF, *nodes, gang("a"), *(task(f"a-w-{number}", "a", nominated=f"n{number}") for number in range(8))
    )

    assert binds(running) == {f"a-w-{number}": f"n{number}" for number in range(8)}


def test_what_its_queue_does_not_give_a_task_is_said() -> None:
    text = conf("gang proportion", "predicates", actions="allocate")
    running = engine(
        text, node("n1"), queue("small", capability=amounts(cpu=1)), gang("a", min=2, queue="small"), *crew("a", 2)
    )
    (verdict,) = cycle(running).verdicts

    assert [blocker.kind for blocker in verdict.blockers] == ["queue"]
    assert the_gang(running, "a").counts[Status.PENDING] == 2


def test_once_one_of_a_role_found_no_node_the_others_of_it_are_not_tried() -> None:
    roles = (("ps", 0), ("worker", 0))
    running = engine(
        CONF,
        node("n1", cpu=2),
        gang("a", min=1, min_roles=roles),
        task("a-ps-0", "a", role="ps", cpu=9),
        task("a-ps-1", "a", role="ps", cpu=1),
        task("a-worker-2", "a", role="worker", cpu=1),
    )
    result = cycle(running)

    assert [bare(effect.pod) for effect in result.effects] == ["a-worker-2"]
    assert the_task(running, "a-ps-1").status is Status.PENDING


def test_idle_room_goes_before_room_that_is_being_freed() -> None:
    running = engine(
        CONF,
        node("n1", cpu=8),
        node("n2", cpu=1),
        task("old", cpu=8, on="n1", terminating=True),
        gang("a"),
        *crew("a", 1),
    )

    assert binds(running) == {"a-worker-0": "n2"}


def test_half_a_promise_is_let_go_and_a_whole_one_made_as_soon_as_there_is_room() -> None:
    running = engine(
        CONF,
        node("n1", cpu=1),
        node("n2", cpu=1),
        task("old", on="n1", terminating=True),
        gang("a", min=2),
        *crew("a", 2),
        checks=True,
    )
    cycle(running)
    lost = next(
        bare(pod)
        for pod in ("a-worker-0", "a-worker-1")
        if the_task(running, pod).node == running.world.nodes.find("n2")
    )
    cycle(running, task("quick", on="n2"), task(lost, "a", uid="successor"), now=1)
    assert the_gang(running, "a").waiting_count == 0

    running.cycle(CycleInput(2, (node("n3", cpu=1),)), tell=False)

    assert the_gang(running, "a").waiting_count == 2
