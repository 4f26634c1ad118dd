"""Where nothing has moved since the actions last ran in vain, they rest; what may move unseen keeps them awake."""

from typing import ClassVar

import pytest

from posse.cluster.facts import BudgetFact, ClaimReference, Fact, NamespaceFact, QuotaFact
from posse.cluster.storage_facts import VolumeClaimFact
from posse.cluster.views import Node, Task
from posse.scheduler.engine import Engine
from posse.scheduler.plugin import THE_WORLD, Plugin
from posse.scheduler.registry import Registry, built_in
from tests.builders import conf, cycle, engine, gang, node, queue, task
from tests.properties.plugins import Licences, Seat


class Refuser(Plugin):
    """Refuses every node, and counts how often it is asked."""

    name: ClassVar[str] = "refuser"
    asked = 0

    def node_filter(self, task: Task, node: Node) -> str | None:
        """Refuse."""
        self.asked += 1
        return "no"


class Steady(Refuser):
    """One that says its answers stay as they are while nothing moves."""

    depends_on: ClassVar[frozenset[str]] = THE_WORLD


class Sleeper(Steady):
    """One that will answer otherwise from a time on."""

    def wake_at(self) -> int | None:
        """Say when."""
        return 50


class Stateful(Steady):
    """One that keeps something from cycle to cycle."""

    def on_open(self, session: object) -> None:
        """Keep something."""
        self.state = 1


def waiting(refuser: type[Refuser]) -> tuple[Engine, Refuser]:
    """A gang that this plugin has refused its only node."""
    known = built_in()
    registry = Registry({**known.plugins, refuser.name: refuser}, known.actions)
    running = engine(conf("gang refuser", "predicates"), node("n1"), gang("a"), task("p", "a"), registry=registry)
    for now in (0, 1):
        assert not cycle(running, now=now).effects
    found = next(plugin for plugin in running.tiers.plugins if isinstance(plugin, Refuser))
    assert found.asked > 0
    found.asked = 0
    return running, found


def test_who_was_refused_is_not_tried_again_where_nothing_moved() -> None:
    running, plugin = waiting(Steady)
    result = cycle(running, now=10)

    assert plugin.asked == 0
    assert not result.verdicts


@pytest.mark.parametrize(
    "news",
    [
        node("n2"),
        node("n1", cpu=9),
        task("q", "a"),
        gang("a", created=5),
        queue("default", weight=2),
        queue("another"),
        NamespaceFact(name="default", labels={"team": "a"}),
        BudgetFact(namespace="default", name="b", allowed=1),
        QuotaFact(namespace="default", name="q"),
        VolumeClaimFact(namespace="default", name="data"),
    ],
)
def test_whatever_moves_wakes_the_actions(news: Fact) -> None:
    running, plugin = waiting(Steady)
    cycle(running, news, now=10)

    assert plugin.asked > 0


@pytest.mark.parametrize("refuser", [Refuser, Stateful])
def test_a_plugin_that_may_answer_otherwise_at_any_time_is_always_asked(refuser: type[Refuser]) -> None:
    running, plugin = waiting(refuser)
    cycle(running, now=10)

    assert plugin.asked > 0


def test_a_plugin_that_named_a_time_is_asked_then() -> None:
    running, plugin = waiting(Sleeper)
    cycle(running, now=49)
    assert plugin.asked == 0

    cycle(running, now=50)
    assert plugin.asked > 0


def test_who_must_be_told_is_tried_again() -> None:
    running, plugin = waiting(Steady)
    running.forget()
    result = cycle(running, now=10)

    assert plugin.asked > 0
    assert [verdict.gang for verdict in result.verdicts] == ["default/a"]


def test_a_book_keeps_nobody_awake_until_something_in_it_moves() -> None:
    wants = {"claims": (ClaimReference("licence", "solver"),)}
    book = Licences({"n1": 1})
    known = built_in()
    running = engine(
        conf("gang refuser", "predicates"),
        node("n1"),
        gang("a"),
        task("p", "a", shape=wants),
        registry=Registry({**known.plugins, Steady.name: Steady}, known.actions),
        books={"licence": book},
    )
    plugin = next(plugin for plugin in running.tiers.plugins if isinstance(plugin, Steady))
    for now in (0, 1):
        cycle(running, now=now)
    plugin.asked = 0
    cycle(running, now=2)
    assert plugin.asked == 0

    book.redo(Seat("elsewhere", "default/old"))
    cycle(running, now=3)
    assert plugin.asked > 0
