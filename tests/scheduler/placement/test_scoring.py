"""Scoring: the sum of all points, added in one order everywhere."""

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from posse.cluster.views import Node, Task
from posse.scheduler.placement.terms import FixedScore, LiveScore, NormalisedScore, Score
from posse.scheduler.plugin import Plugin
from posse.scheduler.registry import Registry, built_in
from tests.builders import conf, engine, node, task, the_task


class Pointed(Plugin):
    """Give the points that a test wants."""

    terms: ClassVar[tuple[Score, ...]] = ()

    def scores(self, shape: int) -> Sequence[Score]:
        return self.terms


class ByHand(Plugin):
    """Give each node the last digit of its name."""

    name: ClassVar[str] = "by-hand"

    def node_score(self, task: Task, node: Node) -> float:
        return float(node.name[-1])


def points(*plugins: type[Plugin]) -> list[float]:
    registry = Registry({plugin.name: plugin for plugin in plugins}, built_in().actions)
    running = engine(conf(*(plugin.name for plugin in plugins)), node("n1"), node("n2"), task("p"), registry=registry)
    found: list[float] = running._chooser.scoring.points(the_task(running, "p").row, np.arange(2)).tolist()
    return found


def giving(name: str, *terms: Score) -> type[Plugin]:
    return type(name, (Pointed,), {"name": name, "terms": terms})


def test_what_a_node_is_worth_by_itself_is_added_before_comparisons() -> None:
    """Fractions are lost where a large number is added too early, so the order is part of the rule."""
    small, huge = 2.0**-48, NormalisedScore(np.array([1, 1]), 1)
    alone = [FixedScore(np.full(2, small)) for _ in range(3)]
    assert points(giving("a", alone[0], huge, alone[1]), giving("b", alone[2])) == [100.0 + 3 * small] * 2


def test_a_plugin_that_speaks_of_one_node_is_asked_in_its_place() -> None:
    assert points(ByHand, giving("a", FixedScore(np.array([0.5, 0.25])))) == [1.5, 2.25]


def test_a_live_score_that_concerns_nobody_is_not_asked() -> None:
    idle = LiveScore(lambda task, candidates: candidates / 0, lambda tasks: False)
    busy = LiveScore(lambda task, candidates: candidates * 2.0)
    assert points(giving("a", idle, busy)) == [0.0, 2.0]
