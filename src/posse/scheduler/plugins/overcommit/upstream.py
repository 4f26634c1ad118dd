"""Overcommit as upstream has it: a factor below 1.0 is a slip, and an admitted gang's bound pods are charged twice."""

import numpy as np
from numpy.typing import NDArray

from posse.cluster.world import World
from posse.scheduler.outstanding import outstanding, total

DEFAULT = 1.2


class ResetAndTwice:
    """Volcano's side of the switch."""

    def factor(self, given: float) -> float:
        """The default in place of one below 1.0."""
        return given if given >= 1.0 else DEFAULT

    def outstanding(self, world: World) -> NDArray[np.int64]:
        """All that they were admitted for, until they run: their bound pods are in what is used as well."""
        return total(outstanding(world, whole=True))
