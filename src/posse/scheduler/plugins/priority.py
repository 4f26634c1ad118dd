"""Priority: higher goes first, and lower makes room.

A gang's priority is that of its priority class, a task's is its pod's. Between gangs victims must belong to a gang of
lower priority; within a gang they must be tasks of lower priority. A gang counts as starving as long as any member
waits.
"""

from collections.abc import Sequence
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from posse.cluster.views import Division, Gang, Task
from posse.scheduler.plugin import THE_WORLD, Key, Plugin, Rows


class PriorityPlugin(Plugin):
    """Order gangs and tasks by their priority."""

    name: ClassVar[str] = "priority"
    depends_on: ClassVar[frozenset[str]] = THE_WORLD
    gang_order_is_own = True

    def gang_order(self, gang: Gang) -> Key:
        """Put gangs of higher priority first."""
        return -gang.priority

    def gang_orders(self, gangs: Rows) -> Sequence[Key] | NDArray[np.generic]:
        """Say the same for many gangs at once."""
        orders: NDArray[np.int64] = -self.world.columns.traits.gang_priority[gangs]
        return orders

    def subgang_order(self, division: Division) -> Key:
        """Put sub-gangs with the higher highest task first."""
        return -division.priority

    def task_order(self, task: Task) -> Key:
        """Put tasks of higher priority first."""
        return -task.priority

    def task_orders(self, tasks: NDArray[np.int32]) -> NDArray[np.int64]:
        """Say the same for many tasks at once."""
        orders: NDArray[np.int64] = -self.world.columns.traits.task_priority[tasks]
        return orders

    def gang_starving(self, gang: Gang) -> bool:
        """Starve while any member waits."""
        return gang.ready_count + gang.waiting_count < gang.size

    def preemptable(self, preemptor: Task, candidates: Sequence[Task]) -> Sequence[Task] | None:
        """Take from gangs of lower priority, and from lower tasks of the own gang."""
        own = preemptor.gang
        if own is None or not own.is_declared:
            return ()
        return [task for task in candidates if self._is_lower(task, preemptor, own)]

    def _is_lower(self, task: Task, preemptor: Task, own: Gang) -> bool:
        gang = task.gang
        if gang is None:
            return False
        if gang.row == own.row:
            return task.priority < preemptor.priority
        return gang.priority < own.priority

    def evictable(self, for_gang: Gang, candidates: Sequence[Task], *, across_queues: bool) -> Sequence[Task] | None:
        """Take from gangs of lower priority; across queues it is the shares that decide, not priority."""
        if across_queues:
            return candidates
        return [task for task in candidates if (gang := task.gang) is not None and gang.priority < for_gang.priority]
