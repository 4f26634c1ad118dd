"""Whatever happens to a cluster, nodes get exactly the points that the plain rules give, to the last bit."""

from random import Random

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from posse.cluster.facts import Fact
from tests.builders import conf
from tests.reference.scores import Binpack, NodeOrder, Scorer
from tests.worlds.random_worlds import random_world
from tests.worlds.strategies import seeds, worlds

from .journeys import Journey
from .mirror import Mirror

STEPS = 10
GPU = "nvidia.com/gpu"
ALL_WEIGHTS = {
    "leastrequested.weight": 3,
    "mostrequested.weight": 2,
    "nodeaffinity.weight": 5,
    "podaffinity.weight": 7,
    "balancedresource.weight": 4,
    "tainttoleration.weight": 1,
    "imagelocality.weight": 6,
    "podtopologyspread.weight": 9,
}
ARGUMENTS = {"binpack.weight": 3, "binpack.memory": 0, "binpack.resources": GPU, f"binpack.resources.{GPU}": 7}
SIDES: dict[str, tuple[str, tuple[Scorer, ...]]] = {
    "nodeorder": (conf("nodeorder"), (NodeOrder(),)),
    "binpack": (conf("binpack"), (Binpack(),)),
    "all weights, then binpack": (
        conf([{"name": "nodeorder", "arguments": ALL_WEIGHTS}, {"name": "binpack", "arguments": ARGUMENTS}]),
        (NodeOrder(3, 2, 4, 5, 7, 1, 6, 9), Binpack(3, {"cpu": 1, "memory": 0, GPU: 7})),
    ),
    "binpack in an earlier tier": (conf("binpack", "nodeorder"), (Binpack(), NodeOrder())),
}


def assert_alike(mirror: Mirror, scorers: tuple[Scorer, ...], random: Random) -> None:
    rows = [mirror.world.nodes.find(name) for name in sorted(mirror.cluster.nodes)]
    for task in mirror.waiting():
        candidates = np.array(random.sample(rows, random.randint(1, len(rows))), np.intp)
        found, wanted = mirror.points(task, candidates), mirror.reference_points(task, candidates, *scorers)
        assert found == wanted, mirror.fact(task)


@settings(max_examples=60, deadline=None)
@given(facts=worlds(), side=st.sampled_from(sorted(SIDES)), seed=seeds)
def test_points_are_exactly_those_of_the_plain_rules(facts: list[Fact], side: str, seed: int) -> None:
    text, scorers = SIDES[side]
    assert_alike(Mirror(text, facts), scorers, Random(seed))


@settings(max_examples=40, deadline=None)
@given(seed=seeds, side=st.sampled_from(sorted(SIDES)))
def test_they_stay_so_while_pods_nodes_and_namespaces_come_and_go(seed: int, side: str) -> None:
    text, scorers = SIDES[side]
    mirror, random = Mirror(text, random_world(seed)), Random(seed)
    journey = Journey(mirror, random)
    for _ in range(STEPS):
        journey.step()
        assert_alike(mirror, scorers, random)
