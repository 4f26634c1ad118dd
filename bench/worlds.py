"""Worlds to measure on: clusters of equal nodes, gangs of pods, as facts.

Nodes have 32 cpu, 256Gi, 8 nvidia.com/gpu and take 110 pods; pods ask for 1 cpu and 1Gi. The same sizes are used
wherever other schedulers were measured, so that figures can be laid side by side.
"""

from collections.abc import Iterator
from itertools import product
from random import Random

from msgspec import structs

from posse.cluster.facts import (
    Fact,
    GangFact,
    NodeFact,
    PodTerm,
    QueueFact,
    Shape,
    Spread,
    Taint,
    TaskFact,
    Toleration,
)
from posse.cluster.selectors import Requirement, Selector

GI = 1 << 30
NODE = (("cpu", 32_000), ("memory", 256 * GI), ("nvidia.com/gpu", 8_000), ("pods", 110))
ZONES = 10
NAMESPACE = "bench"


def shape(cpu: int, memory: int = GI, gpu: int = 0, **more: object) -> Shape:
    """A shape by what it asks for."""
    requests = [("cpu", cpu), ("memory", memory), *([("nvidia.com/gpu", gpu)] if gpu else []), ("pods", 1)]
    return Shape(requests=tuple(requests), scored_cpu=cpu, scored_memory=memory, **more)  # type: ignore[arg-type]


WORKER = shape(1000)


def queue(name: str = "default", weight: int = 1) -> QueueFact:
    """A queue."""
    return QueueFact(key=name, name=name, weight=weight)


def nodes(count: int, *, tainted_every: int = 0) -> Iterator[NodeFact]:
    """Equal nodes in ten zones; some of them tainted, if asked for."""
    taint = Taint("dedicated", "batch")
    for number in range(count):
        name = f"node-{number}"
        labels = {
            "kubernetes.io/hostname": name,
            "topology.kubernetes.io/zone": f"zone-{number % ZONES}",
            "pool": f"pool-{number % 4}",
        }
        taints = (taint,) if tainted_every and number % tainted_every == 0 else ()
        yield NodeFact(name=name, uid=f"uid-{name}", allocatable=NODE, labels=labels, taints=taints)


def gang(
    name: str,
    size: int,
    of: Shape = WORKER,
    queue_name: str = "default",
    *,
    age: int = 0,
    asks: bool = True,
    by_role: bool = False,
    leader: Shape | None = None,
) -> Iterator[Fact]:
    """A gang of equal pods that wants them all.

    `asks`: it states its minimal resources and must be admitted. `by_role`: it states the minimums of its roles too.
    `leader`: one more pod leads them.
    """
    minimum = tuple((resource, amount * size) for resource, amount in of.requests if resource != "pods")
    pods = [(f"{name}-worker-{number}", f"uid-{name}-{number}", "worker", of) for number in range(size)]
    roles: tuple[tuple[str, int], ...] = (("worker", size),)
    if leader is not None:
        pods.insert(0, (f"{name}-leader", f"uid-{name}-leader", "leader", leader))
        roles = (("leader", 1), *roles)
    yield GangFact(
        key=f"{NAMESPACE}/{name}",
        namespace=NAMESPACE,
        name=name,
        uid=f"uid-{name}",
        created=age,
        dialect="volcano",
        queue=queue_name,
        min_member=len(pods),
        min_roles=roles if by_role else (),
        min_resources=minimum if asks else None,
    )
    for pod, uid, role, shape_of_pod in pods:
        yield TaskFact(
            namespace=NAMESPACE,
            name=pod,
            uid=uid,
            created=age,
            gang=f"{NAMESPACE}/{name}",
            role=role,
            shape=shape_of_pod,
            labels={"app": name},
        )


def running(name: str, size: int, of: Shape, node: str, *, age: int = 0) -> Iterator[Fact]:
    """A gang that runs on one node."""
    for fact in gang(name, size, of, age=age, asks=False):
        if isinstance(fact, TaskFact):
            yield structs.replace(fact, phase="Running", node=node)
        elif isinstance(fact, GangFact):
            yield structs.replace(fact, phase="Running")


def mixed(pods: int, seed: int = 0) -> Iterator[Fact]:
    """Gangs of hundreds of shapes in ten queues, with pools and tolerations; a tenth with spread or affinity."""
    random = Random(seed)
    yield from (queue(f"team-{number}", 1 + number % 3) for number in range(10))
    plain = [
        shape(cpu, memory * GI, gpu, node_selector=selector, tolerations=tolerations)
        for cpu, memory, gpu, selector, tolerations in product(
            (250, 500, 1000, 2000),
            (1, 2, 4),
            (0, 0, 1000),
            ((), *((Requirement("pool", "In", (f"pool-{each}",)),) for each in range(4))),
            ((), (Toleration("dedicated", "Exists"),)),
        )
    ]
    made, number = 0, 0
    while made < pods:
        name, size = f"mixed-{number}", min(random.choice((1, 2, 4, 8, 16, 32)), pods - made)
        of = random.choice(plain) if random.random() < 0.9 else _lying(name, random)
        yield from gang(name, size, of, f"team-{random.randrange(10)}", age=number)
        made, number = made + size, number + 1


def _lying(name: str, random: Random) -> Shape:
    """A shape that looks at where its siblings lie."""
    own = Selector((Requirement("app", "In", (name,)),))
    if random.random() < 0.5:
        return shape(500, spread=(Spread("topology.kubernetes.io/zone", max_skew=2, selector=own),))
    apart = PodTerm("kubernetes.io/hostname", selector=own, namespaces=(NAMESPACE,))
    return shape(500, apart=(apart,))
