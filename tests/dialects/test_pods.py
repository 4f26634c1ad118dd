"""Pods as tasks: how they stand and what they are."""

import pytest

from posse.dialects.pods import task_of
from tests.kube.builders import NOW, container, pod


def test_a_pod_always_asks_for_a_place_for_itself() -> None:
    assert task_of(pod(containers=[container()])).shape.requests == (("pods", 1),)


def test_a_task_knows_who_it_is() -> None:
    meta = {"uid": "u", "creationTimestamp": "2026-01-01T00:00:00Z", "labels": {"a": "b"}, "annotations": {"c": "d"}}
    task = task_of(pod("p", "ns", metadata=meta))

    assert (task.key, task.uid, task.created) == ("ns/p", "u", NOW)
    assert (task.labels, task.annotations, task.gang) == ({"a": "b"}, {"c": "d"}, "")


def test_a_task_knows_how_urgent_it_is() -> None:
    task = task_of(pod(priority=7, priorityClassName="high", preemptionPolicy="Never"))

    assert (task.priority, task.priority_class, task.may_preempt) == (7, "high", False)


def test_a_pod_without_priority_has_none() -> None:
    assert task_of(pod()).priority is None


@pytest.mark.parametrize(
    ("phase", "seen"),
    [
        (None, "Pending"),
        ("", "Pending"),
        ("Pending", "Pending"),
        ("Running", "Running"),
        ("Succeeded", "Succeeded"),
        ("Failed", "Failed"),
        ("Unknown", "Unknown"),
    ],
)
def test_the_phase_is_the_pods_and_pending_until_it_has_one(phase: str | None, seen: str) -> None:
    assert task_of(pod(status={"phase": phase} if phase is not None else {})).phase == seen


def test_a_task_knows_where_it_is_and_where_it_may_come() -> None:
    bound = task_of(pod(nodeName="n", status={"phase": "Running"}))
    waiting = task_of(pod(status={"nominatedNodeName": "m"}))

    assert (bound.node, waiting.node, waiting.nominated) == ("n", "", "m")


def test_a_pod_that_is_being_deleted_is_terminating() -> None:
    assert task_of(pod(metadata={"deletionTimestamp": "2026-01-01T00:00:00Z"})).terminating


def test_gates_are_known_by_name() -> None:
    assert task_of(pod(schedulingGates=[{"name": "b"}, {"name": "a"}])).gates == ("a", "b")


def test_the_owner_is_the_one_that_controls() -> None:
    owners = [{"kind": "Config", "name": "c"}, {"kind": "Job", "name": "j", "controller": True}]

    assert task_of(pod(metadata={"ownerReferences": owners})).owner == "Job/j"
