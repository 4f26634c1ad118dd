"""Nodes, classes, namespaces, budgets and quotas as facts."""

import pytest

from posse.cluster.facts import Image, Taint
from posse.cluster.selectors import Requirement, Selector
from posse.dialects import core
from posse.errors import InputError
from tests.kube.builders import NOW, budget, namespace, node, priority_class, quota, thing


def test_a_node_gives_what_is_allocatable_in_model_units() -> None:
    fact = core.node_fact(node("n", **{"cpu": "3500m", "memory": "8Gi", "pods": 110, "nvidia.com/gpu": "8"}))

    wanted = (("cpu", 3500), ("memory", 8 * 2**30), ("nvidia.com/gpu", 8000), ("pods", 110))
    assert (fact.name, fact.allocatable) == ("n", wanted)


def test_a_node_without_allocatable_gives_its_capacity() -> None:
    bare = thing("v1", "Node", "n", status={"capacity": {"cpu": "2"}})

    assert core.node_fact(bare).allocatable == (("cpu", 2000),)  # type: ignore[arg-type]


def test_all_that_a_node_says_to_pods_is_kept() -> None:
    full = thing(
        "v1",
        "Node",
        "n",
        metadata={"uid": "u", "creationTimestamp": "2026-01-01T00:00:00Z", "labels": {"zone": "a"}},
        spec={"unschedulable": True, "taints": [{"key": "gpu", "effect": "NoSchedule"}]},
        status={"images": [{"names": ["b:1", "a:1"], "sizeBytes": 5}], "declaredFeatures": ["Y", "X"]},
    )
    fact = core.node_fact(full)  # type: ignore[arg-type]

    assert (fact.uid, fact.created, fact.unschedulable, dict(fact.labels)) == ("u", NOW, True, {"zone": "a"})
    assert fact.taints == (Taint("gpu", "", "NoSchedule"),)
    assert (fact.images, fact.features) == ((Image(("a:1", "b:1"), 5),), ("X", "Y"))


def test_a_bad_quantity_of_a_node_is_named() -> None:
    with pytest.raises(InputError, match=r"Node n, status.allocatable.cpu: 'four' is no quantity"):
        core.node_fact(node("n", cpu="four"))


def test_a_priority_class_says_whether_its_pods_may_preempt() -> None:
    fact = core.priority_class_fact(priority_class("calm", 5, globalDefault=True, preemptionPolicy="Never"))

    assert (fact.name, fact.value, fact.is_default, fact.may_preempt) == ("calm", 5, True, False)


def test_a_namespace_can_be_selected_by_its_name() -> None:
    fact = core.namespace_fact(namespace("a", labels={"team": "x"}))

    assert fact.labels == {"team": "x", "kubernetes.io/metadata.name": "a"}


def test_a_budget_is_what_its_status_still_allows() -> None:
    status = {"disruptionsAllowed": 2, "disruptedPods": {"b": "2026-01-01T00:00:00Z", "a": "2026-01-01T00:00:00Z"}}
    fact = core.budget_fact(budget("b", "ns", status, selector={"matchLabels": {"app": "x"}}, minAvailable=1))

    assert fact.selector == Selector((Requirement("app", "In", ("x",)),))
    assert (fact.allowed, fact.disrupted) == (2, ("a", "b"))


def test_a_budget_without_selector_guards_nothing_and_with_an_empty_one_everything() -> None:
    assert core.budget_fact(budget("b")).selector is None
    assert core.budget_fact(budget("b", selector={})).selector == Selector()


def test_a_quota_is_its_status_where_it_has_one() -> None:
    fresh = core.quota_fact(quota("q", **{"requests.cpu": "4"}))
    known = core.quota_fact(quota("q", "ns", {"hard": {"pods": "9"}, "used": {"pods": "3"}}, pods="8"))

    assert (fresh.hard, fresh.used) == ((("requests.cpu", 4000),), ())
    assert (known.hard, known.used) == ((("pods", 9),), (("pods", 3),))


def test_a_node_larger_than_can_be_added_up_is_refused() -> None:
    with pytest.raises(InputError, match=r"Node n, status.allocatable: 4Ei of memory in all is more than can be added"):
        core.node_fact(node("n", memory="4Ei"))
