"""Storage made up at random: few nodes, sizes, zones and names, so that things match, collide and run out."""

from random import Random

from posse.cluster.facts import NodeFact
from posse.cluster.selectors import NodeTerm, Requirement, Selector
from posse.cluster.storage_facts import (
    StorageCapacityFact,
    StorageClassFact,
    StorageDriverFact,
    StorageFact,
    VolumeClaimFact,
    VolumeFact,
)
from tests.builders import node

ZONE, REGION = "topology.kubernetes.io/zone", "topology.kubernetes.io/region"
OLD_ZONE = "failure-domain.beta.kubernetes.io/zone"
MODES = ("ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany")
CLASSES = ("local", "made")


def nodes(random: Random) -> list[NodeFact]:
    """Nodes that may have a name, a zone, an old zone, a region."""
    return [node(f"n{number}", cpu=4, labels=_labels(random, number)) for number in range(random.randint(1, 5))]


def _labels(random: Random, number: int) -> dict[str, str]:
    may = {"name": f"n{number}", ZONE: random.choice("ab"), OLD_ZONE: random.choice("ab"), REGION: random.choice("xy")}
    return {key: value for key, value in may.items() if random.random() < 0.7}


def volume(random: Random, number: int) -> VolumeFact:
    """A volume."""
    kept = random.choice(("", "", "", "default/c0", "default/c1"))
    return VolumeFact(
        name=f"v{number}",
        uid=f"v{number}",
        storage_class=random.choice(CLASSES),
        attributes_class="gold" if random.random() < 0.06 else "",
        size=random.randint(0, 5),
        modes=tuple(sorted(random.sample(MODES, random.choice((1, 2, 3, 3))))),
        is_block=random.random() < 0.06,
        labels=random.choice(({}, {"disk": "fast"})),
        terms=random.choice((None, _terms(random), _terms(random))),
        zones=tuple(_requirement(random, key) for key in (ZONE, OLD_ZONE, REGION) if random.random() < 0.2),
        claim=kept,
        claim_uid=random.choice(("", kept.removeprefix("default/"), "older")) if kept else "",
        is_available=random.random() < 0.9,
        terminating=random.random() < 0.05,
    )


def _terms(random: Random) -> tuple[NodeTerm, ...]:
    terms = []
    for _ in range(random.randint(1, 2)):
        some = [_requirement(random, key) for key in ("name", ZONE) if random.random() < 0.6]
        named = Requirement("metadata.name", random.choice(("In", "NotIn")), ("n0",))
        terms.append(NodeTerm(tuple(some), (named,) if random.random() < 0.1 else ()))
    return tuple(terms)


def _requirement(random: Random, key: str) -> Requirement:
    values = {"name": ("n0", "n1", "n2", "n3"), REGION: ("x", "y")}.get(key, ("a", "b"))
    return Requirement(key, "In", tuple(sorted(random.sample(values, random.randint(1, 2)))))


def claim(random: Random, number: int, volumes: list[VolumeFact]) -> VolumeClaimFact:
    """A claim, that may have its volume."""
    bound = random.random() < 0.3 and bool(volumes)
    return VolumeClaimFact(
        namespace="default",
        name=f"c{number}",
        uid=f"c{number}",
        storage_class=random.choice(CLASSES),
        attributes_class="gold" if random.random() < 0.06 else "",
        size=random.randint(0, 3),
        modes=tuple(sorted(random.sample(MODES, random.choice((0, 1, 1, 2))))),
        is_block=random.random() < 0.06,
        selector=random.choice((None, None, Selector((Requirement("disk", "In", ("fast",)),)))),
        volume=random.choice(volumes).name if bound else "",
        is_bound=bound,
        selected_node="n0" if random.random() < 0.1 else "",
    )


def surroundings(random: Random) -> list[StorageFact]:
    """Classes, their drivers, and what these tell."""
    topologies = random.choice(((), (), ((_requirement(random, ZONE),),), ((_requirement(random, "name"),), ())))
    return [
        StorageClassFact(name="local", provisioner="kubernetes.io/no-provisioner", waits=True),
        StorageClassFact(name="made", provisioner="ebs", waits=True, topologies=topologies),
        StorageDriverFact(name="ebs", tells_capacity=random.random() < 0.6),
        *(_capacity(random, number) for number in range(random.randint(0, 3))),
    ]


def _capacity(random: Random, number: int) -> StorageCapacityFact:
    return StorageCapacityFact(
        namespace="default",
        name=f"s{number}",
        storage_class=random.choice(CLASSES),
        nodes=random.choice((None, Selector(), Selector((_requirement(random, ZONE),)))),
        capacity=random.choice((None, 1, 3, 5)),
        largest=random.choice((None, None, 2)),
    )
