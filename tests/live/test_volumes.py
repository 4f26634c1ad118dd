"""Gangs with volumes on a real API server: no member is bound before each has its volume."""

import json
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest

from tests.cluster.control_plane import ControlPlane, KubectlError
from tests.cluster.waiting import comes_true
from tests.live.clusters import Manifest, add_nodes, apply, bound, condition, gang, node, placed, pod, scheduler

BINDER = "--controllers=persistentvolume-binder-controller"


@pytest.fixture
def cluster(control_plane: ControlPlane, namespace: str, volcano_crds: None) -> Iterator[str]:
    """Give a namespace in a cluster of two nodes, with a class of volumes that are there and one of those made."""
    names = [f"{namespace}-n1", f"{namespace}-n2"]
    nodes = [node(name) for name in names]
    for each in nodes:
        each["metadata"]["labels"] = {"name": each["metadata"]["name"]}
    add_nodes(control_plane, *nodes)
    apply(control_plane, [storage_class(f"{namespace}-local", "kubernetes.io/no-provisioner")])
    apply(control_plane, [storage_class(f"{namespace}-made", "example.com")])
    with control_plane.start_controller_manager(BINDER):
        yield namespace
    for name in names:
        control_plane.client.delete(f"/api/v1/nodes/{name}")
    control_plane.kubectl("delete", "storageclass", f"{namespace}-local", f"{namespace}-made")
    for name in volumes(control_plane, namespace):
        control_plane.kubectl("delete", "pv", name, "--wait=false")
        with suppress(KubectlError):
            control_plane.kubectl("patch", "pv", name, "--type=merge", "-p", '{"metadata": {"finalizers": null}}')


def storage_class(name: str, provisioner: str) -> Manifest:
    return {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": name},
        "provisioner": provisioner,
        "volumeBindingMode": "WaitForFirstConsumer",
    }


def volumes(plane: ControlPlane, namespace: str) -> list[str]:
    names = (each["metadata"]["name"] for each in plane.client.get("/api/v1/persistentvolumes")["items"])
    return [name for name in names if name.startswith(namespace)]


def volume(namespace: str, name: str, on: str, **spec: Any) -> Manifest:
    term = {"matchExpressions": [{"key": "name", "operator": "In", "values": [f"{namespace}-{on}"]}]}
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": f"{namespace}-{name}"},
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "storageClassName": f"{namespace}-local",
            "capacity": {"storage": "1Gi"},
            "local": {"path": "/x"},
            "nodeAffinity": {"required": {"nodeSelectorTerms": [term]}},
            **spec,
        },
    }


def claim(namespace: str, name: str, of: str) -> Manifest:
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "storageClassName": f"{namespace}-{of}",
            "resources": {"requests": {"storage": "1Gi"}},
        },
    }


def pair(namespace: str, of: str) -> list[Manifest]:
    """A gang of two, each with a claim of its own."""
    members = []
    for number in range(2):
        uses = [{"name": "data", "persistentVolumeClaim": {"claimName": f"data-{number}"}}]
        members += [claim(namespace, f"data-{number}", of), pod(namespace, f"a-{number}", "a", volumes=uses)]
    return [gang(namespace, "a", 2), *members]


def claim_now(plane: ControlPlane, namespace: str, name: str) -> dict[str, Any]:
    return plane.client.get(f"/api/v1/namespaces/{namespace}/persistentvolumeclaims/{name}")


def test_each_member_goes_where_a_volume_is(control_plane: ControlPlane, cluster: str) -> None:
    with scheduler(control_plane):
        apply(control_plane, [volume(cluster, "v1", "n1"), *pair(cluster, "local")])
        assert comes_true(lambda: "reason" in condition(control_plane, cluster, "a-1"))
        assert bound(control_plane, cluster, "a") == 0

        apply(control_plane, [volume(cluster, "v2", "n2")])
        assert comes_true(lambda: bound(control_plane, cluster, "a") == 2)

    assert sorted(placed(control_plane, cluster).values()) == [f"{cluster}-n1", f"{cluster}-n2"]
    for name, on in placed(control_plane, cluster).items():
        has = claim_now(control_plane, cluster, name.replace("a-", "data-"))["spec"]["volumeName"]
        assert has.removeprefix(f"{cluster}-v") == on.removeprefix(f"{cluster}-n")


def test_nobody_is_bound_before_all_volumes_are_made(control_plane: ControlPlane, cluster: str) -> None:
    def asked(name: str) -> str:
        notes = claim_now(control_plane, cluster, name)["metadata"].get("annotations", {})
        return str(notes.get("volume.kubernetes.io/selected-node", ""))

    def make(name: str) -> None:
        on = asked(name).removeprefix(f"{cluster}-")
        uid = claim_now(control_plane, cluster, name)["metadata"]["uid"]
        of = {"kind": "PersistentVolumeClaim", "namespace": cluster, "name": name, "uid": uid}
        apply(control_plane, [volume(cluster, name, on, storageClassName=f"{cluster}-made", claimRef=of)])

    with scheduler(control_plane):
        apply(control_plane, pair(cluster, "made"))
        assert comes_true(lambda: bool(asked("data-0") and asked("data-1")))
        make("data-0")
        assert comes_true(lambda: claim_now(control_plane, cluster, "data-0")["status"]["phase"] == "Bound")
        assert bound(control_plane, cluster, "a") == 0

        make("data-1")
        assert comes_true(lambda: bound(control_plane, cluster, "a") == 2)


def test_what_no_node_would_cure_is_told_so(control_plane: ControlPlane, cluster: str) -> None:
    uses = [{"name": "data", "persistentVolumeClaim": {"claimName": "nobody-s"}}]
    with scheduler(control_plane):
        apply(control_plane, [pod(cluster, "p", volumes=uses)])
        assert comes_true(lambda: "reason" in condition(control_plane, cluster, "p"))

        said = condition(control_plane, cluster, "p")
        assert said["reason"] == "GangWaiting"
        assert f"volume claim {cluster}/nobody-s is not there" in said["message"]
        apply(control_plane, [volume(cluster, "v1", "n1"), claim(cluster, "nobody-s", "local")])
        assert comes_true(lambda: bool(placed(control_plane, cluster)["p"]))


def test_a_pod_that_names_a_device_claim_waits_with_that_as_its_reason(
    control_plane: ControlPlane, cluster: str
) -> None:
    one = pod(cluster, "p", resourceClaims=[{"name": "gpu", "resourceClaimName": "gpu"}])
    with scheduler(control_plane):
        control_plane.kubectl("apply", "-f", "-", stdin=json.dumps(one))
        assert comes_true(lambda: "reason" in condition(control_plane, cluster, "p"))

    assert "device claim" in condition(control_plane, cluster, "p")["message"]
    assert not placed(control_plane, cluster)["p"]
