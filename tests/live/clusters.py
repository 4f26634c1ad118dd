"""Clusters for tests of a scheduler at work: nodes, gangs and pods in a few words, and the scheduler as a process.

The scheduler comes as its service account, with the rights that `deploy/` gives it and no others.
"""

import json
import secrets
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.cluster.control_plane import ControlPlane
from tests.cluster.processes import Process
from tests.cluster.waiting import comes_true

ROOT = Path(__file__).parents[2]
READY = "ready: all kinds are listed"
GRACE = 10.0
"""Seconds in which a scheduler ends in good order. Then its lease is free at once."""
CUSTOM = "/apis/scheduling.volcano.sh/v1beta1"

Manifest = dict[str, Any]

RBAC = "rbac.authorization.k8s.io"
OTHER_LEASES = {"name": "leases-of-tests", "namespace": "kube-system"}
LEASES_OF_TESTS: list[Manifest] = [
    {
        "apiVersion": f"{RBAC}/v1",
        "kind": "Role",
        "metadata": OTHER_LEASES,
        "rules": [{"apiGroups": ["coordination.k8s.io"], "resources": ["leases"], "verbs": ["get", "patch"]}],
    },
    {
        "apiVersion": f"{RBAC}/v1",
        "kind": "RoleBinding",
        "metadata": OTHER_LEASES,
        "roleRef": {"apiGroup": RBAC, "kind": "Role", "name": OTHER_LEASES["name"]},
        "subjects": [{"apiGroup": RBAC, "kind": "Group", "name": "system:serviceaccounts"}],
    },
]
"""A scheduler may take the lease `posse` and no other; those that are killed have leases of their own, so that the next
test need not wait."""


def node(name: str, cpu: int = 4, pods: int = 110) -> Manifest:
    room = {"cpu": str(cpu), "memory": "64Gi", "pods": str(pods)}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name},
        "status": {"allocatable": room, "capacity": room},
    }


def gang(namespace: str, name: str, minimum: int) -> Manifest:
    return {
        "apiVersion": "scheduling.volcano.sh/v1beta1",
        "kind": "PodGroup",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"minMember": minimum},
    }


def pod(namespace: str, name: str, of: str = "", cpu: float = 1, **spec: Any) -> Manifest:
    annotations = {"scheduling.k8s.io/group-name": of} if of else {}
    container = {"name": "main", "image": "none", "resources": {"requests": {"cpu": str(cpu)}}}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": namespace, "annotations": annotations},
        "spec": {"schedulerName": "posse", "terminationGracePeriodSeconds": 0, "containers": [container], **spec},
    }


def crew(namespace: str, of: str, count: int, cpu: float = 1, **spec: Any) -> list[Manifest]:
    return [pod(namespace, f"{of}-{number}", of, cpu, **spec) for number in range(count)]


def whole(namespace: str, name: str, count: int, cpu: float = 1) -> list[Manifest]:
    """A gang that needs all of its pods."""
    return [gang(namespace, name, count), *crew(namespace, name, count, cpu)]


def add_nodes(plane: ControlPlane, *nodes: Manifest) -> None:
    for each in nodes:
        plane.client.create("/api/v1/nodes", each)


def apply(plane: ControlPlane, manifests: Iterable[Manifest]) -> None:
    plane.kubectl("apply", "-f", "-", stdin=json.dumps({"apiVersion": "v1", "kind": "List", "items": list(manifests)}))


def placed(plane: ControlPlane, namespace: str) -> dict[str, str]:
    """Pods and their nodes, by name; waiting ones have none."""
    pods = plane.client.get(f"/api/v1/namespaces/{namespace}/pods")["items"]
    return {each["metadata"]["name"]: each["spec"].get("nodeName", "") for each in pods}


def bound(plane: ControlPlane, namespace: str, of: str) -> int:
    """How many members of a gang have a node."""
    return sum(1 for name, on in placed(plane, namespace).items() if on and name.startswith(f"{of}-"))


def hire(plane: ControlPlane) -> Path:
    """Give the scheduler its account with its rights, and its kubeconfig."""
    plane.kubectl("apply", "-f", str(ROOT / "deploy" / "rbac.yaml"))
    apply(plane, LEASES_OF_TESTS)
    return plane.service_account("kube-system", "posse")


def start(plane: ControlPlane, account: Path, *flags: str | Path) -> Process:
    """Start a scheduler that comes as this account, and wait for nothing."""
    command = [sys.executable, "-m", "posse", "scheduler", "--kubeconfig", account, *flags]
    return Process("posse", command, plane.folder / f"posse-{secrets.token_hex(4)}.log", {"POSSE_DEBUG": "1"})


def said(process: Process) -> str:
    """What a scheduler has said so far."""
    return process.log.read_text("utf-8", "replace")


def is_ready(process: Process) -> bool:
    """Whether a scheduler knows all that there is."""
    return READY in said(process)


@contextmanager
def scheduler(plane: ControlPlane, *flags: str | Path, lease: str = "posse") -> Iterator[Process]:
    """Posse at work on a cluster, ready to decide. Who kills it takes a lease that no other test waits for."""
    with start(plane, hire(plane), "--lease", f"kube-system/{lease}", *flags) as process:
        yield process.until(lambda: is_ready(process))
        process.stop(GRACE)


def condition(plane: ControlPlane, namespace: str, name: str) -> dict[str, str]:
    """What a waiting pod says of itself."""
    status = plane.client.get(f"/api/v1/namespaces/{namespace}/pods/{name}")["status"]
    return next((each for each in status.get("conditions", []) if each["type"] == "PodScheduled"), {})


def says(plane: ControlPlane, namespace: str, of: str, words: str = "") -> bool:
    """Whether a waiting pod, or one of a gang, says why before long, in these words."""
    return comes_true(lambda: any(it and words in it for it in words_of(plane, namespace, of)))


def words_of(plane: ControlPlane, namespace: str, of: str) -> list[str]:
    """What waiting members of a gang say of themselves."""
    names = [
        name for name, on in placed(plane, namespace).items() if not on and (name == of or name.startswith(f"{of}-"))
    ]
    return [condition(plane, namespace, name).get("message", "") for name in names]


def delete(plane: ControlPlane, namespace: str, *names: str) -> None:
    """Delete pods, at once."""
    for name in names:
        plane.client.delete(f"/api/v1/namespaces/{namespace}/pods/{name}?gracePeriodSeconds=0")


def disband(plane: ControlPlane, namespace: str, name: str) -> None:
    """Delete a gang with all of its pods."""
    plane.client.delete(f"{CUSTOM}/namespaces/{namespace}/podgroups/{name}")
    delete(plane, namespace, *(each for each in placed(plane, namespace) if each.startswith(f"{name}-")))


def comes_to(plane: ControlPlane, namespace: str, of: str, count: int) -> bool:
    """Whether so many members of a gang have a node before long."""
    return comes_true(lambda: bound(plane, namespace, of) == count)
