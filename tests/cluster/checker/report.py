"""What the checker found, for people: each violation with its story and the events that prove it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from tests.cluster.checker.events import Event, Kind, Type, key
from tests.cluster.checker.objects import Pod

FEW = 12
"""Events that a text tells of each violation, from both ends."""


class Rule(StrEnum):
    """What must never be."""

    BOUND_TWICE = "a pod was bound twice"
    MISPLACED = "a pod was bound where it must not be"
    OVERCOMMITTED = "a node was given more than it has"
    GATED = "a pod was bound before its gates were open"
    HALF_BOUND = "a gang stayed half bound"
    NOT_STARTED = "what had room did not start"
    UNEXPLAINED = "a pod waits and does not say why"
    EVICTED = "a pod was taken away that was nobody's to take"


@dataclass(frozen=True, slots=True)
class Violation:
    """A rule that was broken."""

    rule: Rule
    who: str
    """The pod, gang or node: its kind and its name."""
    since: float
    until: float
    story: str
    proof: Sequence[Event] = ()


@dataclass(frozen=True, slots=True)
class Eviction:
    """A pod that left without the test having asked for it."""

    pod: Pod
    event: Event
    excuse: str
    """Why that was right; empty, if it was not."""

    @property
    def how(self) -> str:
        """What is known of whoever did it."""
        return self.pod.disruption or "deleted, by nobody who left a reason"


@dataclass(frozen=True, slots=True)
class Report:
    """All that was found."""

    start: float
    end: float
    violations: Sequence[Violation]
    evictions: Sequence[Eviction]
    seen: Sequence[str]
    """How much there was to see, and what was not seen."""

    @property
    def broken(self) -> frozenset[Rule]:
        """The rules that were broken."""
        return frozenset(it.rule for it in self.violations)

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def lines(self) -> Iterator[str]:
        """Tell it, line by line. Times are seconds since the first event."""
        yield f"{len(self.violations)} violations in {self.end - self.start:.1f} s: {', '.join(self.seen)}"
        for violation in self.violations:
            yield from self._violation(violation)
        for eviction in self.evictions:
            excuse = eviction.excuse or "without excuse"
            yield f"gone, {excuse}: {self._event(eviction.event)} ({eviction.how})"

    def _violation(self, it: Violation) -> Iterator[str]:
        yield ""
        yield f"{it.rule}: {it.who}, {it.since - self.start:.3f} s to {it.until - self.start:.3f} s"
        yield f"  {it.story}"
        left_out = len(it.proof) - FEW
        for at, event in enumerate(it.proof):
            if left_out <= 0 or not FEW // 2 <= at < FEW // 2 + left_out:
                yield f"  {self._event(event)}"
            elif at == FEW // 2:
                yield f"  ... {left_out} events more"

    def _event(self, event: Event) -> str:
        when = f"{event.at - self.start:8.3f} s  revision {event.revision}"
        return f"{when}  {event.kind} {key(event.object)} {event.type}{state(event)}"


def state(event: Event) -> str:
    """Say what matters of an object at an event."""
    if event.kind != Kind.POD:
        return ""
    pod = Pod(event.object)
    place = f" on {pod.node}" if pod.node else " on no node"
    return f"{place}, {pod.phase}{', leaving' if pod.leaving and event.type != Type.DELETED else ''}"
