"""How many requests may be under way at once: as many as the API server answers well, found out while at it.

Answers are counted in rounds, as many as there may be requests under way. After a round that was answered in good time
a few more may go; after a slow one, fewer; after one of which more than a tenth failed, half as many, and all wait a
little first, longer each time. So a server that is down is not run at, and one pod whose every request fails (a broken
webhook) slows nobody but itself. A server that says that it is too busy is believed at once.

`Pace` is that rule, without a clock; `Limiter` adds the waiting.
"""

from msgspec import Struct

from posse.binding.terms import Fault, is_stranger
from posse.kube.api.answers import ApiError
from posse.kube.api.backing_off import Backoff, Random
from posse.kube.api.client import Sleep
from posse.kube.api.credentials import Clock

LONGEST_PAUSE = 10.0
"""Seconds that we wait at most because a server says so: binds have their deadlines."""
PAUSES = Backoff(first=0.1, longest=5.0)

TOLERATED = 0.1
"""The part of a round that may fail."""


class Limits(Struct, frozen=True):
    """Where to start, and how far to go.

    A round is `fast` or `slow` by its mean, in seconds: after a fast one, `more` may go; after a slow one, fewer. In
    between all stays as it is: more would only wait in the server, and fewer leave one idle that waits for its disk.
    """

    start: int = 64
    floor: int = 2
    ceiling: int = 256
    fast: float = 0.1
    slow: float = 1.0
    more: int = 4

    def __post_init__(self) -> None:
        if not 0 < self.floor <= self.start <= self.ceiling:
            raise ValueError(f"{self} is no range: 0 < floor <= start <= ceiling")


class Pace:
    """How many may go, by what came of those that went (additive increase, multiplicative decrease).

    Who sends remembers `cuts` and shows it with the answer: what was sent before the last cut tells nothing new.
    """

    def __init__(self, limits: Limits = Limits()) -> None:  # noqa: B008 - immutable
        self._limits = limits
        self.limit = limits.start
        self.cuts = 0
        self.bad_rounds = 0
        """How many in a row, up to now."""
        self._answers = self._failures = 0
        self._seconds = 0.0
        self._felt = False

    def answered(self, sent: int, seconds: float, *, full: bool) -> None:
        """Learn of an answer, good or not; `full`: as many were under way as may be, so the limit was felt."""
        if sent == self.cuts:
            self._seconds += seconds
            self._felt = self._felt or full
            self._count()

    def failed(self, sent: int) -> None:
        """Learn of a request that the server failed, or did not answer."""
        if sent == self.cuts:
            self._failures += 1
            self._count()

    def busy(self, sent: int) -> None:
        """Learn that the server is too busy."""
        if sent == self.cuts:
            self._cut(0.5)

    def _begin(self) -> None:
        self._answers = self._failures = 0
        self._seconds = 0.0
        self._felt = False

    def _count(self) -> None:
        self._answers += 1
        if self._answers >= self.limit:
            self._end()

    def _end(self) -> None:
        """What a round tells."""
        limits = self._limits
        mean = self._seconds / max(1, self._answers - self._failures)
        if self._failures > TOLERATED * self._answers:
            self.bad_rounds += 1
            self._cut(0.5)
            return
        self.bad_rounds = 0
        if mean > limits.slow:
            self._cut(0.8)
        elif self._felt and mean < limits.fast:
            self.limit = min(limits.ceiling, self.limit + limits.more)
        self._begin()

    def _cut(self, part: float) -> None:
        self.limit = max(self._limits.floor, int(self.limit * part))
        self.cuts += 1
        self._begin()


class Limiter:
    """A pace, and the pauses that go with it. Several may share one: who binds and who evicts meet the same server."""

    def __init__(self, pace: Pace, *, clock: Clock, sleep: Sleep, random: Random, pauses: Backoff = PAUSES) -> None:
        self._pace = pace
        self._clock = clock
        self._sleep = sleep
        self._random = random
        self._pauses = pauses
        self._closed_until = 0.0

    @property
    def limit(self) -> int:
        """How many may be under way."""
        return self._pace.limit

    @property
    def sent(self) -> int:
        """What to remember of the moment in which a request is sent."""
        return self._pace.cuts

    async def opened(self) -> None:
        """Wait while nobody may go."""
        while self._closed_until and (left := self._closed_until - self._clock()) > 0:
            await self._sleep(left)
        self._closed_until = 0.0

    def learn(self, sent: int, seconds: float, fault: Fault | None = None, *, full: bool) -> None:
        """Learn what came of a request, and how fast."""
        bad_rounds = self._pace.bad_rounds
        if isinstance(fault, ApiError) and fault.busy:
            self._pace.busy(sent)
            self._close_for(min(fault.retry_after, LONGEST_PAUSE) or self._pauses.delay(0, self._random))
        elif fault is None or (isinstance(fault, ApiError) and not fault.passing and not is_stranger(fault)):
            self._pace.answered(sent, seconds, full=full)
        else:
            self._pace.failed(sent)
            if self._pace.bad_rounds > bad_rounds:
                self._close_for(self._pauses.delay(bad_rounds, self._random))

    def _close_for(self, seconds: float) -> None:
        self._closed_until = max(self._closed_until, self._clock() + seconds)
