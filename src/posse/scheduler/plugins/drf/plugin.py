"""Dominant resource fairness: who has the smallest share goes first.

A gang's share is that of the resource of which it has the greatest part of the whole cluster; what it is promised
counts as if it had it. With `enableHierarchy` queues form a tree (see `hierarchy`), and the share that decides
between queues is fair at each level of it.

Victims in the own queue: a gang may take from another as long as the other's share does not fall below its own.
Across queues, only in a tree: as long as the other's branch stays the better served one.

All shares are read off the columns when asked for. There is nothing to keep, and nothing to put back when a statement
is undone.
"""

from collections.abc import Iterator, Sequence
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from posse.cluster.views import Gang, Queue, Task
from posse.scheduler.metrics.series import Series, gang_labels, series
from posse.scheduler.metrics.tally import Tally
from posse.scheduler.plugin import THE_WORLD, Key, Plugin, Rows, Setup
from posse.scheduler.plugins.drf.hierarchy import Hierarchy
from posse.scheduler.session import Session
from posse.scheduler.supply import Supply

CLOSE = 0.000001
"""Shares no farther apart than this are equal when victims are sought."""


class DrfPlugin(Plugin):
    """Serve gangs by their dominant share of the cluster."""

    name: ClassVar[str] = "drf"
    depends_on: ClassVar[frozenset[str]] = THE_WORLD
    gang_order_is_own = True

    def __init__(self, setup: Setup) -> None:
        super().__init__(setup)
        self._supply = Supply(setup.world)
        self.queue_order_is_own = not setup.uses_hierarchy
        self._tree = Hierarchy(setup.world, self._supply) if setup.uses_hierarchy else None

    def on_open(self, session: Session) -> None:
        """Look at how queues are arranged now."""
        if self._tree is not None:
            self._tree.arrange(session.world.queues.facts)

    # ------------------------------------------------------------------ orders

    def gang_order(self, gang: Gang) -> Key:
        """Put the smaller dominant share first."""
        return self._supply.share(self._has(gang.row))

    def gang_orders(self, gangs: Rows) -> Sequence[Key] | NDArray[np.generic]:
        """Say the same for many gangs at once."""
        ledger = self.world.columns.ledger
        return self._supply.shares(ledger.gang_allocated[gangs] + ledger.gang_promised[gangs])

    def queue_order(self, queue: Queue) -> Key:
        """Put the less served branch of the tree first; without a tree, leave the order to others."""
        return self._tree.rank(queue.row) if self._tree is not None else 0

    # ------------------------------------------------------------------ victims

    def preemptable(self, preemptor: Task, candidates: Sequence[Task]) -> Sequence[Task] | None:
        """Take from gangs that keep at least the share the asker will have. Each candidate is gone for the next."""
        own = preemptor.gang
        if own is None or not own.is_declared:
            return ()
        asks = self._supply.share(self._has(own.row) + self._request(preemptor))
        left: dict[int, NDArray[np.int64]] = {}
        victims = []
        for task in candidates:
            gang = task.gang
            if gang is None or not gang.is_declared:
                continue
            left[gang.row] = left.get(gang.row, self._has(gang.row)) - self._request(task)
            if asks - self._supply.share(left[gang.row]) <= CLOSE:
                victims.append(task)
        return victims

    def reclaimable(self, reclaimer: Task, candidates: Sequence[Task]) -> Sequence[Task] | None:
        """Take from branches that stay better served than the asker's. Without a tree, have no opinion."""
        if self._tree is None:
            return None
        own = reclaimer.gang
        if own is None or not own.is_declared:
            return ()
        return self._tree.victims(own, self._request(reclaimer), candidates)

    # ------------------------------------------------------------------ figures

    def figures(self, tally: Tally) -> Iterator[Series]:
        """Give the dominant share of each gang."""
        for each in tally.gangs(self.world):
            share = self._supply.share(self._has(self.world.gangs.find(each.gang.key)))
            yield series("volcano_job_share", share, **gang_labels(self.world, each.gang))

    # ------------------------------------------------------------------ columns

    def _has(self, gang: int) -> NDArray[np.int64]:
        ledger = self.world.columns.ledger
        has: NDArray[np.int64] = ledger.gang_allocated[gang] + ledger.gang_promised[gang]
        return has

    def _request(self, task: Task) -> NDArray[np.int64]:
        request: NDArray[np.int64] = self.world.columns.ledger.shape_request[task.shape_row]
        return request
