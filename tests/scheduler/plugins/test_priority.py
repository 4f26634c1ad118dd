"""Priority: higher goes first, and lower makes room."""

from posse.cluster.facts import PriorityClassFact
from posse.scheduler.engine import Engine
from posse.scheduler.plugins.priority import PriorityPlugin
from posse.scheduler.victims import victims_of_gang
from tests.builders import (
    bare,
    binds,
    conf,
    crew,
    engine,
    gang,
    given_up,
    in_turn,
    node,
    task,
    the_gang,
    the_task,
)

PRIORITY = conf("priority")
CLASSES = [PriorityClassFact(name="high", value=100), PriorityClassFact(name="low", value=-5)]


def preempted(running: Engine, by: str, *candidates: str) -> list[str]:
    return given_up(running, "preemptable", by, candidates)


def test_gangs_go_by_their_priority_class():
    gangs = [gang("a", priority_class="low"), gang("b"), gang("c", priority_class="high")]
    assert in_turn(engine(PRIORITY, *CLASSES, *gangs), "a", "b", "c") == ["c", "b", "a"]


def test_a_gang_without_a_class_has_the_default_one():
    default = PriorityClassFact(name="usual", value=50, is_default=True)
    gangs = [gang("a"), gang("b", priority_class="low")]
    running = engine(PRIORITY, default, *CLASSES, *gangs)
    assert the_gang(running, "a").priority == 50
    assert in_turn(running, "b", "a") == ["a", "b"]


def test_a_class_that_comes_later_reorders_the_gangs():
    running = engine(PRIORITY, gang("a"), gang("b", priority_class="late"))
    assert in_turn(running, "a", "b") == ["a", "b"]
    running.world.observe([PriorityClassFact(name="late", value=7)])
    assert in_turn(running, "a", "b") == ["b", "a"]


def test_tasks_of_higher_priority_are_placed_first():
    tasks = [task("a-worker-0", "a"), task("a-worker-1", "a", priority=10)]
    assert binds(engine(PRIORITY, node("n1", cpu=1), gang("a"), *tasks)).keys() == {"a-worker-1"}


def test_a_task_without_a_priority_goes_before_one_of_priority_zero():
    tasks = [task("a-worker-0", "a", priority=0), task("a-worker-1", "a")]
    assert binds(engine(PRIORITY, node("n1", cpu=1), gang("a"), *tasks)).keys() == {"a-worker-1"}


def test_a_gang_starves_as_long_as_any_member_waits():
    running = engine(PRIORITY, node("n1"), gang("a"), *crew("a", 2, on="n1"), gang("b"), *crew("b", 1, on="n1"))
    running.world.observe(crew("b", 1, start=1))
    (plugin,) = running.tiers.plugins
    assert isinstance(plugin, PriorityPlugin)
    assert [plugin.gang_starving(the_gang(running, name)) for name in "ab"] == [False, True]


def test_takes_only_from_gangs_of_lower_priority():
    gangs = [gang("low", priority_class="low"), *crew("low", 1, on="n1"), gang("same"), *crew("same", 1, on="n1")]
    running = engine(PRIORITY, node("n1"), *CLASSES, *gangs, gang("b"), task("b-0", "b"))
    assert preempted(running, "b-0", "low-worker-0", "same-worker-0") == ["low-worker-0"]


def test_within_a_gang_takes_only_tasks_of_lower_priority():
    members = [task("a-x-0", "a", on="n1"), task("a-x-1", "a", on="n1", priority=5)]
    running = engine(PRIORITY, node("n1"), gang("a"), *members, task("a-x-2", "a", priority=5))
    assert preempted(running, "a-x-2", "a-x-0", "a-x-1") == ["a-x-0"]


def test_a_whole_gang_takes_from_lower_ones_in_its_queue():
    gangs = [gang("low", priority_class="low"), *crew("low", 1, on="n1"), gang("same"), *crew("same", 1, on="n1")]
    running = engine(PRIORITY, node("n1"), *CLASSES, *gangs, gang("b"))
    candidates = [the_task(running, "low-worker-0"), the_task(running, "same-worker-0")]
    within = victims_of_gang(running.tiers, the_gang(running, "b"), candidates, across_queues=False)
    across = victims_of_gang(running.tiers, the_gang(running, "b"), candidates, across_queues=True)
    assert [bare(each.key) for each in within] == ["low-worker-0"]
    assert across == candidates
