"""What a world knows of storage."""

from posse.cluster.facts import Gone
from posse.cluster.storage_facts import StorageClassFact, VolumeClaimFact, VolumeFact
from posse.cluster.world import World

CLAIM = VolumeClaimFact(namespace="ns", name="data", uid="1")


def test_facts_are_kept_by_what_they_are_known_by() -> None:
    world = World()
    world.observe([CLAIM, VolumeFact(name="v"), StorageClassFact(name="fast")])

    assert world.storage.claims == {"ns/data": CLAIM}
    assert set(world.storage.volumes) == {"v"}
    assert set(world.storage.classes) == {"fast"}


def test_only_what_is_new_counts_as_a_change() -> None:
    world = World()
    world.observe([CLAIM])
    before = world.storage.version
    world.observe([CLAIM])

    assert world.storage.version == before


def test_who_is_gone_is_forgotten_unless_another_has_the_name() -> None:
    world = World()
    world.observe([CLAIM, Gone(kind="volume-claim", key="ns/data", uid="older")])
    assert world.storage.claims

    world.observe([Gone(kind="volume-claim", key="ns/data", uid="1")])
    assert not world.storage.claims


def test_a_fork_goes_its_own_way() -> None:
    world = World()
    other = world.fork()
    other.observe([CLAIM])

    assert not world.storage.claims
    assert other.storage.version > world.storage.version
