"""The life of a task, and which states count for what.

Every counter of the model is "how many tasks, or how much of a resource, in one of these states", so the sets below are
the whole meaning of those counters. They are kept as lookup tables indexed by status, which the ledger's kernel reads.
"""

from enum import IntEnum

import numpy as np


class Status(IntEnum):
    """Where a task stands. The first eleven are seen by users; `GONE` marks a row that no task stands in."""

    PENDING = 0
    """Waits for a node."""
    GATED = 1
    """Waits for a scheduling gate to be lifted; nobody may place it."""
    ALLOCATED = 2
    """Has a node in this cycle's open statement."""
    PIPELINED = 3
    """Has a node promised whose room is still being freed."""
    HELD = 4
    """Has its node reserved and waits for its siblings (optimistic gangs)."""
    BINDING = 5
    """Decided, and the bind is on its way or not yet confirmed."""
    BOUND = 6
    """Bound, not yet running."""
    RUNNING = 7
    """Running, or on a node that no longer says: its room is in use."""
    RELEASING = 8
    """Terminating; uses its room until it is gone."""
    SUCCEEDED = 9
    """Ended well."""
    FAILED = 10
    """Ended badly."""
    GONE = 11
    """No task at all."""


STATUSES = len(Status)


def members_of(*states: Status) -> np.ndarray:
    """A lookup table over statuses: true for the named ones."""
    table = np.zeros(STATUSES, dtype=np.bool_)
    table[list(states)] = True
    return table


ALLOCATED_STATES = (Status.ALLOCATED, Status.BINDING, Status.BOUND, Status.RUNNING)
"""Counts as allocated to its gang and its queue."""
PROMISED_STATES = (Status.PIPELINED, Status.HELD)
"""Has a claim on room without using it yet; charged to its queue as if it did."""
WAITING_STATES = (Status.PENDING, Status.GATED)
"""Still wants a node."""
OCCUPYING_STATES = (*ALLOCATED_STATES, Status.HELD, Status.RELEASING)
"""Uses room on its node."""
READY_STATES = (*ALLOCATED_STATES, Status.SUCCEEDED)
"""Counts towards a gang's minimum (Volcano's ReadyTaskNum)."""
SCHEDULED_STATES = (Status.BOUND, Status.RUNNING, Status.SUCCEEDED, Status.FAILED)
"""Known to the API as scheduled (Volcano's ScheduledStatus)."""
VALID_STATES = (*READY_STATES, Status.PIPELINED, Status.HELD, Status.PENDING, Status.GATED)
"""Could still be part of a running gang."""

OCCUPIES = members_of(*OCCUPYING_STATES)
ALLOCATED = members_of(*ALLOCATED_STATES)
PROMISED = members_of(*PROMISED_STATES)
WAITING = members_of(*WAITING_STATES)
