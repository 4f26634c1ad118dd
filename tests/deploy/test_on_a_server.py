"""A real API server takes what the chart makes, and a scheduler with its rights and flags does its work there."""

import json
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from http import HTTPStatus
from pathlib import Path
from typing import Any

import pytest

from tests.cluster.control_plane import ControlPlane, KubectlError, free_port
from tests.cluster.processes import Process
from tests.cluster.waiting import comes_true
from tests.deploy.helm import CHART, Helm, Manifest
from tests.deploy.rendering import FOLDER
from tests.live.clusters import add_nodes, apply, bound, gang, node, pod

EVERYTHING: dict[str, Any] = {
    "image": {"repository": "registry.example.com/posse", "tag": "new", "pullPolicy": "Always"},
    "imagePullSecrets": [{"name": "registry"}],
    "replicas": 3,
    "schedulerNames": ["posse", "volcano"],
    "configuration": 'actions: "allocate"\ntiers:\n- plugins:\n  - name: gang\n',
    "logFormat": "text",
    "extraArgs": ["--compatibility=upstream"],
    "resources": {"limits": {"cpu": 2, "memory": "8Gi"}},
    "priorityClass": {"value": 5},
    "port": 9000,
    "networkPolicy": {
        "metricsFrom": [{"namespaceSelector": {"matchLabels": {"name": "monitoring"}}}],
        "apiServerBlocks": ["10.0.0.1/32", "fd00::1/128"],
    },
    "nodeSelector": {"pool": "system"},
    "tolerations": [{"key": "node-role.kubernetes.io/control-plane", "operator": "Exists", "effect": "NoSchedule"}],
    "affinity": {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": []}},
    "podLabels": {"team": "batch"},
    "podAnnotations": {"example.com/note": "yes"},
}
ABSENT = {"create": False}
LITTLE = {
    "replicas": 1,
    "networkPolicy": ABSENT,
    "podDisruptionBudget": ABSENT,
    "priorityClass": ABSENT,
    "resources": {},
}
TRY = ("apply", "--server-side", "--dry-run=server", "--validate=strict", "-f")


@pytest.mark.parametrize("values", [{}, EVERYTHING, LITTLE], ids=["defaults", "everything", "little"])
def test_all_of_it_is_taken(helm: Helm, control_plane: ControlPlane, namespace: str, values: dict[str, Any]) -> None:
    text = helm.text("night", namespace, values)

    told = control_plane.kubectl(*TRY, "-", "-o", "name", stdin=text)

    assert len(told.splitlines()) == len(helm.manifests(values))


@pytest.mark.parametrize("name", ["posse.yaml", "rbac.yaml"])
def test_the_plain_manifests_are_taken(control_plane: ControlPlane, name: str) -> None:
    assert "serviceaccount/posse" in control_plane.kubectl(*TRY, str(FOLDER / name), "-o", "name")


def test_who_has_no_kinds_yet_is_told(helm: Helm) -> None:
    told = helm.run("install", "night", CHART, "--dry-run=client")

    assert "schedulerName: posse;" in told
    assert "posse install crds" in told


@pytest.fixture
def release(helm: Helm, control_plane: ControlPlane, namespace: str, volcano_crds: None) -> Iterator[str]:
    """Install the chart for a scheduler of the namespace's name, in the namespace; give what Helm says of it."""
    values = {"schedulerNames": [namespace], "port": free_port(), "image": {"repository": "none"}}
    where = ("--namespace", namespace, "--kubeconfig", control_plane.kubeconfig)
    yield helm.run("install", namespace, CHART, *where, values=values)
    helm.run("uninstall", namespace, *where)


def installed(plane: ControlPlane, namespace: str, kind: str) -> Manifest:
    found: Manifest = json.loads(plane.kubectl("get", kind, namespace, "-n", namespace, "-o", "json"))
    return found


def test_helm_installs_it(control_plane: ControlPlane, namespace: str, release: str) -> None:
    assert installed(control_plane, namespace, "deployment")["spec"]["replicas"] == 2
    assert installed(control_plane, namespace, "priorityclass")["value"] == 1_000_000_000
    assert "posse install crds" not in release


def test_its_pods_are_let_in_where_security_is_strictest(
    control_plane: ControlPlane, namespace: str, release: str
) -> None:
    control_plane.kubectl("label", "namespace", namespace, "pod-security.kubernetes.io/enforce=restricted")
    template = installed(control_plane, namespace, "deployment")["spec"]["template"]
    ours = {"apiVersion": "v1", "kind": "Pod", **template, "metadata": {"name": "ours", "namespace": namespace}}
    theirs = {**ours, "spec": {**ours["spec"], "securityContext": {}}}

    taken = json.loads(control_plane.kubectl(*TRY, "-", "-o", "json", stdin=json.dumps(ours)))

    assert taken["spec"]["priority"] == 1_000_000_000
    with pytest.raises(KubectlError, match="runAsNonRoot"):
        control_plane.kubectl(*TRY, "-", stdin=json.dumps(theirs))


def status(port: int, path: str) -> int:
    """How a page is answered; 0 if nobody answers."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=5) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as refusal:
        return refusal.code
    except OSError:
        return 0


def test_with_its_rights_and_flags_gangs_are_bound_and_its_probes_are_answered(
    control_plane: ControlPlane, namespace: str, release: str, tmp_path: Path
) -> None:
    (container,) = installed(control_plane, namespace, "deployment")["spec"]["template"]["spec"]["containers"]
    (port,) = (each["containerPort"] for each in container["ports"])
    conf = installed(control_plane, namespace, "configmap")["data"]["scheduler.conf"]
    (tmp_path / "scheduler.conf").write_text(conf, "utf-8")
    flags = [each.replace("/etc/posse", str(tmp_path)) for each in container["args"]]
    account = control_plane.service_account(namespace, namespace)
    command = [sys.executable, "-m", "posse", *flags, "--kubeconfig", account]
    with Process("posse", command, control_plane.folder / f"{namespace}.log") as process:
        process.until(lambda: status(port, container["readinessProbe"]["httpGet"]["path"]) == HTTPStatus.OK)
        add_nodes(control_plane, node(f"{namespace}-n"))
        crew = [pod(namespace, f"a-{number}", "a", schedulerName=namespace) for number in range(3)]
        apply(control_plane, [gang(namespace, "a", 3), *crew])

        assert comes_true(lambda: bound(control_plane, namespace, "a") == 3)
        for probe in ("startupProbe", "livenessProbe"):
            assert status(port, container[probe]["httpGet"]["path"]) == HTTPStatus.OK
        assert status(port, "/metrics") == HTTPStatus.OK
        assert installed(control_plane, namespace, "lease")["spec"]["holderIdentity"]
        process.stop(30)
        assert "forbidden" not in process.log.read_text("utf-8", "replace").lower()
    control_plane.client.delete(f"/api/v1/nodes/{namespace}-n")
