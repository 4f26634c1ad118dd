"""How long to wait before something is tried again: longer each time, by lot, and not for ever.

The lot keeps a thousand clients that lost the same server from coming back in the same moment.
"""

from collections.abc import Callable

from msgspec import Struct

Random = Callable[[], float]
"""A number from 0 up to 1."""


class Backoff(Struct, frozen=True):
    """From `first` seconds, twice as long each time, up to `longest`; given up after `attempts`."""

    first: float = 0.2
    longest: float = 10.0
    attempts: int = 6

    def delay(self, failures: int, random: Random) -> float:
        """How long to wait after so many failures in a row."""
        return min(self.longest, self.first * 2.0 ** min(failures, 30)) * (0.5 + random() / 2)
