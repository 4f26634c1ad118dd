"""Worlds to measure on: clusters of equal nodes, gangs of equal pods, as facts.

Nodes have 32 cpu, 256Gi, 8 nvidia.com/gpu and take 110 pods; pods ask for 1 cpu and 1Gi. The same sizes are used
wherever other schedulers were measured, so that figures can be laid side by side.
"""

from collections.abc import Iterator

from posse.cluster.facts import Fact, GangFact, NodeFact, QueueFact, Shape, TaskFact

GI = 1 << 30
NODE = (("cpu", 32_000), ("memory", 256 * GI), ("nvidia.com/gpu", 8_000), ("pods", 110))
WORKER = Shape(requests=(("cpu", 1000), ("memory", GI), ("pods", 1)), scored_cpu=1000, scored_memory=GI)


def queue(name: str = "default", weight: int = 1) -> QueueFact:
    """A queue."""
    return QueueFact(key=name, name=name, weight=weight)


def nodes(count: int) -> Iterator[NodeFact]:
    """Equal nodes, in zones of a hundred."""
    for number in range(count):
        name = f"node-{number}"
        labels = {"kubernetes.io/hostname": name, "topology.kubernetes.io/zone": f"zone-{number % 10}"}
        yield NodeFact(name=name, uid=f"uid-{name}", allocatable=NODE, labels=labels)


def gang(
    name: str, size: int, shape: Shape = WORKER, queue_name: str = "default", *, age: int = 0, node: str = ""
) -> Iterator[Fact]:
    """A gang of equal pods that wants them all; with a node, they run there."""
    requests = dict(shape.requests)
    yield GangFact(
        key=f"bench/{name}",
        namespace="bench",
        name=name,
        uid=f"uid-{name}",
        created=age,
        dialect="volcano",
        queue=queue_name,
        min_member=size,
        min_resources=tuple(
            (resource, amount * size) for resource, amount in sorted(requests.items()) if resource != "pods"
        ),
        phase="Running" if node else "",
    )
    for number in range(size):
        yield TaskFact(
            namespace="bench",
            name=f"{name}-worker-{number}",
            uid=f"uid-{name}-{number}",
            created=age,
            gang=f"bench/{name}",
            role="worker",
            shape=shape,
            labels={"app": name},
            phase="Running" if node else "Pending",
            node=node,
        )
