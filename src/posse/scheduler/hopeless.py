"""Hopeless: gangs for which the cluster has not room enough, by a count that can only be too high.

A gang of equal members that wants n more of them cannot be placed where fewer than n find room on all suitable nodes
together, whatever others do; those that are promised a node already need no other. Asking that costs one look at the
nodes per shape, not one attempt per gang, so ten thousand hopeless gangs in front do not slow down the next good one.
Leaving them out changes no decision: each would have failed.
"""

import numpy as np
from numpy.typing import NDArray

from posse.cluster.status import PROMISED_STATES
from posse.scheduler.plugin import Rows
from posse.scheduler.session import Session


def hopeless(session: Session, gangs: Rows) -> NDArray[np.bool_]:
    """Which of these gangs surely find no room. Of one whose members differ nothing is said."""
    short = session.tiers.shortfalls(gangs)
    shapes = session.world.columns.traits.gang_shape[gangs]
    known = (short >= 0) & (shapes >= 0)
    promised = session.world.columns.ledger.gang_count[gangs][:, PROMISED_STATES].sum(axis=1)
    wanted = np.maximum(short - promised, 1)
    found = np.zeros(len(gangs), np.bool_)
    for shape in np.unique(shapes[known]).tolist():
        mine = known & (shapes == shape)
        enough = int(wanted[mine].max())
        found |= mine & (wanted > session.filler.capacity(shape, enough, promised_too=session.takes_promises))
    return found
