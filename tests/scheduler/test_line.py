"""The line: the best queue, its best gang, and everybody's key as it is now."""

from typing import Any, ClassVar

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from posse.cluster.status import Status
from posse.cluster.views import Gang
from posse.scheduler.engine import Engine
from posse.scheduler.line import Heap, Line
from posse.scheduler.plugin import Key, Plugin
from posse.scheduler.registry import Registry, built_in
from tests.builders import bare, binds, conf, crew, engine, gang, node, queue, task, the_task
from tests.properties.effort import tried


def line_of(running: Engine) -> Line:
    for plugin in running.tiers.plugins:
        plugin.on_open(running.open(0))
    return Line(running.tiers, running.world, np.array(running.world.gangs.declared(), np.intp))


def all_turns(line: Line, **settings: Any) -> list[str]:
    """Everybody's one turn."""
    turns = []
    while (each := line.next(**settings)) is not None:
        turns.append(bare(each.key))
        line.back(each)
    return turns


def test_gangs_come_by_their_plugins_keys_then_by_age_then_by_name() -> None:
    running = engine(
        conf("priority"),
        gang("g10", created=5),
        gang("g9", created=5),
        gang("old", created=1),
    )

    assert all_turns(line_of(running)) == ["old", "g9", "g10"]


def test_queues_take_turns() -> None:
    facts = [queue("default"), queue("red", created=1), queue("blue", created=2)]
    gangs = [gang(f"{name}-{number}", queue=name) for name in ("blue", "red") for number in range(2)]

    assert all_turns(line_of(engine(conf("priority"), *facts, *gangs))) == ["red-0", "red-1", "blue-0", "blue-1"]


def test_a_gang_may_wait_for_another_turn() -> None:
    line = line_of(engine(conf("priority"), gang("a"), gang("b")))
    first = line.next()
    assert first is not None
    line.again(first)
    line.back(first)

    assert all_turns(line) == ["a", "b"]


def test_a_queue_that_has_all_it_deserves_is_out_for_good() -> None:
    running = engine(
        conf("proportion"),
        node("n1", cpu=4, pods=2),
        queue("red", created=1),
        queue("blue", created=2),
        task("r", "red-0", cpu=3, on="n1"),
        gang("red-0", queue="red"),
        *crew("red-0", 3),
        gang("blue-0", queue="blue"),
        *crew("blue-0", 3),
    )

    assert all_turns(line_of(running)) == ["blue-0", "red-0"]
    assert all_turns(line_of(running), skip_overused=True) == ["blue-0"]


def test_where_one_queue_is_left_its_gangs_come_one_after_the_other_until_it_has_had_enough() -> None:
    running = engine(
        conf("proportion"),
        node("n1", cpu=4, pods=2),
        *(each for name in "ab" for each in (gang(name), *crew(name, 1, cpu=2))),
    )
    line = line_of(running)
    turns = []
    while (each := line.next(skip_overused=True)) is not None:
        turns.append(bare(each.key))
        both = [the_task(running, f"{name}-worker-0").row for name in "ab"]
        running.world.move(both, [Status.BINDING] * 2, [running.world.nodes.find("n1")] * 2)
        line.back(each)

    assert turns == ["a"]


def test_whose_share_grew_meanwhile_waits_behind_those_whose_share_did_not() -> None:
    running = engine(conf("drf"), node("n1", cpu=8), *(each for name in "abc" for each in (gang(name), *crew(name, 2))))
    line, turns = line_of(running), []
    for _ in range(5):
        each = line.next()
        assert each is not None
        turns.append(bare(each.key))
        number = turns.count(turns[-1]) - 1
        if number < 2:
            row = the_task(running, f"{turns[-1]}-worker-{number}").row
            running.world.move([row], [Status.BINDING], [running.world.nodes.find("n1")])
        line.again(each)
        line.back(each)

    assert turns == ["a", "b", "c", "a", "b"]


class ColoursPlugin(Plugin):
    """Put gangs first of whose colour fewer pods have a node: a key that moves with the turns of others."""

    name: ClassVar[str] = "colours"

    def gang_order(self, gang: Gang) -> Key:
        """Count the pods of the colour."""
        world, colour = gang.world, gang.fact.labels["colour"]
        alike = [Gang(world, row) for row in world.gangs.declared()]
        return sum(each.ready_count for each in alike if each.fact.labels["colour"] == colour)


def test_where_keys_depend_on_others_they_are_asked_for_again_and_nobody_goes_in_a_crowd() -> None:
    known = built_in()
    running = engine(
        conf("gang", "predicates colours", actions="allocate"),
        node("n1", cpu=8),
        *(gang(f"{colour}-{number}", labels={"colour": colour}) for colour in ("blue", "red") for number in range(3)),
        *(each for colour in ("blue", "red") for number in range(3) for each in crew(f"{colour}-{number}", 1)),
        registry=Registry({**known.plugins, ColoursPlugin.name: ColoursPlugin}, known.actions),
    )

    turns = [pod.removesuffix("-worker-0") for pod in binds(running)]

    assert turns == ["blue-0", "red-0", "blue-1", "red-1", "blue-2", "red-2"]


def test_items_come_by_their_keys_and_equal_ones_in_the_order_they_came() -> None:
    heap: Heap[str] = Heap(len)
    for word in ("ccc", "a", "bb", "dd", "e"):
        heap.push(word)

    assert [heap.pop() for _ in range(5)] == ["a", "e", "bb", "dd", "ccc"]


def test_a_key_that_grew_while_its_item_waited_is_believed_only_anew() -> None:
    keys = {"a": 1, "b": 2, "c": 3}
    heap: Heap[str] = Heap(keys.__getitem__)
    for name in keys:
        heap.push(name)
    keys["a"], keys["b"] = 9, 4

    assert [heap.pop() for _ in range(3)] == ["c", "b", "a"]


def test_keys_that_cannot_move_are_not_asked_for_again() -> None:
    asked: list[str] = []

    def key(name: str) -> str:
        asked.append(name)
        return name

    heap: Heap[str] = Heap(key, keys_move=False)
    for name in "ba":
        heap.push(name)
    assert [heap.pop(), heap.pop()] == ["a", "b"]

    assert asked == ["b", "a"]


def test_those_that_are_taken_out_together_can_go_back_to_their_places() -> None:
    heap: Heap[int] = Heap(lambda number: number // 10, keys_move=False)
    for number in (10, 11, 12, 30):
        heap.push(number)
    taken = heap.pop_while(lambda number: number < 30, 2)
    assert [item for _, _, item in taken] == [10, 11]

    heap.put_back(taken[1:])

    assert [heap.pop() for _ in range(len(heap))] == [11, 12, 30]


def test_pushing_after_many_came_in_order_keeps_first_come_first_served() -> None:
    heap: Heap[str] = Heap(len, keys_move=False)
    heap.extend([(1, "a"), (1, "b"), (2, "cc")])
    heap.push("0")

    assert [heap.pop() for _ in range(len(heap))] == ["a", "b", "0", "cc"]


@tried(60)
@given(st.lists(st.tuples(st.integers(0, 3), st.lists(st.tuples(st.integers(0, 5), st.integers(0, 3)))), min_size=1))
def test_who_comes_is_who_a_plain_look_at_all_keys_would_choose(story: list[tuple[int, list[tuple[int, int]]]]) -> None:
    keys, came = [first for first, _ in story], list(range(len(story)))
    heap: Heap[int] = Heap(keys.__getitem__)
    for item in came:
        heap.push(item)
    for _, growths in story:
        for item, growth in growths:
            if item < len(keys):
                keys[item] += growth

        chosen = min(came, key=lambda item: (keys[item], item))
        assert heap.pop() == chosen
        came.remove(chosen)
