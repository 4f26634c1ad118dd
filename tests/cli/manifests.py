"""Builders: clusters as files, everything that does not matter left out."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

Manifest = dict[str, Any]

CONF = """\
actions: "enqueue, allocate, backfill"
tiers:
- plugins: [{name: priority}, {name: gang}]
- plugins: [{name: predicates}, {name: proportion}, {name: nodeorder}]
"""


def node(name: str, cpu: int = 4, **allocatable: str) -> Manifest:
    amounts = {"cpu": str(cpu), "memory": "16Gi", "pods": "110", **allocatable}
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}, "status": {"allocatable": amounts}}


def queue(name: str, weight: int = 1) -> Manifest:
    return {
        "apiVersion": "scheduling.volcano.sh/v1beta1",
        "kind": "Queue",
        "metadata": {"name": name},
        "spec": {"weight": weight},
    }


def pod_spec(cpu: int | str = 1) -> Manifest:
    return {"containers": [{"name": "main", "image": "app:1", "resources": {"requests": {"cpu": str(cpu)}}}]}


def pod(name: str, cpu: int | str = 1, namespace: str = "default", **annotations: str) -> Manifest:
    meta = {"name": name, "namespace": namespace, "annotations": annotations}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": pod_spec(cpu)}


def job(
    name: str,
    pods: int,
    cpu: int = 1,
    *,
    minimum: int | None = None,
    queue: str = "default",
    namespace: str = "default",
    run_time: str = "",
    arrival: str = "",
) -> Manifest:
    """A Volcano Job: a gang of equal workers."""
    wishes = {"posse.dev/run-time": run_time, "posse.dev/arrival": arrival}
    annotations = {key: text for key, text in wishes.items() if text}
    template = {"metadata": {"annotations": annotations}, "spec": pod_spec(cpu)}
    return {
        "apiVersion": "batch.volcano.sh/v1alpha1",
        "kind": "Job",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {
            "queue": queue,
            "schedulerName": "volcano",
            "minAvailable": pods if minimum is None else minimum,
            "tasks": [{"name": "worker", "replicas": pods, "template": template}],
        },
    }


def deployment(name: str, replicas: int, namespace: str = "default") -> Manifest:
    labels = {"app": name}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": pod_spec()},
        },
    }


def written(path: Path, manifests: Iterable[Manifest]) -> str:
    """A file of JSON, an object per line."""
    path.write_text("\n".join(json.dumps(manifest) for manifest in manifests), encoding="utf-8")
    return str(path)
