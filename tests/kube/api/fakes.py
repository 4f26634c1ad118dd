"""Clocks that stand until somebody waits, and lots that always fall the same."""

import asyncio
from collections.abc import Callable


class Clock:
    """A clock that `sleep` moves."""

    def __init__(self, now: float = 1000.0) -> None:
        self.now = now
        self.slept: list[float] = []

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds
        await asyncio.sleep(0)


def always(number: float = 0.0) -> Callable[[], float]:
    return lambda: number
