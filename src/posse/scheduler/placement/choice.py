"""Choice: the node for one task, and whether its room is free or still being freed.

Nodes whose room is free go before nodes whose room is only promised, whatever the points; within the better group the
most points win. This is the rule in its plainest form, for all terms there are; `fill` does the same for runs of tasks,
faster.
"""

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from posse.scheduler.placement.feasibility import Feasibility
from posse.scheduler.placement.scoring import Scoring
from posse.scheduler.placement.terms import Codes
from posse.scheduler.reasons import PASSES


class Choice(Struct, frozen=True):
    """A node for a task. `is_idle`: its room is free now."""

    node: int
    is_idle: bool


class Chooser:
    """Chooses nodes, one task after the other."""

    def __init__(self, feasibility: Feasibility, scoring: Scoring) -> None:
        self.feasibility, self.scoring = feasibility, scoring

    def choose(self, task: int, preferred: int = -1) -> Choice | Codes:
        """The node for a task, or why each node refuses it.

        A node that was promised to it earlier is taken if it still will do.
        """
        codes = self.feasibility.codes(task)
        candidates: NDArray[np.intp] = np.flatnonzero(codes == PASSES)
        if not len(candidates):
            return codes
        if preferred >= 0 and codes[preferred] == PASSES:
            candidates = np.array([preferred])
        return self._among(task, candidates)

    def could_have(self, task: int, node: int) -> bool:
        """Whether a task could be bound to this very node now, or once promised room is free."""
        return bool(self.feasibility.codes(task)[node] == PASSES)

    def can_have(self, task: int, node: int) -> bool:
        """Whether a task could be bound to this very node now."""
        codes = self.feasibility.codes(task)
        return bool(codes[node] == PASSES) and bool(self.feasibility.fits_idle(task, np.array([node]))[0])

    def _among(self, task: int, candidates: NDArray[np.intp]) -> Choice:
        is_idle = self.feasibility.fits_idle(task, candidates)
        if is_idle.any():
            return Choice(self.scoring.best(task, candidates[is_idle]), is_idle=True)
        return Choice(self.scoring.best(task, candidates), is_idle=False)
