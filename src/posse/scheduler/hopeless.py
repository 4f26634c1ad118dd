"""Hopeless: gangs for which there surely is not room enough, by counts that can only be too high.

A gang of equal members that wants n more of them cannot be placed where fewer than n find room on all suitable nodes
together, whatever others do; those that are promised a node already need no other. Asking that costs one look at the
nodes per shape, not one attempt per gang, so ten thousand hopeless gangs in front do not slow down the next good one.
Leaving them out changes no decision: each would have failed.

The same goes for a gang whose queue has not room enough. But what is told of such a gang may change from one cycle to
the next without anything of it changing, so it is passed over only in cycles of which nobody is told.
"""

import numpy as np
from numpy.typing import NDArray

from posse.cluster.status import PROMISED_STATES, Status
from posse.cluster.views import Gang, Queue
from posse.scheduler.plugin import Rows
from posse.scheduler.session import Session, ours


def hopeless(session: Session, gangs: Rows) -> NDArray[np.bool_]:
    """Which of these gangs surely find no room. Of one whose members differ nothing is said."""
    shapes, wanted = session.world.columns.traits.gang_shape[gangs], _wanted(session, gangs)
    found = QueueRoom(session, gangs).lacking()
    for shape in np.unique(shapes[(wanted > 0) & ~found]).tolist():
        mine = (wanted > 0) & (shapes == shape)
        enough = int(wanted[mine].max())
        found |= mine & (wanted > session.filler.capacity(shape, enough, promised_too=session.takes_promises))
    return found


def _wanted(session: Session, gangs: Rows) -> NDArray[np.int64]:
    """How many more equal members each of these gangs needs at the least; 0 where that is not known."""
    short = session.tiers.shortfalls(gangs)
    shapes = session.world.columns.traits.gang_shape[gangs]
    promised = session.world.columns.ledger.gang_count[gangs][:, PROMISED_STATES].sum(axis=1)
    return np.where((short >= 0) & (shapes >= 0), np.maximum(short - promised, 1), 0)


class QueueRoom:
    """Tells of gangs whether their queues have surely not room enough left for what they need.

    It never says so while somebody is told of the cycle, or while what is promised may yet be taken back.
    """

    def __init__(self, session: Session, gangs: Rows) -> None:
        self._session, self._gangs = session, gangs
        ledger, traits = session.world.columns.ledger, session.world.columns.traits
        self._requests = ledger.shape_request[traits.gang_shape[gangs]]
        self._needs = self._requests * _wanted(session, gangs)[:, None]
        may_grow = session.takes_promises and len(ours(session.world, Status.PIPELINED)) > 0
        if session.tells or may_grow:
            self._needs[:] = 0
        self._numbers = {row: number for number, row in enumerate(gangs.tolist())}
        self._rooms: dict[int, NDArray[np.int64] | None] = {}
        self._state = (-1, -1)

    def lacking(self) -> NDArray[np.bool_]:
        """Which of the gangs lack room."""
        queues = self._session.world.columns.ledger.gang_queue[self._gangs]
        found = np.zeros(len(self._gangs), np.bool_)
        for queue in np.unique(queues[self._needs.any(axis=1)]).tolist():
            room = self._room(queue)
            if room is not None:
                found |= (queues == queue) & ((self._needs > 0) & (self._needs > room)).any(axis=1)
        return found

    def lacks(self, gang: Gang) -> bool:
        """Whether a gang whose turn it is lacks room."""
        needs = self._needs[self._numbers[gang.row]]
        room = self._room(gang.queue.row)
        return room is not None and bool(((needs > 0) & (needs > room)).any())

    def is_ready(self, gang: Gang) -> None:
        """Take note that a gang has what it needs: from now on it wants one member at a time."""
        number = self._numbers[gang.row]
        self._needs[number] = np.minimum(self._needs[number], self._requests[number])

    def _room(self, queue: int) -> NDArray[np.int64] | None:
        """[D] what a queue still gives, kept as long as no gang changes."""
        world = self._session.world
        state = (world.columns.log_epoch, int(world.columns.ledger.log_ends[1]))
        if self._state != state:
            self._rooms.clear()
            self._state = state
        if queue not in self._rooms:
            dimensions = world.columns.ledger.shape_request.shape[1]
            self._rooms[queue] = self._session.tiers.queue_room(Queue(world, queue), dimensions)
        return self._rooms[queue]
