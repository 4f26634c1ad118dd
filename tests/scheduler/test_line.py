"""The line: the best queue, its best gang, and everybody's key as it is now."""

from typing import Any

import numpy as np

from posse.scheduler.engine import Engine
from posse.scheduler.line import Heap, Line
from tests.builders import amounts, bare, conf, crew, engine, gang, node, queue, task


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
        node("n1", cpu=4),
        queue("red", created=1),
        queue("blue", created=2),
        task("r", "red-0", cpu=3, on="n1"),
        gang("red-0", queue="red"),
        *crew("red-0", 3),
        gang("blue-0", queue="blue"),
        *crew("blue-0", 3),
    )

    assert all_turns(line_of(running)) == ["blue-0", "red-0"]
    assert all_turns(line_of(running), skip_overused=True) in (["blue-0"], ["blue-0", "red-0"])
    assert running.world.amounts(
        running.world.columns.ledger.queue_allocated[running.world.queues.find("red")]
    ) == amounts(cpu=3, pods=1)


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
