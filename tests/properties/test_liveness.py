"""Once nothing arrives any more a cluster comes to rest, and whoever could run, does.

Everybody who is leaving leaves, every bind is confirmed. After that a few cycles are enough: nothing moves, no promise
is open, and of the gangs that wait none could be placed by the plain rules.
"""

from hypothesis import given

from posse.cluster.columns import tie_rank
from posse.cluster.facts import Fact, GangFact
from posse.cluster.portrait import Portrait, portrait
from posse.cluster.status import Status
from tests.properties.effort import tried
from tests.properties.lives import SECOND, Life, usual_conf
from tests.reference.cluster import Cluster, is_best_effort
from tests.reference.gangs import PENDING, in_order, is_ready, is_valid, members
from tests.reference.placement import Chooser, put_in_place
from tests.reference.quirks import MEANT
from tests.worlds.random_worlds import random_world
from tests.worlds.strategies import seeds
from tests.worlds.traits import EVERYTHING

WITHOUT_LIMITS = EVERYTHING - {"queues", "guarantees", "admission", "roles"}
"""No queue and no admission keeps anybody out, and one member that fits nowhere does not speak for its role."""
BOUND_ON_CYCLES = 25
NO_LIMITS = usual_conf(tiers=("priority gang conformance", "drf predicates nodeorder"))
LONG = 1000 * SECOND


def at_rest(facts: list[Fact], seed: int, *, outlives_promises: bool = True) -> Life:
    """A cluster that was left alone until nothing moved; for so long, if need be, that promises end by themselves."""
    life = Life(facts, seed, NO_LIMITS, kind=True)
    before: Portrait = {}
    for _ in range(BOUND_ON_CYCLES):
        life.cycle()
        now = portrait(life.engine.world)
        is_still = now == before and not life.leaves() and not life._seen and not life._heard
        if is_still and not (outlives_promises and life.engine.promises()):
            return life
        before = now
        life.now += LONG if is_still else 0
    raise AssertionError(f"still moving after {BOUND_ON_CYCLES} cycles")


def could_run(cluster: Cluster, gang: GangFact) -> bool:
    """Whether the plain rules would find nodes for what a gang lacks."""
    chooser = Chooser(lambda name: tie_rank(0, name))
    tasks = [task for task in members(cluster, gang, PENDING) if not task.gates and not is_best_effort(task)]
    for task in in_order(tasks):
        choice = chooser.choose(cluster, task)
        if choice is not None:
            put_in_place(cluster, choice)
    return is_ready(cluster, gang, MEANT)


@tried(120)
@given(seed=seeds)
def test_whoever_could_run_runs_in_the_end(seed: int) -> None:
    facts = random_world(seed, traits=WITHOUT_LIMITS)
    life = at_rest(facts, seed)

    assert not life.engine.promises()
    gangs = [fact for fact in facts if isinstance(fact, GangFact)]
    for gang in gangs:
        cluster = Cluster.of([*(fact for fact in facts if not hasattr(fact, "gang")), *life.known()])
        waits = [task for task in members(cluster, gang, PENDING) if not task.gates]
        if waits and is_valid(cluster, gang) and not is_ready(cluster, gang, MEANT):
            assert not could_run(cluster, gang), gang


@tried(60)
@given(seed=seeds)
def test_at_rest_nobody_has_half_of_a_decision(seed: int) -> None:
    life = at_rest(random_world(seed, traits=WITHOUT_LIMITS), seed)

    half = (Status.ALLOCATED, Status.PIPELINED, Status.HELD, Status.BINDING)
    assert not [pod.key for pod in life.known() if pod.gang and life.status(pod.key) in half]


@tried(60)
@given(seed=seeds)
def test_where_only_room_matters_every_promise_is_kept(seed: int) -> None:
    life = at_rest(random_world(seed, traits=frozenset({"leaving"})), seed, outlives_promises=False)

    assert not life.engine.promises()
