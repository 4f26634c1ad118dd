"""Free room: pods of equal or lower priority whose leaving would let a gang start.

Room on nodes, and in what the gang's queue and the cluster's admission still give. Those ahead in line take what
becomes free before the gang does: if what it lacks itself is not enough, what they lack is added, and at last whoever
else may leave, within the limit. Cycles prove the set, and then that every pod of it is needed: without any one of them
the gang still waits. A pod that its owner would bring back is named by its owner.
"""

from collections.abc import Sequence
from itertools import groupby

import numpy as np

from posse.cluster.status import Status
from posse.cluster.views import Gang, Task
from posse.scheduler.reasons import PASSES
from posse.whatif import amounts
from posse.whatif.clearing import Amounts, Rows, enough, make_places, stays
from posse.whatif.explanation import Change, Reference, Remedy
from posse.whatif.search import Search

MOST = 24
"""How many pods are asked to leave at most."""
MOST_KNOWN = 1000
"""Of how many some are tried without knowing whether they are the right ones."""


def free_resources(search: Search) -> list[Remedy]:
    """Pods that must leave, none too many."""
    tried: list[list[Reference]] = []
    for pods in search.ask(lambda: _proposals(search), otherwise=list[list[str]]()):
        leaving = list(search.situation.removal(pods))
        if leaving in tried:
            continue
        if search.works(Change(remove=tuple(leaving))):
            needed = _needed(search, leaving)
            return [Remedy(action="free-resources", message=_message(needed), remove=tuple(needed))]
        tried.append(leaving)
    if tried:
        search.tried.append(f"making {amounts.pods(max(map(len, tried)))} of equal or lower priority leave")
    return []


def _needed(search: Search, leaving: list[Reference]) -> list[Reference]:
    """Those without which the others are not enough: of as many as may be asked, whole parts are spared first."""
    kept, part = leaving, max(1, len(leaving) // 2 if len(leaving) == MOST else 1)
    while True:
        for spared in [kept[start : start + part] for start in range(0, len(kept), part)]:
            fewer = [each for each in kept if each not in spared]
            if fewer and search.works(Change(remove=tuple(fewer))):
                kept = fewer
        if part == 1:
            return kept
        part = max(1, min(part, len(kept)) // 2)


def _message(leaving: Sequence[Reference]) -> str:
    named = ", ".join(f"{one.kind} {one.namespace}/{one.name}" for one in leaving[:3])
    more = f" and {len(leaving) - 3} more" if len(leaving) > 3 else ""
    return f"room that {named}{more} would leave"


def _proposals(search: Search) -> list[list[str]]:
    """Sets of pods whose leaving may do, the smallest first."""
    missing, mine = list(search.finding.missing), [*search.finding.placed, *search.finding.missing]
    if not mine or len(missing) > MOST:
        return []
    leavers = Leavers(search, max(Task(search.gang.world, row).priority for row in mine))
    found = [leavers.for_room(missing, mine)]
    if len(search.ahead) + len(mine) <= MOST:
        found.append(leavers.for_room([*search.ahead, *mine], [*search.ahead, *mine]))
    found.append(leavers.anybody())
    return [[task.key for task in tasks] for tasks in found if tasks and len(tasks) <= MOST]


class Leavers:
    """Who may be asked to leave for a gang, and who should."""

    def __init__(self, search: Search, urgent: int) -> None:
        self._search, self._gang, self._world = search, search.gang, search.gang.world
        self._movable = _movable(search.gang, urgent)
        ledger = self._world.columns.ledger
        gangs = ledger.task_gang[self._movable]
        self._own = self._movable[(ledger.gang_queue[gangs] == search.gang.queue.row) & (gangs >= 0)]

    def for_room(self, members: list[int], wanting: list[int]) -> list[Task] | None:
        """Those who make place on nodes for these members, and in the queue for those of its members who want it."""
        in_queue, admitted = self._lacking_in_queue(wanting), self._lacking_for_admission()
        pools = (self._own, self._movable) if in_queue.any() else (self._movable,)
        places = (self._for_places(members, pool) for pool in pools)
        leaving = next((left for left in places if left is not None), None)
        for lacks, pool in ((in_queue, self._own), (admitted, self._movable)):
            if leaving is not None and lacks.any():
                leaving = self._with_enough(leaving, lacks, pool)
        return leaving

    def anybody(self) -> list[Task]:
        """As many as may be asked at all, the least urgent of the gang's queue first; where so many run that these
        would be any, nobody.
        """
        if len(self._movable) > MOST_KNOWN:
            return []
        own = set(self._own.tolist())
        tasks = [task for row in self._movable.tolist() if not stays(task := Task(self._world, row))]
        return sorted(tasks, key=lambda task: (task.row not in own, task.priority, task.key))[:MOST]

    def _for_places(self, members: list[int], pool: Rows) -> list[Task] | None:
        """Those who make place on nodes; those ahead who would find none whoever left are left out."""
        world, movable, leaving = self._world, pool, list[Task]()
        feasibility = self._search.situation.engine.open(self._search.situation.now).chooser.feasibility
        free = feasibility.future_idle()
        for _, equal in groupby(members, key=lambda row: int(world.columns.ledger.task_shape[row])):
            tasks = list(equal)
            suits = feasibility.codes(tasks[0], with_room=False) == PASSES
            left = make_places(world, len(tasks), Task(world, tasks[0]).shape_row, suits, free, movable)
            if left is None and tasks[0] in self._search.ahead:
                continue
            if left is None or len(leaving) + len(left) > MOST:
                return None
            leaving += left
            movable = movable[~np.isin(movable, [task.row for task in left])]
        return leaving

    def _with_enough(self, leaving: list[Task], lacks: Amounts, pool: Rows) -> list[Task] | None:
        """These and others who together give back what is lacking."""
        request, inside = self._world.columns.ledger.shape_request, set(pool.tolist())
        for task in leaving:
            if task.row in inside:
                lacks = np.maximum(lacks - request[task.shape_row], 0)
        gone = {task.row for task in leaving}
        asks = request[self._world.columns.ledger.task_shape[pool]]
        helpful = pool[((asks > 0) & (lacks > 0)).any(axis=1)]
        others = (Task(self._world, row) for row in helpful.tolist() if row not in gone)
        more = enough(self._world, lacks, (task for task in others if not stays(task)))
        return None if more is None else [*leaving, *more]

    def _lacking_in_queue(self, wanting: list[int]) -> Amounts:
        """What the queue does not give any more of what its members among these ask for."""
        ledger, dimensions = self._world.columns.ledger, len(self._world.dimensions)
        mine = [row for row in wanting if ledger.gang_queue[ledger.task_gang[row]] == self._gang.queue.row]
        asked: Amounts = ledger.shape_request[ledger.task_shape[mine]].sum(axis=0)
        room = self._search.situation.engine.tiers.queue_room(self._gang.queue, dimensions)
        if room is None:
            return np.zeros_like(asked)
        lacks = asked.copy()
        lacks[:dimensions] = np.where(asked[:dimensions] > 0, np.maximum(asked[:dimensions] - room, 0), 0)
        return lacks

    def _lacking_for_admission(self) -> Amounts:
        """What the cluster may not promise any more of what the gang's minimum asks for."""
        lacks = np.zeros(self._world.columns.ledger.shape_request.shape[1], np.int64)
        for blocker in self._search.verdict.blockers if self._search.verdict is not None else ():
            dimension = self._world.dimensions.known(blocker.unit)
            short = (blocker.need or 0) - (blocker.have or 0)
            if blocker.kind == "admission" and dimension is not None and short > 0:
                lacks[dimension] = short
        return lacks


def _movable(gang: Gang, urgent: int) -> Rows:
    """Pods that may be asked to leave, by node: nobody of the gang itself, nobody more urgent."""
    ledger, count, world = gang.world.columns.ledger, len(gang.world.tasks), gang.world
    runs = np.isin(ledger.task_status[:count], (Status.BINDING, Status.BOUND, Status.RUNNING))
    runs &= (ledger.task_gang[:count] != gang.row) & (world.columns.traits.task_priority[:count] <= urgent)
    rows = np.flatnonzero(runs)
    return rows[np.argsort(ledger.task_node[rows], kind="stable")]
