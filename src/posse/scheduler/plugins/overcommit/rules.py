"""What overcommit makes of a factor below 1.0, and how it counts what was admitted."""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from posse.cluster.world import World
from posse.scheduler.outstanding import outstanding, total


class Rule(Protocol):
    """The two questions on which Posse and upstream differ."""

    def factor(self, given: float) -> float:
        """The factor to work with."""

    def outstanding(self, world: World) -> NDArray[np.int64]:
        """[D] what admitted gangs are charged for besides what is used."""


class ClampedAndOnce:
    """The cluster's own size is the least to admit to, and what a gang uses is not charged again."""

    def factor(self, given: float) -> float:
        """At least 1.0."""
        return max(given, 1.0)

    def outstanding(self, world: World) -> NDArray[np.int64]:
        """What they have not got yet."""
        return total(outstanding(world))
