"""The search for one gang's remedies: trials, counted, and the smallest change that works.

Effort is counted in runs, never timed, so that the same input finds the same remedies. A run is one trial of whole
cycles, and counts the same if it is remembered from another gang's search. When the allowance is spent the search stops
wherever it is (`SpentError`), and what was proven so far stands.
"""

from collections.abc import Callable, Sequence
from typing import TypeVar

from posse.cluster.facts import GangFact
from posse.cluster.status import Status
from posse.cluster.verdict import Verdict
from posse.cluster.views import Gang, Task
from posse.whatif.explanation import Change
from posse.whatif.probe import Finding
from posse.whatif.situation import Situation, Trial
from posse.whatif.trials import Trials

Answer = TypeVar("Answer")
FEW = 8
"""How many numbers are tried one by one."""


class SpentError(Exception):
    """No more runs are allowed."""


class Allowance:
    """How many runs are left."""

    def __init__(self, runs: int) -> None:
        self.left = runs

    def take(self) -> None:
        """Use one up. Raise SpentError if there is none."""
        if self.left <= 0:
            raise SpentError
        self.left -= 1


class Search:
    """Tries changes for one gang."""

    def __init__(
        self,
        situation: Situation,
        gang: Gang,
        *,
        verdict: Verdict | None,
        finding: Finding,
        ahead: Sequence[int],
        trials: Trials,
        allowance: Allowance,
    ) -> None:
        self.situation, self.gang, self.verdict, self.finding = situation, gang, verdict, finding
        self.ahead = ahead
        """Tasks of gangs ahead in line that they need for their minimum (their rows)."""
        self._trials, self._allowance = trials, allowance
        self.tried: list[str] = []
        """What was tried in vain, in words."""
        self.left_out = False
        """Whether something within the limits was neither tried nor ruled out by counting."""

    @property
    def fact(self) -> GangFact | None:
        """What was declared of the gang, if anything was."""
        return self.gang.world.gangs.facts[self.gang.row]

    @property
    def waiting(self) -> list[Task]:
        """The members without a node."""
        return [task for task in self.gang.members if task.status in (Status.PENDING, Status.GATED)]

    def look(self, change: Change, ask: Callable[[Trial], Answer], otherwise: Answer) -> Answer:
        """Ask in a copy of the world with a change in it, in which no cycle is run. It costs nothing."""
        trial = self.situation.trial(change)
        try:
            return self._trials.asked(trial.engine, lambda: ask(trial), otherwise)
        finally:
            trial.close()

    def ask(self, ask: Callable[[], Answer], otherwise: Answer) -> Answer:
        """Ask something of the world as it stands that plugins have a say in."""
        return self._trials.asked(self.situation.engine, ask, otherwise)

    def works(self, change: Change) -> bool:
        """Whether the gang starts with a change."""
        self._allowance.take()
        return self._trials.starts(change, self.gang.key)

    def least(self, change: Callable[[int], Change], proposal: int, limit: int) -> int | None:
        """The smallest number from 1 to `limit` with which a change works, proven not to with one less.

        That nothing at all does not work is known. Proposals are usually right: then this takes two runs.
        """
        fails, works = 0, max(1, min(proposal, limit))
        if not self.works(change(works)):
            if works == limit or not self.works(change(limit)):
                return None
            fails, works = works, limit
            return self._between(change, fails, works, near=fails)
        return self._between(change, fails, works, near=works)

    def smallest(self, change: Callable[[int], Change], first: int, likely: int, limit: int) -> int | None:
        """The smallest number up to `limit` with which a change works; fewer than `first` are not enough by counting.

        More is not always better: with one node more somebody ahead in line may fit as well, and take what the gang
        had. So the first few are tried one by one, and only beyond them the border is sought. That one less does not
        work is proven in any case.
        """
        nearest = range(first, min(first + FEW, limit + 1))
        for number in nearest:
            if self.works(change(number)):
                counted_wrong = number == first > 1 and self.works(change(first - 1))
                return self._between(change, 0, first - 1, near=first - 1) if counted_wrong else number
        far = [number for number in dict.fromkeys((likely, limit)) if number >= nearest.stop]
        fails = limit if nearest.stop > limit else nearest.stop - 1
        for number in far:
            if self.works(change(number)):
                return self._between(change, fails, number, near=number)
            fails = number
        between = [number for number in range(nearest.stop, limit) if number not in far]
        if len(between) > FEW:
            self.left_out = True
            return None
        return next((number for number in between if self.works(change(number))), None)

    def closest(self, change: Callable[[int], Change], fails: int, works: int) -> int:
        """The smallest number with which a change works, between one that fails and one that works and is likely it."""
        return self._between(change, fails, works, near=works)

    def _between(self, change: Callable[[int], Change], fails: int, works: int, near: int) -> int:
        """Close in on the border between what fails and what works, in growing steps from where it seems to lie."""
        step = 1
        while works - fails > 1:
            guess = near - step if near == works else near + step
            middle = min(max(guess, fails + 1), works - 1)
            did = self.works(change(middle))
            if did is (near == works):
                step *= 2
                near = middle
            else:
                near, step = middle, 1
            fails, works = (fails, middle) if did else (middle, works)
        return works
