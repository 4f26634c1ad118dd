"""Clearing nodes: which pods would have to leave for members to find a place.

Worked out from the columns, member by member: the node on which the fewest and least urgent pods make place for it,
those that left for the member before already gone.
"""

import heapq
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from posse.cluster.views import Task
from posse.cluster.world import World

MOST_NODES = 128
"""How many nodes are looked at, those that lack least first."""
STAYING = ("DaemonSet/", "Node/")
"""Owners whose pods belong to their node."""

Amounts = NDArray[np.int64]
Rows = NDArray[np.intp]
Price = tuple[int, int]
"""The highest priority among pods that leave, and how many they are."""
FOR_NOTHING: Price = (np.iinfo(np.int64).min, 0)


def stays(task: Task) -> bool:
    """Whether a pod goes only with its node."""
    return task.fact.owner.startswith(STAYING)


def enough(world: World, lacks: Amounts, tasks: Iterable[Task]) -> list[Task] | None:
    """Of these tasks, so many that together they have what is lacking, the least urgent and most helpful first."""
    requests, left = world.columns.ledger.shape_request, lacks
    given = list(tasks)
    helps = {shape: _help(requests[shape], lacks) for shape in {task.shape_row for task in given}}
    chosen: list[Task] = []
    for task in sorted(given, key=lambda task: (task.priority, -helps[task.shape_row], task.key)):
        if not left.any():
            break
        if (np.minimum(requests[task.shape_row], left) > 0).any():
            chosen.append(task)
            left = np.maximum(left - requests[task.shape_row], 0)
    return None if left.any() else chosen


def make_places(
    world: World, count: int, shape: int, suits: NDArray[np.bool_], free: Amounts, movable: Rows
) -> list[Task] | None:
    """The pods that leave for so many members of a shape; what is free is kept up to date."""
    request = world.columns.ledger.shape_request[shape]
    on = world.columns.ledger.task_node[movable]
    offers: list[tuple[Price, list[str], Clearing]] = []
    for node in _candidates(world, request, suits, free, movable):
        here = movable[np.searchsorted(on, node, "left") : np.searchsorted(on, node, "right")]
        clearing = Clearing(world, free[:, node], [Task(world, row) for row in here.tolist()])
        _offer(offers, clearing, request)
    left: list[Task] = []
    for _ in range(count):
        if not offers:
            return None
        *_, clearing = heapq.heappop(offers)
        left += clearing.clear(request)
        _offer(offers, clearing, request)
    return left


def _offer(offers: "list[tuple[Price, list[str], Clearing]]", clearing: "Clearing", request: Amounts) -> None:
    leaving = clearing.leaving(request)
    if leaving is not None:
        price = (max(task.priority for task in leaving), len(leaving)) if leaving else FOR_NOTHING
        heapq.heappush(offers, (price, [task.key for task in leaving] or [clearing.name], clearing))


def _candidates(world: World, request: Amounts, suits: NDArray[np.bool_], free: Amounts, movable: Rows) -> list[int]:
    """Nodes that would take a member if pods left, those that lack least first."""
    ledger = world.columns.ledger
    on, given = ledger.task_node[movable], np.zeros_like(free)
    for dimension in np.flatnonzero(request).tolist():
        held = ledger.shape_request[ledger.task_shape[movable], dimension]
        given[dimension] = np.bincount(on, weights=held, minlength=free.shape[1])
    lacks = np.maximum(request[:, None] - free, 0)
    would_do = suits & ((lacks <= given) | (request[:, None] == 0)).all(axis=0) & lacks.any(axis=0)
    part = (lacks / np.maximum(request, 1)[:, None]).sum(axis=0)
    nodes = np.flatnonzero(would_do)
    found: list[int] = nodes[np.argsort(part[nodes], kind="stable")][:MOST_NODES].tolist()
    return found


class Clearing:
    """A node that pods leave for the sake of one member after the other. What is `free` there is kept up to date."""

    def __init__(self, world: World, free: Amounts, pods: Sequence[Task]) -> None:
        self._world, self._free = world, free
        self._pods = [task for task in pods if not stays(task)]
        self.name = pods[0].key

    def leaving(self, request: Amounts) -> list[Task] | None:
        """The pods that would have to leave for a member; None if all of them would not be enough."""
        return enough(self._world, np.where(request > 0, np.maximum(request - self._free, 0), 0), self._pods)

    def clear(self, request: Amounts) -> list[Task]:
        """Let these pods leave and the member take their place."""
        leaving = self.leaving(request) or []
        for task in leaving:
            self._free += self._world.columns.ledger.shape_request[task.shape_row]
            self._pods.remove(task)
        self._free -= request
        return leaving


def _help(request: Amounts, lacks: Amounts) -> float:
    """How much of what is lacking a pod would give back."""
    wanted = lacks > 0
    return float((np.minimum(request, lacks)[wanted] / lacks[wanted]).sum()) if wanted.any() else 0.0
