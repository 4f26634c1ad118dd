"""History: what a run's cycles decided, kept as it will be reported."""

from collections.abc import Callable

from msgspec import Struct, structs

from posse.cluster.records import Bind, CycleResult, Evict
from posse.cluster.verdict import PodVerdict, QueueVerdict, Verdict


class Eviction(Struct, frozen=True):
    """An eviction, and when it was decided."""

    effect: Evict
    cycle: int
    time: int
    gang: str = ""
    """The gang that lost a member."""


class History:
    """The latest of everything, and all that happened."""

    def __init__(self) -> None:
        self.binds: dict[str, Bind] = {}
        self.evictions: list[Eviction] = []
        self.verdicts: dict[str, Verdict] = {}
        self.told: dict[str, PodVerdict] = {}
        self.queues: tuple[QueueVerdict, ...] = ()
        self.log: list[tuple[int, CycleResult]] = []
        self.changed_last = False
        """Whether the last cycle's verdicts said anything new."""

    def record(self, result: CycleResult, now: int, gang_of: Callable[[str], str]) -> None:
        """Take note of a cycle. `gang_of` says the gang of a pod."""
        self.changed_last = False
        for effect in result.effects:
            match effect:
                case Bind():
                    self.binds[effect.pod] = effect
                    self.told.pop(effect.pod, None)
                case Evict():
                    self.evictions.append(Eviction(effect, result.cycle, now, gang_of(effect.pod)))
        for verdict in result.verdicts:
            before = self.verdicts.get(verdict.gang)
            self.changed_last |= before is None or _essence(before) != _essence(verdict)
            for pod in before.pods if before else ():
                self.told.pop(pod.pod, None)
            self.told.update((pod.pod, pod) for pod in verdict.pods)
            self.verdicts[verdict.gang] = verdict
        self.queues = result.queues
        self.log.append((now, result))

    def retell(self, result: CycleResult, now: int) -> None:
        """Take note of verdicts that belong to the last cycle.

        Where anything else than words is new, it is of a cycle that never was.
        """
        cycle = self.log[-1][1].cycle
        verdicts = tuple(
            structs.replace(verdict, cycle=cycle)
            for verdict in result.verdicts
            if verdict.gang in self.verdicts and _standing(verdict) == _standing(self.verdicts[verdict.gang])
        )
        for verdict in verdicts:
            self.told.update((pod.pod, pod) for pod in verdict.pods)
            self.verdicts[verdict.gang] = verdict
        self.log.append((now, CycleResult(cycle, verdicts=verdicts)))


def _standing(verdict: Verdict) -> tuple[object, ...]:
    """How a gang stands, words aside."""
    return (verdict.phase, verdict.state, verdict.ready, verdict.running, verdict.pending, verdict.was_ready)


def _essence(verdict: Verdict) -> tuple[object, ...]:
    """What of a verdict counts as a change: not the number of its cycle."""
    return (*_standing(verdict), verdict.pods)
