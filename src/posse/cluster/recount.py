"""Recounting: the sums of the ledger, made from nothing but where each task stands.

The ledger changes its sums task by task; here all tasks are added up at once, column by column. What differs is said by
the names of what its axes stand for.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from posse.cluster.columns import LAYOUT
from posse.cluster.status import ALLOCATED, OCCUPIES, PROMISED, STATUSES, WAITING, Status
from posse.cluster.world import World

Sums = dict[str, NDArray[np.int64]]

SUMS = (
    "node_used",
    "node_releasing",
    "node_pipelined",
    "node_scored",
    "node_residents",
    "gang_count",
    "gang_best_effort",
    "gang_allocated",
    "gang_promised",
    "gang_requested",
    "cohort_count",
    "cohort_best_effort",
    "queue_allocated",
    "queue_promised",
    "queue_waiting",
)
"""The columns that are sums over tasks."""


def wrong_sums(world: World) -> Iterator[str]:
    """Every entry of every sum that is not what its tasks add up to."""
    recounted = recount(world)
    for name in SUMS:
        stands, added = getattr(world.columns.ledger, name), recounted[name]
        for place in map(tuple, np.argwhere(stands != added).tolist()):
            yield f"{name}{_where(world, name, place)} is {stands[place]}, and its tasks add up to {added[place]}"


def recount(world: World) -> Sums:
    """All sums, by column name."""
    sums: Sums = {name: np.zeros_like(getattr(world.columns.ledger, name)) for name in SUMS}
    _add_up_nodes(world, sums)
    _add_up_gangs(world, sums)
    return sums


def _add_up_nodes(world: World, sums: Sums) -> None:
    ledger = world.columns.ledger
    tasks = np.flatnonzero((ledger.task_status != Status.GONE) & (ledger.task_node >= 0))
    status, node, shape = ledger.task_status[tasks], ledger.task_node[tasks], ledger.task_shape[tasks]
    pipelined, occupies = status == Status.PIPELINED, OCCUPIES[status]
    np.add.at(sums["node_residents"], node, 1)
    amounts = ledger.shape_request[shape]
    for name, counts in (
        ("node_used", occupies),
        ("node_releasing", status == Status.RELEASING),
        ("node_pipelined", pipelined),
    ):
        np.add.at(sums[name].T, node[counts], amounts[counts])
    lies = occupies | pipelined
    np.add.at(sums["node_scored"].T, node[lies], ledger.shape_scored[shape][lies])


def _add_up_gangs(world: World, sums: Sums) -> None:
    ledger = world.columns.ledger
    tasks = np.flatnonzero((ledger.task_status != Status.GONE) & (ledger.task_gang >= 0))
    status, gang, shape = ledger.task_status[tasks], ledger.task_gang[tasks], ledger.task_shape[tasks]
    counts_as_pending = (status == Status.PENDING) | ((status == Status.GATED) & ledger.gang_counts_gated[gang])
    best_effort = counts_as_pending & ledger.shape_best_effort[shape]
    np.add.at(sums["gang_count"], (gang, status), 1)
    np.add.at(sums["gang_best_effort"], gang[best_effort], 1)
    for cohort in (ledger.task_role[tasks], ledger.task_subgroup[tasks]):
        np.add.at(sums["cohort_count"], (cohort[cohort >= 0], status[cohort >= 0]), 1)
        np.add.at(sums["cohort_best_effort"], cohort[(cohort >= 0) & best_effort], 1)
    amounts, queue = ledger.shape_request[shape], ledger.gang_queue[gang]
    np.add.at(sums["gang_requested"], gang, amounts)
    for name, counts in (("allocated", ALLOCATED[status]), ("promised", PROMISED[status])):
        np.add.at(sums[f"gang_{name}"], gang[counts], amounts[counts])
        np.add.at(sums[f"queue_{name}"], queue[counts], amounts[counts])
    np.add.at(sums["queue_waiting"], queue[WAITING[status]], amounts[WAITING[status]])


def _where(world: World, name: str, place: Sequence[int]) -> str:
    """The place of an entry, by the names of what its axes stand for."""
    names: dict[Any, Sequence[str]] = {
        "D": world.dimensions.names,
        "N": world.nodes.keys,
        "G": world.gangs.keys,
        "Q": world.queues.keys,
        "C": _cohort_names(world),
        "R": [status.name for status in Status][:STATUSES],
        2: ["cpu", "memory"],
    }
    parts = []
    for axis, row in zip(LAYOUT[name][0], place, strict=True):
        known = names[axis]
        parts.append(known[row] if row < len(known) and known[row] else f"unused row {row}")
    return f"[{', '.join(parts)}]"


def _cohort_names(world: World) -> list[str]:
    names = [""] * world.membership.cohort_rows
    for gang in world.gangs.rows():
        for role, row in world.membership.roles(gang).items():
            names[row] = f"{world.gangs.keys[gang]} role {role!r}"
        for subgang, row in world.membership.subgangs(gang).items():
            names[row] = f"{world.gangs.keys[gang]} sub-gang {subgang.name}"
    return names
