"""A crew: as many workers as may go at once, each with one thing in hand, and none where nothing is to be done.

A task for each thing to do would cost more than the doing, and a gang of ten thousand would be ten thousand tasks at
once. So workers take one thing after the other, and who comes first in line goes first. What has to wait for something
else than its turn (a rest, a volume) is an errand: a task beside the workers, which takes no worker's place.
"""

import asyncio
from collections.abc import Callable, Coroutine, Iterable
from contextlib import suppress
from typing import Any, Generic, TypeVar

from posse.binding.limiter import Limiter
from posse.binding.line import Line
from posse.kube.api.client import Sleep

ThingT = TypeVar("ThingT")

Work = Coroutine[Any, Any, None]


class Crew(Generic[ThingT]):
    """Works off a line. `ended` is called when nobody will work any more, whatever is left.

    That is so at the end of `finish`, and if somebody else cancels one of its tasks: the event loop is being ended
    then. A task that fails otherwise is a defect: the event loop is told, and the others go on.
    """

    def __init__(
        self, work: Callable[[ThingT], Work], ended: Callable[[], None], limiter: Limiter, sleep: Sleep
    ) -> None:
        self._work = work
        self._ended = ended
        self._limiter = limiter
        self._sleep = sleep
        self._line: Line[ThingT] = Line()
        self._tasks: set[asyncio.Task[None]] = set()
        self._dismissed = False
        self.working = 0

    @property
    def full(self) -> bool:
        """Whether as many work as may."""
        return self.working >= self._limiter.limit

    def give(self, place: int, things: Iterable[ThingT]) -> None:
        """Have things done, those of a lesser place first."""
        self._line.join(place, things)
        self._call()

    def give_later(self, place: int, thing: ThingT, seconds: float) -> None:
        """Have a thing done, but not yet."""
        self.send(self._later(place, thing, seconds))

    def send(self, errand: Work) -> None:
        """Start something that takes no worker's place."""
        if self._dismissed:
            errand.close()
        else:
            self._start(errand)

    async def finish(self, idle: asyncio.Event, deadline: float) -> None:
        """Wait until all is done, but no longer than so many seconds, and end what is under way then."""
        try:
            with suppress(TimeoutError):
                async with asyncio.timeout(deadline):
                    await idle.wait()
        finally:
            await self._dismiss()
            self._ended()

    async def _dismiss(self) -> None:
        self._dismissed = True
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self.working = 0  # who was cancelled before beginning has not counted back

    async def _later(self, place: int, thing: ThingT, seconds: float) -> None:
        await self._sleep(seconds)
        self.give(place, [thing])

    def _call(self) -> None:
        """Let as many work as there is work for."""
        if not self._dismissed:
            for _ in range(min(self._limiter.limit - self.working, len(self._line))):
                self.working += 1
                self._start(self._worker())

    async def _worker(self) -> None:
        try:
            while self.working <= self._limiter.limit:
                await self._limiter.opened()
                if (thing := self._line.take()) is None:
                    return
                await self._work(thing)
                if not self.full:
                    self._call()
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
            self._call()
