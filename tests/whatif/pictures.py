"""Clusters as manifests in few words, their explanations, and the proof of a remedy: applied to the input, run anew."""

from collections.abc import Sequence
from copy import deepcopy
from typing import Any

from posse.simulation.batch import answer_line

Manifest = dict[str, Any]
VOLCANO = "scheduling.volcano.sh/v1beta1"


def node(
    name: str, *, cpu: int = 4, gpu: int = 0, labels: dict[str, str] | None = None, taints: Sequence[str] = ()
) -> Manifest:
    """A node; a taint is written `key=value:effect`."""
    room = {"cpu": str(cpu), "memory": "32Gi", "pods": "110", **({"nvidia.com/gpu": str(gpu)} if gpu else {})}
    made = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels or {}}}
    return {**made, "spec": {"taints": [_taint(each) for each in taints]}, "status": {"allocatable": room}}


def _taint(text: str) -> dict[str, str]:
    pair, _, effect = text.rpartition(":")
    key, _, value = pair.partition("=")
    return {"key": key, "value": value, "effect": effect}


def queue(name: str, *, state: str = "Open", **spec: Any) -> Manifest:
    return {
        "apiVersion": VOLCANO,
        "kind": "Queue",
        "metadata": {"name": name},
        "spec": spec,
        "status": {"state": state},
    }


def group(name: str, minimum: int, *, in_queue: str = "default", **spec: Any) -> Manifest:
    fields = {"minMember": minimum, "queue": in_queue, **spec}
    return {
        "apiVersion": VOLCANO,
        "kind": "PodGroup",
        "metadata": {"name": name, "namespace": "default"},
        "spec": fields,
    }


def pod(
    name: str,
    *,
    of: str = "",
    cpu: int = 1,
    gpu: int = 0,
    on: str = "",
    notes: dict[str, str] | None = None,
    **spec: Any,
) -> Manifest:
    """A pod: a member of a group, or running on a node, or both."""
    asks = {"cpu": str(cpu), **({"nvidia.com/gpu": str(gpu)} if gpu else {})}
    annotations = {**(notes or {}), **({"scheduling.k8s.io/group-name": of} if of else {})}
    fields = {"containers": [{"name": "main", "image": "work", "resources": {"requests": asks}}], **deepcopy(spec)}
    made = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "default", "annotations": annotations},
    }
    if on:
        return {**made, "spec": {**fields, "nodeName": on}, "status": {"phase": "Running"}}
    return {**made, "spec": fields}


def daemon_set(name: str, *, cpu: int = 1, **spec: Any) -> Manifest:
    """What runs a pod on every node."""
    template = {"spec": pod("", cpu=cpu, **spec)["spec"]}
    metadata = {"name": name, "namespace": "default"}
    return {"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": metadata, "spec": {"template": template}}


def daemon(name: str, on: str, *, cpu: int = 1) -> Manifest:
    """A pod of the DaemonSet `agent`, running on a node."""
    made = pod(name, cpu=cpu, on=on)
    owner = {"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "agent", "uid": "u", "controller": True}
    return {**made, "metadata": {**made["metadata"], "ownerReferences": [owner]}}


def gang(name: str, minimum: int, members: int, *, in_queue: str = "default", **fields: Any) -> list[Manifest]:
    """A group and its pods."""
    return [group(name, minimum, in_queue=in_queue), *(pod(f"{name}-{n}", of=name, **fields) for n in range(members))]


def with_roles(name: str, minimum: int, **roles: tuple[int, int, int]) -> Manifest:
    """A job; of each role how many pods it has and needs, and how much cpu each of them."""
    tasks = [
        {"name": role, "replicas": count, "minAvailable": needed, "template": {"spec": pod("", cpu=cpu)["spec"]}}
        for role, (count, needed, cpu) in roles.items()
    ]
    spec = {"minAvailable": minimum, "schedulerName": "volcano", "tasks": tasks}
    metadata = {"name": name, "namespace": "default"}
    return {"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "metadata": metadata, "spec": spec}


def run(objects: Sequence[Manifest], **line: Any) -> dict[str, Any]:
    """A run to the fixpoint, and its result."""
    answer = answer_line({"id": "test", "objects": deepcopy(list(objects)), "now": "2026-01-01T00:00:00Z", **line})
    assert "error" not in answer, answer
    return answer


def explained(name: str, objects: Sequence[Manifest], **line: Any) -> dict[str, Any]:
    """The explanation of a gang when the run is over."""
    explanation: dict[str, Any] = run(objects, **line)["gangs"][f"default/{name}"]["explanation"]
    return explanation


def starts(name: str, objects: Sequence[Manifest], **line: Any) -> bool:
    """Whether a gang has its minimum when the run is over."""
    record = run(objects, **{"what_if_runs": 0, **line})["gangs"].get(f"default/{name}")
    return record is not None and record["ready"] >= max(1, record["min"])


def remedy(name: str, action: str, objects: Sequence[Manifest], **line: Any) -> dict[str, Any]:
    """The first remedy of a kind, after proving that it holds from the start and that without it the gang waits."""
    found: dict[str, Any] = next(
        each for each in explained(name, objects, **line)["remedies"] if each["action"] == action
    )
    assert found["verified"]
    assert not starts(name, objects, **line)
    assert starts(name, applied(objects, found), **line)
    return found


def applied(objects: Sequence[Manifest], change: dict[str, Any]) -> list[Manifest]:
    """The input with a remedy applied: objects replaced by kind and name, or created, and others removed."""
    kept = {_name(each): each for each in objects}
    kept.update((_name(each), each) for each in change["patch"])
    for gone in change["remove"]:
        kept.pop((gone["kind"], gone["namespace"] or "default", gone["name"]))
    return list(kept.values())


def _name(manifest: Manifest) -> tuple[str, str, str]:
    meta = manifest["metadata"]
    return manifest["kind"], meta.get("namespace", "default"), meta["name"]
