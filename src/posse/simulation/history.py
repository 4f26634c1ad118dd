"""History: what a run's cycles decided, kept as it will be reported."""

from collections.abc import Callable

from msgspec import Struct

from posse.cluster.verdict import PodVerdict, QueueVerdict, Verdict
from posse.scheduler.records import Bind, CycleResult, Evict


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

    def fork(self) -> "History":
        """A history that knows how everything stands, and in which nothing has happened yet."""
        other = History()
        other.verdicts, other.told = dict(self.verdicts), dict(self.told)
        return other


def _essence(verdict: Verdict) -> tuple[object, ...]:
    """What of a verdict counts as a change: not the number of its cycle."""
    return (
        verdict.phase,
        verdict.state,
        verdict.ready,
        verdict.running,
        verdict.pending,
        verdict.pods,
        verdict.was_ready,
    )
