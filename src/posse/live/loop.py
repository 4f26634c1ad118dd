"""The loop: whenever something has come in, or something is due, one cycle; and what it decided goes out.

    intake ──▶ engine ──▶ binder, evictor     (and back to the intake: what came of it)
                     └──▶ reports             (statuses and events, in their own time)

What comes in within a few milliseconds is decided together. Only a leader decides; who stands by takes in what it is
told, so that it can begin at once. The cycle itself is pure and runs here without a pause; all waiting is between
cycles. A loop that is busy for a while, or waits for an API server, is well; one that has not turned for many periods
will not do so by itself any more, and had better be started anew (`silence`).
"""

import asyncio
from collections.abc import Callable, Iterable
from typing import Protocol

from posse.cluster.records import CycleInput, CycleResult, Effect
from posse.kube.api.credentials import Clock
from posse.live.intake import Intake
from posse.scheduler.engine import Engine

NANOSECONDS = 1_000_000_000
GATHERING = 0.003
"""Seconds in which more may come in before a cycle begins."""


PERIODS = 30
LEAST = 30.0
"""So many periods, and no fewer seconds, may pass without a turn."""


class Carrier(Protocol):
    """Carries out what was decided; the binder, or the evictor."""

    def carry_out(self, effects: Iterable[Effect]) -> None:
        """Begin what a cycle decided. Returns at once."""


Reporter = Callable[[int, CycleResult], None]
"""Is told of each cycle: its time, and what it decided. Returns at once."""


class Loop:
    """One scheduler at work. `clock` gives nanoseconds since 1970.

    `beat` is told how many seconds each cycle took, with what follows from it at once.
    """

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
        self.engine, self.intake = engine, intake
        self._carriers, self._reporters = tuple(carriers), tuple(reporters)
        self._may_decide, self._clock = may_decide, clock
        self._beat, self._seconds = beat, seconds
        self._turned_at: float | None = None
        self._closed = False

    async def run(self) -> None:
        """Decide until closed."""
        while not self._closed:
            await self._until_due()
            await asyncio.sleep(GATHERING)
            if self.intake.is_synced and not self._closed:
                self.step()

    def close(self) -> None:
        """Decide nothing more."""
        self._closed = True
        self.intake.woken.set()

    def step(self) -> None:
        """Take in what has come, and decide if we may."""
        given, began = self.intake.take(self._clock()), self._seconds()
        if self._may_decide():
            self._decide(given)
            self._beat(self._seconds() - began)
        else:
            self.engine.take_in(given)
        self._turned_at = self._seconds()

    def silence(self) -> float:
        """For how many seconds it has stood still that should turn; 0 if it is well.

        Until its first turn it waits for an API server, and another process could do no better.
        """
        if self._turned_at is None:
            return 0.0
        silent = self._seconds() - self._turned_at
        patience = max(LEAST, PERIODS * self.engine.configuration.schedule_period / NANOSECONDS)
        return silent if silent > patience else 0.0

    def _decide(self, given: CycleInput) -> None:
        result = self.engine.cycle(given)
        for carrier in self._carriers:
            carrier.carry_out(result.effects)
        for reporter in self._reporters:
            reporter(given.now, result)

    async def _until_due(self) -> None:
        """Wait for news, for what is due by itself, and for no longer than a period."""
        period = self.engine.configuration.schedule_period / NANOSECONDS
        deadline = self.engine.next_deadline() if self.intake.is_synced else None
        patience = period if deadline is None else min(period, max(0.0, (deadline - self._clock()) / NANOSECONDS))
        try:
            async with asyncio.timeout(patience):
                await self.intake.woken.wait()
        except TimeoutError:
            pass
