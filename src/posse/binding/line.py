"""The line: who is bound next. The gang that was decided first, and the members of one gang together.

Members that have to be tried again stand where their gang stands, so a gang that is nearly bound is not left behind
those that come after it.
"""

from collections import deque
from collections.abc import Iterable
from heapq import heappop, heappush
from itertools import count
from typing import Generic, TypeVar

ThingT = TypeVar("ThingT")


class Line(Generic[ThingT]):
    """Those who wait for a worker."""

    def __init__(self) -> None:
        self._heap: list[tuple[int, int, deque[ThingT]]] = []
        self._joined = count()
        self._length = 0

    def __len__(self) -> int:
        return self._length

    def join(self, place: int, things: Iterable[ThingT]) -> None:
        """Stand in line, together: before those with a greater place, behind those with an equal one."""
        joined = deque(things)
        if joined:
            heappush(self._heap, (place, next(self._joined), joined))
            self._length += len(joined)

    def take(self) -> ThingT | None:
        """Whose turn it is; None if nobody waits."""
        if not self._heap:
            return None
        _, _, first = self._heap[0]
        thing = first.popleft()
        if not first:
            heappop(self._heap)
        self._length -= 1
        return thing
