"""The search for one gang's remedies: trials, counted, and the smallest change that works.

Effort is counted in runs, never timed, so that the same input finds the same remedies. A run is one trial of whole
cycles. When the allowance is spent the search stops wherever it is (`SpentError`), and what was proven so far stands.

A plugin that raises in a trial has shown nothing: the change does not work, and the search goes on and says so.
"""

from collections.abc import Callable, Sequence
from typing import TypeVar

from posse.cluster.facts import GangFact
from posse.cluster.status import Status
from posse.cluster.verdict import Verdict
from posse.cluster.views import Gang, Task
from posse.errors import InputError
from posse.scheduler.blame import blamed
from posse.whatif.explanation import Change
from posse.whatif.probe import Finding
from posse.whatif.situation import Situation, Trial

Seen = TypeVar("Seen")


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
        allowance: Allowance,
    ) -> None:
        self.situation, self.gang, self.verdict, self.finding = situation, gang, verdict, finding
        self.ahead = ahead
        """Tasks of gangs ahead in line that they need for their minimum (their rows)."""
        self._allowance = allowance
        self.tried: list[str] = []
        """What was tried in vain, in words."""
        self.faults: dict[str, None] = {}
        """What plugins raised in trials, each once."""

    @property
    def fact(self) -> GangFact | None:
        """What was declared of the gang, if anything was."""
        return self.gang.world.gangs.facts[self.gang.row]

    @property
    def waiting(self) -> list[Task]:
        """The members without a node."""
        return [task for task in self.gang.members if task.status in (Status.PENDING, Status.GATED)]

    def look(self, change: Change) -> Trial:
        """A copy of the world with a change in it, in which no cycle is run; it costs nothing."""
        return self.situation.trial(change)

    def works(self, change: Change) -> bool:
        """Whether the gang starts with a change."""
        return self.seen(change, lambda trial: True) is not None

    def seen(self, change: Change, look: Callable[[Trial], Seen]) -> Seen | None:
        """What is to be seen in a trial of a change when the gang has started; None if it does not start."""
        self._allowance.take()
        trial = self.situation.trial(change)
        try:
            return look(trial) if trial.starts(self.gang.key) else None
        except Exception as fault:
            blame = blamed(fault, trial.engine.tiers.plugins)
            if not isinstance(blame, InputError):
                raise
            self.faults[str(blame)] = None
            return None
        finally:
            trial.close()

    def least(
        self,
        change: Callable[[int], Change],
        proposal: int,
        limit: int,
        enough: Callable[[Trial], int] = lambda trial: 0,
    ) -> int | None:
        """The smallest number from 1 to `limit` with which a change works, proven not to with one less.

        That nothing at all does not work is known. Proposals are usually right: then this takes two runs. From a trial
        with a number that works, `enough` may guess a smaller one.
        """
        works = max(1, min(proposal, limit))
        guess = self.seen(change(works), enough)
        if guess is not None:
            return self._between(change, enough, Border(0, works, near=works, guess=guess))
        if works == limit:
            return None
        guess = self.seen(change(limit), enough)
        return None if guess is None else self._between(change, enough, Border(works, limit, near=works, guess=guess))

    def _between(self, change: Callable[[int], Change], enough: Callable[[Trial], int], border: "Border") -> int:
        while not border.is_found:
            number = border.next()
            border.narrow(number, self.seen(change(number), enough))
        return border.works


class Border:
    """The border between numbers that fail and numbers that work, closed in on from where it seems to lie.

    A guess is tried as it is; without one the steps from the last number tried grow as long as all turns out the same.
    """

    def __init__(self, fails: int, works: int, *, near: int, guess: int) -> None:
        self._fails, self.works = fails, works
        self._near, self._guess, self._step = near, guess, 1

    @property
    def is_found(self) -> bool:
        """Whether one less is known to fail."""
        return self.works - self._fails <= 1

    def next(self) -> int:
        """The number to try next."""
        if self._fails < self._guess < self.works:
            return self._guess
        number = self._near - self._step if self._near == self.works else self._near + self._step
        return min(max(number, self._fails + 1), self.works - 1)

    def narrow(self, number: int, guess: int | None) -> None:
        """Take note that a number worked, with a guess at a smaller one, or that it failed."""
        was_guessed, was_below = self._fails < self._guess < self.works, self._near == self.works
        works = guess is not None
        self._step = 2 * self._step if works is was_below and not was_guessed else 1
        self._near, self._guess = number, guess or 0
        self._fails, self.works = (self._fails, number) if works else (number, self.works)
