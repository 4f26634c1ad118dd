"""Hierarchical fairness: shares that are fair among siblings at every level of the tree of queues."""

from collections import Counter
from typing import Any

import pytest

from posse.cluster.facts import Observation, QueueFact
from posse.errors import InputError
from posse.scheduler.engine import Engine
from tests.builders import binds, conf, crew, cycle, engine, gang, given_up, node, queue, queues_in_turn, task

HDRF = conf("gang", [{"name": "drf", "enableHierarchy": True}])


def branch(name: str, path: str, weights: str = "", **fields: Any) -> QueueFact:
    weights = weights or "/".join("1" for _ in path.split("/"))
    notes = {"volcano.sh/hierarchy": path, "volcano.sh/hierarchy-weights": weights}
    return queue(name, annotations=notes, **fields)


def gang_of(name: str, count: int, queue_name: str, **fields: Any) -> list[Observation]:
    return [gang(name, queue=queue_name), *crew(name, count, **fields)]


def placed(running: Engine) -> Counter[str]:
    return Counter(name.partition("-")[0] for name in binds(running))


def reclaimed(running: Engine, by: str, *candidates: str) -> list[str]:
    cycle(running)
    return given_up(running, "reclaimable", by, candidates)


def test_siblings_share_by_weight():
    queues = [branch("sci", "root/sci", "1/1"), branch("eng", "root/eng", "1/2")]
    work = [*gang_of("a", 9, "sci"), *gang_of("b", 9, "eng")]
    assert placed(engine(HDRF, node("n1", cpu=9), *queues, *work)) == {"a": 3, "b": 6}


def test_branches_share_before_their_queues_do():
    queues = [branch("sci", "root/sci"), branch("dev", "root/eng/dev"), branch("prod", "root/eng/prod")]
    work = [*gang_of("a", 8, "sci"), *gang_of("b", 8, "dev"), *gang_of("c", 8, "prod")]
    assert placed(engine(HDRF, node("n1", cpu=8), *queues, *work)) == {"a": 4, "b": 2, "c": 2}


def test_children_that_want_different_things_do_not_hide_each_other():
    queues = [branch("sci", "root/sci"), branch("dev", "root/eng/dev"), branch("prod", "root/eng/prod")]
    work = [
        *gang_of("a", 10, "sci", cpu=1, memory=1),
        *gang_of("b", 10, "dev", cpu=1),
        *gang_of("c", 10, "prod", cpu=0, memory=1),
    ]
    assert placed(engine(HDRF, node("n1", cpu=10, memory=10), *queues, *work)) == {"a": 5, "b": 5, "c": 5}


def test_a_branch_that_has_all_it_asks_for_stands_behind_one_that_has_not():
    queues = [branch("sci", "root/sci"), branch("eng", "root/eng")]
    content = gang_of("a", 1, "sci", on="n1")
    hungry: list[Observation] = [*gang_of("b", 4, "eng", on="n1"), task("b-more", "b", cpu=20)]
    assert queues_in_turn(engine(HDRF, node("n1"), *queues, *content, *hungry), "sci", "eng") == ["eng", "sci"]


def test_a_gang_that_asks_for_something_used_up_stands_behind_one_that_does_not():
    queues = [branch("sci", "root/sci"), branch("eng", "root/eng")]
    wants_gpu: list[Observation] = [*gang_of("a", 1, "sci", gpu=1, on="n1"), task("a-more", "a", gpu=1)]
    wants_cpu: list[Observation] = [*gang_of("b", 4, "eng", on="n1"), task("b-more", "b", cpu=20)]
    nodes = node("n1", cpu=16, gpu=1)
    assert queues_in_turn(engine(HDRF, nodes, *queues, *wants_gpu, *wants_cpu), "sci", "eng") == ["eng", "sci"]


def test_queues_are_compared_only_as_far_down_as_both_reach():
    queues = [branch("deep", "root/eng/dev", created=1), branch("flat", "root/sci", created=2)]
    assert queues_in_turn(engine(HDRF, node("n1"), *queues), "flat", "deep") == ["deep", "flat"]


@pytest.mark.parametrize("weights", ["", "1", "1/x", "1/0.2"])
def test_a_weight_that_says_nothing_is_one(weights: str):
    odd = queue("odd", annotations={"volcano.sh/hierarchy": "root/odd", "volcano.sh/hierarchy-weights": weights})
    work = [*gang_of("a", 8, "odd"), *gang_of("b", 8, "plain")]
    assert placed(engine(HDRF, node("n1", cpu=8), odd, branch("plain", "root/plain"), *work)) == {"a": 4, "b": 4}


def two_branches(served: int) -> Engine:
    """One branch that has nothing and wants three cpus, and one that is served so many and wants more."""
    queues = [branch("sci", "root/sci"), branch("eng", "root/eng")]
    asker, other = gang_of("a", 3, "sci"), [*gang_of("b", served, "eng", on="n1"), task("b-more", "b", cpu=20)]
    idle = conf([{"name": "drf", "enableHierarchy": True}], actions="backfill")
    return engine(idle, node("n1"), *queues, *asker, *other)


def test_takes_from_a_branch_that_stays_better_served():
    running = two_branches(served=3)
    assert reclaimed(running, "a-worker-0", "b-worker-0", "b-worker-1") == ["b-worker-0", "b-worker-1"]


def test_takes_nothing_that_would_turn_the_tables():
    running = two_branches(served=2)
    assert reclaimed(running, "a-worker-0", "b-worker-0") == []


def test_without_a_tree_queues_are_left_to_others():
    running = engine(conf("drf", actions="backfill"), node("n1"), queue("x", created=2), queue("y", created=1))
    assert queues_in_turn(running, "x", "y") == ["y", "x"]


def test_a_tree_and_proportion_in_one_tier_are_refused():
    with pytest.raises(InputError, match="enableHierarchy and proportion"):
        engine(conf([{"name": "drf", "enableHierarchy": True}, "proportion"]))
