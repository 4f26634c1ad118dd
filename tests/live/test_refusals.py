"""Binds that are refused: the gang lets go in time, others get its room, and it starts when it may."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.cluster.checker.checking import Watch
from tests.cluster.client import RefusedError
from tests.cluster.control_plane import ControlPlane
from tests.cluster.waiting import comes_true
from tests.live.clusters import apply, comes_to, disband, gang, pod, says, scheduler, whole
from tests.live.gatekeeper import TRIAL

ADMISSION = "/apis/admissionregistration.k8s.io/v1"


@contextmanager
def refusing(plane: ControlPlane, namespace: str, *names: str) -> Iterator[None]:
    """Let a policy refuse to bind these pods."""
    rule = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods/binding"]}
    here = {"matchLabels": {"kubernetes.io/metadata.name": namespace}}
    refusal = {"expression": f"!(object.metadata.name in {json.dumps([*names, TRIAL])})", "message": "no room for him"}
    spec = {"matchConstraints": {"resourceRules": [rule], "namespaceSelector": here}, "validations": [refusal]}
    policies, bindings = (f"{ADMISSION}/validatingadmissionpolic{it}" for it in ("ies", "ybindings"))
    plane.client.create(policies, {"metadata": {"name": namespace}, "spec": spec})
    by = {"policyName": namespace, "validationActions": ["Deny"]}
    plane.client.create(bindings, {"metadata": {"name": namespace}, "spec": by})
    try:
        assert comes_true(lambda: "no room for him" in _trial(plane, namespace))
        yield
    finally:
        plane.client.delete(f"{bindings}/{namespace}")
        plane.client.delete(f"{policies}/{namespace}")


def _trial(plane: ControlPlane, namespace: str) -> str:
    trial = {"metadata": {"name": TRIAL}, "target": {"kind": "Node", "name": "none"}}
    try:
        plane.client.create(f"/api/v1/namespaces/{namespace}/pods/{TRIAL}/binding?dryRun=All", trial)
    except RefusedError as refusal:
        return str(refusal)
    return ""


def stateful_set(namespace: str, name: str, count: int) -> dict[str, Any]:
    """Somebody who makes the members of a gang anew when they are gone."""
    template = pod(namespace, name, name)
    template["spec"] |= {"terminationGracePeriodSeconds": 0}
    return {
        "apiVersion": "apps/v1",
        "kind": "StatefulSet",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {
            "replicas": count,
            "podManagementPolicy": "Parallel",
            "serviceName": name,
            "selector": {"matchLabels": {"app": name}},
            "template": {
                "metadata": {"labels": {"app": name}, "annotations": template["metadata"]["annotations"]},
                "spec": template["spec"],
            },
        },
    }


def test_a_gang_of_which_admission_refuses_one_lets_go_and_starts_when_it_may(
    control_plane: ControlPlane, cluster: str, watch: Watch, hasty: Path
) -> None:
    controllers = control_plane.start_controller_manager("--controllers=statefulset")
    with controllers, scheduler(control_plane, "--config", hasty):
        with refusing(control_plane, cluster, "a-5"):
            apply(control_plane, [gang(cluster, "a", 6), stateful_set(cluster, "a", 6)])
            assert comes_to(control_plane, cluster, "a", 5)
            apply(control_plane, whole(cluster, "b", 6))

            assert watch.all_started([f"{cluster}/b"])
            assert says(control_plane, cluster, "a", "no room for him")
        watch.asked(f"{cluster}/b")
        disband(control_plane, cluster, "b")

        assert watch.all_started([f"{cluster}/a"])
        control_plane.client.delete(f"/apis/apps/v1/namespaces/{cluster}/statefulsets/a")
    report = watch.verify()
    assert report.evictions
    assert {it.how for it in report.evictions} == {"EvictionByEvictionAPI"}
