"""Gangs that have to wait: for gates, for their PodGroup, for their queue, for whoever is more important."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.cluster.checker.checking import Watch
from tests.cluster.control_plane import ControlPlane
from tests.cluster.waiting import comes_true
from tests.live.clusters import (
    CUSTOM,
    apply,
    bound,
    comes_to,
    crew,
    delete,
    disband,
    gang,
    says,
    scheduler,
    whole,
)


def complaint(plane: ControlPlane, namespace: str, name: str) -> str:
    """What a PodGroup says it waits for."""
    status = plane.client.get(f"{CUSTOM}/namespaces/{namespace}/podgroups/{name}").get("status", {})
    return next((it["message"] for it in status.get("conditions", []) if it["type"] == "Unschedulable"), "")


def open_gate(plane: ControlPlane, namespace: str, name: str) -> None:
    patch = '{"spec": {"schedulingGates": null}}'
    plane.kubectl("patch", "pod", name, "-n", namespace, "--type=merge", "-p", patch)


def test_a_gang_waits_for_its_gated_members_and_starts_when_they_are_released(
    control_plane: ControlPlane, cluster: str, watch: Watch
) -> None:
    free, gated = crew(cluster, "a", 4)[:2], crew(cluster, "a", 4, schedulingGates=[{"name": "test/gate"}])[2:]
    with scheduler(control_plane):
        apply(control_plane, [gang(cluster, "a", 4), *free, *gated])
        assert says(control_plane, cluster, "a", "2 of 4 pods wait for a scheduling gate")
        open_gate(control_plane, cluster, "a-2")
        assert says(control_plane, cluster, "a", "1 of 4 pods wait for a scheduling gate")
        assert bound(control_plane, cluster, "a") == 0
        open_gate(control_plane, cluster, "a-3")

        assert watch.all_started([f"{cluster}/a"])
    watch.verify()


def test_pods_wait_for_their_pod_group(control_plane: ControlPlane, cluster: str, watch: Watch) -> None:
    with scheduler(control_plane):
        apply(control_plane, crew(cluster, "a", 3))
        apply(control_plane, whole(cluster, "b", 3))
        assert watch.all_started([f"{cluster}/b"])
        assert bound(control_plane, cluster, "a") == 0
        apply(control_plane, [gang(cluster, "a", 3)])

        assert watch.all_started([f"{cluster}/a"])
    watch.verify()


@pytest.fixture
def queue(control_plane: ControlPlane, cluster: str) -> Iterator[str]:
    """Give a queue that may have four cpus."""
    spec = {"weight": 1, "capability": {"cpu": "4"}}
    made: dict[str, Any] = {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue"}
    control_plane.client.create(f"{CUSTOM}/queues", {**made, "metadata": {"name": cluster}, "spec": spec})
    yield cluster
    control_plane.client.delete(f"{CUSTOM}/queues/{cluster}")


def test_a_queue_that_may_have_no_more_holds_its_gangs_back_and_they_say_so(
    control_plane: ControlPlane, cluster: str, watch: Watch, queue: str
) -> None:
    def of_queue(name: str, count: int) -> list[dict[str, Any]]:
        group, *members = whole(cluster, name, count)
        return [{**group, "spec": {**group["spec"], "queue": queue}}, *members]

    with scheduler(control_plane):
        apply(control_plane, of_queue("a", 3))
        assert watch.all_started([f"{cluster}/a"])
        apply(control_plane, of_queue("b", 2))
        assert comes_true(lambda: f"queue {queue}" in complaint(control_plane, cluster, "b"))
        apply(control_plane, whole(cluster, "c", 2))
        assert watch.all_started([f"{cluster}/c"])
        assert bound(control_plane, cluster, "b") == 0
        watch.asked(f"{cluster}/a")
        disband(control_plane, cluster, "a")

        assert watch.all_started([f"{cluster}/b"])
    watch.verify()


@pytest.fixture
def important(control_plane: ControlPlane, cluster: str) -> Iterator[str]:
    """Give a priority class."""
    classes = "/apis/scheduling.k8s.io/v1/priorityclasses"
    control_plane.client.create(classes, {"metadata": {"name": cluster}, "value": 1000})
    yield cluster
    control_plane.client.delete(f"{classes}/{cluster}")


def test_who_is_more_important_gets_the_room_first(
    control_plane: ControlPlane, cluster: str, watch: Watch, important: str
) -> None:
    group = gang(cluster, "high", 6)
    group["spec"]["priorityClassName"] = important
    with scheduler(control_plane):
        apply(control_plane, whole(cluster, "now", 6))
        assert watch.all_started([f"{cluster}/now"])
        apply(control_plane, whole(cluster, "low", 6))
        assert says(control_plane, cluster, "low")
        apply(control_plane, [group, *crew(cluster, "high", 6, priorityClassName=important)])
        assert says(control_plane, cluster, "high")
        watch.asked(f"{cluster}/now")
        disband(control_plane, cluster, "now")

        assert watch.all_started([f"{cluster}/high"])
        assert bound(control_plane, cluster, "low") == 0
    watch.verify()


def test_a_gang_that_is_larger_than_all_there_is_does_not_keep_others_waiting(
    control_plane: ControlPlane, cluster: str, watch: Watch
) -> None:
    with scheduler(control_plane):
        apply(control_plane, whole(cluster, "huge", 50))
        assert says(control_plane, cluster, "huge")
        apply(control_plane, whole(cluster, "small", 8))

        assert comes_to(control_plane, cluster, "small", 8)
        watch.asked(f"{cluster}/huge")
        delete(control_plane, cluster, "huge-0")
    watch.verify()
