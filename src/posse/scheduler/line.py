"""The line: whose turn it is, queue by queue and gang by gang.

The best queue is taken first, then its best gang. Turns move the keys (shares grow), so whoever had a turn is put back with a fresh
key, and a queue or gang whose key moved meanwhile is put back before it is believed: the line looks at the key again when it
takes somebody out.
"""

import heapq
from collections.abc import Callable, Iterable
from typing import Generic, TypeVar

from posse.cluster.views import Gang, Queue
from posse.scheduler.plugin import Key
from posse.scheduler.tiers import Tiers

Item = TypeVar("Item")


class Heap(Generic[Item]):
    """Items by a key that may move while they wait."""

    def __init__(self, key: Callable[[Item], Key]) -> None:
        self._key = key
        self._heap: list[tuple[Key, int, Item]] = []
        self._count = 0

    def __len__(self) -> int:
        return len(self._heap)

    def push(self, item: Item) -> None:
        """Let an item wait."""
        self._count += 1
        heapq.heappush(self._heap, (self._key(item), self._count, item))

    def pop(self) -> Item:
        """Take out the item that is first by its key of now."""
        while True:
            key, count, item = heapq.heappop(self._heap)
            now = self._key(item)
            if not self._heap or now <= key or (now, count) <= self._heap[0][:2]:
                return item
            heapq.heappush(self._heap, (now, count, item))


class Line:
    """Gangs waiting for their turn, by queue."""

    def __init__(self, tiers: Tiers, gangs: Iterable[Gang]) -> None:
        self._tiers = tiers
        self._gangs: dict[int, Heap[Gang]] = {}
        self._queues: Heap[Queue] = Heap(tiers.queue_key)
        for gang in gangs:
            self.push(gang)

    def push(self, gang: Gang) -> None:
        """Let a gang wait for a turn."""
        queue = gang.queue
        waiting = self._gangs.get(queue.row)
        if waiting is None:
            waiting = self._gangs[queue.row] = Heap(self._tiers.gang_key)
            self._queues.push(queue)
        waiting.push(gang)

    def next(self, *, skip_overused: bool = False) -> Gang | None:
        """The gang whose turn it is; its queue must be told when the turn is over (`back`). A queue that is overused is out for good."""
        while len(self._queues):
            queue = self._queues.pop()
            if skip_overused and self._tiers.queue_overused(queue) is not None:
                continue
            if len(self._gangs[queue.row]):
                return self._gangs[queue.row].pop()
        return None

    def back(self, gang: Gang) -> None:
        """End a turn: the gang's queue waits again."""
        self._queues.push(gang.queue)
