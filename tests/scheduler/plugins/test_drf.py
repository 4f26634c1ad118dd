"""Dominant resource fairness: the smaller greatest share goes first."""

from posse.scheduler.engine import Engine
from tests.builders import (
    binds,
    conf,
    crew,
    cycle,
    engine,
    gang,
    given_up,
    in_turn,
    node,
    task,
)

DRF = conf("drf")


def preempted(running: Engine, by: str, *candidates: str) -> list[str]:
    return given_up(running, "preemptable", by, candidates)


def test_the_gang_with_the_smaller_share_goes_first():
    running = engine(DRF, node("n1"), gang("a"), *crew("a", 3, on="n1"), gang("b"), *crew("b", 2, on="n1"))
    assert in_turn(running, "a", "b") == ["b", "a"]


def test_each_gang_is_measured_by_the_resource_it_has_most_of():
    much_memory = [gang("a"), task("a-0", "a", cpu=1, memory=16, on="n1")]
    much_cpu = [gang("b"), task("b-0", "b", cpu=3, memory=1, on="n1")]
    running = engine(DRF, node("n1", cpu=8, memory=32), *much_memory, *much_cpu)
    assert in_turn(running, "a", "b") == ["b", "a"]


def test_pods_are_a_resource_like_the_others():
    many_small = [gang("a"), *crew("a", 4, cpu=0.1, on="n1")]
    one_large = [gang("b"), task("b-0", "b", cpu=2, on="n1")]
    running = engine(DRF, node("n1", cpu=10, pods=10), *many_small, *one_large)
    assert in_turn(running, "a", "b") == ["b", "a"]


def test_a_resource_that_no_node_has_makes_no_share():
    imagined = [gang("a"), task("a-0", "a", cpu=1, gpu=4, on="n1")]
    running = engine(DRF, node("n1"), *imagined, gang("b"), *crew("b", 2, on="n1"))
    assert in_turn(running, "a", "b") == ["a", "b"]


def test_equal_shares_leave_the_order_to_age():
    running = engine(DRF, node("n1"), gang("a", created=2), gang("b", created=1))
    assert in_turn(running, "a", "b") == ["b", "a"]


def test_shares_follow_the_cluster():
    gangs = [gang("a"), task("a-0", "a", cpu=2, on="n1"), gang("b"), task("b-0", "b", cpu=1, memory=6, on="n1")]
    running = engine(DRF, node("n1", cpu=8, memory=32), *gangs)
    assert in_turn(running, "a", "b") == ["b", "a"]
    cycle(running, node("n2", cpu=40, memory=0))
    assert in_turn(running, "a", "b") == ["a", "b"]


def test_gangs_take_turns_as_their_shares_grow():
    small, large = [gang("a", created=2), *crew("a", 4, cpu=1)], [gang("b", created=1), *crew("b", 4, cpu=2)]
    placed = binds(engine(conf("drf"), node("n1", cpu=6), *small, *large))
    assert sorted(placed) == ["a-worker-0", "a-worker-1", "b-worker-0", "b-worker-1"]


def test_takes_from_a_gang_that_keeps_the_greater_share():
    running = engine(DRF, node("n1"), gang("a"), task("a-0", "a"), gang("b"), *crew("b", 4, on="n1"))
    assert preempted(running, "a-0", "b-worker-0") == ["b-worker-0"]


def test_takes_no_more_than_makes_the_shares_equal():
    running = engine(DRF, node("n1"), gang("a"), task("a-0", "a"), gang("b"), *crew("b", 3, on="n1"))
    everyone = [f"b-worker-{number}" for number in range(3)]
    assert preempted(running, "a-0", *everyone) == ["b-worker-0", "b-worker-1"]


def test_takes_nothing_from_a_gang_with_the_smaller_share():
    rich, poor = crew("a", 3, on="n1"), crew("b", 2, on="n1")
    running = engine(DRF, node("n1"), gang("a"), task("a-0", "a"), *rich, gang("b"), *poor)
    assert preempted(running, "a-0", "b-worker-0", "b-worker-1") == []


def test_pods_of_no_gang_are_nobodys_victims():
    running = engine(DRF, node("n1"), gang("a"), task("a-0", "a"), task("alone", cpu=4, on="n1"))
    assert preempted(running, "a-0", "alone") == []
