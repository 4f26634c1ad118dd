"""Where a gang stands in the tree of HyperNodes."""

from cases import Json
from topology import domains, tiers


def node(name: str, **labels: str) -> Json:
    return {"kind": "Node", "metadata": {"name": name, "labels": labels}}


def hypernode(name: str, tier: int, kind: str, **selector: Json) -> Json:
    members = [{"type": kind, "selector": selector}]
    return {"kind": "HyperNode", "metadata": {"name": name}, "spec": {"tier": tier, "members": members}}


NODES = [node("a-0", row="1"), node("a-1", row="1"), node("b-0", row="2")]


def test_members_are_found_by_name_pattern_label_and_through_other_hypernodes() -> None:
    made = [
        hypernode("one", 1, "Node", exactMatch={"name": "b-0"}),
        hypernode("pattern", 1, "Node", regexMatch={"pattern": "^a-"}),
        hypernode("row", 1, "Node", labelMatch={"matchLabels": {"row": "2"}}),
        hypernode("above", 2, "HyperNode", exactMatch={"name": "pattern"}),
        hypernode("gone", 2, "Node", exactMatch={"name": "no-such-node"}),
    ]

    assert tiers([*NODES, *made]) == {
        1: {"one": {"b-0"}, "pattern": {"a-0", "a-1"}, "row": {"b-0"}},
        2: {"above": {"a-0", "a-1"}, "gone": set()},
    }


def test_a_gang_is_where_its_running_and_newly_bound_pods_are_without_the_evicted_ones() -> None:
    rack = hypernode("rack", 1, "Node", regexMatch={"pattern": "^a-"})
    runs = {"kind": "Pod", "metadata": {"name": "p0"}, "spec": {"nodeName": "b-0"}, "status": {"phase": "Running"}}
    gang_of = {"default/p0": "default/g", "default/p1": "default/g"}
    binds = {"default/p1": "a-0", "default/stranger": "b-0"}

    assert domains([*NODES, rack, runs], gang_of, binds, evicted=[]) == {"default/g": {"1": None}}
    assert domains([*NODES, rack, runs], gang_of, binds, evicted=["default/p0"]) == {"default/g": {"1": "rack"}}
