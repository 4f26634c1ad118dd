"""A session: what actions ask of the open world, and what they leave in it."""

import numpy as np

from posse.cluster.facts import Gone
from posse.cluster.phases import GangPhase
from posse.cluster.status import Status
from posse.cluster.verdict import Blocker
from posse.cluster.views import Gang
from posse.scheduler.engine import Engine
from posse.scheduler.session import Session
from tests.builders import bare, conf, crew, cycle, engine, gang, node, queue, task, the_gang, the_task

CONF = conf("priority gang", "predicates", actions="allocate")


def opened(*facts: object) -> tuple[Engine, Session]:
    running = engine(CONF, *facts)
    return running, running.open(7)


def names(gangs: list[Gang]) -> list[str]:
    return sorted(bare(each.key) for each in gangs)


def test_gangs_are_found_by_phase_and_by_the_status_of_a_member() -> None:
    _, session = opened(gang("a"), *crew("a", 1), gang("b"), gang("c", phase="Inqueue"), *crew("c", 1))

    assert names(session.gangs([GangPhase.PENDING])) == ["a", "b"]
    assert names(session.gangs(GangPhase, with_status=Status.PENDING)) == ["a", "c"]


def test_who_is_not_declared_or_in_an_undeclared_queue_is_not_found() -> None:
    _, session = opened(*crew("nobody", 1), gang("a", queue="later"), gang("b", queue="red"), queue("red"))

    assert names(session.gangs(GangPhase)) == ["b"]


def test_a_gang_that_is_gone_is_not_found_though_its_pods_are_there() -> None:
    running, _ = opened(gang("a"), *crew("a", 1), gang("b"))
    running.world.observe([Gone(kind="gang", key="default/a")])

    assert names(running.open(8).gangs(GangPhase)) == ["b"]


def test_waiting_tasks_come_in_their_order_those_that_ask_for_nothing_apart() -> None:
    running, session = opened(
        gang("a"),
        task("a-w-2", "a"),
        task("a-w-10", "a"),
        task("a-w-1", "a", cpu=0),
        task("a-w-11", "a", priority=5),
        task("a-w-0", "a", on="n1"),
        task("a-w-3", "a", gates=("x",)),
    )
    waiting = {kind: session.pending(the_gang(running, "a"), best_effort=kind).tolist() for kind in (False, True)}
    keys = running.world.tasks.keys

    assert [bare(keys[row]) for row in waiting[False]] == ["a-w-11", "a-w-2", "a-w-10"]
    assert [bare(keys[row]) for row in waiting[True]] == ["a-w-1"]


def test_gangs_are_admitted_together() -> None:
    running, session = opened(gang("a"), gang("b"), gang("c"))
    session.admit(np.array([the_gang(running, name).row for name in "ab"]))

    assert [the_gang(running, name).phase.name for name in "abc"] == ["INQUEUE", "INQUEUE", "PENDING"]


def test_what_changed_is_fresh_until_a_cycle_has_closed() -> None:
    running, session = opened(gang("a"), gang("b"))
    rows = np.array([the_gang(running, name).row for name in "ab"])
    assert session.is_fresh(rows).tolist() == [True, True]
    for now in range(3):
        cycle(running, now=now)

    running.world.observe([gang("b", min=3)])

    assert running.open(9).is_fresh(rows).tolist() == [False, True]


def test_the_same_thing_blocks_once() -> None:
    running, session = opened(gang("a"))
    for _ in range(3):
        session.block(the_gang(running, "a"), Blocker(kind="queue", plugin="p", message="full"))

    assert len(session.note(the_gang(running, "a")).blockers) == 1


def test_where_tasks_would_have_gone_is_remembered_when_it_is_undone() -> None:
    running, session = opened(node("n1"), gang("a"), *crew("a", 2))
    statement, team = session.statement(), the_gang(running, "a")
    rows = np.array([the_task(running, f"a-worker-{number}").row for number in range(2)], np.int32)
    statement.allocate(rows[:1], np.zeros(1, np.int32))
    statement.pipeline(rows[1:], np.zeros(1, np.int32))
    session.remember_attempts(team, statement, 0)
    statement.rollback()

    assert [session.note(team).attempts[row] for row in rows.tolist()] == [
        (Status.ALLOCATED, "n1"),
        (Status.PIPELINED, "n1"),
    ]


def test_roles_are_given_up_once_one_of_them_was_refused() -> None:
    running, session = opened(node("n1"), gang("a"), task("p", "a", role="ps"), task("w", "a", role="worker"))
    team = the_gang(running, "a")
    assert session.refused_roles(team) == set()

    session.refused(team, the_task(running, "p"), np.array([1], np.int32))

    assert session.refused_roles(team) == {"ps"}
