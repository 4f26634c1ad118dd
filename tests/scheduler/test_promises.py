"""Promises: made when room is being freed, kept over cycles, redeemed when it is free, ended when they have to be."""

import pytest

from posse.cluster.facts import Gone, PriorityClassFact
from posse.cluster.selectors import Requirement
from posse.cluster.status import Status
from posse.scheduler.engine import Engine
from posse.scheduler.promises import PATIENCE
from tests.builders import bare, binds, conf, crew, cycle, engine, gang, node, task, the_task

CONF = conf("priority gang", "predicates", actions="allocate")
OLD_GONE = Gone(kind="task", key="default/old")


def promised(running: Engine) -> dict[str, str]:
    """Who is promised which node."""
    world = running.world
    nodes = world.columns.ledger.task_node
    return {bare(world.tasks.keys[row]): world.nodes.keys[nodes[row]] for row, _ in running.promises()}


def waiting(**fields: object) -> Engine:
    """A gang of three, for which one node has room now and one once a pod has left."""
    running = engine(
        CONF,
        node("n1", cpu=2),
        node("n2", cpu=1),
        task("old", cpu=2, on="n1", terminating=True),
        gang("a", min=3),
        *crew("a", 3),
        checks=True,
        **fields,
    )
    assert binds(running, now=0) == {}
    return running


def test_a_gang_is_promised_all_of_its_nodes_those_included_that_are_free() -> None:
    assert sorted(promised(waiting()).values()) == ["n1", "n1", "n2"]


def test_the_verdict_tells_every_member_what_it_is_promised() -> None:
    running = engine(
        CONF,
        node("n1", cpu=1),
        node("n2", cpu=1),
        task("old", on="n1", terminating=True),
        gang("a", min=2),
        *crew("a", 2),
    )
    (verdict,) = (each for each in cycle(running).verdicts if each.gang == "default/a")

    assert verdict.state == "pipelined"
    assert {bare(pod.pod): pod.promised for pod in verdict.pods} == promised(running)
    assert sorted(pod.nominated for pod in verdict.pods) == ["n1", "n2"]


def test_nobody_else_gets_what_is_promised() -> None:
    running = waiting()

    assert binds(running, gang("b", min=1), *crew("b", 1), now=1) == {}
    assert len(promised(running)) == 3


def test_it_is_redeemed_when_the_room_is_free() -> None:
    running = waiting()
    where = promised(running)

    assert binds(running, OLD_GONE, gang("b", min=1), *crew("b", 1), now=1) == where
    assert promised(running) == {}


def test_it_stays_as_long_as_somebody_is_leaving_the_node() -> None:
    running = waiting()

    assert binds(running, now=10 * PATIENCE) == {}
    assert promised(running)["a-worker-1"] == "n1"


def test_on_a_node_that_nobody_leaves_patience_ends() -> None:
    running = engine(
        CONF, node("n1", cpu=2), task("old", cpu=2, on="n1", terminating=True), gang("a", min=2), *crew("a", 2)
    )
    binds(running, now=5)
    assert running.next_deadline() is None
    cycle(running, OLD_GONE, task("quicker", cpu=2, on="n1"), now=6)
    assert running.next_deadline() == 5 + PATIENCE

    cycle(running, now=4 + PATIENCE)
    assert len(promised(running)) == 2
    cycle(running, now=5 + PATIENCE)

    assert promised(running) == {}
    assert running.next_deadline() is None


def test_it_ends_with_its_node() -> None:
    running = waiting()
    cycle(running, Gone(kind="node", key="n1"), now=1)

    assert promised(running) == {}
    assert the_task(running, "a-worker-0").status is Status.PENDING


def test_it_ends_with_a_gang_that_can_no_longer_run() -> None:
    running = waiting()
    cycle(running, Gone(kind="task", key="default/a-worker-2"), now=1)

    assert promised(running) == {}


def test_it_ends_with_a_gang_that_is_no_longer_declared() -> None:
    running = waiting()
    cycle(running, Gone(kind="gang", key="default/a"), now=1)

    assert promised(running) == {}


def test_a_deadline_counts_from_the_first_cycle_of_the_promise() -> None:
    running = waiting()
    before = dict(running.promises())
    cycle(running, now=50)

    assert dict(running.promises()) == before


def test_gangs_are_redeemed_in_their_order() -> None:
    running = engine(
        CONF,
        node("n1", cpu=2),
        task("old", cpu=2, on="n1", terminating=True),
        *(gang(name, min=1, created=created) for name, created in (("a", 1), ("b", 2))),
        *crew("a", 1),
        *crew("b", 1),
    )
    binds(running)

    assert list(binds(running, OLD_GONE, now=1)) == ["a-worker-0", "b-worker-0"]


def test_of_two_who_are_promised_one_node_the_first_in_line_gets_what_is_free_first() -> None:
    running = engine(
        CONF,
        node("n1", cpu=2),
        task("old", on="n1", terminating=True),
        task("older", on="n1", terminating=True),
        gang("second", created=2),
        *crew("second", 1),
        gang("first", created=1),
        *crew("first", 1),
        checks=True,
    )
    cycle(running)
    assert promised(running) == {"first-worker-0": "n1", "second-worker-0": "n1"}

    assert binds(running, OLD_GONE, now=1) == {"first-worker-0": "n1"}
    assert promised(running) == {"second-worker-0": "n1"}


def test_a_copy_keeps_the_promises_and_leaves_the_original_its_own() -> None:
    running = waiting()
    copy = running.fork()
    where = promised(running)

    assert binds(copy, OLD_GONE, now=1) == where
    assert promised(running) == where


@pytest.mark.parametrize("now", [1, 2])
def test_upstream_forgets_what_it_promised_when_the_cycle_ends(now: int) -> None:
    running = engine(
        CONF,
        node("n1", cpu=1),
        task("old", on="n1", terminating=True),
        gang("a", min=1, created=5),
        *crew("a", 1),
        mode="upstream",
    )
    cycle(running)
    assert running.promises() == []
    assert the_task(running, "a-worker-0").status is Status.PENDING

    assert binds(running, OLD_GONE, gang("b", min=1, created=1), *crew("b", 1), now=now) == {"b-worker-0": "n1"}


def test_a_gang_of_higher_priority_takes_promised_room_and_the_whole_promise_ends() -> None:
    running = waiting()
    urgent = PriorityClassFact(name="urgent", value=100)

    cycle(running, urgent, gang("b", min=1, priority_class="urgent"), *crew("b", 1), now=1)

    assert set(promised(running)) <= {"b-worker-0"}
    assert the_task(running, "b-worker-0").status in (Status.BINDING, Status.PIPELINED)
    assert the_task(running, "a-worker-0").status is Status.PENDING


def test_a_gang_of_equal_priority_takes_nothing() -> None:
    running = waiting()
    where = promised(running)

    cycle(running, gang("b", min=1), *crew("b", 1), now=1)

    assert promised(running) == where


def test_a_promise_that_would_not_help_is_left_alone() -> None:
    running = waiting()
    where, urgent = promised(running), PriorityClassFact(name="urgent", value=100)

    cycle(running, urgent, gang("b", min=9, priority_class="urgent"), *crew("b", 9), now=1)

    assert promised(running) == where


def test_it_stays_for_all_of_the_gang_while_one_of_its_nodes_is_being_left() -> None:
    running = waiting()
    where = promised(running)

    binds(running, now=2 * PATIENCE)

    assert promised(running) == where
    assert running.next_deadline() is None


def test_after_a_restart_it_is_made_again_from_what_the_pods_say() -> None:
    running = engine(
        CONF,
        node("n1", cpu=2),
        node("n2", cpu=1),
        task("old", cpu=2, on="n1", terminating=True),
        gang("older", min=1, created=1),
        *crew("older", 1),
        gang("a", min=3, created=2),
        task("a-worker-0", "a", nominated="n1"),
        task("a-worker-1", "a", nominated="n1"),
        task("a-worker-2", "a", nominated="n2"),
        checks=True,
    )

    assert binds(running, now=0) == {}
    assert promised(running) == {"a-worker-0": "n1", "a-worker-1": "n1", "a-worker-2": "n2"}


def test_a_stronger_gang_takes_the_one_promise_that_helps_it_and_no_other() -> None:
    running = engine(
        CONF,
        *(node(name, cpu=1, labels={"name": name}) for name in ("n1", "n2")),
        task("old1", on="n1", terminating=True),
        task("old2", on="n2", terminating=True),
        PriorityClassFact(name="low", value=1),
        PriorityClassFact(name="urgent", value=100),
        gang("weakest"),
        task("weakest-0", "weakest", shape=only_on("n1")),
        gang("weak", priority_class="low"),
        task("weak-0", "weak", shape=only_on("n2")),
    )
    cycle(running)

    cycle(running, gang("strong", priority_class="urgent"), task("strong-0", "strong", shape=only_on("n2")), now=1)

    assert promised(running) == {"weakest-0": "n1", "strong-0": "n2"}


def only_on(name: str) -> dict[str, object]:
    """What a pod asks for that wants one node."""
    return {"node_selector": (Requirement("name", "In", (name,)),)}
