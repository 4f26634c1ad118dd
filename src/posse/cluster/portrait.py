"""The portrait: everything that a world knows, by name, as one plain value.

Rows, the order in which things came and what was learnt and forgotten on the way leave no trace in it. Two worlds with
equal portraits decide the same from here on. What nothing is known about (a queue that was named once) is left out.
"""

from collections.abc import Mapping
from typing import Any

from posse.cluster.phases import GangPhase
from posse.cluster.status import Status
from posse.cluster.world import World

Portrait = dict[str, dict[str, Any]]

ALWAYS_THERE = ("rank", "phase", "queue")
"""What every row has, whatever stands in it."""


def portrait(world: World) -> Portrait:
    """Facts and columns by key."""
    return {
        "nodes": _known({world.nodes.keys[row]: _node(world, row) for row in world.nodes.rows()}),
        "pods": {world.tasks.keys[row]: _task(world, row) for row in world.tasks.rows()},
        "gangs": _known({world.gangs.keys[row]: _gang(world, row) for row in world.gangs.rows()}),
        "queues": _known({world.queues.keys[row]: _queue(world, row) for row in world.queues.rows()}),
        "priority classes": dict(world.priority_classes),
        "namespaces": dict(world.namespaces),
        "budgets": dict(world.budgets),
        "quotas": dict(world.quotas),
        **{f"storage: {kind}": dict(known) for kind, known in world.storage.by_kind().items()},
    }


def _known(things: Mapping[str, dict[str, Any]]) -> dict[str, Any]:
    """Those of which anything is known beyond their name."""
    return {
        key: thing
        for key, thing in things.items()
        if any(value for part, value in thing.items() if part not in ALWAYS_THERE)
    }


def _node(world: World, row: int) -> dict[str, Any]:
    ledger, traits = world.columns.ledger, world.columns.traits
    return {
        "fact": world.nodes.facts[row],
        "present": bool(traits.node_present[row]),
        "allocatable": world.amounts(traits.node_allocatable[:, row]),
        "rank": int(traits.node_rank[row]),
        "used": world.amounts(ledger.node_used[:, row]),
        "releasing": world.amounts(ledger.node_releasing[:, row]),
        "pipelined": world.amounts(ledger.node_pipelined[:, row]),
        "scored": tuple(ledger.node_scored[:, row].tolist()) if ledger.node_scored[:, row].any() else (),
        "residents": int(ledger.node_residents[row]),
    }


def _task(world: World, row: int) -> dict[str, Any]:
    ledger, traits = world.columns.ledger, world.columns.traits
    node, gang = int(ledger.task_node[row]), int(ledger.task_gang[row])
    return {
        "fact": world.tasks.facts[row],
        "status": Status(ledger.task_status[row]).name,
        "node": world.nodes.keys[node] if node >= 0 else None,
        "gang": world.gangs.keys[gang] if gang >= 0 else None,
        "shape": world.shapes[ledger.task_shape[row]],
        "priority": int(traits.task_priority[row]),
        "nominated": bool(traits.task_nominated[row]),
        "promised since": world.promises.get(row),
    }


def _gang(world: World, row: int) -> dict[str, Any]:
    ledger, traits = world.columns.ledger, world.columns.traits
    members = world.ordered_members(row).tolist()
    return {
        "fact": world.gangs.facts[row],
        "queue": world.queues.keys[ledger.gang_queue[row]],
        "counts gated": bool(ledger.gang_counts_gated[row]),
        "members in order": [world.tasks.keys[task] for task in members],
        "counts": _counts(ledger.gang_count[row].tolist(), int(ledger.gang_best_effort[row])),
        "allocated": world.amounts(ledger.gang_allocated[row]),
        "promised": world.amounts(ledger.gang_promised[row]),
        "requested": world.amounts(ledger.gang_requested[row]),
        "minimum": int(traits.gang_min[row]),
        "created": int(traits.gang_created[row]),
        "priority": int(traits.gang_priority[row]),
        "phase": GangPhase(traits.gang_phase[row]).name,
        "min resources": world.amounts(traits.gang_min_resources[row]) if traits.gang_has_min_resources[row] else None,
        "roles": _cohorts(world, world.membership.roles(row)),
        "sub-gangs": _cohorts(world, world.membership.subgangs(row)),
    }


def _cohorts(world: World, rows: Mapping[Any, int]) -> dict[Any, Any]:
    """Members by status of each role or sub-gang that has any."""
    ledger = world.columns.ledger
    counts = {
        name: _counts(ledger.cohort_count[row].tolist(), int(ledger.cohort_best_effort[row]))
        for name, row in rows.items()
    }
    return {name: count for name, count in counts.items() if count}


def _counts(by_status: list[int], best_effort: int) -> dict[str, int]:
    """Members by status, and how many of those that wait are best effort."""
    counts = {Status(status).name: count for status, count in enumerate(by_status) if count}
    return {**counts, "best effort": best_effort} if counts else {}


def _queue(world: World, row: int) -> dict[str, Any]:
    ledger = world.columns.ledger
    return {
        "fact": world.queues.facts[row],
        "allocated": world.amounts(ledger.queue_allocated[row]),
        "promised": world.amounts(ledger.queue_promised[row]),
        "waiting": world.amounts(ledger.queue_waiting[row]),
    }
