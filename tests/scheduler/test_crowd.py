"""Crowds: what small equal gangs may not be spared by going together."""

from collections.abc import Sequence
from typing import ClassVar
from unittest.mock import patch

import pytest

from posse.cluster.names import PODS
from posse.cluster.verdict import Blocker
from posse.cluster.views import Queue
from posse.scheduler.placement.filler import Filler
from posse.scheduler.plugin import Plugin
from posse.scheduler.registry import Registry, built_in
from tests.builders import binds, conf, crew, cycle, engine, gang, node, task

CONF = conf("priority gang", "predicates nodeorder", actions="allocate")


class ModestPlugin(Plugin):
    """Let a queue have had enough once four of its pods have a node."""

    name: ClassVar[str] = "modest"

    def queue_overused(self, queue: Queue) -> Blocker | None:
        """Count its pods."""
        has = self.world.columns.ledger.queue_allocated[queue.row, PODS]
        return Blocker(kind="queue", plugin=self.name, message="that is plenty") if has >= 4 else None


def test_a_queue_that_has_had_enough_on_the_way_ends_the_turns_of_all_that_follow() -> None:
    known = built_in()
    registry = Registry({**known.plugins, ModestPlugin.name: ModestPlugin}, known.actions)
    running = engine(
        conf("gang", "predicates modest"),
        node("n1", cpu=20),
        *(gang(name, min=2) for name in "abcde"),
        *(each for name in "abcde" for each in crew(name, 2)),
        registry=registry,
        checks=True,
    )

    assert sorted(binds(running)) == ["a-worker-0", "a-worker-1", "b-worker-0", "b-worker-1"]


@pytest.mark.parametrize("naming", [range(6), (0,), (3,), (0, 1, 5)])
def test_pods_that_name_their_nodes_get_them_whoever_is_like_them(naming: Sequence[int]) -> None:
    running = engine(CONF, *(node(f"n{number}", cpu=4, memory=99 - number) for number in range(6)), checks=True)
    cycle(running)

    come = [gang(f"g{number}") for number in range(6)]
    pods = [task(f"g{number}-w-0", f"g{number}", nominated=f"n{number}" * (number in naming)) for number in range(6)]
    where = binds(running, *come, *pods, now=1)

    assert len(where) == 6
    assert {number: where[f"g{number}-w-0"] for number in naming} == {number: f"n{number}" for number in naming}


def test_gangs_whose_pods_differ_are_not_taken_for_equal_ones() -> None:
    running = engine(
        CONF,
        node("n1", cpu=8),
        *(gang(name, min=2) for name in "abc"),
        *(task(f"{name}-w-{number}", name, cpu=cpu) for name in "abc" for number, cpu in enumerate((1, 3))),
        checks=True,
    )

    assert sorted(binds(running)) == ["a-w-0", "a-w-1", "b-w-0", "b-w-1"]


def test_equal_gangs_are_really_placed_in_one_go() -> None:
    running = engine(
        CONF,
        *(node(f"n{number}", cpu=20) for number in range(4)),
        *(each for number in range(40) for each in (gang(f"g{number}", min=2), *crew(f"g{number}", 2))),
    )
    with patch.object(Filler, "fill", autospec=True, side_effect=Filler.fill) as fill:
        assert len(binds(running)) == 80

    assert fill.call_count == 1


def test_a_larger_gang_of_the_same_pods_that_finds_no_room_keeps_no_smaller_one_back() -> None:
    running = engine(
        CONF,
        node("n1", cpu=5),
        *(gang(name, min=size) for name, size in (("a", 2), ("b", 2), ("c", 2), ("d", 1))),
        *(each for name, size in (("a", 2), ("b", 2), ("c", 2), ("d", 1)) for each in crew(name, size)),
        checks=True,
    )

    assert sorted(binds(running)) == ["a-worker-0", "a-worker-1", "b-worker-0", "b-worker-1", "d-worker-0"]


def test_the_first_of_a_crowd_that_finds_no_room_is_promised_what_is_being_freed() -> None:
    running = engine(
        CONF,
        node("n1", cpu=5),
        task("old", on="n1", terminating=True),
        *(each for name in "abcd" for each in (gang(name, min=2), *crew(name, 2))),
        task("other", on="n1", terminating=True),
        checks=True,
    )

    assert sorted(binds(running)) == ["a-worker-0", "a-worker-1"]
    promised = [running.world.tasks.keys[row] for row, _ in running.promises()]
    assert sorted(promised) == ["default/b-worker-0", "default/b-worker-1"]
