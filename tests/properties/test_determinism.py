"""The same cluster gets the same answer: in whatever order it is told, from a copy as from the original, in whatever
process.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from random import Random

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from posse.cluster.facts import Gone, TaskFact
from posse.cluster.portrait import portrait
from posse.cluster.records import CycleInput
from tests.builders import engine
from tests.properties.crowds import crowded_world
from tests.properties.effort import tried
from tests.properties.lives import Life, usual_conf
from tests.properties.subgangs import with_subgangs
from tests.worlds.random_worlds import random_world
from tests.worlds.strategies import seeds

CYCLES = 3
HERE = Path(__file__).resolve()


def results(*facts: object, seed: int = 0) -> list[bytes]:
    """What an engine decides over some cycles in which nothing comes back to it."""
    running = engine(usual_conf(), *facts, seed=seed)
    return [msgspec.json.encode(running.cycle(CycleInput(now))) for now in range(CYCLES)]


@tried(60)
@given(seed=seeds)
def test_the_order_in_which_a_cluster_is_listed_does_not_matter(seed: int) -> None:
    facts = random_world(seed)

    assert results(*Random(seed).sample(facts, len(facts)), seed=seed) == results(*facts, seed=seed)


def in_another_order(given: CycleInput, random: Random) -> CycleInput:
    """The same news, those of each object in their own order."""
    pods = [each for each in given.observations if isinstance(each, TaskFact | Gone)]
    ranks = {each.key: random.random() for each in pods}
    outcomes = random.sample(given.outcomes, len(given.outcomes))
    return CycleInput(given.now, tuple(sorted(pods, key=lambda each: ranks[each.key])), tuple(outcomes))


@tried(60)
@given(seed=seeds, is_crowded=st.booleans())
def test_nor_does_the_order_in_which_a_life_is_told(seed: int, is_crowded: bool) -> None:
    random = Random(seed)
    facts = crowded_world(seed) if is_crowded else with_subgangs(random_world(seed), random)
    life = Life(facts, seed)
    answers = [msgspec.json.encode(life.cycle()) for _ in range(CYCLES + 2)]

    other = engine(usual_conf(), *random.sample(facts, len(facts)))
    assert [msgspec.json.encode(other.cycle(in_another_order(given, random))) for given in life.inputs] == answers


@tried(40)
@given(seed=seeds)
def test_a_copy_decides_the_same_and_leaves_the_original_alone(seed: int) -> None:
    life = Life(random_world(seed), seed)
    life.cycle()
    given = CycleInput(life.now, tuple(life._seen), tuple(life._heard))
    first, second, before = life.engine.fork(), life.engine.fork(), portrait(life.engine.world)

    answers = [msgspec.json.encode(copy.cycle(given)) for copy in (first, second)]

    assert answers[0] == answers[1]
    assert portrait(first.world) == portrait(second.world)
    assert portrait(life.engine.world) == before
    assert msgspec.json.encode(life.engine.cycle(given)) == answers[0]


def test_the_hash_seed_of_a_process_does_not_matter() -> None:
    told = [_answers(hash_seed) for hash_seed in ("0", "1", "4711")]

    assert len(told[0]) > 1000
    assert told[0] == told[1] == told[2]


def _answers(hash_seed: str) -> bytes:
    """The results of some runs, from a process of its own."""
    environment = {**os.environ, "PYTHONHASHSEED": hash_seed, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", _PROGRAM]
    told = subprocess.run(
        command, input=json.dumps(_scenario()).encode(), env=environment, check=False, capture_output=True
    )
    assert told.returncode == 0, told.stderr.decode()
    return told.stdout


_PROGRAM = """
import json, sys, msgspec
from posse.simulation.batch import answer_line
sys.stdout.buffer.write(msgspec.json.encode(answer_line(json.load(sys.stdin))))
"""


def _scenario() -> dict[str, object]:
    """A crowded cluster: two queues, gangs of several sizes and roles, nodes with labels and taints."""
    objects: list[dict[str, object]] = []
    for number in range(6):
        taints = [{"key": "spot", "value": "yes", "effect": "PreferNoSchedule"}] if number % 3 == 0 else []
        objects.append(
            {
                "apiVersion": "v1",
                "kind": "Node",
                "metadata": {"name": f"n{number}", "labels": {"zone": f"z{number % 2}", "disk": "ssd"}},
                "spec": {"taints": taints},
                "status": {
                    "allocatable": {"cpu": "4", "memory": "16Gi", "pods": "20", "nvidia.com/gpu": str(number % 3)}
                },
            }
        )
    for name, weight in (("red", 3), ("blue", 1)):
        objects.append({"apiVersion": QUEUES, "kind": "Queue", "metadata": {"name": name}, "spec": {"weight": weight}})
    for number in range(8):
        objects += _gang(f"g{number}", ("red", "blue")[number % 2], members=number % 4 + 1, cpu=number % 3 + 1)
    return {"id": "crowded", "objects": objects, "conf": usual_conf()}


QUEUES = "scheduling.volcano.sh/v1beta1"


def _gang(name: str, queue: str, *, members: int, cpu: int) -> list[dict[str, object]]:
    group = {
        "apiVersion": QUEUES,
        "kind": "PodGroup",
        "metadata": {"name": name, "namespace": "team"},
        "spec": {"minMember": members, "queue": queue, "minResources": {"cpu": str(members * cpu)}},
    }
    annotations = {"scheduling.k8s.io/group-name": name}
    pods = [
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {
                "name": f"{name}-worker-{each}",
                "namespace": "team",
                "annotations": annotations,
                "labels": {"app": name},
            },
            "spec": {
                "schedulerName": "volcano",
                "containers": [{"name": "c", "resources": {"requests": {"cpu": str(cpu)}}}],
            },
        }
        for each in range(members + 1)
    ]
    return [group, *pods]
