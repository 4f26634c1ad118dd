"""The pulse: a loop that tells how long each cycle took, and knows whether it still turns.

A loop that is busy for a while, or waits for an API server, is well. One that has not turned for many periods will not
do so by itself any more, and had better be started anew.
"""

from collections.abc import Callable, Iterable

from posse.kube.api.credentials import Clock
from posse.live.intake import Intake
from posse.live.loop import NANOSECONDS, Carrier, Loop, Reporter
from posse.scheduler.engine import Engine

PERIODS = 30
LEAST = 30.0
"""So many periods, and no fewer seconds, may pass without a turn."""


class Pulse(Loop):
    """A loop under observation. `beat` is told how many seconds each cycle took, with what follows from it at once."""

    def __init__(
        self,
        engine: Engine,
        intake: Intake,
        carriers: Iterable[Carrier],
        *,
        may_decide: Callable[[], bool],
        clock: Callable[[], int],
        reporters: Iterable[Reporter] = (),
        beat: Callable[[float], None],
        seconds: Clock,
    ) -> None:
        super().__init__(engine, intake, carriers, may_decide=may_decide, clock=clock, reporters=reporters)
        self._beat, self._seconds = beat, seconds
        self._turned_at: float | None = None

    def step(self) -> None:
        """Take a turn."""
        cycles, began = self.engine.cycles, self._seconds()
        super().step()
        self._turned_at = self._seconds()
        if self.engine.cycles > cycles:
            self._beat(self._turned_at - began)

    def silence(self) -> float:
        """For how many seconds it has stood still that should turn; 0 if it is well.

        Until its first turn it waits for an API server, and another process could do no better.
        """
        if self._turned_at is None:
            return 0.0
        silent = self._seconds() - self._turned_at
        patience = max(LEAST, PERIODS * self.engine.configuration.schedule_period / NANOSECONDS)
        return silent if silent > patience else 0.0
