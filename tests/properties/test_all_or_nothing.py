"""However a cluster lives, nobody is bound without the rest of what its gang needs; nothing is overdrawn, and all sums
stay right.

What a gang needs is counted here from the facts and the statuses of its members alone: its minimum, that of its roles,
and how many sub-gangs of a size. Members that ask for nothing but a place count while they wait. Half of a sub-gang may
be bound beyond the gang's minimum only if the other half is promised its nodes (where promises last).
"""

from collections import Counter
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from posse.cluster.facts import Fact, GangFact, TaskFact
from posse.cluster.records import Bind, CycleResult
from posse.cluster.status import Status
from posse.cluster.subgroups import SubGang, subgang_of
from posse.scheduler.switches import Side
from tests.properties.effort import tried
from tests.properties.lives import Life, usual_conf
from tests.properties.subgangs import with_subgangs
from tests.worlds.random_worlds import random_world
from tests.worlds.strategies import seeds
from tests.worlds.traits import EVERYTHING

CYCLES = 6
HAS = (Status.ALLOCATED, Status.BINDING, Status.BOUND, Status.RUNNING, Status.SUCCEEDED)
WILL_HAVE = (*HAS, Status.PIPELINED)
modes = st.sampled_from(("posse", "upstream"))


def counted(life: Life, gang: GangFact, states: tuple[Status, ...]) -> list[TaskFact]:
    """The members that count: those in these states, and best-effort ones that wait."""
    members = [pod for pod in life.known() if pod.gang == gang.key]
    waits = (Status.PENDING, Status.GATED) if gang.rules.gated_count else (Status.PENDING,)
    return [
        pod
        for pod in members
        if life.status(pod.key) in states or (life.status(pod.key) in waits and _asks_nothing(pod))
    ]


def _asks_nothing(pod: TaskFact) -> bool:
    return not any(amount for name, amount in pod.shape.requests if name != "pods")


def lacking(life: Life, gang: GangFact, bound: set[str]) -> list[str]:
    """What a gang of which some were just bound has not got."""
    has = counted(life, gang, HAS)
    lacks = [f"{len(has)} of {gang.min_member} members"] if len(has) < gang.min_member else []
    roles = Counter(pod.role for pod in has)
    if gang.min_member >= sum(minimum for _, minimum in gang.min_roles):
        lacks += [f"{roles[role]} of {minimum} {role}" for role, minimum in gang.min_roles if roles[role] < minimum]
    ready = Counter(subgang for pod in has if (subgang := subgang_of(gang, pod)))
    promised = Counter(subgang_of(gang, pod) for pod in counted(life, gang, WILL_HAVE))
    for policy in gang.subgroups:
        groups = sum(subgang.policy == policy.name and count >= policy.size for subgang, count in ready.items())
        if groups < policy.min_groups:
            lacks.append(f"{groups} of {policy.min_groups} {policy.name}")
    if life.engine.configuration.compatibility.side("pipelined-life") == "posse":
        lacks += [
            f"half of {subgang.name}" for subgang in _entered(life, gang, bound) if promised[subgang] < subgang.minimum
        ]
    return lacks


def _entered(life: Life, gang: GangFact, bound: set[str]) -> set[SubGang]:
    """The sub-gangs of which somebody was just bound."""
    return {
        subgang_of(gang, pod) for pod in life.known() if pod.key in bound and pod.gang == gang.key and gang.subgroups
    }


def assert_all_or_nothing(life: Life, facts: list[Fact], result: CycleResult) -> None:
    binds = [effect for effect in result.effects if isinstance(effect, Bind)]
    for gang in [fact for fact in facts if isinstance(fact, GangFact)]:
        bound = {bind.pod for bind in binds if bind.gang == gang.key}
        if bound:
            assert lacking(life, gang, bound) == [], gang


@tried(150)
@given(seed=seeds, mode=modes)
def test_gangs_are_bound_whole_over_many_cycles(seed: int, mode: Side) -> None:
    facts = random_world(seed)
    life = Life(facts, seed, mode=mode)
    for _ in range(CYCLES):
        assert_all_or_nothing(life, facts, life.cycle())


@tried(150)
@given(seed=seeds, mode=modes)
def test_gangs_of_sub_gangs_are_bound_whole_too(seed: int, mode: Side) -> None:
    facts = with_subgangs(random_world(seed, traits=EVERYTHING - {"best-effort"}), Random(seed))
    life = Life(facts, seed, mode=mode)
    for _ in range(CYCLES):
        assert_all_or_nothing(life, facts, life.cycle())


@tried(40)
@given(seed=seeds, mode=modes)
def test_without_a_gate_before_the_queue_it_is_the_same(seed: int, mode: Side) -> None:
    facts = random_world(seed)
    life = Life(facts, seed, usual_conf(actions="allocate, backfill"), mode)
    for _ in range(CYCLES):
        assert_all_or_nothing(life, facts, life.cycle())


def test_gangs_are_really_bound_in_these_lives() -> None:
    bound, promised = 0, 0
    for seed in range(30):
        life = Life(random_world(seed), seed)
        for _ in range(CYCLES):
            bound += len(life.cycle().effects)
            promised += len(life.engine.promises())
    assert bound > 100
    assert promised > 10
