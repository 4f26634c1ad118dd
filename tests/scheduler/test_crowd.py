"""Crowds: what small equal gangs may not be spared by going together."""

from typing import ClassVar

from posse.cluster.names import PODS
from posse.cluster.verdict import Blocker
from posse.cluster.views import Queue
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


def test_pods_that_name_their_nodes_get_them_in_whichever_cycle_they_come() -> None:
    numbers = range(6)
    running = engine(CONF, *(node(f"n{number}", cpu=4) for number in numbers), checks=True)
    cycle(running)

    come = [gang(f"g{number}") for number in numbers]
    named = [task(f"g{number}-w-0", f"g{number}", nominated=f"n{number}") for number in numbers]

    assert binds(running, *come, *named, now=1) == {f"g{number}-w-0": f"n{number}" for number in numbers}
