"""Backfill: pods that ask for nothing but a place."""

import pytest

from posse.cluster.facts import Gone
from posse.cluster.status import Status
from tests.builders import binds, conf, crew, cycle, engine, gang, node, task, the_task

CONF = conf("priority gang", "predicates nodeorder", actions="allocate, backfill")


def test_a_pod_that_asks_for_nothing_goes_wherever_there_is_a_place() -> None:
    running = engine(
        CONF, node("n1", cpu=1), task("full", cpu=1, on="n1"), gang("a"), *crew("a", 1, cpu=0), checks=True
    )

    assert binds(running) == {"a-worker-0": "n1"}


def test_a_node_without_a_place_refuses_it() -> None:
    running = engine(CONF, node("n1", pods=1), task("full", on="n1"), gang("a"), *crew("a", 1, cpu=0))
    (verdict,) = cycle(running).verdicts

    assert verdict.pods[0].message == "0/1 nodes are unavailable: 1 too many pods."


def test_it_counts_towards_the_minimum_while_it_waits() -> None:
    running = engine(
        CONF, node("n1", cpu=1), gang("a", min=2), *crew("a", 1), task("a-helper", "a", cpu=0), checks=True
    )

    assert binds(running) == {"a-worker-0": "n1", "a-helper": "n1"}


def test_it_is_not_bound_for_a_gang_that_cannot_start() -> None:
    running = engine(
        CONF, node("n1", cpu=1), gang("a", min=2), *crew("a", 1, cpu=5), task("a-helper", "a", cpu=0), checks=True
    )

    assert binds(running) == {}
    assert the_task(running, "a-helper").status is Status.PENDING


def test_it_waits_for_the_others_of_a_gang_that_was_promised_room() -> None:
    running = engine(
        CONF,
        node("n1", cpu=1),
        task("old", on="n1", terminating=True),
        gang("a", min=2),
        *crew("a", 1),
        task("a-helper", "a", cpu=0),
        checks=True,
    )

    assert binds(running) == {}


@pytest.mark.parametrize(
    ("plugins", "room"), [("gang predicates", {"pods": 1}), ("gang", {"pods": 1}), ("gang predicates", {"cpu": 1})]
)
def test_a_place_that_is_still_being_freed_is_neither_taken_nor_promised(plugins: str, room: dict[str, int]) -> None:
    running = engine(
        conf(plugins, actions="allocate, backfill"),
        node("n1", **room),
        task("old", cpu=2, on="n1", terminating=True),
        gang("a"),
        *crew("a", 1, cpu=0),
        checks=True,
    )

    assert binds(running) == {}
    assert the_task(running, "a-worker-0").status is Status.PENDING
    assert running.promises() == []
    assert binds(running, Gone(kind="task", key="default/old"), now=1) == {"a-worker-0": "n1"}


def test_gangs_are_served_in_line_order() -> None:
    running = engine(
        CONF,
        node("n1", pods=1),
        gang("young", created=9),
        *crew("young", 1, cpu=0),
        gang("old"),
        *crew("old", 1, cpu=0),
    )

    assert binds(running) == {"old-worker-0": "n1"}


def test_all_gangs_of_a_queue_are_served() -> None:
    running = engine(CONF, node("n1"), *(each for name in "abc" for each in (gang(name), *crew(name, 2, cpu=0))))

    assert len(binds(running)) == 6


def test_a_gang_that_cannot_run_takes_no_place_from_others() -> None:
    running = engine(
        CONF,
        node("n1", pods=1),
        gang("lacks", min=2, created=-1),
        *crew("lacks", 1, cpu=0),
        gang("a"),
        *crew("a", 1, cpu=0),
        checks=True,
    )

    assert binds(running) == {"a-worker-0": "n1"}


def test_without_the_action_it_waits() -> None:
    running = engine(conf("gang", "predicates", actions="allocate"), node("n1"), gang("a"), *crew("a", 1, cpu=0))

    assert binds(running) == {}
