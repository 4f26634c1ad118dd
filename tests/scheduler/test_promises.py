"""Promises: made when room is being freed, kept over cycles, redeemed when it is free, ended when they have to be."""

from typing import ClassVar

import pytest

from posse.cluster.facts import Gone, PriorityClassFact
from posse.cluster.status import Status
from posse.cluster.verdict import Blocker
from posse.cluster.views import Gang
from posse.scheduler.engine import Engine
from posse.scheduler.plugin import Plugin
from posse.scheduler.promises import PATIENCE
from posse.scheduler.registry import Registry, built_in
from tests.builders import bare, binds, conf, crew, cycle, engine, gang, node, only_on, promised, queue, task, the_task
from tests.properties.plugins import with_witness

CONF = conf("priority gang", "predicates", actions="allocate")
OLD_GONE = Gone(kind="task", key="default/old")


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


class BansPlugin(Plugin):
    """Call gangs with the annotation `banned` invalid."""

    name: ClassVar[str] = "bans"

    def gang_valid(self, gang: Gang) -> Blocker | None:
        """Look at the annotation."""
        return Blocker(kind="validity", plugin=self.name, message="banned") if "banned" in gang.annotations else None


def test_it_ends_with_a_gang_that_a_plugin_calls_invalid() -> None:
    known = built_in()
    registry = Registry({**known.plugins, BansPlugin.name: BansPlugin}, known.actions)
    running = engine(
        conf("gang bans", "predicates"),
        node("n1", cpu=1),
        task("old", on="n1", terminating=True),
        gang("a"),
        *crew("a", 1),
        registry=registry,
    )
    cycle(running)
    assert promised(running) == {"a-worker-0": "n1"}

    cycle(running, gang("a", annotations={"banned": "yes"}), now=1)

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


def test_who_can_start_with_a_part_of_its_promise_does_and_keeps_the_rest() -> None:
    running = engine(
        CONF,
        *(node(name, cpu=1) for name in ("n1", "n2")),
        *(task(f"old{number}", on=f"n{number}", terminating=True) for number in (1, 2)),
        gang("a", min=1),
        *crew("a", 2),
        checks=True,
    )
    cycle(running)
    where = promised(running)
    assert sorted(where.values()) == ["n1", "n2"]

    others = queue("goes-first", created=-1), gang("b", queue="goes-first"), *crew("b", 1)
    bound = binds(running, Gone(kind="task", key="default/old1"), *others, now=1)

    assert list(bound.values()) == ["n1"]
    assert promised(running) == {pod: name for pod, name in where.items() if name == "n2"}
    assert [since for _, since in running.promises()] == [0]


def test_its_patience_counts_from_the_last_member_that_was_promised_a_node() -> None:
    running = engine(
        CONF,
        *(node(name, cpu=1) for name in ("n1", "n2", "n3")),
        *(task(f"old{number}", on=f"n{number}", terminating=True) for number in (1, 2, 3)),
        gang("a", min=2),
        *crew("a", 2),
    )
    cycle(running, now=5)
    cycle(running, *crew("a", 1, start=2), now=50)
    assert sorted(since for _, since in running.promises()) == [5, 5, 50]

    quicker = [task(f"quicker{number}", on=f"n{number}") for number in (1, 2, 3)]
    cycle(running, *(Gone(kind="task", key=f"default/old{number}") for number in (1, 2, 3)), *quicker, now=60)

    assert running.next_deadline() == 50 + PATIENCE


def test_that_a_node_of_others_is_being_left_keeps_no_promise_alive() -> None:
    running = engine(
        CONF,
        *(node(name, cpu=1, labels={"name": name}) for name in ("n1", "n2")),
        *(task(f"old{number}", on=f"n{number}", terminating=True) for number in (1, 2)),
        *(gang(name) for name in "ab"),
        task("a-0", "a", shape=only_on("n1")),
        task("b-0", "b", shape=only_on("n2")),
    )
    cycle(running, now=5)
    cycle(running, Gone(kind="task", key="default/old1"), task("quicker", on="n1"), now=6)
    assert running.next_deadline() == 5 + PATIENCE

    cycle(running, now=5 + PATIENCE)

    assert promised(running) == {"b-0": "n2"}


def test_it_ends_when_its_gang_needs_more_than_it_is_promised() -> None:
    running = waiting()

    cycle(running, gang("a", min=4), task("a-worker-3", "a", cpu=99), now=1)

    assert promised(running) == {}


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


def test_it_stays_for_all_of_the_gang_while_one_of_its_nodes_is_being_left() -> None:
    running = waiting()
    where = promised(running)

    binds(running, now=2 * PATIENCE)

    assert promised(running) == where
    assert running.next_deadline() is None


def test_one_that_is_made_anew_has_a_clock_of_its_own() -> None:
    running = engine(
        CONF,
        node("n1", cpu=1),
        node("n2", cpu=1),
        task("old", on="n1", terminating=True),
        task("other", on="n2"),
        gang("a"),
        *crew("a", 1),
    )
    cycle(running, now=5)
    cycle(running, OLD_GONE, task("quicker", on="n1"), now=6)

    cycle(running, task("other", on="n2", terminating=True), now=5 + PATIENCE)

    assert promised(running) == {"a-worker-0": "n2"}
    assert [since for _, since in running.promises()] == [5 + PATIENCE]


def test_plugins_learn_of_a_promise_and_of_its_end() -> None:
    running = engine(
        conf("gang witness", "predicates"),
        node("n1", cpu=1),
        task("old", on="n1", terminating=True),
        gang("a"),
        *crew("a", 1),
        registry=with_witness(),
    )
    cycle(running)
    cycle(running, Gone(kind="node", key="n1"), now=1)

    (witness,) = (plugin for plugin in running.tiers.plugins if plugin.name == "witness")
    assert witness.state == [("came", "default/a-worker-0"), ("went", "default/a-worker-0")]


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
