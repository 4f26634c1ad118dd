"""The story that events tell: who was what, and when, in the order in which it really was.

Watches of several kinds are told side by side, and one may lag behind the other; revisions put them in order. What
lasted how long is read off the times of arrival, without the spells in which nobody could act: the server was away, or
the test let it stand still.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from tests.cluster.checker.events import Event, Kind, Object, Type, key
from tests.cluster.checker.objects import Node, Pod

Span = tuple[float, float]
"""From when to when."""

OPENS = {Type.LOST: Kind.POD, Type.STILL: None}
"""The marks with which a spell begins in which nobody can act; and of which watch, if it matters."""

CLOSES = {Type.BACK: Kind.POD, Type.MOVING: None}


@dataclass(frozen=True, slots=True)
class Seen:
    """A pod, as an event told it; or its last, if the event is its deletion."""

    event: Event
    pod: Pod

    @property
    def here(self) -> bool:
        """Whether the pod is there."""
        return self.event.type != Type.DELETED


@dataclass(frozen=True, slots=True)
class Bind:
    """The moment in which a pod got its node."""

    before: Seen
    seen: Seen


class History:
    """Everything that was seen, in order."""

    def __init__(self, events: Sequence[Event]) -> None:
        told = [it for it in events if it.kind != Kind.MARK]
        self.events: Sequence[Event] = sorted(told, key=lambda it: it.revision)
        self.marks: Sequence[Event] = [it for it in events if it.kind == Kind.MARK]
        self.start, self.end = (events[0].at, max(it.at for it in events)) if events else (0.0, 0.0)
        self.gaps: Sequence[Object] = [it.object for it in self.marks if it.type == Type.BLIND]
        self.spells: Sequence[Span] = list(self._spells())
        self.pods: Mapping[str, list[Seen]] = self._pods()
        self.nodes: Mapping[str, list[Event]] = self._of(Kind.NODE)
        self.groups: Mapping[str, list[Event]] = self._of(Kind.POD_GROUP)

    def binds(self) -> Iterator[Bind]:
        """Give every moment in which a pod got a node. Pods that came with one were bound by nobody."""
        for line in self.pods.values():
            yield from (Bind(one, two) for one, two in pairwise(line) if not one.pod.node and two.pod.node)

    def last(self) -> Iterator[Seen]:
        """Give the pods that are there at the end."""
        return (line[-1] for line in self.pods.values() if line[-1].here)

    def nodes_at(self, name: str, event: Event, slack: float) -> list[Node | None]:
        """Give what a node was just before an event, and what it was no longer than `slack` before that."""
        line = self.nodes.get(name, [])
        states = [None, *(Node(it.object) if it.type != Type.DELETED else None for it in line)]
        until = [*((it.revision, it.at) for it in line), (event.revision, event.at)]
        before = [at for at, (number, _) in enumerate(until) if number < event.revision]
        current = len(before)
        return [states[current], *(states[at] for at in before if until[at][1] >= event.at - slack)]

    def blind(self, event: Event) -> bool:
        """Whether what was so at an event is not known."""
        return any(gap["after"] < event.revision <= gap["until"] for gap in self.gaps)

    def lasted(self, since: float, until: float) -> float:
        """Say how long something was so, for those who could have changed it."""
        return until - since - sum(max(0.0, min(until, end) - max(since, start)) for start, end in self.spells)

    def asked(self) -> set[str]:
        """Give the names of what the test asked to be deleted."""
        return {str(it.object["name"]) for it in self.marks if it.type == Type.ASKED}

    def _pods(self) -> Mapping[str, list[Seen]]:
        lines = defaultdict(list)
        for event in self.events:
            if event.kind == Kind.POD:
                pod = Pod(event.object)
                lines[pod.uid].append(Seen(event, pod))
        return lines

    def _of(self, kind: Kind) -> Mapping[str, list[Event]]:
        lines = defaultdict(list)
        for event in self.events:
            if event.kind == kind:
                lines[key(event.object)].append(event)
        return lines

    def _spells(self) -> Iterator[Span]:
        """Give the spells in which nobody could act. They may overlap; then they are one."""
        since, open_ = 0.0, 0
        for mark in self.marks:
            if mark.type in OPENS and mark.object.get("kind") == OPENS[mark.type]:
                since, open_ = (mark.at, 1) if not open_ else (since, open_ + 1)
            elif mark.type in CLOSES and mark.object.get("kind") == CLOSES[mark.type]:
                open_ -= 1
                if not open_:
                    yield since, mark.at
        if open_:
            yield since, self.end
