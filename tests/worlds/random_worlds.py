"""Random clusters from a seed: nodes of several kinds, pods that run, gangs that wait, queues that share.

Pods that run never take more than their node has; apart from that they may lie where no scheduler would put them, as
in real clusters.
"""

from collections.abc import Iterator
from random import Random

from msgspec import structs

from posse.cluster.facts import (
    Amounts,
    Fact,
    GangFact,
    Image,
    NamespaceFact,
    NodeFact,
    Phase,
    PriorityClassFact,
    QueueFact,
    Shape,
    Taint,
    TaskFact,
)

from .random_shapes import (
    APPS,
    DISKS,
    FEATURES,
    GENERATIONS,
    GIBI,
    GPU,
    HOST,
    IMAGES,
    MEBI,
    RACK,
    ZONE,
    random_shape,
)
from .traits import EVERYTHING, SMALL, Size, Trait

SECOND = 10**9
PRIORITIES = {"low": 10, "high": 1000}


class RandomWorld:
    """A world in the making: the random numbers, what it may contain, and how much each node has left."""

    def __init__(self, seed: int, size: Size = SMALL, traits: frozenset[Trait] = EVERYTHING) -> None:
        self.random = Random(seed)
        self.size, self.traits = size, traits
        self.left: dict[str, dict[str, int]] = {}
        self.clock = 1_700_000_000

    def facts(self) -> list[Fact]:
        """Everything there is."""
        return [*self.surroundings(), *self.nodes(), *self.others(), *self.gangs()]

    def has(self, trait: Trait, chance: float = 1.0) -> bool:
        """Whether a trait shows here. Numbers are drawn only for traits that the world has."""
        return trait in self.traits and self.random.random() < chance

    def now(self) -> int:
        """A time of creation; the next is sometimes the same second."""
        self.clock += self.random.choice((0, 1, 7))
        return self.clock * SECOND

    def surroundings(self) -> Iterator[Fact]:
        """Namespaces, priority classes and queues. Namespace `lost` has pods and no object."""
        yield NamespaceFact(name="default", labels={"team": "b"})
        yield NamespaceFact(name="batch", labels={"team": "a"})
        if "priorities" in self.traits:
            for name, value in PRIORITIES.items():
                yield PriorityClassFact(name=name, value=value)
            if self.has("priorities", 0.3):
                yield PriorityClassFact(name="usual", value=100, is_default=True)
        for name in self.queue_names():
            yield self.queue(name)

    def queue_names(self) -> tuple[str, ...]:
        """The queues that gangs choose from."""
        return ("default", "left", "right") if "queues" in self.traits else ("default",)

    def queue(self, name: str) -> QueueFact:
        """A queue; without the trait, one that limits nobody."""
        if "queues" not in self.traits:
            return QueueFact(key=name, name=name, created=self.now())
        capability: Amounts = (("cpu", self.random.choice((4000, 12000))),) if self.has("queues", 0.3) else ()
        guarantee: Amounts = ()
        if self.has("guarantees", 0.3):
            guarantee = (("cpu", 2000), ("memory", 2 * GIBI))
        return QueueFact(
            key=name,
            name=name,
            created=self.now(),
            weight=self.random.choice((1, 1, 2, 5)),
            priority=self.random.choice((0, 0, 0, 3)),
            capability=capability,
            guarantee=guarantee,
            state="Closed" if self.has("queues", 0.05) else "Open",
        )

    # ---------------------------------------------------------------- nodes

    def nodes(self) -> Iterator[NodeFact]:
        """Nodes of three sizes in three zones; some lack a label that others have."""
        for number in range(self.random.randint(1, self.size.nodes)):
            yield self.node(f"node-{number}")

    def node(self, name: str) -> NodeFact:
        """One node, empty so far."""
        random = self.random
        cpu, memory, pods = random.choice(((2000, 4, 6), (4000, 8, 8), (8000, 16, 110)))
        allocatable = {"cpu": cpu, "memory": memory * GIBI, "pods": pods}
        if self.has("gpus", 0.4):
            allocatable[GPU] = random.choice((2000, 4000))
        labels = {HOST: name, "disk": random.choice(DISKS), "generation": random.choice(GENERATIONS)}
        if random.random() < 0.9:
            labels[ZONE] = random.choice(("zone-a", "zone-b", "zone-c"))
        if random.random() < 0.6:
            labels[RACK] = random.choice(("rack-1", "rack-2"))
        self.left[name] = allocatable
        return NodeFact(
            name=name,
            uid=f"uid-{name}",
            created=self.now(),
            allocatable=tuple(sorted(allocatable.items())),
            labels=labels,
            taints=self.taints(),
            unschedulable=self.has("taints", 0.05),
            images=self.images(),
            features=(random.choice(FEATURES),) if self.has("features", 0.8) else (),
        )

    def taints(self) -> tuple[Taint, ...]:
        """None, one or two."""
        known = (
            Taint("spot", "true", "PreferNoSchedule"),
            Taint("team", "a", "NoSchedule"),
            Taint("risk", self.random.choice(("20", "80", "often")), "NoSchedule"),
            Taint("gone", "", "NoExecute"),
            Taint("old", "", "PreferNoSchedule"),
        )
        many = self.random.choice((0, 0, 0, 0, 1, 1, 2)) if "taints" in self.traits else 0
        return tuple(self.random.sample(known, many))

    def images(self) -> tuple[Image, ...]:
        """The images a node has; an image has one size wherever it is."""
        if "images" not in self.traits:
            return ()
        sizes = dict(zip(IMAGES, (40 * MEBI, 700 * MEBI, 3000 * MEBI), strict=True))
        found = self.random.sample(IMAGES, self.random.randint(0, len(IMAGES)))
        return tuple(Image((name,), sizes[name]) for name in found)

    # ---------------------------------------------------------------- pods

    def others(self) -> Iterator[TaskFact]:
        """Pods that are in no gang and only use room."""
        for node in self.left:
            for number in range(self.random.randint(0, self.size.residents)):
                shape = random_shape(self.random, self.traits)
                if self.takes(node, shape):
                    name, app = f"other-{node}-{number}", self.random.choice(APPS)
                    yield self.task(name, shape, app, self.random.choice(("default", "batch", "lost")), node=node)

    def takes(self, node: str, shape: Shape) -> bool:
        """Take a shape's room on a node, if there is as much."""
        left = self.left[node]
        if any(left.get(name, 0) < amount for name, amount in shape.requests):
            return False
        for name, amount in shape.requests:
            left[name] -= amount
        return True

    def task(
        self, name: str, shape: Shape, app: str, namespace: str, *, node: str = "", gang: str = "", role: str = ""
    ) -> TaskFact:
        """A pod: on a node it runs, was just bound, or is leaving; elsewhere it waits, or is over."""
        random = self.random
        phase: Phase = "Running" if node and random.random() < 0.9 else "Pending"
        if not node and gang and self.has("finished", 0.1):
            phase = random.choice(("Succeeded", "Failed"))
        waits = not node and phase == "Pending"
        return TaskFact(
            namespace=namespace,
            name=name,
            uid=f"uid-{random.randrange(1000)}-{name}",
            created=self.now(),
            gang=gang,
            role=role,
            shape=shape,
            labels={"app": app},
            priority=random.choice((None, 0, 5)) if self.has("priorities", 0.4) else None,
            phase=phase,
            node=node,
            nominated=random.choice(sorted(self.left)) if waits and gang and self.has("nominated", 0.05) else "",
            terminating=bool(node) and self.has("leaving", 0.4),
            gates=("example.com/wait",) if waits and gang and self.has("gates", 0.05) else (),
        )

    # ---------------------------------------------------------------- gangs

    def gangs(self) -> Iterator[GangFact | TaskFact]:
        """Gangs, each followed by its members."""
        for number in range(self.random.randint(1, self.size.gangs)):
            yield from self.gang(f"gang{number}")

    def gang(self, name: str) -> Iterator[GangFact | TaskFact]:
        """A gang of one to three roles, some of whose members may run already."""
        random, namespace = self.random, self.random.choice(("default", "default", "batch"))
        key = f"{namespace}/{name}"
        members = list(self.members(key, name, namespace))
        fact = GangFact(
            key=key,
            namespace=namespace,
            name=name,
            uid=f"uid-{name}",
            created=self.now(),
            queue=random.choice(self.queue_names()),
            min_member=random.randint(1, len(members)) if random.random() < 0.95 else len(members) + 1,
            priority_class=random.choice(("", "low", "high")) if "priorities" in self.traits else "",
            phase=random.choice(("", "Pending", "Inqueue")),
        )
        running = sum(bool(task.node) and not task.terminating for task in members)
        if running:
            fact = structs.replace(fact, phase="Running" if running >= fact.min_member else "Inqueue")
        if self.has("roles", 0.5):
            fact = structs.replace(fact, min_roles=self.min_roles(members), min_member=max(1, len(members) - 1))
        if self.has("admission", 0.7):
            fact = structs.replace(fact, min_resources=_minimum_of(members, fact.min_member))
        yield fact
        yield from members

    def members(self, key: str, gang: str, namespace: str) -> Iterator[TaskFact]:
        """Members by role; those of one role share a shape, mostly."""
        random = self.random
        roles = random.choice((("worker",), ("ps", "worker"))) if self.has("roles", 0.5) else ("",)
        partly_runs = random.random() < 0.25
        for role in roles:
            shape, app = random_shape(random, self.traits), random.choice(APPS)
            for number in range(random.randint(1, self.size.members)):
                if random.random() < 0.1:
                    shape = random_shape(random, self.traits)
                name = f"{gang}-{role or 'pod'}-{number}" if random.random() < 0.9 else f"{gang}{role}{number}"
                node = self.home(shape) if partly_runs and random.random() < 0.5 else ""
                yield self.task(name, shape, app, namespace, node=node, gang=key, role=role)

    def home(self, shape: Shape) -> str:
        """A node that has the room, which is then taken; or none."""
        node = self.random.choice(sorted(self.left))
        return node if self.takes(node, shape) else ""

    def min_roles(self, members: list[TaskFact]) -> tuple[tuple[str, int], ...]:
        """A minimum for each role that is named, never more than it has."""
        counts: dict[str, int] = {}
        for task in members:
            counts[task.role] = counts.get(task.role, 0) + 1
        return tuple((role, self.random.randint(0, count)) for role, count in sorted(counts.items()) if role)


def _minimum_of(members: list[TaskFact], minimum: int) -> Amounts:
    """What the first members, as many as the minimum, ask for together."""
    total: dict[str, int] = {}
    for task in members[:minimum]:
        for name, amount in task.shape.requests:
            if name != "pods":
                total[name] = total.get(name, 0) + amount
    return tuple(sorted(total.items()))


def random_world(seed: int, size: Size = SMALL, traits: frozenset[Trait] = EVERYTHING) -> list[Fact]:
    """The facts of the world with this seed."""
    return RandomWorld(seed, size, traits).facts()
