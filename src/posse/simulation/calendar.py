"""The calendar: what is due when, in one order that never depends on anything but time and sequence."""

import heapq
from collections.abc import Callable
from typing import Generic, TypeVar

Entry = TypeVar("Entry")


class Calendar(Generic[Entry]):
    """Entries by time; of those due at one time, the first entered is first."""

    def __init__(self) -> None:
        self._heap: list[tuple[int, int, Entry]] = []
        self._count = 0

    def __len__(self) -> int:
        return len(self._heap)

    def enter(self, time: int, entry: Entry) -> None:
        """Let an entry be due at a time."""
        self._count += 1
        heapq.heappush(self._heap, (time, self._count, entry))

    def due(self, now: int) -> list[Entry]:
        """Take out everything that is due."""
        found = []
        while self._heap and self._heap[0][0] <= now:
            found.append(heapq.heappop(self._heap)[2])
        return found

    def fork(self, keeps: Callable[[Entry], bool]) -> "Calendar[Entry]":
        """A copy that holds those entries only that are to be kept."""
        other: Calendar[Entry] = Calendar()
        other._heap, other._count = sorted(each for each in self._heap if keeps(each[2])), self._count
        return other

    @property
    def next(self) -> int | None:
        """When the next entry is due."""
        return self._heap[0][0] if self._heap else None

    def ahead(self, now: int) -> list[int]:
        """How far ahead each entry lies, nearest first."""
        return sorted(time - now for time, _, _ in self._heap)
