"""Whatever happens to a cluster, each waiting pod is refused just the nodes that the plain rules refuse it."""

from random import Random

from hypothesis import given, settings

from posse.cluster.facts import Fact
from tests.builders import conf
from tests.worlds.random_worlds import random_world
from tests.worlds.strategies import seeds, worlds

from .journeys import Journey
from .mirror import Mirror

STEPS = 12


def assert_alike(mirror: Mirror) -> None:
    for row in mirror.waiting():
        found, wanted = mirror.refusals(row), mirror.reference_refusals(row)
        assert found.keys() == wanted.keys(), (mirror.fact(row), found, wanted)


@settings(max_examples=60, deadline=None)
@given(facts=worlds())
def test_nodes_are_refused_as_the_plain_rules_do(facts: list[Fact]) -> None:
    assert_alike(Mirror(conf("predicates"), facts))


@settings(max_examples=40, deadline=None)
@given(seed=seeds)
def test_they_stay_so_while_pods_nodes_and_namespaces_come_and_go(seed: int) -> None:
    mirror = Mirror(conf("predicates"), random_world(seed))
    journey = Journey(mirror, Random(seed))
    for _ in range(STEPS):
        journey.step()
        assert_alike(mirror)
