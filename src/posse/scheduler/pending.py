"""Pending: the tasks that wait in many gangs, found at once.

Looking through all tasks once is cheaper than looking through the members of each gang. The tasks come gang by gang,
those of each in task order.
"""

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from posse.cluster.status import Status
from posse.cluster.world import World
from posse.scheduler.plugin import Rows
from posse.scheduler.tiers import Tiers


class Pending(Struct, frozen=True):
    """Waiting tasks of gangs, those of gang number i from `begins[i]` to `begins[i + 1]`."""

    tasks: NDArray[np.int32]
    begins: NDArray[np.intp]

    def of(self, number: int) -> NDArray[np.int32]:
        """The waiting tasks of one of the gangs."""
        return self.tasks[self.begins[number] : self.begins[number + 1]]

    def counts(self) -> NDArray[np.intp]:
        """How many wait in each gang."""
        return np.diff(self.begins)


def pending_in(world: World, tiers: Tiers, gangs: Rows, *, best_effort: bool) -> Pending:
    """The pending tasks of gangs: those that ask for nothing but a place, or the others."""
    if not len(gangs):
        return Pending(np.empty(0, np.int32), np.zeros(1, np.intp))
    world.rank(gangs.tolist())
    ledger, traits, count = world.columns.ledger, world.columns.traits, len(world.tasks)
    number = np.full(len(world.gangs) + 1, -1, np.int32)
    number[gangs] = np.arange(len(gangs))
    tasks = np.flatnonzero(ledger.task_status[:count] == Status.PENDING).astype(np.int32)
    tasks = tasks[ledger.shape_best_effort[ledger.task_shape[tasks]] == best_effort]
    tasks = tasks[number[ledger.task_gang[tasks]] >= 0]
    tasks = tiers.in_task_order(tasks[np.argsort(traits.task_rank[tasks], kind="stable")])
    of = number[ledger.task_gang[tasks]]
    order = np.argsort(of, kind="stable")
    return Pending(tasks[order], np.searchsorted(of[order], np.arange(len(gangs) + 1)))
