"""Random pods, as far as a shape says what they are: what they ask for, where they may go, whom they seek and shun.

Choices are few and coarse, so that pods and nodes meet: a selector often matches, a port often collides, a share is
often equal to another.
"""

from random import Random

from posse.cluster.facts import Amounts, PodTerm, Port, PreferredNodes, Shape, Spread, Toleration
from posse.cluster.selectors import NodeTerm, Requirement, Selector

from .traits import Trait

GIBI, MEBI = 2**30, 2**20
APPS = ("web", "db", "train", "eval")
HOST, ZONE, RACK = "kubernetes.io/hostname", "topology.kubernetes.io/zone", "rack"
DISKS = ("hdd", "nvme", "ssd")
GENERATIONS = ("1", "2", "3")
IMAGES = ("registry.test/base:1", "registry.test/train:2", "registry.test/tools:latest")
FEATURES = ("GuaranteedQoSPodCPUResize", "UserNamespacesHostNetwork")
GPU = "nvidia.com/gpu"


def random_shape(random: Random, traits: frozenset[Trait]) -> Shape:
    """One shape. About a third of the traits that a world has show in each."""
    has = {trait for trait in sorted(traits) if random.random() < 0.3}
    requests = random_requests(random, has)
    amounts = dict(requests)
    near, apart, liked, disliked = _terms(random) if "affinity" in has else ((), (), (), ())
    return Shape(
        requests=requests,
        scored_cpu=amounts.get("cpu", 100),
        scored_memory=amounts.get("memory", 200 * MEBI),
        node_selector=(Requirement("disk", "In", (random.choice(DISKS),)),) if _now(random, has, "selectors") else (),
        node_terms=_node_terms(random) if _now(random, has, "selectors") else None,
        preferred_nodes=_preferred_nodes(random) if "selectors" in has else (),
        tolerations=_tolerations(random) if "taints" in has else (),
        ports=(_port(random),) if "ports" in has else (),
        near=near,
        apart=apart,
        preferred_near=liked,
        preferred_apart=disliked,
        spread=_spread(random) if "spread" in has else (),
        images=tuple(random.choices(IMAGES, k=random.randint(1, 2))) if "images" in has else (),
        features=(random.choice(FEATURES),) if _now(random, has, "features") else (),
    )


def _now(random: Random, has: set[Trait], trait: Trait) -> bool:
    """Hard demands, which few nodes meet, come less often."""
    return trait in has and random.random() < 0.4


def random_requests(random: Random, has: set[Trait]) -> Amounts:
    """What a pod asks for: always a place, mostly cpu and memory, sometimes only one of them."""
    amounts = {"pods": 1}
    if not ("best-effort" in has and random.random() < 0.5):
        kind = random.random()
        if kind < 0.9:
            amounts["cpu"] = random.choice((250, 500, 500, 1000, 2000))
        if kind > 0.1:
            amounts["memory"] = random.choice((256 * MEBI, GIBI, GIBI, 3 * GIBI))
        if _now(random, has, "gpus"):
            amounts[GPU] = random.choice((1000, 2000))
    return tuple(sorted(amounts.items()))


def _node_terms(random: Random) -> tuple[NodeTerm, ...]:
    terms = (
        NodeTerm(expressions=(Requirement("disk", "NotIn", (random.choice(DISKS),)),)),
        NodeTerm(expressions=(Requirement("generation", "Gt", ("1",)), Requirement(RACK, "Exists"))),
        NodeTerm(expressions=(Requirement("generation", "Lt", ("3",)),)),
        NodeTerm(fields=(Requirement("metadata.name", "In", ("node-1",)),)),
        NodeTerm(expressions=(Requirement(RACK, "DoesNotExist"),)),
    )
    return tuple(random.sample(terms, random.randint(1, 2)))


def _preferred_nodes(random: Random) -> tuple[PreferredNodes, ...]:
    return tuple(
        PreferredNodes(random.choice((1, 10, 50, 100)), NodeTerm(expressions=(Requirement("disk", "In", (disk,)),)))
        for disk in random.sample(DISKS, random.randint(1, 2))
    )


def _tolerations(random: Random) -> tuple[Toleration, ...]:
    known = (
        Toleration("spot", "Exists"),
        Toleration("team", "Equal", "a", "NoSchedule"),
        Toleration("risk", "Lt", "50", "NoSchedule"),
        Toleration("risk", "Gt", "50"),
        Toleration("spot", "Exists", "", "PreferNoSchedule"),
        Toleration("", "Exists"),
        Toleration("node.kubernetes.io/unschedulable", "Exists", "", "NoSchedule"),
    )
    return tuple(random.sample(known, random.randint(1, 3)))


def _port(random: Random) -> Port:
    return Port(random.choice((8080, 9090)), random.choice(("TCP", "UDP")), random.choice(("0.0.0.0", "10.0.0.1")))


def app_selector(random: Random) -> Selector | None:
    """Pods of some application; now and then everybody or nobody."""
    kind = random.random()
    if kind < 0.05:
        return None
    if kind < 0.1:
        return Selector()
    if kind < 0.2:
        return Selector((Requirement("app", "NotIn", (random.choice(APPS),)),))
    return Selector((Requirement("app", "In", tuple(sorted(random.sample(APPS, random.randint(1, 2))))),))


def _pod_term(random: Random, weight: int = 0) -> PodTerm:
    kind = random.random()
    if kind < 0.8:
        return PodTerm(_key(random), app_selector(random), ("default",), None, weight)
    elsewhere = Selector() if kind < 0.9 else Selector((Requirement("team", "In", ("a",)),))
    return PodTerm(_key(random), app_selector(random), (), elsewhere, weight)


def _key(random: Random) -> str:
    return random.choice((HOST, ZONE, ZONE, RACK))


Terms = tuple[PodTerm, ...]


def _terms(random: Random) -> tuple[Terms, Terms, Terms, Terms]:
    """Required near and apart, preferred near and apart; mostly one of the four, sometimes two."""
    terms: list[Terms] = [(), (), (), ()]
    for which in random.sample((0, 1, 2, 2, 3, 3), random.choice((1, 1, 2))):
        weight = random.choice((1, 20, 100)) if which > 1 else 0
        terms[which] = tuple(_pod_term(random, weight) for _ in range(random.choice((1, 1, 2))))
    return terms[0], terms[1], terms[2], terms[3]


def _spread(random: Random) -> tuple[Spread, ...]:
    return tuple(
        Spread(
            topology_key=key,
            max_skew=random.choice((1, 1, 2)),
            hard=random.random() < 0.5,
            selector=app_selector(random),
            min_domains=random.choice((1, 1, 1, 3)),
            honor_affinity=random.random() < 0.7,
            honor_taints=random.random() < 0.3,
        )
        for key in random.sample((HOST, ZONE, RACK), random.choice((1, 1, 2)))
    )
