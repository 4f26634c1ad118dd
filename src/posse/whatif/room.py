"""Free room: pods of equal or lower priority whose leaving would let a gang start.

Where to free what is worked out from the columns: member by member, the node on which the fewest and least urgent pods
make place for it, those that left for the member before already gone. Cycles prove the set, and then that every pod of
it is needed: without any one of them the gang still waits. A pod that its owner would bring back is named by its owner.
"""

import heapq
from collections.abc import Sequence
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from posse.cluster.status import Status
from posse.cluster.views import Gang, Task
from posse.cluster.world import World
from posse.scheduler.reasons import PASSES
from posse.whatif import amounts
from posse.whatif.explanation import Change, Reference, Remedy
from posse.whatif.search import Search

MOST = 24
"""How many pods are asked to leave at most."""
MOST_NODES = 128
"""How many nodes are looked at, those that lack least first."""
STAYING = ("DaemonSet/", "Node/")
"""Owners whose pods belong to their node."""

Amounts = NDArray[np.int64]
Rows = NDArray[np.intp]
Price = tuple[int, int]
"""The highest priority among pods that leave, and how many they are."""
FOR_NOTHING: Price = (np.iinfo(np.int64).min, 0)


def free_resources(search: Search) -> list[Remedy]:
    """Pods that must leave, none too many."""
    pods = search.ask(lambda: _proposal(search), otherwise=list[str]())
    if not pods:
        return []
    leaving = list(search.situation.removal(pods))
    if not search.works(Change(remove=tuple(leaving))):
        search.tried.append(f"making {amounts.pods(len(leaving))} of equal or lower priority leave")
        return []
    for one in list(leaving):
        fewer = [each for each in leaving if each != one]
        if fewer and search.works(Change(remove=tuple(fewer))):
            leaving = fewer
    return [Remedy(action="free-resources", message=_message(leaving), remove=tuple(leaving))]


def _message(leaving: Sequence[Reference]) -> str:
    named = ", ".join(f"{one.kind} {one.namespace}/{one.name}" for one in leaving[:3])
    more = f" and {len(leaving) - 3} more" if len(leaving) > 3 else ""
    return f"room that {named}{more} would leave"


def _proposal(search: Search) -> list[str]:
    """Pods whose leaving makes place for all missing members; none if too many would have to leave."""
    missing, world = list(search.finding.missing), search.gang.world
    if not missing or len(missing) > MOST:
        return []
    movable = _movable(search.gang, max(Task(world, row).priority for row in missing))
    feasibility = search.situation.engine.open(search.situation.now).chooser.feasibility
    free = feasibility.future_idle()
    leaving: list[str] = []
    for _, equal in groupby(missing, key=lambda row: int(world.columns.ledger.task_shape[row])):
        tasks = list(equal)
        suits = feasibility.codes(tasks[0], with_room=False) == PASSES
        left = _make_places(world, len(tasks), Task(world, tasks[0]).shape_row, suits, free, movable)
        if left is None or len(leaving) + len(left) > MOST:
            return []
        leaving += [task.key for task in left]
        movable = movable[~np.isin(movable, [task.row for task in left])]
    return leaving


def _movable(gang: Gang, urgent: int) -> Rows:
    """Pods that may be asked to leave, by node: nobody of the gang itself, nobody more urgent."""
    ledger, count = gang.world.columns.ledger, len(gang.world.tasks)
    runs = np.isin(ledger.task_status[:count], (Status.BINDING, Status.BOUND, Status.RUNNING))
    runs &= (ledger.task_gang[:count] != gang.row) & (gang.world.columns.traits.task_priority[:count] <= urgent)
    rows = np.flatnonzero(runs)
    return rows[np.argsort(ledger.task_node[rows], kind="stable")]


def _make_places(
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
        self._requests, self._free = world.columns.ledger.shape_request, free
        self._pods = [task for task in pods if not task.fact.owner.startswith(STAYING)]
        self.name = pods[0].key

    def leaving(self, request: Amounts) -> list[Task] | None:
        """The pods that would have to leave for a member, the least urgent and most helpful first; None: not enough."""
        lacks = np.where(request > 0, np.maximum(request - self._free, 0), 0)
        helps = {shape: _help(self._requests[shape], lacks) for shape in {task.shape_row for task in self._pods}}
        leaving: list[Task] = []
        for task in sorted(self._pods, key=lambda task: (task.priority, -helps[task.shape_row], task.key)):
            if not lacks.any():
                break
            if (np.minimum(self._requests[task.shape_row], lacks) > 0).any():
                leaving.append(task)
                lacks = np.maximum(lacks - self._requests[task.shape_row], 0)
        return None if lacks.any() else leaving

    def clear(self, request: Amounts) -> list[Task]:
        """Let these pods leave and the member take their place."""
        leaving = self.leaving(request) or []
        for task in leaving:
            self._free += self._requests[task.shape_row]
            self._pods.remove(task)
        self._free -= request
        return leaving


def _help(request: Amounts, lacks: Amounts) -> float:
    """How much of what is lacking a pod would give back."""
    wanted = lacks > 0
    return float((np.minimum(request, lacks)[wanted] / lacks[wanted]).sum()) if wanted.any() else 0.0
