"""What the scheduler knows of a cluster depends on what it was told of each object, not on how that was mixed."""

from random import Random

from hypothesis import given
from hypothesis import strategies as st

from posse.cluster.audit import audit
from posse.cluster.facts import Fact, GangFact, Gone, NodeFact, Observation, PriorityClassFact, TaskFact
from posse.cluster.portrait import portrait
from posse.cluster.world import World
from tests.properties.effort import tried
from tests.properties.histories import History, clusters, merged, repeating, turns_of
from tests.worlds.strategies import seeds, worlds


def told(observations: list[Observation]) -> World:
    world = World()
    world.observe(observations)
    return world


@tried(300)
@given(data=st.data(), histories=clusters())
def test_any_mixture_of_what_is_told_gives_the_same_world(data: st.DataObject, histories: list[History]) -> None:
    turns = turns_of(histories)
    one_by_one, mixed = told(merged(histories, turns)), told(merged(histories, data.draw(st.permutations(turns))))

    assert portrait(mixed) == portrait(one_by_one)
    assert audit(one_by_one) == []
    assert audit(mixed) == []


@tried(150)
@given(data=st.data(), histories=clusters())
def test_what_is_told_again_changes_nothing(data: st.DataObject, histories: list[History]) -> None:
    count = sum(map(len, histories))
    again = repeating(histories, data.draw(st.lists(st.integers(1, 3), min_size=count, max_size=count)))

    twice = told(merged(again, data.draw(st.permutations(turns_of(again)))))

    assert portrait(twice) == portrait(told(merged(histories, turns_of(histories))))
    assert audit(twice) == []


@tried(150)
@given(histories=clusters())
def test_the_model_is_consistent_after_every_single_observation(histories: list[History]) -> None:
    world = World()
    turns = turns_of(histories)
    Random(len(turns)).shuffle(turns)
    for observation in merged(histories, turns):
        world.observe([observation])
        assert audit(world) == []


@tried(60)
@given(facts=worlds(), seed=seeds)
def test_a_cluster_may_be_listed_in_any_order(facts: list[Fact], seed: int) -> None:
    shuffled = Random(seed).sample(facts, len(facts))

    assert portrait(told([*shuffled, *shuffled[::-1]])) == portrait(told([*facts]))


@tried(60)
@given(facts=worlds(), seed=seeds)
def test_when_all_are_gone_nothing_is_left_but_names(facts: list[Fact], seed: int) -> None:
    world = told([*facts])
    kinds = {TaskFact: "task", NodeFact: "node", GangFact: "gang", PriorityClassFact: "priority-class"}
    gone = [
        Gone(kind=kinds[type(each)], key=getattr(each, "key", "") or each.name) for each in facts if type(each) in kinds
    ]
    world.observe(Random(seed).sample(gone, len(gone)))

    left = portrait(world)

    assert (left["nodes"], left["pods"], left["gangs"], left["priority classes"]) == ({}, {}, {}, {})
    assert not any(thing[sums] for thing in left["queues"].values() for sums in ("allocated", "promised", "waiting"))
    assert audit(world) == []


@tried(40)
@given(facts=worlds(), seed=seeds)
def test_a_copy_goes_its_own_way(facts: list[Fact], seed: int) -> None:
    world = told([*facts])
    before, copy = portrait(world), world.fork()
    assert portrait(copy) == before

    copy.observe(
        Gone(kind="task", key=fact.key) for fact in facts if isinstance(fact, TaskFact) and Random(seed).random() < 0.5
    )
    copy.observe(Gone(kind="gang", key=fact.key) for fact in facts if isinstance(fact, GangFact))

    assert portrait(world) == before
    assert audit(world) == []
    assert audit(copy) == []
