"""The control plane is real, and does as it is told."""

import json
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.cluster.client import Client, RefusedError
from tests.cluster.control_plane import ControlPlane, KubectlError, Options
from tests.cluster.control_plane import control_plane as running
from tests.cluster.processes import StartError
from tests.cluster.test_processes import ROOT, alive
from tests.cluster.waiting import comes_true

LEVELS = "/debug/api_priority_and_fairness/dump_priority_levels"
BINDING = "/api/v1/namespaces/{}/pods/{}/binding"


def pod(name: str) -> dict[str, Any]:
    return {"metadata": {"name": name}, "spec": {"containers": [{"name": "main", "image": "none"}]}}


def job(name: str, pods: int) -> dict[str, Any]:
    template = {"spec": {**pod(name)["spec"], "restartPolicy": "Never"}}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name},
        "spec": {"parallelism": pods, "template": template},
    }


def bind(plane: ControlPlane, namespace: str, name: str, node: str) -> None:
    binding = {"metadata": {"name": name}, "target": {"kind": "Node", "name": node}}
    plane.client.create(BINDING.format(namespace, name), binding)


def test_the_server_says_which_release_it_is(control_plane: ControlPlane, programs: Mapping[str, Path]) -> None:
    built = subprocess.run([programs["kube-apiserver"], "--version"], capture_output=True, text=True, check=True)

    assert built.stdout.split() == ["Kubernetes", control_plane.client.get("/version")["gitVersion"]]
    assert not built.stdout.startswith("Kubernetes v0.")


def test_who_has_no_rights_is_refused(control_plane: ControlPlane, namespace: str) -> None:
    ann = control_plane.client_for("ann")

    with pytest.raises(RefusedError, match='User "ann" cannot list resource "pods"') as refusal:
        ann.get(f"/api/v1/namespaces/{namespace}/pods")

    assert refusal.value.code == 403


def test_rights_are_given_to_groups(control_plane: ControlPlane, namespace: str) -> None:
    control_plane.kubectl("create", "role", "reader", "--verb=list", "--resource=pods", "-n", namespace)
    control_plane.kubectl("create", "rolebinding", "readers", "--role=reader", "--group=a/b", "-n", namespace)
    ann = control_plane.client_for("ann", groups=["x", "a/b"])

    assert comes_true(lambda: ann.text("GET", f"/api/v1/namespaces/{namespace}/pods")[0] == 200)


def test_a_service_account_comes_in_by_token(control_plane: ControlPlane, namespace: str) -> None:
    account = control_plane.service_account(namespace, "robot")

    told = control_plane.kubectl("auth", "whoami", "-o", "json", kubeconfig=account)

    assert json.loads(told)["status"]["userInfo"]["username"] == f"system:serviceaccount:{namespace}:robot"


def test_priority_and_fairness_are_on(control_plane: ControlPlane) -> None:
    assert "workload-low" in control_plane.kubectl("get", "--raw", LEVELS)


def test_kubectl_says_what_it_was_refused(control_plane: ControlPlane) -> None:
    with pytest.raises(KubectlError, match=r'kubectl get pod nobody: .*pods "nobody" not found'):
        control_plane.kubectl("get", "pod", "nobody")


def test_a_pod_is_bound_over_plain_https(control_plane: ControlPlane, namespace: str) -> None:
    pods = f"/api/v1/namespaces/{namespace}/pods"
    control_plane.client.create(pods, pod("rider"))

    bind(control_plane, namespace, "rider", "horse")

    assert control_plane.client.get(f"{pods}/rider")["spec"]["nodeName"] == "horse"
    assert control_plane.kubectl("get", "pods", "-n", namespace, "-o", "name") == "pod/rider\n"


def test_a_restart_of_the_server_keeps_what_it_was_told(control_plane: ControlPlane, namespace: str) -> None:
    control_plane.client.create(f"/api/v1/namespaces/{namespace}/pods", pod("rider"))
    before = control_plane.apiserver.pid

    control_plane.restart_apiserver()

    assert control_plane.apiserver.pid != before
    assert control_plane.client.get(f"/api/v1/namespaces/{namespace}/pods/rider")["metadata"]["name"] == "rider"


def test_a_server_whose_store_stands_still_does_not_answer(control_plane: ControlPlane, namespace: str) -> None:
    hasty = Client(control_plane.kubeconfig, timeout=0.2)
    pods = f"/api/v1/namespaces/{namespace}/pods"

    with control_plane.etcd.paused(), pytest.raises(TimeoutError):
        hasty.get(pods)

    assert control_plane.client.get(pods)["items"] == []


@pytest.mark.usefixtures("kwok")
def test_kwok_readies_nodes_and_runs_pods(control_plane: ControlPlane, namespace: str) -> None:
    client = control_plane.client
    node = f"{namespace}-node"
    client.create("/api/v1/nodes", {"metadata": {"name": node}})
    client.create(f"/api/v1/namespaces/{namespace}/pods", pod("rider"))
    bind(control_plane, namespace, "rider", node)

    def ready() -> bool:
        conditions = client.get(f"/api/v1/nodes/{node}")["status"].get("conditions", [])
        return any(it["type"] == "Ready" and it["status"] == "True" for it in conditions)

    assert comes_true(ready)
    path = f"/api/v1/namespaces/{namespace}/pods/rider"
    assert comes_true(lambda: client.get(path)["status"]["phase"] == "Running")
    client.delete(f"/api/v1/nodes/{node}")


@pytest.mark.usefixtures("controller_manager")
def test_the_controller_manager_makes_the_pods_of_a_job(control_plane: ControlPlane, namespace: str) -> None:
    control_plane.kubectl("apply", "-n", namespace, "-f", "-", stdin=json.dumps(job("crew", pods=3)))

    assert comes_true(lambda: len(control_plane.client.get(f"/api/v1/namespaces/{namespace}/pods")["items"]) == 3)
    control_plane.kubectl("delete", "job", "crew", "-n", namespace)


def test_stopping_leaves_nothing_behind_but_files(programs: Mapping[str, Path], tmp_path: Path) -> None:
    with running(tmp_path / "plane", Options(fairness=False, fsync=False, audit="Metadata"), programs) as plane:
        running_then = [plane.etcd, plane.apiserver, plane.start_controller_manager(), plane.start_kwok()]
        with pytest.raises(KubectlError, match=r"NotFound|could not find"):
            plane.kubectl("get", "--raw", LEVELS)

    assert not any(alive(process.pid) for process in running_then)
    assert '"verb":"get"' in plane.audit_log.read_text()


def test_sigterm_stops_it_like_ctrl_c(programs: Mapping[str, Path], tmp_path: Path) -> None:
    script = (
        "from pathlib import Path; from tests.cluster.control_plane import *\n"
        f"with control_plane(Path({str(tmp_path / 'plane')!r}), Options(fsync=False)) as plane:\n"
        "    print(plane.etcd.pid, plane.apiserver.pid, flush=True); input()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as parent:
        assert parent.stdout
        pids = [int(pid) for pid in parent.stdout.readline().split()]
        assert len(pids) == 2
        assert all(alive(pid) for pid in pids)
        parent.send_signal(signal.SIGTERM)
        _, errors = parent.communicate()

    assert "KeyboardInterrupt" in errors
    assert comes_true(lambda: not any(alive(pid) for pid in pids))


def test_a_wrong_flag_is_told_in_the_servers_words(programs: Mapping[str, Path], tmp_path: Path) -> None:
    with (
        pytest.raises(StartError, match=r"(?s)kube-apiserver ended with 1.*unknown flag: --gallop"),
        running(tmp_path / "plane", Options(fsync=False, apiserver_flags=["--gallop"]), programs),
    ):
        pass
