"""Free room: pods of equal or lower priority whose leaving would let a gang start.

Where to free what is worked out from the columns: on each node that would take a missing member but for room, the
fewest pods that make place for one, node after node until all missing members have a place. Cycles prove the set, and
then that every pod of it is needed: without any one of them the gang still waits. A pod that its owner would bring
back is named by its owner.
"""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from posse.cluster.status import Status
from posse.cluster.views import Gang, Task
from posse.cluster.world import World
from posse.scheduler.reasons import PASSES
from posse.whatif.explanation import Change, Reference, Remedy
from posse.whatif.search import Search

MOST = 24
"""How many pods are asked to leave at most."""
MOST_NODES = 128
"""How many nodes are looked at, those that lack least first."""
STAYING = ("DaemonSet/", "Node/")
"""Owners whose pods belong to their node."""

Amounts = NDArray[np.int64]


def free_resources(search: Search) -> list[Remedy]:
    """Pods that must leave, none too many."""
    pods = _proposal(search)
    if not pods:
        return []
    leaving = list(search.situation.removal(pods))
    if not search.works(Change(remove=tuple(leaving))):
        search.tried.append(f"making {len(leaving)} pods of equal or lower priority leave")
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
    """Pods whose leaving makes place for all missing members, the least urgent and fewest first."""
    missing = list(search.finding.missing)
    if not missing or len(missing) > MOST:
        return []
    world = search.gang.world
    shape = int(world.columns.ledger.task_shape[missing[0]])
    request = world.columns.ledger.shape_request[shape]
    movable = _movable(search.gang, max(Task(world, row).priority for row in missing))
    options = [_on_node(world, lacks, pods) for lacks, pods in _candidates(search, missing[0], request, movable)]
    leaving = [pod for _, pods in sorted(each for each in options if each[1])[: len(missing)] for pod in pods]
    return leaving if len(leaving) <= MOST else []


def _movable(gang: Gang, urgent: int) -> NDArray[np.intp]:
    """Pods that may be asked to leave, by node: nobody of the gang itself, nobody more urgent."""
    ledger, count = gang.world.columns.ledger, len(gang.world.tasks)
    runs = np.isin(ledger.task_status[:count], (Status.BOUND, Status.RUNNING))
    runs &= (ledger.task_gang[:count] != gang.row) & (gang.world.columns.traits.task_priority[:count] <= urgent)
    rows = np.flatnonzero(runs)
    return rows[np.argsort(ledger.task_node[rows], kind="stable")]


def _candidates(
    search: Search, task: int, request: Amounts, movable: NDArray[np.intp]
) -> Iterator[tuple[Amounts, list[Task]]]:
    """Nodes that would take a task if pods left, those that lack least first: what they lack, and the pods."""
    world = search.gang.world
    ledger = world.columns.ledger
    feasibility = search.situation.engine.open(search.situation.now).chooser.feasibility
    suits = feasibility.codes(task, with_room=False) == PASSES
    free = feasibility.future_idle()
    on = ledger.task_node[movable]
    given = np.zeros_like(free)
    for dimension in np.flatnonzero(request).tolist():
        held = ledger.shape_request[ledger.task_shape[movable], dimension]
        given[dimension] = np.bincount(on, weights=held, minlength=free.shape[1])
    lacks = np.maximum(request[:, None] - free, 0)
    suits &= ((lacks <= given) | (request[:, None] == 0)).all(axis=0) & lacks.any(axis=0)
    part = (lacks / np.maximum(request, 1)[:, None]).sum(axis=0)
    nodes = np.flatnonzero(suits)
    for node in nodes[np.argsort(part[nodes], kind="stable")][:MOST_NODES].tolist():
        here = movable[np.searchsorted(on, node, "left") : np.searchsorted(on, node, "right")]
        yield np.where(request > 0, lacks[:, node], 0), [Task(world, row) for row in here.tolist()]


def _on_node(world: World, lacks: Amounts, pods: list[Task]) -> tuple[tuple[int, int], list[str]]:
    """The pods that would have to leave a node, the least urgent and most helpful first, and what that costs."""
    requests = world.columns.ledger.shape_request
    mine = [task for task in pods if not task.fact.owner.startswith(STAYING)]
    helps = {shape: _help(requests[shape], lacks) for shape in {task.shape_row for task in mine}}
    mine.sort(key=lambda task: (task.priority, -helps[task.shape_row], task.key))
    leaving: list[Task] = []
    for task in mine:
        if not lacks.any():
            break
        if (np.minimum(requests[task.shape_row], lacks) > 0).any():
            leaving.append(task)
            lacks = np.maximum(lacks - requests[task.shape_row], 0)
    if lacks.any():
        return (0, 0), []
    return (max(task.priority for task in leaving), len(leaving)), [task.key for task in leaving]


def _help(request: Amounts, lacks: Amounts) -> float:
    """How much of what is lacking a pod would give back."""
    wanted = lacks > 0
    return float((np.minimum(request, lacks)[wanted] / lacks[wanted]).sum())
