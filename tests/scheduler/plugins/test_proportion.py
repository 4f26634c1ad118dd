"""Proportion: what each queue deserves of the cluster, by its weight."""

from collections import Counter
from typing import Any

import numpy as np
import pytest

from posse.cluster.facts import Observation, QueueFact
from posse.scheduler.engine import Engine
from posse.scheduler.plugins.proportion.plugin import ProportionPlugin
from tests.builders import (
    amounts,
    binds,
    conf,
    crew,
    cycle,
    engine,
    gang,
    given_up,
    node,
    queue,
    queues_in_turn,
    task,
    the_gang,
    the_queue,
    the_task,
)

PROPORTION = conf("proportion")
LOOKING = conf("proportion", actions="backfill")
ENQUEUEING = conf("proportion", actions="enqueue")
CLOSED = ["Closed", "Closing", "Unknown"]


def work(name: str, count: int, **fields: Any) -> list[Observation]:
    """A queue, and a gang of the same name in it."""
    return [queue(name), *members(name, count, **fields)]


def members(name: str, count: int, **fields: Any) -> list[Observation]:
    return [gang(name, queue=name), *crew(name, count, **fields)]


def placed(running: Engine) -> Counter[str]:
    return Counter(name.partition("-")[0] for name in binds(running))


def plugin(running: Engine) -> ProportionPlugin:
    (found,) = (each for each in running.tiers.plugins if isinstance(each, ProportionPlugin))
    return found


def admitted(running: Engine, *names: str) -> list[str]:
    cycle(running)
    return [name for name in names if the_gang(running, name).is_admitted]


def reclaimed(running: Engine, by: str, *candidates: str) -> list[str]:
    cycle(running)
    return given_up(running, "reclaimable", by, candidates)


# ---------------------------------------------------------------------- what queues deserve


def test_queues_share_by_weight():
    queues = [queue("a", weight=1), queue("b", weight=2)]
    running = engine(PROPORTION, node("n1", cpu=9), *queues, *members("a", 9), *members("b", 9))
    assert placed(running) == {"a": 3, "b": 6}


def test_what_a_queue_does_not_ask_for_goes_to_the_others():
    running = engine(PROPORTION, node("n1", cpu=9), *work("a", 1), *work("b", 9), *work("c", 9))
    assert placed(running) == {"a": 1, "b": 4, "c": 4}


def test_a_queue_without_gangs_takes_no_part():
    running = engine(PROPORTION, node("n1", cpu=8), queue("empty", weight=100), *work("a", 8))
    assert placed(running) == {"a": 8}


def test_gangs_that_wait_outside_count_as_what_their_queue_asks_for():
    too_large = [gang("b", queue="b", min_resources=amounts(cpu=100)), *crew("b", 8)]
    running = engine(conf("overcommit proportion", actions="enqueue, allocate"), node("n1", cpu=8), *work("a", 8))
    running.world.observe([queue("b"), *too_large])
    assert placed(running) == {"a": 4}


def test_a_queue_has_no_more_than_its_capability():
    capped = [queue("a", capability=amounts(cpu=2)), *members("a", 8)]
    assert placed(engine(PROPORTION, node("n1", cpu=8), *capped, *work("b", 4))) == {"a": 2, "b": 4}


def test_a_capability_limits_only_what_it_names():
    capped = [queue("a", capability=amounts(memory=2)), *members("a", 8)]
    assert placed(engine(PROPORTION, node("n1", cpu=8), *capped)) == {"a": 8}


def test_a_cpu_capability_of_nothing_is_no_limit():
    capped = [queue("a", capability=amounts(cpu=0, memory=8)), *members("a", 8)]
    assert placed(engine(PROPORTION, node("n1", cpu=8), *capped)) == {"a": 8}


def test_a_gpu_capability_of_nothing_is_a_limit():
    capped = [queue("a", capability=amounts(gpu=0)), *members("a", 2, gpu=1)]
    assert placed(engine(PROPORTION, node("n1", cpu=8, gpu=8), *capped)) == {}


def test_a_guarantee_is_kept_free_for_who_has_it():
    guaranteed = [queue("a", guarantee=amounts(cpu=6)), *members("a", 1)]
    assert placed(engine(PROPORTION, node("n1", cpu=8), *guaranteed, *work("b", 8))) == {"a": 1, "b": 2}


def test_a_queue_deserves_its_guarantee_whatever_its_weight():
    guaranteed = [queue("a", guarantee=amounts(cpu=6)), *members("a", 8)]
    heavy = [queue("b", weight=7), *members("b", 8)]
    assert placed(engine(PROPORTION, node("n1", cpu=8), *guaranteed, *heavy)) == {"a": 6, "b": 2}


def test_queues_that_do_not_exist_get_nothing():
    running = engine(PROPORTION, node("n1", cpu=8), gang("a", queue="nowhere"), *crew("a", 4), *work("b", 8))
    assert placed(running) == {"b": 8}


def test_shares_follow_the_cluster():
    running = engine(PROPORTION, node("n1", cpu=2), *work("a", 8), *work("b", 8))
    assert placed(running) == {"a": 1, "b": 1}
    cycle(running, node("n2", cpu=4))
    assert [the_gang(running, name).ready_count for name in "ab"] == [3, 3]


def test_what_queues_hold_includes_what_they_are_promised():
    leaving = task("old", cpu=4, on="n1", terminating=True)
    running = engine(conf("gang proportion"), node("n1", cpu=4), leaving, queue("a"), gang("a", min=4, queue="a"))
    cycle(running, *crew("a", 4))
    assert the_gang(running, "a").waiting_count == 4
    assert plugin(running).queue_overused(the_queue(running, "a")) is not None


# ---------------------------------------------------------------------- order, room


def test_the_queue_with_the_smaller_part_of_what_it_deserves_goes_first():
    running = engine(LOOKING, node("n1"), *work("a", 4, on="n1"), *work("b", 1, on="n1"))
    running.world.observe([task("a-more", "a", cpu=9), task("b-more", "b", cpu=9)])
    assert queues_in_turn(running, "a", "b") == ["b", "a"]


def test_a_queue_of_higher_priority_goes_before_all_shares():
    first = QueueFact(key="a", name="a", priority=1)
    running = engine(LOOKING, node("n1"), first, *members("a", 4, on="n1"), *work("b", 1, on="n1"))
    running.world.observe([task("a-more", "a", cpu=9), task("b-more", "b", cpu=9)])
    assert queues_in_turn(running, "a", "b") == ["a", "b"]


def test_a_queue_that_has_all_it_deserves_is_overused():
    running = engine(LOOKING, node("n1"), *work("a", 2, on="n1"))
    cycle(running)
    blocker = plugin(running).queue_overused(the_queue(running, "a"))
    assert blocker is not None
    assert blocker.message == "queue a has all that it deserves"


def test_a_queue_that_lacks_anything_is_not_overused():
    running = engine(LOOKING, node("n1"), *work("a", 2, on="n1"), task("a-more", "a", memory=1))
    cycle(running)
    assert plugin(running).queue_overused(the_queue(running, "a")) is None


def test_a_task_may_be_refused_while_a_smaller_one_gets_room():
    tasks = [task("a-large-0", "a", cpu=5), task("a-small-1", "a", cpu=3)]
    running = engine(PROPORTION, node("n1", cpu=8), queue("a"), gang("a", queue="a"), *tasks, *work("b", 8))
    assert placed(running) == {"a": 1, "b": 4}


def test_a_refused_gang_learns_what_its_queue_lacks():
    asks = [queue("a"), gang("a", queue="a"), task("a-0", "a", cpu=5)]
    running = engine(PROPORTION, node("n1", cpu=8), *asks, *work("b", 8))
    verdict = next(each for each in cycle(running).verdicts if each.gang == "default/a")
    (blocker,) = verdict.blockers
    assert (blocker.kind, blocker.unit, blocker.have, blocker.need) == ("queue", "cpu", 4000, 5000)
    assert blocker.message == "queue a would have more than it deserves of cpu"


@pytest.mark.parametrize("state", CLOSED)
def test_a_queue_that_is_not_open_takes_nothing_new(state: str):
    running = engine(PROPORTION, node("n1"), queue("a", state=state), *members("a", 2))
    assert placed(running) == {}
    assert not plugin(running).queue_room(the_queue(running, "a")).any()


def test_pods_are_nobodys_limit_when_a_task_asks_for_room():
    running = engine(PROPORTION, node("n1", cpu=8, pods=2), *work("a", 2))
    assert placed(running) == {"a": 2}


@pytest.mark.parametrize("cpu", [0.5, 1, 2, 3, 4.5])
def test_the_room_of_a_queue_says_the_same_as_asking_for_each_task(cpu: float):
    thirds = [*work("a", 5, on="n1"), task("a-asks", "a", cpu=cpu), *work("b", 9), *work("c", 9)]
    running = engine(LOOKING, node("n1", cpu=25), *thirds)
    cycle(running)
    asker = the_task(running, "a-asks")
    room = plugin(running).queue_room(the_queue(running, "a"))
    request = running.world.columns.ledger.shape_request[asker.shape_row]
    assert room is not None
    fits = bool((request <= room)[request > 0].all())
    assert fits is (plugin(running).queue_allocatable(the_queue(running, "a"), asker) is None)


def test_a_queue_beyond_what_it_deserves_refuses_only_who_asks_for_more_of_that():
    much_cpu = [*work("a", 8, on="n1"), task("a-memory", "a", cpu=0, memory=1), task("a-cpu", "a")]
    running = engine(LOOKING, node("n1", cpu=8), *much_cpu, *work("b", 8))
    cycle(running)
    the_a = the_queue(running, "a")
    assert plugin(running).queue_allocatable(the_a, the_task(running, "a-memory")) is None
    assert plugin(running).queue_allocatable(the_a, the_task(running, "a-cpu")) is not None


# ---------------------------------------------------------------------- admission


def waiting(name: str, cpu: float, **fields: Any) -> Observation:
    return gang(name, queue="q", min_resources=amounts(cpu=cpu), **fields)


def test_gangs_are_admitted_up_to_what_their_queue_may_have():
    limited = queue("q", capability=amounts(cpu=5))
    running = engine(ENQUEUEING, node("n1"), limited, waiting("a", 3), waiting("b", 3), waiting("c", 2))
    assert admitted(running, "a", "b", "c") == ["a", "c"]


def test_without_a_capability_the_cluster_is_the_limit():
    running = engine(ENQUEUEING, node("n1", cpu=8), queue("q"), waiting("a", 8), waiting("b", 1))
    assert admitted(running, "a", "b") == ["a"]


def test_what_others_are_guaranteed_is_not_admitted_to():
    guaranteed = queue("other", guarantee=amounts(cpu=3))
    running = engine(ENQUEUEING, node("n1", cpu=8), queue("q"), guaranteed, waiting("a", 6))
    assert admitted(running, "a") == []


def test_a_resource_guaranteed_away_in_full_admits_nobody():
    guaranteed = queue("other", guarantee=amounts(gpu=4))
    asks = gang("a", queue="q", min_resources=amounts(gpu=1))
    assert admitted(engine(ENQUEUEING, node("n1", gpu=4), queue("q"), guaranteed, asks), "a") == []


def test_what_a_gang_has_beyond_its_minimum_keeps_nobody_out():
    grown = [gang("a", queue="q", min_resources=amounts(cpu=2), phase="Running", min=2), *crew("a", 6, on="n1")]
    running = engine(ENQUEUEING, node("n1", cpu=8), queue("q"), *grown, waiting("b", 6))
    assert admitted(running, "b") == ["b"]


def test_all_of_a_gang_without_minimal_resources_is_beyond_its_minimum():
    running = engine(ENQUEUEING, node("n1"), queue("q"), gang("a", queue="q"), *crew("a", 8, on="n1"), waiting("b", 8))
    assert admitted(running, "b") == ["b"]


def test_an_admitted_gang_is_charged_for_what_it_has_not_got_yet():
    begun = [waiting("a", 6, phase="Inqueue", min=6), *crew("a", 2, on="n1")]
    running = engine(ENQUEUEING, node("n1"), queue("q"), *begun, waiting("b", 2), waiting("c", 1))
    assert admitted(running, "b", "c") == ["b"]


def test_a_gang_that_somebody_else_refuses_is_not_charged():
    both = conf("proportion overcommit", actions="enqueue")
    hog = task("hog", cpu=5, on="n1")
    running = engine(both, node("n1", cpu=10), hog, queue("q"), waiting("a", 8), waiting("b", 6))
    assert admitted(running, "a", "b") == ["b"]


def test_what_gated_members_will_ask_for_is_not_charged():
    gated = [waiting("a", 8), *crew("a", 4, gates=("example.com/later",))]
    running = engine(ENQUEUEING, node("n1", cpu=8), queue("q"), *gated, waiting("b", 4), waiting("c", 1))
    assert admitted(running, "a", "b", "c") == ["a", "b"]


@pytest.mark.parametrize("state", CLOSED)
def test_a_queue_that_is_not_open_admits_only_who_states_no_minimum(state: str):
    running = engine(ENQUEUEING, node("n1"), queue("q", state=state), waiting("a", 1), gang("b", queue="q"))
    assert admitted(running, "a", "b") == ["b"]


# ---------------------------------------------------------------------- victims


def test_takes_from_a_queue_only_what_it_has_beyond_what_it_deserves():
    running = engine(LOOKING, node("n1", cpu=8), *work("a", 6, on="n1"), *work("b", 8))
    candidates = [f"a-worker-{number}" for number in range(6)]
    assert reclaimed(running, "b-worker-0", *candidates) == ["a-worker-0", "a-worker-1"]


def test_takes_nothing_from_a_queue_within_its_part():
    running = engine(LOOKING, node("n1", cpu=8), *work("a", 4, on="n1"), *work("b", 8))
    assert reclaimed(running, "b-worker-0", "a-worker-0") == []


def test_a_world_that_learns_a_resource_is_divided_anew():
    running = engine(PROPORTION, node("n1", cpu=8), *work("a", 2))
    assert placed(running) == {"a": 2}
    binding = cycle(running, node("n2", gpu=2), task("a-gpu", "a", gpu=1))
    assert len(binding.effects) == 1
    assert np.isfinite(plugin(running).queue_order(the_queue(running, "a"))[1])
