"""What the engine leaves out or does at one go changes nothing of what it decides.

Equal gangs that follow each other are placed in crowds, hopeless ones are passed over, what did not change is not
looked at again, and where nothing moves actions rest. Here an engine lives beside one that gives every gang its own
turn in every cycle, and both must decide the same.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from random import Random
from unittest.mock import patch

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from posse.cluster.facts import Fact, Gone, TaskFact
from posse.cluster.portrait import portrait
from posse.cluster.records import Bind, CycleInput, CycleResult
from posse.scheduler.crowd import Crowd
from posse.scheduler.engine import Engine
from posse.scheduler.hopeless import Hopeless
from tests.builders import conf, engine
from tests.properties.crowds import crowded_world
from tests.properties.effort import tried
from tests.properties.histories import History, clusters, merged, turns_of
from tests.properties.lives import SECOND, usual_conf
from tests.worlds.random_worlds import random_world
from tests.worlds.strategies import seeds

CYCLES = 5
CONFS = {
    "orders that stand": conf("priority gang", "predicates nodeorder", actions="allocate, backfill"),
    "orders that move": usual_conf(),
    "binpack": conf("gang", "predicates binpack", actions="enqueue, allocate"),
    "no gang plugin": conf("priority", "predicates nodeorder", actions="allocate"),
    "shares": conf("gang proportion", "overcommit predicates nodeorder"),
}
confs = st.sampled_from(sorted(CONFS))


@contextmanager
def one_by_one() -> Iterator[None]:
    """Let every gang have its own turn."""
    nobody = patch.object(Hopeless, "among", lambda hopeless, gangs: np.zeros(len(gangs), np.bool_))
    alone = patch.object(Crowd, "place", lambda crowd, gang, line: False)
    with nobody, alone:
        yield


class Both:
    """An engine as it is and one that takes no shortcut, in the same cluster."""

    def __init__(self, facts: list[Fact], seed: int, text: str, *, tells: bool) -> None:
        self.random, self.now, self.tells = Random(seed), 0, tells
        self.short, self.long = (engine(text, *facts, checks=True) for _ in range(2))
        self.pods = {fact.key: fact for fact in facts if isinstance(fact, TaskFact)}
        self.news: list[TaskFact | Gone] = []

    def cycle(self) -> tuple[CycleResult, CycleResult]:
        """One cycle of both."""
        given = CycleInput(self.now, tuple(self.news))
        quick = self.short.cycle(given, tell=self.tells)
        self.long.forget()
        with one_by_one():
            slow = self.long.cycle(given)
        self.news = []
        for bind in quick.effects:
            assert isinstance(bind, Bind)
            self.see(structs.replace(self.pods[bind.pod], node=bind.node, phase="Running"))
        for pod in self.random.sample(sorted(self.pods), len(self.pods) // 6):
            self.happen(self.pods[pod])
        self.now += SECOND
        return quick, slow

    def see(self, pod: TaskFact) -> None:
        self.pods[pod.key] = pod
        self.news.append(pod)

    def happen(self, pod: TaskFact) -> None:
        """Something happens to a pod: it leaves, ends, or is replaced."""
        if pod.terminating or not pod.node:
            del self.pods[pod.key]
            self.news.append(Gone(kind="task", key=pod.key, uid=pod.uid))
            if self.random.random() < 0.7 and pod.gang:
                self.see(structs.replace(pod, uid=pod.uid + "x", node="", phase="Pending", terminating=False))
        elif self.random.random() < 0.5:
            self.see(structs.replace(pod, terminating=True))
        else:
            self.see(structs.replace(pod, phase=self.random.choice(("Succeeded", "Failed"))))


def states(of: Engine) -> object:
    return portrait(of.world)


@tried(80)
@given(seed=seeds, name=confs, tells=st.booleans())
def test_crowds_of_equal_gangs_are_placed_as_one_by_one(seed: int, name: str, tells: bool) -> None:
    both = Both(crowded_world(seed), seed, CONFS[name], tells=tells)
    for _ in range(CYCLES):
        quick, slow = both.cycle()
        assert quick.effects == slow.effects
        assert states(both.short) == states(both.long)


@tried(80)
@given(seed=seeds, name=confs, tells=st.booleans())
def test_so_are_gangs_of_all_sorts(seed: int, name: str, tells: bool) -> None:
    both = Both(random_world(seed), seed, CONFS[name], tells=tells)
    for _ in range(CYCLES):
        quick, slow = both.cycle()
        assert quick.effects == slow.effects
        assert states(both.short) == states(both.long)


@tried(120)
@given(data=st.data(), histories=clusters(), name=confs)
def test_where_nothing_moves_actions_may_rest(data: st.DataObject, histories: list[History], name: str) -> None:
    rests, works = (engine(CONFS[name], checks=True) for _ in range(2))
    told = merged(histories, data.draw(st.permutations(turns_of(histories))))
    now = 0
    for observation in told:
        for given_now in (CycleInput(now, (observation,)), CycleInput(now + SECOND), CycleInput(now + 400 * SECOND)):
            works.forget()
            assert rests.cycle(given_now).effects == works.cycle(given_now).effects
            assert states(rests) == states(works)
        now += 500 * SECOND
