"""Feasibility: which nodes would take a task, and why the others would not."""

from typing import ClassVar

from msgspec import structs

from posse.cluster.facts import Gone
from posse.cluster.views import Node, Task
from posse.scheduler.engine import Engine
from posse.scheduler.plugin import Plugin
from posse.scheduler.registry import Registry, built_in
from tests.builders import conf, engine, node, task, the_task


class Picky(Plugin):
    """Refuse nodes whose name does not end as the pod's does."""

    name: ClassVar[str] = "picky"

    def node_filter(self, task: Task, node: Node) -> str | None:
        return None if task.fact.name[-1] == node.name[-1] else "not mine"


def reasons(running: Engine, pod: str) -> dict[str, str]:
    codes = running._chooser.feasibility.codes(the_task(running, pod).row)
    return {name: running.reasons.texts[code] for name, code in zip(running.world.nodes.keys, codes, strict=True)}


def test_room_that_is_being_freed_counts_and_promised_room_does_not() -> None:
    running = engine(conf("gang"), node("n", cpu=4), task("old", on="n", cpu=4, terminating=True), task("p", cpu=3))
    assert reasons(running, "p") == {"n": ""}
    running.world.observe([task("other", cpu=2, nominated="n")])
    assert reasons(running, "p") == {"n": "insufficient cpu"}


def test_a_node_that_is_overdrawn_in_memory_takes_nobody() -> None:
    running = engine(conf("gang"), node("n", memory=4), task("big", on="n", memory=5), task("p", cpu=1))
    assert reasons(running, "p") == {"n": "insufficient memory"}


def test_terminating_pods_give_their_place_back_unless_predicates_count_them() -> None:
    facts = [node("n", pods=1), task("old", on="n", terminating=True), task("p")]
    assert reasons(engine(conf("gang"), *facts), "p") == {"n": ""}
    assert reasons(engine(conf("gang", "predicates"), *facts), "p") == {"n": "too many pods"}


def test_a_plugin_may_speak_of_one_task_and_one_node() -> None:
    registry = Registry({**built_in().plugins, "picky": Picky}, built_in().actions)
    running = engine(conf("picky"), node("n1"), node("n2"), task("p2"), registry=registry)
    assert reasons(running, "p2") == {"n1": "not mine", "n2": ""}


def test_what_nodes_are_is_asked_again_when_one_changes_comes_or_goes() -> None:
    running = engine(conf("predicates"), node("n1"), task("p"))
    running.world.observe([structs.replace(node("n1"), unschedulable=True), node("n2")])
    assert reasons(running, "p") == {"n1": "cordoned", "n2": ""}
    running.world.observe([Gone(kind="node", key="n2"), node("n1")])
    assert reasons(running, "p")["n1"] == ""


def test_a_node_that_is_only_named_by_a_pod_takes_nobody() -> None:
    running = engine(conf("predicates"), node("n1"), task("p"))
    assert reasons(running, "p") == {"n1": ""}
    running.world.observe([task("lost", on="unknown")])
    assert reasons(running, "p") == {"n1": "", "unknown": "node is gone"}
