"""Headcounts: pods per node, kept up to date by the log, or counted anew when it was cleared."""

from random import Random

import numpy as np
import pytest

from posse.cluster.headcount import Headcount
from posse.cluster.kin import PodChoice, Selection
from posse.cluster.selectors import Requirement, Selector
from posse.cluster.status import Status
from posse.cluster.world import World
from tests.builders import node, task

WEB = PodChoice(Selector((Requirement("app", "In", ("web",)),)), ("default",))


def world() -> World:
    made = World()
    made.observe(node(f"n{i}") for i in range(3))
    made.observe(task(f"p{i}", "g", labels={"app": "web" if i % 2 else "db"}) for i in range(6))
    return made


def of(choice: PodChoice, *, with_terminating: bool = True) -> Headcount:
    selection = Selection(choice)
    return Headcount("kin", lambda world: selection.among(world.kin), with_terminating=with_terminating)


def put(made: World, pod: int, status: Status, node_row: int) -> None:
    made.move([pod], [status], [node_row])


def test_pods_count_where_they_lie_or_are_promised_a_place() -> None:
    made, web = world(), of(WEB)
    assert web.per_node(made).tolist() == [0, 0, 0]
    put(made, 1, Status.ALLOCATED, 0)
    put(made, 3, Status.PIPELINED, 2)
    put(made, 2, Status.ALLOCATED, 1)
    assert web.per_node(made).tolist() == [1, 0, 1]
    put(made, 1, Status.PENDING, -1)
    assert web.per_node(made).tolist() == [0, 0, 1]


def test_terminating_pods_count_as_the_rule_wants() -> None:
    made, all_of_them, staying = world(), of(WEB), of(WEB, with_terminating=False)
    put(made, 1, Status.RUNNING, 0)
    assert staying.per_node(made).tolist() == [1, 0, 0]
    put(made, 1, Status.RELEASING, 0)
    assert (all_of_them.per_node(made).tolist(), staying.per_node(made).tolist()) == ([1, 0, 0], [0, 0, 0])


@pytest.mark.parametrize("clears", [False, True])
def test_following_the_log_comes_to_the_same_as_counting_anew(clears: bool) -> None:
    made, random = world(), Random(7)
    followed = [of(WEB), of(WEB, with_terminating=False)]
    for step in range(200):
        status = random.choice((Status.ALLOCATED, Status.PIPELINED, Status.RELEASING, Status.PENDING, Status.SUCCEEDED))
        put(made, random.randrange(6), status, -1 if status is Status.PENDING else random.randrange(3))
        if clears and step % 50 == 0:
            made.columns.reserve_logs(len(made.columns.ledger.node_log))
        if step % 3 == 0:
            fresh = [of(WEB), of(WEB, with_terminating=False)]
            for known, anew in zip(followed, fresh, strict=True):
                assert np.array_equal(known.per_node(made), anew.per_node(made))


def test_new_nodes_and_new_kin_are_counted_too() -> None:
    made, web = world(), of(WEB)
    web.per_node(made)
    made.observe([node("n3"), task("late", on="n3", labels={"app": "web", "tier": "gold"})])
    assert web.per_node(made).tolist() == [0, 0, 0, 1]
