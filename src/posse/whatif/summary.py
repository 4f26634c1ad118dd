"""The summary: one honest sentence with numbers, on which a person can act."""

from collections.abc import Sequence

from posse.cluster.status import Status
from posse.cluster.verdict import GangState
from posse.cluster.views import Gang
from posse.scheduler.closing import NODELESS
from posse.whatif import amounts
from posse.whatif.explanation import Obstacle, Remedy
from posse.whatif.probe import Finding

PREFERRED = (
    "wait-for",
    "fix-spec",
    "create-object",
    "remove-constraint",
    "raise-quota",
    "add-nodes",
    "free-resources",
    "lower-min",
)
"""First to mend, then to buy, then to take from others, then to do with less."""


def of_started(state: GangState, gang: Gang) -> str:
    """A gang that has its minimum, or is over."""
    counts = gang.counts
    if state == "finished":
        left = counts[Status.RELEASING]
        leaving = f", {left} {'is' if left == 1 else 'are'} leaving" if left else ""
        return f"is over: {amounts.pods(counts[Status.SUCCEEDED])} succeeded, {counts[Status.FAILED]} failed{leaving}"
    more = sum(counts[status] for status in NODELESS)
    tail = f", {more} more {'waits' if more == 1 else 'wait'}" if more else ""
    have = f"{gang.ready_count} of {amounts.pods(gang.size, 'has', 'have')} a node"
    needed = f"{gang.minimum} {'is' if gang.minimum == 1 else 'are'} needed"
    return f"has its minimum: {have}, {needed}{tail}"


def of_waiting(
    gang: Gang,
    blockers: Sequence[Obstacle],
    remedies: Sequence[Remedy],
    tried: Sequence[str],
    finding: Finding,
    *,
    faults: Sequence[str],
    cut: bool,
) -> str:
    """A gang that waits: for what, or why if nothing was found that helps.

    What plugins raised in trials is said where it may be the reason that nothing was found.
    """
    return _outlook(_standing(gang, finding, blockers), blockers, remedies, tried, faults=faults, cut=cut)


def of_wanting(
    state: GangState,
    gang: Gang,
    blockers: Sequence[Obstacle],
    remedies: Sequence[Remedy],
    tried: Sequence[str],
    *,
    faults: Sequence[str],
    cut: bool,
) -> str:
    """A gang that has its minimum, and for what the next of its members waits."""
    return f"{of_started(state, gang)}; the next {_outlook('', blockers, remedies, tried, faults=faults, cut=cut)}"


def _outlook(
    standing: str,
    blockers: Sequence[Obstacle],
    remedies: Sequence[Remedy],
    tried: Sequence[str],
    *,
    faults: Sequence[str],
    cut: bool,
) -> str:
    if remedies:
        return f"{_needs(remedies[0])}{standing}"
    why = f"waits: {blockers[0].message}{standing}" if blockers else f"waits{standing}"
    if cut:
        found = "the search for what would help was cut short"
    elif tried:
        found = f"what was tried does not help: {'; '.join(tried)}"
    else:
        found = "no change of one kind is known to help"
    return "; ".join([why, found, *(f"in a trial, {fault}" for fault in faults)])


def _needs(remedy: Remedy) -> str:
    match remedy.action:
        case "wait-for":
            return f"starts by itself: {remedy.message}"
        case "add-nodes" | "free-resources":
            return f"waits for {remedy.message}"
        case "remove-constraint":
            return f"would start {remedy.message}"
        case _:
            return f"would start with {remedy.message}"


def _standing(gang: Gang, finding: Finding, blockers: Sequence[Obstacle]) -> str:
    """How many fit, where room is the question."""
    if not gang.is_declared or not any(each.kind == "nodes" for each in blockers):
        return ""
    has = gang.ready_count + gang.waiting_count + len(finding.placed)
    return f": {has} of {amounts.pods(gang.minimum, 'fits', 'fit')}"


def in_order(remedies: Sequence[Remedy]) -> tuple[Remedy, ...]:
    """Remedies, the one to be named first in front; otherwise as they were found."""
    return tuple(sorted(remedies, key=lambda remedy: PREFERRED.index(remedy.action)))
