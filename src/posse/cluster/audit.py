"""Audit: the model held against itself, object by object.

Whatever stands in a column is either what a fact says, or the sum of tasks (see `recount`), or a decision that its
state allows. An audit checks all of it from nothing and says what is wrong in the names that people know. A fault
is a defect of Posse, whatever the input was.

`overdrawn` is the other half of the promise: no decision takes a node below zero. It is asked about tasks that were
just placed, since what others do to a node is not ours to prevent.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from posse.cluster.columns import tie_rank
from posse.cluster.facts import Amounts, GangFact, TaskFact
from posse.cluster.mixes import MIXED, NO_SHAPE
from posse.cluster.names import Register
from posse.cluster.ordering import in_default_order, natural
from posse.cluster.recount import wrong_sums
from posse.cluster.status import PROMISED_STATES, Status
from posse.cluster.subgroups import subgang_of
from posse.cluster.world import DEFAULT_PRIORITY, World

FactT = TypeVar("FactT")

PLACED = (Status.ALLOCATED, *PROMISED_STATES, Status.BINDING, Status.BOUND)
"""Means having a node."""
UNPLACED = (Status.PENDING, Status.GATED)
"""Means having none."""


class ContradictionError(Exception):
    """The model contradicts itself. Names everything that is wrong."""

    def __init__(self, faults: Iterable[str]) -> None:
        self.faults = tuple(faults)
        super().__init__("\n  ".join(("the model contradicts itself:", *self.faults)))


def audit(world: World) -> list[str]:
    """Everything that is wrong, in words; nothing if all is well."""
    return [
        *_registers(world),
        *_tasks(world),
        *_nodes(world),
        *_gangs(world),
        *_members(world),
        *wrong_sums(world),
    ]


def overdrawn(world: World, tasks: Iterable[int]) -> list[str]:
    """The nodes that had not what these tasks, just placed or promised a place, were given."""
    ledger, traits = world.columns.ledger, world.columns.traits
    asked: dict[int, NDArray[np.bool_]] = {}
    placed = list(tasks)
    taking = {int(ledger.task_node[task]) for task in placed if ledger.task_status[task] != Status.PIPELINED}
    for task in placed:
        node, asks = int(ledger.task_node[task]), ledger.shape_request[ledger.task_shape[task]] > 0
        asked[node] = asked[node] | asks if node in asked else asks
    faults = []
    for node, asks in sorted(asked.items()):
        idle = traits.node_allocatable[:, node] - ledger.node_used[:, node]
        later = idle + ledger.node_releasing[:, node] - ledger.node_pipelined[:, node]
        short = (later < 0) | ((idle < 0) & (node in taking))
        for dimension in np.flatnonzero(asks & short).tolist():
            resource = world.dimensions.names[dimension]
            faults.append(
                f"node {world.nodes.keys[node]} was overdrawn: {idle[dimension]} {resource} idle,"
                f" {later[dimension]} once all promises are kept"
            )
    return faults


# ---------------------------------------------------------------------- registers


def _registers(world: World) -> Iterator[str]:
    yield from _register("node", world.nodes, lambda fact: fact.name)
    yield from _register("pod", world.tasks, lambda fact: fact.key)
    yield from _register("gang", world.gangs, lambda fact: fact.key)
    yield from _register("queue", world.queues, lambda fact: fact.key)


def _register(kind: str, register: Register[FactT], key_of: Callable[[FactT], str]) -> Iterator[str]:
    in_use = set(register.rows())
    for row, (key, fact) in enumerate(zip(register.keys, register.facts, strict=True)):
        if row not in in_use and (key or fact is not None):
            yield f"{kind} {key!r} stands in row {row}, which is free"
        elif row in in_use and register.find(key) != row:
            yield f"{kind} {key!r} stands in row {row} and is sought in row {register.find(key)}"
        if fact is not None and key_of(fact) != key:
            yield f"{kind} {key!r} has the fact of {key_of(fact)!r}"


def _wrong(name: str, found: dict[str, tuple[object, object]]) -> Iterator[str]:
    """What of an object stands otherwise than it should."""
    for what, (stands, should) in found.items():
        if stands != should:
            yield f"{name}: {what} is {stands!r} and should be {should!r}"


# ---------------------------------------------------------------------- what facts say


def _tasks(world: World) -> Iterator[str]:
    ledger = world.columns.ledger
    for row, fact in enumerate(world.tasks.facts):
        if fact is not None:
            yield from _task(world, row, fact)
        elif ledger.task_status[row] != Status.GONE or ledger.task_gang[row] >= 0 or ledger.task_node[row] >= 0:
            yield f"pod row {row} has no pod, and is not empty"
    for row in sorted(world.promises):
        if ledger.task_status[row] != Status.PIPELINED:
            yield f"pod {world.tasks.keys[row]}: a promise is kept for it, and it has none"


def _task(world: World, row: int, fact: TaskFact) -> Iterator[str]:
    ledger, traits = world.columns.ledger, world.columns.traits
    gang = world.gangs.find(fact.gang) if fact.gang else -1
    kin = world.kin.all[ledger.task_kin[row]]
    role, subgroup = _cohorts_of(world, gang, fact)
    status, node = Status(ledger.task_status[row]), int(ledger.task_node[row])
    yield from _wrong(
        f"pod {fact.key}",
        {
            "gang row": (int(ledger.task_gang[row]), gang),
            "shape": (world.shapes[ledger.task_shape[row]], fact.shape),
            "namespace and labels": ((kin.namespace, dict(kin.labels)), (fact.namespace, dict(fact.labels))),
            "role row": (int(ledger.task_role[row]), role),
            "sub-gang row": (int(ledger.task_subgroup[row]), subgroup),
            "priority": (int(traits.task_priority[row]), DEFAULT_PRIORITY if fact.priority is None else fact.priority),
            "nominated": (bool(traits.task_nominated[row]), bool(fact.nominated)),
        },
    )
    if status is Status.GONE or (status in PLACED and node < 0) or (status in UNPLACED and node >= 0):
        yield f"pod {fact.key}: is {status.name.lower()} {'on' if node >= 0 else 'without'} a node"
    if node >= 0 and not world.nodes.keys[node]:
        yield f"pod {fact.key}: is on node row {node}, which is free"


def _cohorts_of(world: World, gang: int, task: TaskFact) -> tuple[int, int]:
    """The rows of the role and of the sub-gang that a task is counted in."""
    fact = world.gangs.facts[gang] if gang >= 0 else None
    if fact is None:
        return -1, -1
    roles, subgangs = world.membership.roles(gang), world.membership.subgangs(gang)
    role = roles.get(task.role, -2) if fact.min_roles else -1
    return role, subgangs.get(subgang_of(fact, task), -2) if fact.subgroups else -1


def _nodes(world: World) -> Iterator[str]:
    traits = world.columns.traits
    for row, (key, fact) in enumerate(zip(world.nodes.keys, world.nodes.facts, strict=True)):
        yield from _wrong(
            f"node {key or row}",
            {
                "presence": (bool(traits.node_present[row]), fact is not None),
                "allocatable": (
                    world.amounts(traits.node_allocatable[:, row]),
                    _amounts(fact.allocatable if fact else ()),
                ),
                "rank": (int(traits.node_rank[row]), tie_rank(world.seed, key) if key else int(traits.node_rank[row])),
            },
        )


def _gangs(world: World) -> Iterator[str]:
    ledger, traits = world.columns.ledger, world.columns.traits
    for row in world.gangs.rows():
        fact = world.gangs.facts[row] or _undeclared(world.gangs.keys[row])
        declared = world.gangs.facts[row] is not None
        yield from _wrong(
            f"gang {fact.key}",
            {
                "queue": (world.queues.keys[ledger.gang_queue[row]], fact.queue),
                "counting of gated members": (bool(ledger.gang_counts_gated[row]), fact.rules.gated_count),
                "minimum": (int(traits.gang_min[row]), fact.min_member),
                "age": (int(traits.gang_created[row]), fact.created),
                "priority": (int(traits.gang_priority[row]), _priority(world, fact) if declared else 0),
                "minimal resources": (
                    world.amounts(traits.gang_min_resources[row]),
                    _amounts(fact.min_resources or ()),
                ),
                "having minimal resources": (bool(traits.gang_has_min_resources[row]), fact.min_resources is not None),
                "being declared": (bool(traits.gang_declared[row]), declared),
                "having parts": (bool(traits.gang_parted[row]), bool(fact.min_roles or fact.subgroups)),
                "having sub-gangs": (bool(traits.gang_divided[row]), bool(fact.subgroups)),
            },
        )
        if declared and world.gang_ages[row] != (fact.created, natural(fact.key)):
            yield f"gang {fact.key}: its age is {world.gang_ages[row]!r}"


def _undeclared(key: str) -> GangFact:
    """What is known of a gang that only members name."""
    return GangFact(key=key, namespace="", name="", min_member=0)


def _priority(world: World, fact: GangFact) -> int:
    named = world.priority_classes.get(fact.priority_class)
    defaults = [each.value for each in world.priority_classes.values() if each.is_default]
    return named.value if named is not None else min(defaults, default=0)


def _amounts(amounts: Amounts) -> Amounts:
    return tuple(sorted((name, amount) for name, amount in amounts if amount))


# ---------------------------------------------------------------------- members


def _members(world: World) -> Iterator[str]:
    of = world.columns.ledger.task_gang[: len(world.tasks)]
    cohorts: list[int] = []
    for row, key in enumerate(world.gangs.keys):
        listed, columns = sorted(world.membership.of(row)), np.flatnonzero(of == row).tolist()
        order = in_default_order(columns, world.tasks.facts)
        ranks = world.columns.traits.task_rank[world.ordered_members(row)].tolist()
        yield from _wrong(
            f"gang {key or row}",
            {
                "list of members": (listed, columns),
                "order of members": (world.ordered_members(row).tolist(), order),
                "places in that order": (ranks, list(range(len(columns)))),
            },
        )
        yield from _shape_of(world, row, columns)
        if not key and columns:
            yield f"gang row {row} is free and has members"
        cohorts += [*world.membership.roles(row).values(), *world.membership.subgangs(row).values()]
    if len(set(cohorts)) < len(cohorts):
        yield f"roles and sub-gangs share rows: {sorted(cohorts)}"


def _shape_of(world: World, gang: int, members: list[int]) -> Iterator[str]:
    """What is known of the shapes of a gang's members."""
    shapes = Counter(world.columns.ledger.task_shape[members].tolist())
    known = int(world.columns.traits.gang_shape[gang])
    right = MIXED if len(shapes) > 1 else next(iter(shapes), NO_SHAPE)
    if known != right:
        yield f"gang {world.gangs.keys[gang] or gang}: its members' shape is {known} and should be {right}"
    elif known == MIXED and (counts := world.mixes.counts(gang)) != tuple(sorted(shapes.items())):
        yield f"gang {world.gangs.keys[gang] or gang}: its mix is {counts} and should be {sorted(shapes.items())}"
