"""The ledger: what every task contributes to every counter, in one place.

A task in a status, on a node, in a gang, adds a fixed amount to a fixed set of columns. So there is exactly one
operation that changes the model while the scheduler works: take tasks out of the state they are in and put them into
another one. Undoing is the same operation backwards. All amounts are integers, so taking out what was put in restores
every column bit for bit; `audit` adds everything up from nothing and is how tests (and POSSE_CHECK=1) hold the columns
to that.

Who reads the columns incrementally (scores kept per shape, shares kept per queue, pods counted by their labels) follows
the logs: the rows of nodes that changed, and the pods that came and went, in order. Of a gang it is kept when it last
changed.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from posse.cluster.compiled import kernel, part
from posse.cluster.status import ALLOCATED, OCCUPIES, PROMISED, WAITING, Status

Amount = NDArray[np.int64]
Rows = NDArray[np.int32]

PENDING, GATED, PIPELINED, RELEASING, GONE = (
    int(status) for status in (Status.PENDING, Status.GATED, Status.PIPELINED, Status.RELEASING, Status.GONE)
)


class Ledger(NamedTuple):
    """The columns that move.

    Axis meaning: D resource dimensions, N nodes, T tasks, G gangs, C cohorts, Q queues, S shapes.
    """

    task_status: NDArray[np.int8]
    """[T] `Status`."""
    task_node: Rows
    """[T] node row, -1 without."""
    task_gang: Rows
    """[T] gang row, -1 for pods that are not ours."""
    task_role: Rows
    """[T] cohort row of the task's role, -1 if its gang has no role minimums."""
    task_subgroup: Rows
    """[T] cohort row of the task's sub-gang, -1 if its gang has none."""
    task_shape: Rows
    """[T] shape row."""
    task_kin: Rows
    """[T] row of the task's namespace and labels, see `kin`."""
    shape_request: Amount
    """[S, D] what one task of the shape asks for."""
    shape_scored: Amount
    """[S, 2] cpu and memory that one task of the shape counts for in scores."""
    shape_best_effort: NDArray[np.bool_]
    """[S] asks for nothing but a place among the node's pods."""
    node_used: Amount
    """[D, N] room taken, terminating pods and held tasks included."""
    node_releasing: Amount
    """[D, N] the part of `used` that terminating pods will give back."""
    node_pipelined: Amount
    """[D, N] room promised to pipelined tasks."""
    node_scored: Amount
    """[2, N] cpu and memory as scores see them: of occupying and of pipelined tasks."""
    node_residents: NDArray[np.int64]
    """[N] tasks that name the node, whatever their status."""
    gang_queue: Rows
    """[G] queue row."""
    gang_counts_gated: NDArray[np.bool_]
    """[G] whether gated members count as if they only waited."""
    gang_count: NDArray[np.int64]
    """[G, statuses] members by status."""
    gang_best_effort: NDArray[np.int64]
    """[G] pending members that are best effort; gated ones where they count."""
    gang_allocated: Amount
    """[G, D]"""
    gang_promised: Amount
    """[G, D]"""
    gang_requested: Amount
    """[G, D] of all members, finished ones included."""
    cohort_count: NDArray[np.int64]
    """[C, statuses] members of a role or sub-gang by status."""
    cohort_best_effort: NDArray[np.int64]
    """[C]"""
    queue_allocated: Amount
    """[Q, D]"""
    queue_promised: Amount
    """[Q, D]"""
    queue_waiting: Amount
    """[Q, D] of members that still want a node."""
    node_log: Rows
    """Node rows that changed, oldest first."""
    gang_touched: NDArray[np.int64]
    """[G] the moment at which the gang, or one of its members, last changed."""
    moment: NDArray[np.int64]
    """[1] counts the changes to gangs and their members."""
    pod_log: NDArray[np.int32]
    """[entries, 5] pods that came to (1) or left (-1) a node: kin, shape, node, sign, whether terminating; see
    `headcount`.
    """
    log_ends: NDArray[np.int64]
    """[2] how much of the node log and of the pod log is written."""


@part
def count_in(ledger: Ledger, task: int, sign: int) -> None:  # noqa: C901, PLR0912 - a kernel is one loop
    """Add (sign 1) or take away (sign -1) what a task contributes in the state it is in."""
    status, node = ledger.task_status[task], ledger.task_node[task]
    gang, shape = ledger.task_gang[task], ledger.task_shape[task]
    if status == GONE:
        return
    request = ledger.shape_request[shape]
    dimensions = request.shape[0]
    if node >= 0:
        ledger.node_residents[node] += sign
        occupies, releasing, pipelined = OCCUPIES[status], status == RELEASING, status == PIPELINED
        for d in range(dimensions):
            amount = sign * request[d]
            if occupies:
                ledger.node_used[d, node] += amount
            if releasing:
                ledger.node_releasing[d, node] += amount
            if pipelined:
                ledger.node_pipelined[d, node] += amount
        if occupies or pipelined:
            ledger.node_scored[0, node] += sign * ledger.shape_scored[shape, 0]
            ledger.node_scored[1, node] += sign * ledger.shape_scored[shape, 1]
            entry = ledger.pod_log[ledger.log_ends[1]]
            entry[0], entry[1], entry[2] = ledger.task_kin[task], shape, node
            entry[3], entry[4] = sign, releasing
            ledger.log_ends[1] += 1
        ledger.node_log[ledger.log_ends[0]] = node
        ledger.log_ends[0] += 1
    if gang < 0:
        return
    waits = status == PENDING or (status == GATED and ledger.gang_counts_gated[gang])
    best_effort = waits and ledger.shape_best_effort[shape]
    queue = ledger.gang_queue[gang]
    ledger.gang_count[gang, status] += sign
    if best_effort:
        ledger.gang_best_effort[gang] += sign
    for cohort in (ledger.task_role[task], ledger.task_subgroup[task]):
        if cohort >= 0:
            ledger.cohort_count[cohort, status] += sign
            if best_effort:
                ledger.cohort_best_effort[cohort] += sign
    allocated, promised, waiting = ALLOCATED[status], PROMISED[status], WAITING[status]
    for d in range(dimensions):
        amount = sign * request[d]
        ledger.gang_requested[gang, d] += amount
        if allocated:
            ledger.gang_allocated[gang, d] += amount
            ledger.queue_allocated[queue, d] += amount
        elif promised:
            ledger.gang_promised[gang, d] += amount
            ledger.queue_promised[queue, d] += amount
        elif waiting:
            ledger.queue_waiting[queue, d] += amount
    ledger.moment[0] += 1
    ledger.gang_touched[gang] = ledger.moment[0]


@kernel
def confirm(ledger: Ledger, tasks: Rows, status: int) -> None:
    """Move tasks that have a node to another status in which they take the same room on it, as being bound follows
    being allocated.

    Only counts of members move, so nobody who follows the logs of nodes and pods has anything to look at.
    """
    for i in range(tasks.shape[0]):
        task = tasks[i]
        before, gang = ledger.task_status[task], ledger.task_gang[task]
        ledger.task_status[task] = status
        if gang < 0:
            continue
        ledger.gang_count[gang, before] -= 1
        ledger.gang_count[gang, status] += 1
        for cohort in (ledger.task_role[task], ledger.task_subgroup[task]):
            if cohort >= 0:
                ledger.cohort_count[cohort, before] -= 1
                ledger.cohort_count[cohort, status] += 1
        ledger.moment[0] += 1
        ledger.gang_touched[gang] = ledger.moment[0]


@kernel
def transfer(ledger: Ledger, tasks: Rows, statuses: NDArray[np.int8], nodes: Rows) -> None:
    """Move tasks, in order, each to its new status and node. The logs must have room for two entries per task."""
    for i in range(tasks.shape[0]):
        task = tasks[i]
        count_in(ledger, task, -1)
        ledger.task_status[task] = statuses[i]
        ledger.task_node[task] = nodes[i]
        count_in(ledger, task, 1)
