"""A crew: as many workers as may go at once, each with one thing in hand, and none where nothing is to be done.

A task for each thing to do would cost more than the doing, and a gang of ten thousand would be ten thousand tasks at
once. So workers take one thing after the other, and who comes first in line goes first. What has to wait for something
else than its turn (a rest, a volume) is an errand: a task beside the workers, which takes no worker's place.
"""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, Generic, Protocol, TypeVar

from posse.binding.limiter import Limiter

ThingT = TypeVar("ThingT")
ThingT_co = TypeVar("ThingT_co", covariant=True)

Work = Coroutine[Any, Any, None]


class Waiting(Protocol[ThingT_co]):
    """Things that wait to be done."""

    def __len__(self) -> int:
        """How many they are."""

    def take(self) -> ThingT_co | None:
        """The next one."""


class Crew(Generic[ThingT]):
    """Works off what waits.

    If somebody else cancels one of its tasks, the event loop is being ended: then `ended` is called and nobody works
    any more. A task that fails otherwise is a defect: it is told to the event loop, and the others go on.
    """

    def __init__(
        self,
        waiting: Waiting[ThingT],
        work: Callable[[ThingT], Work],
        limiter: Limiter,
        ended: Callable[[], None],
    ) -> None:
        self._waiting = waiting
        self._work = work
        self._limiter = limiter
        self._ended = ended
        self._tasks: set[asyncio.Task[None]] = set()
        self._dismissed = False
        self.working = 0

    @property
    def full(self) -> bool:
        """Whether as many work as may."""
        return self.working >= self._limiter.limit

    def call(self) -> None:
        """Let as many work as there is work for."""
        if not self._dismissed:
            for _ in range(min(self._limiter.limit - self.working, len(self._waiting))):
                self.working += 1
                self._start(self._worker())

    def send(self, errand: Work) -> None:
        """Start something that takes no worker's place."""
        if self._dismissed:
            errand.close()
        else:
            self._start(errand)

    async def dismiss(self) -> None:
        """End all that is under way, for good."""
        self._dismissed = True
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _worker(self) -> None:
        try:
            while self.working <= self._limiter.limit:
                await self._limiter.opened()
                if (thing := self._waiting.take()) is None:
                    return
                await self._work(thing)
                if not self.full:
                    self.call()
        finally:
            self.working -= 1

    def _start(self, work: Work) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._done)

    def _done(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if task.cancelled():
            if not self._dismissed:
                self._dismissed = True
                self._ended()
        elif fault := task.exception():
            told = {"message": "binding failed where it should not", "exception": fault, "task": task}
            task.get_loop().call_exception_handler(told)
            self.call()
