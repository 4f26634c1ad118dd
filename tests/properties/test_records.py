"""Everything that goes into a cycle and comes out of it can be written down, read back, and played again to the same
end.
"""

from typing import TypeVar

import msgspec
from hypothesis import given

from posse.cluster.facts import Gone, QueueFact
from posse.cluster.portrait import portrait
from posse.cluster.records import (
    Bind,
    Bound,
    CycleInput,
    CycleResult,
    Effect,
    Evict,
    Outcome,
    Payload,
    Refused,
    TimedOut,
)
from tests.builders import engine
from tests.properties.effort import tried
from tests.properties.lives import Life, usual_conf
from tests.worlds.random_worlds import random_world
from tests.worlds.strategies import seeds

Record = TypeVar("Record")

CYCLES = 4


def read_back(record: Record, kind: type[Record]) -> Record:
    """A record after a stay on paper."""
    return msgspec.json.decode(msgspec.json.encode(record), type=kind)


@tried(40)
@given(seed=seeds)
def test_a_recorded_life_plays_again_to_the_same_decisions(seed: int) -> None:
    facts = random_world(seed)
    life = Life(facts, seed)
    results = [life.cycle() for _ in range(CYCLES)]
    start = CycleInput(0, (QueueFact(key="default", name="default", uid="default"), *facts))

    tape = [read_back(each, CycleInput) for each in (start, *life.inputs)]
    again = engine(usual_conf())
    again.world.observe(tape[0].observations)
    replayed = [again.cycle(each) for each in tape[1:]]

    assert replayed == results
    assert portrait(again.world) == portrait(life.engine.world)


@tried(40)
@given(seed=seeds)
def test_results_survive_being_written_down(seed: int) -> None:
    life = Life(random_world(seed), seed)
    for _ in range(CYCLES):
        result = life.cycle()
        assert read_back(result, CycleResult) == result


def test_every_kind_of_outcome_and_effect_is_told_from_the_others() -> None:
    outcomes = (Bound("a/p", "1", "n"), Refused("a/p", "1", "full"), TimedOut("a/p", "1"))
    effects = (Bind("a/p", "1", "n", "a/g", (Payload("volume", "v", "x"),)), Evict("a/p", "1", "n", "a/g", "preempt"))

    assert tuple(read_back(each, Outcome) for each in outcomes) == outcomes
    assert tuple(read_back(each, Effect) for each in effects) == effects


def test_that_something_is_gone_can_be_written_down_too() -> None:
    given = CycleInput(3, (Gone(kind="node", key="n1", uid="7"),), (TimedOut("a/p", "1"),))

    assert read_back(given, CycleInput) == given
