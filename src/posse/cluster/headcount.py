"""Headcounts: how many pods of a certain sort lie on each node, kept up to date by following the pod log.

A sort is a weight per kin, or per shape: 1 for those that are meant, 0 for the others. A pod counts while it takes
room on a node or is promised some, so the members of a gang that is being placed count for each other. Terminating
pods count or not, as the rule wants.
"""

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from posse.cluster.status import OCCUPIES, Status
from posse.cluster.world import World

KIN, SHAPE, NODE, SIGN, TERMINATING = range(5)

Weights = NDArray[np.integer[Any]] | NDArray[np.bool_]


class Headcount:
    """Pods per node row, of one sort."""

    def __init__(
        self,
        sort_by: Literal["kin", "shape"],
        weights: Callable[[World], Weights],
        *,
        with_terminating: bool = True,
    ) -> None:
        self._column = KIN if sort_by == "kin" else SHAPE
        self._weights = weights
        self._with_terminating = with_terminating
        self._counts = np.zeros(0, np.int64)
        self._seen: tuple[int, int] | None = None

    def per_node(self, world: World) -> NDArray[np.int64]:
        """The count of each node row. Not to be changed."""
        columns = world.columns
        end, rows = int(columns.ledger.log_ends[1]), len(world.nodes)
        if self._seen is None or self._seen[0] != columns.log_epoch:
            self._counts = self._from_scratch(world, rows)
        else:
            if rows > len(self._counts):
                self._counts = np.concatenate([self._counts, np.zeros(rows - len(self._counts), np.int64)])
            if self._seen[1] < end:
                self._follow(world, columns.ledger.pod_log[self._seen[1] : end])
        self._seen = (columns.log_epoch, end)
        return self._counts

    def _follow(self, world: World, entries: NDArray[np.int32]) -> None:
        if not self._with_terminating:
            entries = entries[entries[:, TERMINATING] == 0]
        weights = self._weights(world)[entries[:, self._column]]
        np.add.at(self._counts, entries[:, NODE], weights * entries[:, SIGN])

    def _from_scratch(self, world: World, rows: int) -> NDArray[np.int64]:
        ledger, tasks = world.columns.ledger, len(world.tasks)
        status, node = ledger.task_status[:tasks], ledger.task_node[:tasks]
        counts = (OCCUPIES[status] | (status == Status.PIPELINED)) & (node >= 0)
        if not self._with_terminating:
            counts &= status != Status.RELEASING
        sort = (ledger.task_kin if self._column == KIN else ledger.task_shape)[:tasks][counts]
        weights = self._weights(world)[sort]
        return np.bincount(node[counts], weights=weights, minlength=rows).astype(np.int64)
