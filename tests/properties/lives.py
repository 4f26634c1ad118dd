"""Lives of made-up clusters: cycle after cycle, with an API that confirms, refuses or does not answer, and pods that
run, end and leave.

The engine checks itself after every cycle (`checks=True`): every sum added up again, and no node overdrawn by what it
decided.
"""

from collections.abc import Sequence
from random import Random

from msgspec import structs

from posse.cluster.facts import Fact, Gone, Observation, TaskFact
from posse.cluster.records import Bind, Bound, CycleInput, CycleResult, Evict, Kept, Outcome, Refused, TimedOut
from posse.cluster.status import Status
from posse.scheduler.engine import Engine
from posse.scheduler.switches import Side
from tests.builders import conf, engine

SECOND = 10**9
DEFAULT_TIERS = (
    "priority gang conformance",
    "overcommit drf predicates proportion nodeorder binpack",
)


def usual_conf(*, actions: str = "enqueue, allocate, backfill", tiers: Sequence[str] = DEFAULT_TIERS) -> str:
    """The plugins that come by default, and binpack."""
    return conf(*tiers, actions=actions)


class Life:
    """An engine, and a cluster that does what it decides, more or less."""

    def __init__(
        self, facts: Sequence[Fact], seed: int, text: str = "", mode: Side | None = None, *, kind: bool = False
    ) -> None:
        self.random, self.kind = Random(seed), kind
        self.engine: Engine = engine(text or usual_conf(), *facts, mode=mode, checks=True)
        self.pods = {fact.key: fact for fact in facts if isinstance(fact, TaskFact)}
        self.cursed: set[str] = set()
        """Pods whose binds are always refused."""
        self.now = 0
        self._seen: list[Observation] = []
        self._heard: list[Outcome] = []
        self.inputs: list[CycleInput] = []

    def cycle(self) -> CycleResult:
        """One cycle, and what comes of it."""
        given = CycleInput(self.now, tuple(self._seen), tuple(self._heard))
        self.inputs.append(given)
        self._seen, self._heard = [], []
        result = self.engine.cycle(given)
        for effect in result.effects:
            if isinstance(effect, Bind):
                self._bind(effect)
            else:
                self._evict(effect)
        self._go_on()
        self.now += SECOND
        return result

    def _bind(self, bind: Bind) -> None:
        """The API takes a bind, refuses it, or is not heard of; now and then the watch is faster than the answer."""
        fate = 0.8 if bind.pod in self.cursed else 0.0 if self.kind else self.random.random()
        if fate < 0.75:
            running = structs.replace(self.pods[bind.pod], node=bind.node, phase="Running", nominated="")
            if fate < 0.6:
                self._heard.append(Bound(bind.pod, bind.uid, bind.node))
            self._see(running)
        elif fate < 0.9:
            self._heard.append(Refused(bind.pod, bind.uid, "no"))
        else:
            self._heard.append(TimedOut(bind.pod, bind.uid))

    def _evict(self, evict: Evict) -> None:
        """The API takes an eviction, or a budget forbids it."""
        if self.random.random() < 0.3:
            self._heard.append(Kept(evict.pod, evict.uid, "a budget forbids it"))
        elif evict.pod in self.pods:
            self._see(structs.replace(self.pods[evict.pod], terminating=True))

    def _see(self, pod: TaskFact) -> None:
        self.pods[pod.key] = pod
        self._seen.append(pod)

    def _go_on(self) -> None:
        """Pods that leave are gone some time; elsewhere some end, some are deleted."""
        for key, pod in sorted(self.pods.items()):
            if pod.terminating and self.random.random() < 0.4:
                del self.pods[key]
                self._seen.append(Gone(kind="task", key=key, uid=pod.uid))
            elif pod.phase == "Running" and not self.kind and self.random.random() < 0.05:
                self._see(structs.replace(pod, phase=self.random.choice(("Succeeded", "Failed"))))
            elif pod.phase == "Running" and not self.kind and self.random.random() < 0.05:
                self._see(structs.replace(pod, terminating=True))

    # ------------------------------------------------------------------ what is asked

    def known(self) -> list[TaskFact]:
        """The pods as the engine knows them."""
        return [fact for fact in self.engine.world.tasks.facts if fact is not None]

    def status(self, pod: str) -> Status:
        """Where a pod stands, for the engine."""
        world = self.engine.world
        return Status(world.columns.ledger.task_status[world.tasks.find(pod)])

    def leaves(self) -> bool:
        """Whether any pod is still leaving."""
        return any(pod.terminating for pod in self.pods.values())
