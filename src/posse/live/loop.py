"""The loop: whenever something has come in, or something is due, one cycle; and what it decided goes out.

    intake ──▶ engine ──▶ binder, evictor     (and back to the intake: what came of it)
                     └──▶ reports             (statuses and events, in their own time)

What comes in within a few milliseconds is decided together. Only a leader decides; who stands by takes in what it is
told, so that it can begin at once. The cycle itself is pure and runs here without a pause; all waiting is between
cycles.
"""

import asyncio
from collections.abc import Callable, Iterable
from typing import Protocol

from posse.cluster.records import CycleResult, Effect
from posse.live.intake import Intake
from posse.scheduler.engine import Engine

NANOSECONDS = 1_000_000_000
GATHERING = 0.003
"""Seconds in which more may come in before a cycle begins."""


class Carrier(Protocol):
    """Carries out what was decided; the binder, or the evictor."""

    def carry_out(self, effects: Iterable[Effect]) -> None:
        """Begin what a cycle decided. Returns at once."""


Reporter = Callable[[int, CycleResult], None]
"""Is told of each cycle: its time, and what it decided. Returns at once."""


class Loop:
    """One scheduler at work. `clock` gives nanoseconds since 1970."""

    def __init__(
        self,
        engine: Engine,
        intake: Intake,
        carriers: Iterable[Carrier],
        *,
        may_decide: Callable[[], bool],
        clock: Callable[[], int],
        reporters: Iterable[Reporter] = (),
    ) -> None:
        self.engine, self.intake = engine, intake
        self._carriers, self._reporters = tuple(carriers), tuple(reporters)
        self._may_decide, self._clock = may_decide, clock
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
        given = self.intake.take(self._clock())
        if not self._may_decide():
            self.engine.take_in(given)
            return
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
