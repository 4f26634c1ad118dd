"""Whatever an API server does: each bind has one outcome, and what is said is so.

Random gangs, random troubles for each request, pods that vanish or are bound by others meanwhile, decisions about pods
that are still under way, and a scheduler that is deposed or ended at any time.
"""

import asyncio
from collections import Counter
from dataclasses import dataclass, field

from hypothesis import given
from hypothesis import strategies as st

from posse.binding.binder import Binder
from posse.binding.limiter import Limits
from posse.cluster.records import Bind, Bound, Outcome, Payload, Refused
from tests.binding import api
from tests.binding.api import Api, Play, Pod
from tests.binding.jumping import run
from tests.binding.scenes import FOREVER, Scene, bind

PLAYS = [
    *(api.FINE, api.UNSENT, api.LOST, api.LOST_BUT_DONE, api.BUSY, api.FAILED, api.FAILED_BUT_DONE, api.FORBIDDEN),
    *(api.SLOW, api.SILENT, api.SILENT_BUT_DONE, api.GHOST, api.STRANGER),
]
EVENTS = ["vanishes", "is renewed", "is stolen", "is decided again", "we are deposed"]


@dataclass(frozen=True)
class Case:
    """Gangs by size and whether they need volumes, what happens to requests, and to pods at a time."""

    gangs: list[tuple[int, bool]]
    plays: list[Play]
    events: list[tuple[float, str, int]]
    limit: int
    patience: float
    empty: set[str]

    def binds(self, node: str) -> list[Bind]:
        return [
            self._bind(f"g{number}", member, needs, node)
            for number, (size, needs) in enumerate(self.gangs)
            for member in range(size)
        ]

    def _bind(self, gang: str, member: int, needs: bool, node: str) -> Bind:
        name = f"{gang}-{member}"
        return bind(name, gang, node, (Payload("volume", name),) if needs else ())


cases = st.builds(
    Case,
    gangs=st.lists(st.tuples(st.integers(1, 4), st.booleans()), min_size=1, max_size=4),
    plays=st.lists(st.sampled_from(PLAYS), max_size=30),
    events=st.lists(st.tuples(st.floats(0, 40), st.sampled_from(EVENTS), st.integers(0, 15)), max_size=4),
    limit=st.integers(1, 8),
    patience=st.sampled_from([FOREVER, FOREVER, FOREVER, 0.0, 0.5, 5.0, 30.0]),
    empty=st.sets(st.sampled_from(["g0-0", "g1-1", "g2-0"]), max_size=1),
)


@dataclass
class Volumes:
    """Volumes, some of which cannot be had."""

    empty: set[str]
    ready: set[str] = field(default_factory=set)
    deadline: float = 60.0

    async def prepare(self, bind: Bind, payload: Payload) -> None:
        await asyncio.sleep(len(self.ready) % 3)
        if payload.name in self.empty:
            raise OSError("empty")
        self.ready.add(payload.name)

    async def undo(self, bind: Bind, payload: Payload) -> None:
        pass


class Run:
    """A case as it goes, and what is wrong with it."""

    def __init__(self, case: Case) -> None:
        self.case = case
        self.scene = Scene(Api(asks=self._asks))
        self.volumes = Volumes(case.empty)
        self.given: list[Bind] = []
        self.wrong: list[str] = []
        self.haunted = api.GHOST in case.plays

    async def story(self) -> None:
        case = self.case
        binder = self.scene.binder(Limits(case.limit, 1, 8), {"volume": self.volumes}, report=self._report)
        binds = case.binds("n1")
        self.scene.with_pods_of(binds).api.play(*case.plays)
        self._give(binder, binds)
        events = [asyncio.create_task(self._event(binder, *event)) for event in case.events]
        await asyncio.sleep(20)
        await binder.drain(case.patience)
        assert binder.open == binder.in_flight == 0
        await asyncio.gather(*events)

    def _give(self, binder: Binder, binds: list[Bind]) -> None:
        self.given += binds
        binder.carry_out(binds)

    async def _event(self, binder: Binder, at: float, what: str, number: int) -> None:
        await asyncio.sleep(at)
        binds = self.case.binds("n2")
        chosen = binds[number % len(binds)]
        pods = self.scene.api.pods
        match what:
            case "vanishes":
                pods.pop(chosen.pod, None)
            case "is renewed":
                pods[chosen.pod] = Pod("another")
            case "is stolen" if chosen.pod in pods and not pods[chosen.pod].node:
                pods[chosen.pod].node = "n9"
            case "is decided again":
                self._give(binder, [chosen])
            case "we are deposed":
                self.scene.leads = False

    def _report(self, outcome: Outcome) -> None:
        self.scene.outcomes.append(outcome)
        pod = self.scene.api.pods.get(outcome.pod, Pod(""))
        is_ours = (pod.uid, pod.node) == (outcome.uid, "n1") and not self.haunted and self._is_given_once(outcome.uid)
        if isinstance(outcome, Bound) and (outcome.uid, outcome.node) not in self.scene.api.bound:
            self.wrong.append(f"{outcome} but {pod}")
        if isinstance(outcome, Refused) and is_ours:
            self.wrong.append(f"{outcome} but {pod}")

    def _is_given_once(self, uid: str) -> bool:
        return sum(it.uid == uid for it in self.given) == 1

    def _asks(self, asked: str) -> None:
        verb, _, pod = asked.partition(" ")
        gang = pod.removeprefix("ns/").partition("-")[0]
        size, needs = self.case.gangs[int(gang[1:])]
        members = {f"{gang}-{member}" for member in range(size)}
        in_one = all(self._is_given_once(f"uid-{it}") for it in members)
        if verb == "bind" and not self.scene.leads:
            self.wrong.append(f"{asked}, deposed")
        if verb == "bind" and needs and in_one and not members <= self.volumes.ready:
            self.wrong.append(f"{asked} before all is ready")


@given(cases)
def test_each_has_one_outcome_and_it_is_so(case: Case) -> None:
    it = Run(case)
    run(it.story())

    assert Counter(outcome.uid for outcome in it.scene.outcomes) == Counter(bind.uid for bind in it.given)
    assert it.wrong == []
    assert it.scene.api.most_of_one <= 1
    assert it.scene.api.most <= 8


@given(cases)
def test_equal_troubles_come_to_equal_outcomes(case: Case) -> None:
    one, other = Run(case), Run(case)
    run(one.story())
    run(other.story())

    assert one.scene.outcomes == other.scene.outcomes
    assert one.scene.api.asked == other.scene.api.asked
