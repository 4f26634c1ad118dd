"""The load: nodes, and gangs of pods, created as fast as the server takes them or at a given rate."""

import asyncio
import json
from collections.abc import Iterable, Sequence
from typing import Any

from msgspec import Struct

from posse.kube.api.client import ApiClient

NAMESPACE = "default"
AT_ONCE = 64
NODE = {"cpu": "32", "memory": "256Gi", "pods": "110"}
REQUEST = {"cpu": "1", "memory": "1Gi"}

Manifest = dict[str, Any]


class Shape(Struct, frozen=True):
    """So many gangs of so many pods."""

    gangs: int
    size: int

    @property
    def name(self) -> str:
        """How it is written."""
        return f"{self.gangs}×{self.size}"

    @property
    def pods(self) -> int:
        """How many pods in all."""
        return self.gangs * self.size


def shape_of(text: str) -> Shape:
    """Read a shape, such as `500x20`."""
    gangs, _, size = text.replace("×", "x").partition("x")
    return Shape(int(gangs), int(size))


def node(number: int) -> tuple[str, Manifest]:
    """A node, and where it is created."""
    status = {"allocatable": NODE, "capacity": NODE}
    return "/api/v1/nodes", {"kind": "Node", "apiVersion": "v1", "metadata": {"name": f"n{number}"}, "status": status}


def pod_group(gang: int, size: int) -> tuple[str, Manifest]:
    """The PodGroup of a gang."""
    where = f"/apis/scheduling.volcano.sh/v1beta1/namespaces/{NAMESPACE}/podgroups"
    kind = {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "PodGroup"}
    return where, {**kind, "metadata": {"name": f"g{gang}"}, "spec": {"minMember": size}}


def pod(gang: int, number: int, size: int, scheduler: str) -> tuple[str, Manifest]:
    """A pod; one of a gang of one names no PodGroup."""
    annotations = {"scheduling.k8s.io/group-name": f"g{gang}"} if size > 1 else {}
    container = {"name": "c", "image": "i", "resources": {"requests": REQUEST}}
    spec = {"schedulerName": scheduler, "terminationGracePeriodSeconds": 0, "containers": [container]}
    meta = {"name": f"g{gang}-{number}", "annotations": annotations}
    where = f"/api/v1/namespaces/{NAMESPACE}/pods"
    return where, {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec}


def groups_of(shape: Shape) -> list[tuple[str, Manifest]]:
    """The PodGroups of a shape; gangs of one have none."""
    return [pod_group(gang, shape.size) for gang in range(shape.gangs)] if shape.size > 1 else []


def pods_of(shape: Shape, scheduler: str) -> list[tuple[str, Manifest]]:
    """All pods of a shape, gang by gang."""
    return [pod(gang, each, shape.size, scheduler) for gang in range(shape.gangs) for each in range(shape.size)]


async def create(client: ApiClient, things: Sequence[tuple[str, Manifest]], rate: float = 0.0) -> None:
    """Create things in order, many at once; with a rate, so many a second."""
    waiting: Iterable[tuple[str, Manifest]] = iter(things)
    began, number = asyncio.get_running_loop().time(), 0

    async def work() -> None:
        nonlocal number
        for path, manifest in waiting:
            number += 1
            if rate:
                await asyncio.sleep(max(0.0, began + number / rate - asyncio.get_running_loop().time()))
            await client.create(path, json.dumps(manifest).encode())

    async with asyncio.TaskGroup() as tasks:
        for _ in range(AT_ONCE):
            tasks.create_task(work())
