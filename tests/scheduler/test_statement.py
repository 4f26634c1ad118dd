"""Statements: what was decided together stands together, or is as if it had never been."""

import numpy as np

from posse.cluster.facts import ClaimReference
from posse.cluster.portrait import portrait
from posse.cluster.records import Bind
from posse.cluster.status import Status
from posse.scheduler.engine import Engine
from posse.scheduler.session import Session
from tests.builders import binds, conf, crew, engine, gang, node, task, the_task
from tests.properties.plugins import Licences, with_witness


def opened() -> tuple[Engine, Session]:
    running = engine(
        conf("gang witness"),
        node("n1"),
        node("n2"),
        gang("a"),
        *crew("a", 3),
        task("old", "b", on="n1"),
        registry=with_witness(),
    )
    return running, running.open(0)


def rows(running: Engine, *names: str) -> np.ndarray:
    return np.array([the_task(running, name).row for name in names], np.int32)


def nodes(running: Engine, *names: str) -> np.ndarray:
    return np.array([running.world.nodes.find(name) for name in names], np.int32)


def witnessed(running: Engine) -> list[tuple[str, str]]:
    return next(plugin.state for plugin in running.tiers.plugins if plugin.name == "witness")


def test_every_later_question_sees_the_tasks_moved() -> None:
    running, session = opened()
    statement = session.statement()
    statement.allocate(rows(running, "a-worker-0"), nodes(running, "n2"))
    statement.pipeline(rows(running, "a-worker-1"), nodes(running, "n1"))
    statement.evict(rows(running, "old"))

    names = ("a-worker-0", "a-worker-1", "old")
    assert [the_task(running, name).status for name in names] == [Status.ALLOCATED, Status.PIPELINED, Status.RELEASING]
    assert session.effects == []


def test_a_commit_binds_what_was_allocated_and_keeps_promises_as_they_are() -> None:
    running, session = opened()
    statement = session.statement()
    statement.allocate(rows(running, "a-worker-0", "a-worker-2"), nodes(running, "n2", "n1"))
    statement.pipeline(rows(running, "a-worker-1"), nodes(running, "n1"))
    statement.commit()

    assert session.effects == [
        Bind("default/a-worker-0", "a-worker-0", "n2", "default/a"),
        Bind("default/a-worker-2", "a-worker-2", "n1", "default/a"),
    ]
    assert the_task(running, "a-worker-0").status is Status.BINDING
    assert the_task(running, "a-worker-1").status is Status.PIPELINED


def test_what_was_committed_is_not_undone_with_what_comes_after() -> None:
    running, session = opened()
    statement = session.statement()
    statement.allocate(rows(running, "a-worker-0"), nodes(running, "n2"))
    statement.commit()
    statement.allocate(rows(running, "a-worker-1"), nodes(running, "n2"))
    statement.rollback()

    assert [the_task(running, name).status for name in ("a-worker-0", "a-worker-1")] == [Status.BINDING, Status.PENDING]


def test_a_rollback_goes_back_to_a_checkpoint_and_no_further() -> None:
    running, session = opened()
    statement = session.statement()
    statement.allocate(rows(running, "a-worker-0"), nodes(running, "n2"))
    mark, before = statement.checkpoint(), portrait(running.world)
    statement.allocate(rows(running, "a-worker-1"), nodes(running, "n2"))
    statement.release(rows(running, "a-worker-0"))
    assert statement.tasks_since(mark) == rows(running, "a-worker-1", "a-worker-0").tolist()

    statement.rollback(mark)

    assert portrait(running.world) == before
    assert len(statement) == mark


def test_plugins_hear_of_everybody_and_forget_what_is_undone() -> None:
    running, session = opened()
    statement = session.statement()
    statement.allocate(rows(running, "a-worker-0"), nodes(running, "n2"))
    mark = statement.checkpoint()
    statement.evict(rows(running, "old"))
    assert witnessed(running) == [("came", "default/a-worker-0"), ("went", "default/old")]

    statement.rollback(mark)
    assert witnessed(running) == [("came", "default/a-worker-0")]
    statement.rollback()
    assert witnessed(running) == []


def test_plugins_hear_of_those_that_were_placed_at_one_go() -> None:
    running = engine(
        conf("gang witness", "predicates"), node("n1"), gang("a", min=2), *crew("a", 3), registry=with_witness()
    )

    assert len(binds(running)) == 3
    assert witnessed(running) == [("came", f"default/a-worker-{number}") for number in range(3)]


def test_who_is_leaving_keeps_what_was_reserved_for_it_until_it_is_gone() -> None:
    book = Licences({"n1": 1})
    licensed = {"claims": (ClaimReference("licence", "solver"),)}
    running = engine(
        conf("gang", "predicates"), node("n1"), gang("a"), *crew("a", 1, shape=licensed), books={"licence": book}
    )
    assert len(binds(running)) == 1
    session = running.open(1)

    session.statement().evict(rows(running, "a-worker-0"))
    assert len(book.taken) == 1

    session.statement().release(rows(running, "a-worker-0"))
    assert book.taken == []
