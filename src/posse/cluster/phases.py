"""Where a gang is in its life: waiting for its queue, admitted, running, over.

A phase is the model's own. What the API says of it is read when the gang is first seen (so that a restarted scheduler
goes on where it stopped) and from then on each cycle decides it from the counts of members (`phase_at_close`). What an
API object calls it is its dialect's business; the five names here are Volcano's.
"""

from collections.abc import Sequence
from enum import IntEnum

from posse.cluster.facts import GangFact
from posse.cluster.status import SCHEDULED_STATES, Status


class GangPhase(IntEnum):
    """The life of a gang."""

    PENDING = 0
    """Waits to be admitted by its queue."""
    INQUEUE = 1
    """Admitted; may be placed."""
    RUNNING = 2
    """Its minimum is bound or running."""
    UNKNOWN = 3
    """Some members run, and the minimum cannot be met now."""
    COMPLETED = 4
    """All that was scheduled has ended."""


STARTED = frozenset({GangPhase.RUNNING, GangPhase.UNKNOWN, GangPhase.COMPLETED})
"""What only a gang comes to whose minimum was bound at some time."""

NAMES = {phase.name.capitalize(): phase for phase in GangPhase}


def phase_at_first_sight(fact: GangFact) -> GangPhase:
    """The phase of a gang we did not know: what its object says, or the start of its life."""
    if not fact.rules.gated_by_queue:
        return GangPhase.INQUEUE
    return NAMES.get(fact.phase, GangPhase.PENDING)


def phase_at_close(
    phase: GangPhase, minimum: int, counts: Sequence[int], *, is_unschedulable: bool, keeps_admission: bool
) -> GangPhase:
    """The phase of a gang at the end of a cycle, from its members by status.

    A gang that was admitted and is short of its minimum stays admitted if `keeps_admission`; else only one that never
    ran does, and one that lost members must ask its queue again.
    """
    if counts[Status.RUNNING] and is_unschedulable:
        return GangPhase.UNKNOWN
    scheduled = sum(counts[status] for status in SCHEDULED_STATES)
    if scheduled >= minimum:
        finished = counts[Status.SUCCEEDED] + counts[Status.FAILED]
        return GangPhase.COMPLETED if scheduled == finished else GangPhase.RUNNING
    if phase is GangPhase.INQUEUE or (keeps_admission and phase is not GangPhase.PENDING):
        return GangPhase.INQUEUE
    return GangPhase.PENDING
