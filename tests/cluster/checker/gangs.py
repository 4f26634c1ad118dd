"""What became of each gang: when it was bound in part, and when it ran.

A gang is what pods say by annotation, and its minimum what its PodGroup says; without one there is nothing to hold it
to. It has *started* once as many members were bound at once as it needs, those that have succeeded counted. From then
on it may lose members and be below its minimum. When nothing of it is left on any node, it starts anew. Before it has
started it is *half bound* as long as any member, but not enough of them, is bound and has not been told to leave.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field

from tests.cluster.checker.events import Event, Kind, Type, key
from tests.cluster.checker.history import History
from tests.cluster.checker.objects import Pod, minimum


@dataclass(slots=True)
class Half:
    """A spell in which a gang was half bound."""

    since: Event
    bound: int
    needed: int
    until: Event | None = None
    """What ended it, if anything did."""
    events: list[Event] = field(default_factory=list)
    """What happened to the gang in the meantime."""


@dataclass(slots=True)
class Life:
    """The story of a gang."""

    needed: int = 0
    """Its minimum as of now; 0, if nobody has said one."""
    bound: set[str] = field(default_factory=set)
    """Its pods that are on a node, by uid, whatever became of them there."""
    held: set[str] = field(default_factory=set)
    """Those of them that are to stay."""
    done: set[str] = field(default_factory=set)
    """Those that have succeeded."""
    runs: list[tuple[Event, Event | None]] = field(default_factory=list)
    """From when to when it was running."""
    halves: list[Half] = field(default_factory=list)

    @property
    def running(self) -> bool:
        """Whether it has started, and something of it is left."""
        return bool(self.runs) and self.runs[-1][1] is None

    def ran_at(self, event: Event) -> bool:
        """Whether it was running just before an event."""
        at = event.revision
        return any(since.revision < at and (until is None or at <= until.revision) for since, until in self.runs)

    def knew(self, event: Event) -> None:
        """Take in what an event told about it, and see how it stands."""
        if event.kind == Kind.POD_GROUP:
            self.needed = minimum(event.object) if event.type != Type.DELETED else 0
        else:
            self._count(Pod(event.object), event.type != Type.DELETED)
        self._run(event)
        self._half(event)

    def _count(self, pod: Pod, here: bool) -> None:
        bound, succeeded = here and bool(pod.node), pod.phase == "Succeeded"
        stays = bound and not pod.over and not pod.leaving
        for those, among in ((self.bound, bound), (self.held, stays), (self.done, bound and succeeded)):
            (those.add if among else those.discard)(pod.uid)

    def _run(self, event: Event) -> None:
        if self.running and not self.bound:
            self.runs[-1] = (self.runs[-1][0], event)
        elif not self.running and 0 < self.needed <= len(self.held) + len(self.done):
            self.runs.append((event, None))

    def _half(self, event: Event) -> None:
        held = len(self.held)
        half = self.halves[-1] if self.halves and not self.halves[-1].until else None
        if half:
            half.events.append(event)
        if not held or not self.needed or self.running:
            if half:
                half.until = event
        elif half:
            half.bound, half.needed = held, self.needed
        else:
            self.halves.append(Half(event, held, self.needed, events=[event]))


def lives(history: History, schedulers: Collection[str]) -> Mapping[str, Life]:
    """Tell the story of every gang of these schedulers."""
    told: dict[str, Life] = {}
    for name, event in _named(history, schedulers):
        told.setdefault(name, Life()).knew(event)
    return told


def _named(history: History, schedulers: Collection[str]) -> Iterator[tuple[str, Event]]:
    """Give the events of gangs, each with its gang's name."""
    for event in history.events:
        if event.kind == Kind.POD_GROUP:
            yield key(event.object), event
        elif event.kind == Kind.POD:
            pod = Pod(event.object)
            if pod.gang and pod.scheduler in schedulers:
                yield pod.gang, event
