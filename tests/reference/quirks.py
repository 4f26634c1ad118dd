"""Where the scheduler that these rules come from does something that nobody would want, as switches that are off.

Switched on (`UPSTREAM`), the reference answers as Volcano v1.15.1 does; off, the rule holds that was meant.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Quirks:
    """Each field is one departure from the rule that was meant."""

    role_memory: bool = False
    """A node that refused a task refuses all of its role for a turn; a role that failed once is given up."""
    stale_affinity: bool = False
    """The terms of pods that already lie count only on nodes that held such pods when the cycle began."""
    counts_gated: bool = False
    """Gated tasks count as members that could run."""
    counts_bound_twice: bool = False
    """Admission counts an admitted gang's whole minimum, also what of it already runs."""
    bind_needs_room: bool = False
    """A best-effort task is not bound to a node that promised more cpu or memory than it has."""


MEANT = Quirks()

UPSTREAM = Quirks(
    role_memory=True, stale_affinity=True, counts_gated=True, counts_bound_twice=True, bind_needs_room=True
)
