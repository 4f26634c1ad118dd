"""An event loop whose clock stands still while anybody has something to do, and jumps when everybody waits.

So hours pass in a moment, and equal runs are equal to the microsecond. Whoever waits for something that never comes is
told so rather than waited for.
"""

import asyncio
import selectors
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class StuckError(Exception):
    """All wait, and nothing will come."""


class Jumping(selectors.SelectSelector):
    """Lets time pass instead of waiting."""

    now = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready = super().select(0)
        if not ready and timeout is None:
            raise StuckError("everybody waits, and nothing will come")
        if not ready and timeout:
            self.now += timeout
        return ready


class JumpingLoop(asyncio.SelectorEventLoop):
    def __init__(self) -> None:
        self.jumping = Jumping()
        super().__init__(self.jumping)

    def time(self) -> float:
        return self.jumping.now


def run(story: Coroutine[Any, Any, T]) -> T:
    """Run a story in no time."""
    with asyncio.Runner(loop_factory=JumpingLoop) as runner:
        return runner.run(story)


def now() -> float:
    return asyncio.get_running_loop().time()
