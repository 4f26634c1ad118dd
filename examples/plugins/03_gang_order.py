"""An order: gangs with a deadline first, the nearest deadline before the others.

An order function gives a key, and smaller keys go first. Keys of all plugins are compared in the order in which the
configuration names them; where all are equal, age decides, then the name. Moments written as RFC 3339 in one time
zone compare as text.
"""

from posse.cluster.views import Gang
from posse.scheduler.plugin import Key, Plugin

DEADLINE = "example.com/deadline"
NO_DEADLINE = "~"
"""Sorts after every digit."""


class DeadlinePlugin(Plugin):
    """Put gangs with the nearest deadline first."""

    name = "deadline"

    def gang_order(self, gang: Gang) -> Key:
        return gang.fact.annotations.get(DEADLINE, NO_DEADLINE)
