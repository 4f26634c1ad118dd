"""Promises after a restart: made again from the nodes that waiting pods name."""

import pytest

from posse.cluster.facts import PriorityClassFact
from posse.cluster.status import Status
from tests.builders import binds, conf, crew, cycle, engine, gang, node, promised, task, the_task

CONF = conf("priority gang", "predicates", actions="allocate")


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


def test_what_pods_say_makes_promises_after_a_restart_only_later_the_line_decides() -> None:
    running = engine(CONF, node("n1", cpu=1), PriorityClassFact(name="urgent", value=100))
    cycle(running)

    named = gang("weak"), task("weak-0", "weak", nominated="n1")

    assert binds(running, *named, gang("strong", priority_class="urgent"), *crew("strong", 1), now=1) == {
        "strong-worker-0": "n1"
    }


@pytest.mark.parametrize("listed", [("first", "second"), ("second", "first")])
def test_after_a_restart_the_first_in_line_is_promised_again_what_does_for_one(listed: tuple[str, str]) -> None:
    running = engine(
        CONF,
        node("n1", cpu=1),
        task("old", on="n1", terminating=True),
        *(gang(name, created=1 if name == "first" else 2) for name in listed),
        *(task(f"{name}-0", name, nominated="n1") for name in listed),
        gang("oldest", created=0),
        *crew("oldest", 1),
        checks=True,
    )
    cycle(running)

    assert promised(running) == {"first-0": "n1"}


@pytest.mark.parametrize("named", ["n1", "n2", "gone"])
def test_after_a_restart_half_a_promise_is_not_made_again(named: str) -> None:
    running = engine(
        CONF,
        node("n1", cpu=1),
        node("n2", cpu=1),
        task("old", on="n1", terminating=True),
        task("stays", on="n2"),
        gang("a", min=2),
        task("a-worker-0", "a", nominated="n1"),
        task("a-worker-1", "a", nominated=named),
        checks=True,
    )
    cycle(running)

    assert promised(running) == {}
    assert the_task(running, "a-worker-0").status is Status.PENDING


def test_after_a_restart_a_gang_that_runs_has_no_claim_to_what_its_further_pods_name() -> None:
    running = engine(
        CONF,
        node("n1", cpu=2),
        task("old", on="n1", terminating=True),
        gang("a"),
        task("a-0", "a", on="n1"),
        task("a-1", "a", nominated="n1"),
        PriorityClassFact(name="urgent", value=100),
        gang("strong", priority_class="urgent"),
        *crew("strong", 1),
        checks=True,
    )
    cycle(running)

    assert promised(running) == {"strong-worker-0": "n1"}


def test_after_a_restart_a_pod_that_runs_and_still_names_its_node_runs_on() -> None:
    running = engine(CONF, node("n1"), gang("a"), task("a-0", "a", on="n1", nominated="n1"), checks=True)
    cycle(running)

    assert promised(running) == {}
    assert the_task(running, "a-0").status is Status.RUNNING


@pytest.mark.parametrize("whose", ["", "nobody"])
def test_after_a_restart_nodes_that_pods_of_no_declared_gang_name_are_promised_to_nobody(whose: str) -> None:
    running = engine(
        CONF,
        node("n1", cpu=1),
        task("old", on="n1", terminating=True),
        task("others", whose, nominated="n1"),
        gang("empty"),
        checks=True,
    )
    cycle(running)

    assert promised(running) == {}


def test_after_a_restart_a_pod_that_names_a_lost_node_gets_another() -> None:
    running = engine(CONF, node("n1"), gang("a"), task("a-0", "a", nominated="gone"), checks=True)

    assert binds(running) == {"a-0": "n1"}
    assert the_task(running, "a-0").node == running.world.nodes.find("n1")
