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
from posse.cluster.views import Queue
from posse.scheduler.plugin import Rows
from posse.scheduler.session import Session, ours


def hopeless(session: Session, gangs: Rows) -> NDArray[np.bool_]:
    """Which of these gangs surely find no room. Of one whose members differ nothing is said."""
    short = session.tiers.shortfalls(gangs)
    shapes = session.world.columns.traits.gang_shape[gangs]
    known = (short >= 0) & (shapes >= 0)
    promised = session.world.columns.ledger.gang_count[gangs][:, PROMISED_STATES].sum(axis=1)
    wanted = np.maximum(short - promised, 1)
    found = np.zeros(len(gangs), np.bool_)
    if not session.tells:
        found[known] = _beyond_their_queue(session, gangs[known], shapes[known], wanted[known])
    for shape in np.unique(shapes[known & ~found]).tolist():
        mine = known & (shapes == shape)
        enough = int(wanted[mine].max())
        found |= mine & (wanted > session.filler.capacity(shape, enough, promised_too=session.takes_promises))
    return found


def _beyond_their_queue(
    session: Session, gangs: Rows, shapes: NDArray[np.int32], wanted: NDArray[np.int64]
) -> NDArray[np.bool_]:
    """Which of these gangs want more than their queues still give; nobody if promises may yet be taken back."""
    world, found = session.world, np.zeros(len(gangs), np.bool_)
    if session.takes_promises and len(ours(world, Status.PIPELINED)):
        return found
    ledger = world.columns.ledger
    queues = ledger.gang_queue[gangs]
    requests = ledger.shape_request[shapes]
    for queue in np.unique(queues).tolist():
        room = session.tiers.queue_room(Queue(world, queue), requests.shape[1])
        if room is not None:
            lacks = (requests > 0) & (requests * wanted[:, None] > room)
            found |= (queues == queue) & lacks.any(axis=1)
    return found
