"""Remaining: what remains for gangs, of their queues and of the nodes, while others have their turns.

In a cycle of which nobody is told more is passed over than the hopeless: a gang whose queue has not room enough, and
one whose turn comes when the room is gone that was there at first. What is told of these may change without anything of
them changing, so where somebody is told they have their turn.
"""

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from posse.cluster.status import PROMISED_STATES, Status
from posse.cluster.views import Gang, Queue
from posse.scheduler.plugin import Rows
from posse.scheduler.session import Session, ours


class NothingKnown:
    """While somebody is told of the cycle, everybody has his turn."""

    def lacks(self, gang: Gang) -> bool:
        """Whether a gang whose turn it is surely finds no room."""
        return False

    def is_ready(self, gang: Gang) -> None:
        """Take note that a gang has what it needs."""


class Remaining:
    """What remains for gangs, of their queues and of the nodes, while others have their turns.

    Of queues it knows nothing while what is promised may be taken back.
    """

    def __init__(self, session: Session, gangs: Rows) -> None:
        self._session, self._gangs = session, gangs
        self._shapes = session.world.columns.traits.gang_shape[gangs]
        self._wanted = _wanted(session, gangs)
        self._requests = session.world.columns.ledger.shape_request[self._shapes]
        self._queues_count = not (session.takes_promises and len(ours(session.world, Status.PIPELINED)))
        self._state = -1
        self._rooms: dict[int, NDArray[np.int64] | None] = {}
        self._capacities: dict[int, int] = {}

    @cached_property
    def _numbers(self) -> dict[int, int]:
        return {row: number for number, row in enumerate(self._gangs.tolist())}

    def queues_lack(self) -> NDArray[np.bool_]:
        """Which of the gangs need more than their queues still give."""
        queues = self._session.world.columns.ledger.gang_queue[self._gangs]
        needs = self._requests * self._wanted[:, None]
        found = np.zeros(len(self._gangs), np.bool_)
        for queue in np.unique(queues[self._wanted > 0]).tolist():
            found |= (queues == queue) & self._beyond(needs, queue)
        return found

    def lacks(self, gang: Gang) -> bool:
        """Whether a gang whose turn it is surely finds no room."""
        number = self._numbers[gang.row]
        wanted = int(self._wanted[number])
        if not wanted:
            return False
        needs = self._requests[number] * wanted
        return bool(self._beyond(needs, gang.queue.row)) or wanted > self._capacity(int(self._shapes[number]))

    def is_ready(self, gang: Gang) -> None:
        """Take note that a gang has what it needs: from now on it wants one member at a time."""
        number = self._numbers[gang.row]
        self._wanted[number] = min(1, self._wanted[number])

    def _beyond(self, needs: NDArray[np.int64], queue: int) -> NDArray[np.bool_]:
        """Whether needs [.., D] are more than a queue still gives."""
        self._forget_what_changed()
        if queue not in self._rooms:
            dimensions = self._session.world.columns.ledger.shape_request.shape[1]
            room = self._session.tiers.queue_room(Queue(self._session.world, queue), dimensions)
            self._rooms[queue] = room if self._queues_count else None
        left = self._rooms[queue]
        if left is None:
            return np.zeros(needs.shape[:-1], np.bool_)
        return np.asarray(((needs > 0) & (needs > left)).any(axis=-1))

    def _capacity(self, shape: int) -> int:
        """How many of a shape the nodes still take, not counted further than anybody needs."""
        self._forget_what_changed()
        if shape not in self._capacities:
            enough = int(self._wanted[self._shapes == shape].max())
            takes_promises = self._session.takes_promises
            self._capacities[shape] = self._session.filler.capacity(shape, enough, promised_too=takes_promises)
        return self._capacities[shape]

    def _forget_what_changed(self) -> None:
        columns = self._session.world.columns
        state = int(columns.ledger.moment[0])
        if self._state != state:
            self._state = state
            self._rooms.clear()
            self._capacities.clear()


def _wanted(session: Session, gangs: Rows) -> NDArray[np.int64]:
    """How many more equal members each of these gangs needs at the least; 0 where members differ."""
    columns = session.world.columns
    promised = columns.ledger.gang_count[gangs][:, PROMISED_STATES].sum(axis=1)
    least = np.maximum(session.tiers.shortfalls(gangs).least - promised, 1)
    return np.where(columns.traits.gang_shape[gangs] >= 0, least, 0)
