"""The line: whose turn it is, queue by queue and gang by gang.

The best queue is taken first, then its best gang. Turns move the keys (shares grow), so whoever had a turn is put back
with a fresh key. Somebody whose key may move while he waits, because it depends on others too, is asked for it again
before it is believed.
"""

import heapq
from collections.abc import Callable, Iterable
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from posse.cluster.views import Gang, Queue
from posse.cluster.world import World
from posse.scheduler.plugin import Key
from posse.scheduler.tiers import Tiers

Item = TypeVar("Item")


class Heap(Generic[Item]):
    """Items by a key. `keys_move`: a key may become another one while its item waits."""

    def __init__(self, key: Callable[[Item], Key], *, keys_move: bool = True) -> None:
        self._key, self._keys_move = key, keys_move
        self._heap: list[tuple[Key, int, Item]] = []
        self._count = 0

    def __len__(self) -> int:
        return len(self._heap)

    def extend(self, in_order: Iterable[tuple[Key, Item]]) -> None:
        """Let items wait whose keys are known, the smallest first. Nobody else may be waiting yet."""
        self._heap = [(key, number, item) for number, (key, item) in enumerate(in_order)]
        self._count = len(self._heap)

    def push(self, item: Item) -> None:
        """Let an item wait."""
        self._count += 1
        heapq.heappush(self._heap, (self._key(item), self._count, item))

    def pop_while(self, is_wanted: Callable[[Item], bool], most: int) -> list[tuple[Key, int, Item]]:
        """Take out those that are first, as long as they are wanted, with their places. For keys that do not move."""
        taken: list[tuple[Key, int, Item]] = []
        while self._heap and len(taken) < most and is_wanted(self._heap[0][2]):
            taken.append(heapq.heappop(self._heap))
        return taken

    def put_back(self, taken: Iterable[tuple[Key, int, Item]]) -> None:
        """Let items wait again in the places that they were taken from."""
        for each in taken:
            heapq.heappush(self._heap, each)

    def pop(self) -> Item:
        """Take out the item that is first by its key of now."""
        while True:
            key, count, item = heapq.heappop(self._heap)
            if not self._keys_move or not self._heap:
                return item
            now = self._key(item)
            if now <= key or (now, count) <= self._heap[0][:2]:
                return item
            heapq.heappush(self._heap, (now, count, item))


class Line:
    """Gangs (their rows) waiting for their turn, by queue."""

    def __init__(self, tiers: Tiers, world: World, gangs: NDArray[np.intp]) -> None:
        self._tiers, self._world = tiers, world
        self._gangs: dict[int, Heap[int]] = {}
        self._queues: Heap[Queue] = Heap(tiers.queue_key, keys_move=not tiers.queue_order_is_own)
        self._only: Queue | None = None
        """The queue that had the last turn, if no other one waits: it need not be compared with anybody."""
        queues = world.columns.ledger.gang_queue[gangs]
        for row in np.unique(queues).tolist():
            mine = gangs[queues == row]
            heap = self._gangs[row] = Heap(self._key, keys_move=not tiers.gang_order_is_own)
            heap.extend(sorted(zip(tiers.gang_keys(mine), mine.tolist(), strict=True)))
            self._queues.push(Queue(world, row))

    def _key(self, gang: int) -> Key:
        return self._tiers.gang_key(Gang(self._world, gang))

    def next(self, *, skip_overused: bool = False) -> Gang | None:
        """The gang whose turn it is; when the turn is over its queue must be told (`back`).

        A queue that is overused is out for good.
        """
        while self._only is not None or len(self._queues):
            queue = self._only if self._only is not None else self._queues.pop()
            self._only = None
            if skip_overused and self._tiers.queue_overused(queue) is not None:
                continue
            if len(self._gangs[queue.row]):
                return Gang(self._world, self._gangs[queue.row].pop())
        return None

    def followers(self, gang: Gang, is_alike: Callable[[int], bool], most: int) -> "Followers":
        """The gangs whose turn surely comes next, as long as they are like the one that has its turn.

        They are taken out.
        """
        if len(self._queues) or not self._tiers.gang_order_is_own:
            return Followers(Heap(self._key), [])
        waiting = self._gangs[gang.queue.row]
        return Followers(waiting, waiting.pop_while(is_alike, most))

    def again(self, gang: Gang) -> None:
        """Let a gang wait for another turn."""
        self._gangs[gang.queue.row].push(gang.row)

    def back(self, gang: Gang) -> None:
        """End a turn: the gang's queue waits again."""
        if len(self._queues):
            self._queues.push(gang.queue)
        else:
            self._only = gang.queue


class Followers:
    """Gangs that were taken out of a line together."""

    def __init__(self, waiting: Heap[int], taken: list[tuple[Key, int, int]]) -> None:
        self._waiting, self._taken = waiting, taken

    @property
    def gangs(self) -> list[int]:
        """Their rows, in order."""
        return [row for _, _, row in self._taken]

    def put_back_from(self, number: int) -> None:
        """Let those from a number on wait again."""
        self._waiting.put_back(self._taken[number:])
