"""Made-up worlds are worlds: the same for the same seed, and nobody in them has more than there is."""

from hypothesis import given

from posse.cluster.facts import Fact, NodeFact, TaskFact

from .random_worlds import random_world
from .strategies import seeds, worlds
from .traits import EVERYTHING, PLAIN, TINY


@given(seeds)
def test_the_same_seed_gives_the_same_world(seed: int) -> None:
    assert random_world(seed) == random_world(seed)


@given(worlds())
def test_pods_that_run_fit_their_nodes(world: list[Fact]) -> None:
    left = {fact.name: dict(fact.allocatable) for fact in world if isinstance(fact, NodeFact)}
    for task in [fact for fact in world if isinstance(fact, TaskFact) and fact.node]:
        for name, amount in task.shape.requests:
            left[task.node][name] -= amount
    assert all(amount >= 0 for amounts in left.values() for amount in amounts.values())


@given(worlds())
def test_no_two_pods_share_a_name_or_a_uid(world: list[Fact]) -> None:
    tasks = [fact for fact in world if isinstance(fact, TaskFact)]
    assert (len({task.key for task in tasks}), len({task.uid for task in tasks})) == (len(tasks), len(tasks))


def test_a_plain_world_has_nothing_but_rooms_and_requests() -> None:
    for seed in range(50):
        for task in [fact for fact in random_world(seed, TINY, PLAIN) if isinstance(fact, TaskFact)]:
            shape = task.shape
            assert not any((shape.node_selector, shape.tolerations, shape.ports, shape.near, shape.spread))


def test_every_trait_shows_in_some_world() -> None:
    for trait in sorted(EVERYTHING):
        having = [random_world(seed, traits=frozenset({trait})) for seed in range(40)]
        without = [random_world(seed, traits=PLAIN) for seed in range(40)]
        assert having != without, trait
