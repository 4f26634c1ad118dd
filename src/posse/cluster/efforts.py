"""Efforts: what it took so far to get a gang bound, as long as it is not over.

An effort begins with a gang's first bind and is over when its minimum is known to be bound. In between, members may be
refused: then the effort remembers how often and why, and until when the gang rests. What follows from that is decided
by the scheduler (see `scheduler.repairs`); here it only lies, beside the columns, so that it outlives a configuration
and comes along when a world is forked.
"""

from msgspec import Struct

NEVER = -1


class Effort(Struct, frozen=True, gc=False):
    """How it stands with getting one gang bound. Times are nanoseconds, `NEVER` if there is none."""

    since: int = NEVER
    """When the first of its members that are bound now was."""
    failures: int = 0
    """In how many cycles a bind of it was refused, or its members were let go."""
    rests_until: int = NEVER
    """Until when it is not tried again."""
    reason: str = ""
    """Why it failed last."""
