"""The timeline: what each cycle of a run changed, gang by gang, as people would tell it.

A cycle's result is about pods; a reader thinks in gangs. So binds are gathered per gang, and of verdicts only the turns
are kept: a gang that waited and now runs. A cycle that changed nothing has no place in it.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator

from msgspec import Struct

from posse.cluster.ordering import natural
from posse.cluster.records import Bind, CycleResult, Evict
from posse.cluster.verdict import Verdict

Naming = Callable[[str], str]
"""What a gang's key is shown as."""


class Placement(Struct, frozen=True):
    """Pods of a gang that got a node in one cycle: how many on which."""

    gang: str
    nodes: tuple[tuple[str, int], ...]


class Loss(Struct, frozen=True):
    """A pod that was evicted, for whose sake and by which action."""

    pod: str
    node: str
    by: str
    action: str
    reason: str


class Turn(Struct, frozen=True):
    """A gang that stands otherwise than before; `before` is empty when it was seen for the first time."""

    gang: str
    before: str
    after: str
    ready: int
    minimum: int
    members: int


class Moment(Struct, frozen=True):
    """What one cycle changed. Time in nanoseconds since the run's start."""

    cycle: int
    time: int
    placements: tuple[Placement, ...] = ()
    losses: tuple[Loss, ...] = ()
    turns: tuple[Turn, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether nothing changed."""
        return not (self.placements or self.losses or self.turns)


class Chronicle:
    """Turns cycles into moments, one after the other; remembers how every gang stands, and when it first started."""

    def __init__(self, start: int) -> None:
        self._start = start
        self._states: dict[str, str] = {}
        self.started: dict[str, float] = {}
        """The time, in seconds since the run's start, at which each gang first had its minimum."""

    def moment(self, now: int, result: CycleResult, shown: Naming) -> Moment:
        """What a cycle changed."""
        time = now - self._start
        for verdict in result.verdicts:
            if verdict.members and verdict.was_ready:
                self.started.setdefault(shown(verdict.gang), time / 1e9)
        return Moment(
            cycle=result.cycle,
            time=time,
            placements=tuple(_placements(result, shown)),
            losses=tuple(
                Loss(each.pod, each.node, shown(each.by), each.action, each.reason)
                for each in result.effects
                if isinstance(each, Evict)
            ),
            turns=tuple(turn for verdict in result.verdicts if (turn := self._turn(verdict, shown)) is not None),
        )

    def _turn(self, verdict: Verdict, shown: Naming) -> Turn | None:
        before = self._states.get(verdict.gang, "")
        after = verdict.state if verdict.members else "empty"
        if after == before or (after == "empty" and not before):
            return None
        self._states[verdict.gang] = after
        name = shown(verdict.gang)
        return Turn(name, before, after, verdict.ready, verdict.minimum, verdict.members)


def timeline(
    log: Iterable[tuple[int, CycleResult]], start: int, shown: Naming
) -> tuple[list[Moment], dict[str, float]]:
    """Tell a whole run: its moments, and when each gang first had its minimum."""
    chronicle = Chronicle(start)
    moments = [chronicle.moment(now, result, shown) for now, result in log]
    return [moment for moment in moments if not moment.is_empty], chronicle.started


def _placements(result: CycleResult, shown: Naming) -> Iterator[Placement]:
    nodes: dict[str, Counter[str]] = {}
    for effect in result.effects:
        if isinstance(effect, Bind):
            nodes.setdefault(shown(effect.gang), Counter())[effect.node] += 1
    for gang in sorted(nodes, key=natural):
        yield Placement(gang, tuple(sorted(nodes[gang].items(), key=lambda each: natural(each[0]))))
