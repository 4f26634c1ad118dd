"""The engine: what goes into a cycle, what comes out, and what is known in between."""

import pytest

from posse.cluster.facts import Gone
from posse.cluster.records import Bind, Bound, CycleInput, CycleResult, Outcome, Refused, TimedOut
from posse.cluster.status import Status
from posse.scheduler.configuration import load
from posse.scheduler.engine import Engine
from posse.scheduler.registry import built_in
from tests.builders import amounts, bare, binds, conf, crew, cycle, engine, gang, node, queue, task, the_gang, the_task

CONF = conf("priority gang", "predicates nodeorder", actions="allocate")


def binding() -> Engine:
    """A gang of two that was just sent to a node."""
    running = engine(CONF, node("n1", cpu=2), gang("a", min=2), *crew("a", 2), checks=True)
    assert len(binds(running)) == 2
    return running


def heard(running: Engine, *outcomes: Outcome) -> CycleResult:
    return running.cycle(CycleInput(1, (), outcomes))


def test_a_bind_names_pod_node_and_gang() -> None:
    running = engine(CONF, node("n1"), gang("a"), task("p", "a", uid="7"))

    assert cycle(running).effects == (Bind("default/p", "7", "n1", "default/a"),)


def test_what_was_decided_is_not_decided_again() -> None:
    running = binding()

    assert binds(running, now=1) == {}
    assert the_task(running, "a-worker-0").status is Status.BINDING


def test_a_confirmed_bind_is_bound() -> None:
    running = binding()
    heard(running, Bound("default/a-worker-0", "a-worker-0", "n1"))

    assert the_task(running, "a-worker-0").status is Status.BOUND


@pytest.mark.parametrize(
    "outcome", [Refused("default/a-worker-0", "a-worker-0", "no"), TimedOut("default/a-worker-0", "a-worker-0")]
)
def test_a_pod_whose_bind_failed_is_placed_again(outcome: Outcome) -> None:
    running = binding()

    assert [effect.pod for effect in heard(running, outcome).effects] == ["default/a-worker-0"]


@pytest.mark.parametrize(
    "outcome",
    [Refused("default/a-worker-0", "another"), Refused("default/unheard-of", "x"), Bound("default/old", "old", "n1")],
)
def test_an_outcome_that_concerns_nobody_changes_nothing(outcome: Outcome) -> None:
    running = binding()

    assert heard(running, outcome).effects == ()
    assert the_task(running, "a-worker-0").status is Status.BINDING


def test_an_outcome_that_comes_after_the_news_changes_nothing() -> None:
    running = binding()
    cycle(running, task("a-worker-0", "a", on="n1"), now=1)
    heard(running, TimedOut("default/a-worker-0", "a-worker-0"))

    assert the_task(running, "a-worker-0").status is Status.RUNNING


def test_a_verdict_is_given_on_a_gang_when_something_about_it_changed() -> None:
    running = engine(CONF, gang("a"), *crew("a", 1), gang("b"), *crew("b", 1))
    first = [bare(verdict.gang) for verdict in cycle(running).verdicts]
    changed = [bare(verdict.gang) for verdict in cycle(running, gang("b", min=2), now=2).verdicts]

    assert first == ["a", "b"]
    assert "b" in changed


def test_all_are_told_again_when_they_are_forgotten() -> None:
    running = engine(CONF, node("n1"), gang("a"), *crew("a", 1))
    cycle(running)
    cycle(running, now=1)
    assert cycle(running, now=2).verdicts == ()

    running.forget()

    assert [bare(verdict.gang) for verdict in cycle(running, now=3).verdicts] == ["a"]


def test_all_queues_are_told_how_they_stand_by_name() -> None:
    running = engine(CONF, node("n1"), queue("b"), queue("a"), gang("g", queue="b"), task("p", "g", on="n1"))
    stands = {verdict.queue: verdict.allocated for verdict in cycle(running).queues}

    assert stands == {"a": (), "b": amounts(cpu=1, pods=1), "default": ()}
    assert list(stands) == sorted(stands)


def test_cycles_are_counted() -> None:
    running = engine(CONF)

    assert [cycle(running, now=now).cycle for now in range(3)] == [1, 2, 3]


def test_a_new_configuration_finds_the_world_as_it_stands() -> None:
    running = engine(conf("gang", "predicates", actions="allocate"), node("n1", cpu=1), gang("a", min=2), *crew("a", 2))
    assert binds(running) == {}
    known = built_in()
    free_for_all = conf("priority", "predicates", actions="allocate")
    running.configure(load(free_for_all, registry=known.plugin_specs(), actions=known.action_specs()))

    assert binds(running, now=1) == {"a-worker-0": "n1"}


def test_a_copy_decides_as_its_original_would_and_leaves_it_alone() -> None:
    running = engine(CONF, node("n1", cpu=2), gang("a", min=2), *crew("a", 2))
    copy = running.fork()

    assert binds(copy) == {"a-worker-0": "n1", "a-worker-1": "n1"}
    assert the_gang(running, "a").counts[Status.PENDING] == 2
    assert binds(running) == {"a-worker-0": "n1", "a-worker-1": "n1"}


def test_the_state_number_tells_states_apart_and_not_names_or_times() -> None:
    def standing(*facts: object, now: int = 0) -> int:
        running = engine(CONF, node("n1", cpu=1), *facts)
        cycle(running, now=now)
        return running.state(now)

    waits = standing(gang("a", min=2), *crew("a", 2))
    assert standing(gang("a", min=2), *crew("a", 2, start=5), now=9) == waits
    assert standing(gang("a", min=1), *crew("a", 2)) != waits


def test_the_state_number_tells_how_long_promises_have_stood_and_not_since_when() -> None:
    def promised(*, since: int, now: int) -> int:
        running = engine(CONF, node("n1", cpu=1), task("old", on="n1", terminating=True), gang("a"), *crew("a", 1))
        cycle(running, now=since)
        assert len(running.promises()) == 1
        return running.state(now)

    assert promised(since=40, now=47) == promised(since=3, now=10)
    assert promised(since=3, now=11) != promised(since=3, now=10)
    assert promised(since=4, now=10) != promised(since=3, now=10)


def test_pods_on_their_way_to_a_node_that_is_lost_stay_where_they_were_sent_until_somebody_knows_better() -> None:
    running = binding()
    cycle(running, Gone(kind="node", key="n1"), now=1)
    assert the_task(running, "a-worker-0").status is Status.BINDING

    result = heard(running, Refused("default/a-worker-0", "a-worker-0"), Refused("default/a-worker-1", "a-worker-1"))

    assert result.effects == ()
    assert the_gang(running, "a").counts[Status.PENDING] == 2
