"""Builders: objects in a line, everything that does not matter left out."""

from typing import Any

from posse.errors import Place
from posse.kube.decoding import decode
from posse.kube.meta import KubeObject
from posse.kube.objects import (
    LimitRange,
    Namespace,
    Node,
    Pod,
    PodDisruptionBudget,
    PodGroup,
    PriorityClass,
    Queue,
    ResourceQuota,
    RuntimeClass,
    class_of,
)

NOW = 1_767_225_600 * 10**9
"""2026-01-01T00:00:00Z."""


def thing(api_version: str, kind: str, name: str, namespace: str = "", **body: Any) -> KubeObject:
    """Any object, decoded from a manifest."""
    meta = {"name": name, **({"namespace": namespace} if namespace else {}), **body.pop("metadata", {})}
    manifest = {"apiVersion": api_version, "kind": kind, "metadata": meta, **body}
    return decode(manifest, class_of(api_version, kind), Place())


def container(requests: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    """A container that asks for something."""
    return {"name": "main", "image": "app:1", "resources": {"requests": requests or {}}, **more}


def pod(
    name: str = "p",
    namespace: str = "default",
    *,
    metadata: dict[str, Any] | None = None,
    status: dict[str, Any] | None = None,
    **spec: Any,
) -> Pod:
    """A pod of one container, unless told otherwise. Keywords are its spec."""
    spec.setdefault("containers", [container({"cpu": "1"})])
    made = thing("v1", "Pod", name, namespace, metadata=metadata or {}, spec=spec, status=status or {})
    assert isinstance(made, Pod)
    return made


def node(name: str = "n", *, taints: list[dict[str, str]] | None = None, **allocatable: Any) -> Node:
    """A node with 4 cpu and 8Gi, unless told otherwise."""
    given = allocatable or {"cpu": "4", "memory": "8Gi", "pods": "110"}
    made = thing("v1", "Node", name, spec={"taints": taints or []}, status={"allocatable": given})
    assert isinstance(made, Node)
    return made


def pod_group(
    name: str = "g", namespace: str = "default", metadata: dict[str, Any] | None = None, **spec: Any
) -> PodGroup:
    """A Volcano PodGroup."""
    made = thing("scheduling.volcano.sh/v1beta1", "PodGroup", name, namespace, metadata=metadata or {}, spec=spec)
    assert isinstance(made, PodGroup)
    return made


def queue(name: str = "q", *, state: str = "", metadata: dict[str, Any] | None = None, **spec: Any) -> Queue:
    """A Volcano Queue."""
    status = {"state": state} if state else {}
    made = thing("scheduling.volcano.sh/v1beta1", "Queue", name, metadata=metadata or {}, spec=spec, status=status)
    assert isinstance(made, Queue)
    return made


def priority_class(name: str, value: int, **more: Any) -> PriorityClass:
    """A PriorityClass."""
    made = thing("scheduling.k8s.io/v1", "PriorityClass", name, value=value, **more)
    assert isinstance(made, PriorityClass)
    return made


def namespace(name: str, **metadata: Any) -> Namespace:
    """A Namespace."""
    made = thing("v1", "Namespace", name, metadata=metadata)
    assert isinstance(made, Namespace)
    return made


def limit_range(name: str, home: str, *limits: dict[str, Any]) -> LimitRange:
    """A LimitRange."""
    made = thing("v1", "LimitRange", name, home, spec={"limits": list(limits)})
    assert isinstance(made, LimitRange)
    return made


def runtime_class(name: str, **body: Any) -> RuntimeClass:
    """A RuntimeClass."""
    made = thing("node.k8s.io/v1", "RuntimeClass", name, **body)
    assert isinstance(made, RuntimeClass)
    return made


def budget(name: str, home: str = "default", status: dict[str, Any] | None = None, **spec: Any) -> PodDisruptionBudget:
    """A PodDisruptionBudget."""
    more = {} if status is None else {"status": status}
    made = thing("policy/v1", "PodDisruptionBudget", name, home, spec=spec, **more)
    assert isinstance(made, PodDisruptionBudget)
    return made


def quota(name: str, home: str = "default", status: dict[str, Any] | None = None, **hard: Any) -> ResourceQuota:
    """A ResourceQuota."""
    more = {} if status is None else {"status": status}
    made = thing("v1", "ResourceQuota", name, home, spec={"hard": hard}, **more)
    assert isinstance(made, ResourceQuota)
    return made
