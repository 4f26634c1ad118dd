"""All rules over all that was seen; also from a file that a recording left:

python -m tests.cluster.checker.verdict seen.jsonl --scheduler posse --repair-time 10
"""

import argparse
import sys
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from math import inf
from pathlib import Path

from tests.cluster.checker import rules
from tests.cluster.checker.events import Event, Kind, read
from tests.cluster.checker.history import History
from tests.cluster.checker.report import Report


@dataclass(frozen=True)
class Terms:
    """What the schedulers under test are held to."""

    schedulers: Collection[str]
    """Their names, as pods give them."""
    repair_time: float
    """Seconds that a gang may be half bound."""
    slack: float = 1.0
    """Seconds in which news of nodes and of other schedulers' pods need not have reached them."""
    explain_time: float = 10.0
    """Seconds in which a new pod need not be bound or explained."""
    victims: Collection[str] = ()
    """Namespaces, gangs and pods that may be evicted. Half-bound gangs always may."""


def judge(events: Sequence[Event], terms: Terms, started: Collection[str] = (), by: float = inf) -> Report:
    """Hold what was seen to the rules; and what is named, to have started by then."""
    history, ours = History(events), terms.schedulers
    gone = list(rules.evictions(history, ours, terms.victims))
    found = [
        *rules.bound_twice(history),
        *rules.misplaced(history, ours, terms.slack),
        *rules.overcommitted(history, ours, terms.slack),
        *rules.gated(history, ours),
        *rules.half_bound(history, ours, terms.repair_time),
        *rules.not_started(history, ours, started, by),
        *rules.unexplained(history, ours, terms.explain_time),
        *rules.evicted(gone),
    ]
    return Report(history.start, history.end, sorted(found, key=lambda it: it.until), gone, list(seen(history, ours)))


def seen(history: History, ours: Collection[str]) -> Iterator[str]:
    """Say how much there was to judge, and what could not be."""
    yield f"{len(history.events)} events"
    yield f"{len(history.nodes)} nodes"
    yield f"{len(history.groups)} gangs"
    yield f"{len(history.pods)} pods"
    yield f"{sum(1 for _ in rules.ours_among(history, ours))} binds by {' and '.join(sorted(ours))}"
    if history.spells:
        yield f"{sum(end - start for start, end in history.spells):.1f} s in which nobody could act"
    if history.gaps:
        kinds = sorted({Kind(gap["kind"]).value for gap in history.gaps})
        yield f"{len(history.gaps)} gaps in what is known of {' and '.join(kinds)}"


def main() -> int:
    """Judge a file."""
    parser = argparse.ArgumentParser(prog="python -m tests.cluster.checker.verdict")
    parser.add_argument("file", type=Path)
    parser.add_argument("--scheduler", action="append", required=True)
    parser.add_argument("--repair-time", type=float, required=True)
    parser.add_argument("--slack", type=float, default=Terms.slack)
    parser.add_argument("--victim", action="append", default=[])
    given = parser.parse_args()
    terms = Terms(given.scheduler, given.repair_time, given.slack, victims=given.victim)
    report = judge(list(read(given.file)), terms)
    sys.stdout.write(f"{report}\n")
    return 1 if report.violations else 0


if __name__ == "__main__":
    sys.exit(main())
