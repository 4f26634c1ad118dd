"""The world: everything the scheduler knows, observed and assumed, in one place.

Observations go in through `observe`, decisions through `move`; both end in the ledger (see `ledger`), so every column
is always the sum of its tasks. Facts say what things are, columns say how they stand. Between the two lies one rule,
the meaning of "assumed": a task that we gave a node keeps it until an observation shows it with a node, or the outcome
of its bind says no. An observation without a node never undoes a decision; it is merely older.

Observations may come in any order, repeated, and with names of things not seen yet: whatever is referred to gets a row,
and the fact is put there when it comes. Two worlds told the same are equal (`portrait`), whatever the order.

`fork` gives an independent world that shares the facts and copies the columns: what-if costs one memory copy.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from posse.cluster.columns import Columns
from posse.cluster.efforts import Effort
from posse.cluster.facts import (
    Amounts,
    BudgetFact,
    GangFact,
    Gone,
    NamespaceFact,
    NodeFact,
    Observation,
    PriorityClassFact,
    QueueFact,
    QuotaFact,
    Shape,
    TaskFact,
)
from posse.cluster.kin import KinRegister
from posse.cluster.ledger import confirm, count_in, transfer
from posse.cluster.membership import Membership
from posse.cluster.mixes import Mixes
from posse.cluster.names import Dimensions, Register
from posse.cluster.observed import status_of
from posse.cluster.ordering import in_order, name_index, natural
from posse.cluster.phases import STARTED, phase_at_first_sight
from posse.cluster.sharing import retold
from posse.cluster.status import Status
from posse.cluster.storage import Storage

ASSUMED = (Status.ALLOCATED, Status.PIPELINED, Status.HELD, Status.BINDING, Status.BOUND)
"""Decisions that an observation without a node does not undo; one that the API confirmed least of all."""

Numbers = Sequence[int] | NDArray[np.integer[Any]]

DEFAULT_PRIORITY = 1
"""Of a task whose pod has none."""


class World:
    """The model.

    Rows are numbers; `nodes`, `tasks`, `gangs`, `queues` say which key and which fact stands in which row.
    """

    def __init__(self, seed: int = 0) -> None:
        self.seed = seed
        self.dimensions = Dimensions()
        self.nodes: Register[NodeFact] = Register()
        self.tasks: Register[TaskFact] = Register()
        self.gangs: Register[GangFact] = Register()
        self.queues: Register[QueueFact] = Register()
        self.shapes: list[Shape] = []
        self._shape_rows: dict[Shape, int] = {}
        self.kin = KinRegister()
        self.priority_classes: dict[str, PriorityClassFact] = {}
        self.namespaces: dict[str, NamespaceFact] = {}
        self.budgets: dict[str, BudgetFact] = {}
        self.quotas: dict[str, QuotaFact] = {}
        self.storage = Storage()
        self.gang_ages: list[tuple[int, str]] = []
        """By gang row, what orders gangs that nothing else does: when they were created, and their names, digits
        compared as numbers.
        """
        self.columns = Columns(len(self.dimensions))
        self.membership = Membership()
        self.mixes = Mixes()
        self.promises: dict[int, int] = {}
        """Since when (nanoseconds) each pipelined task of ours has had its promise."""
        self.efforts: dict[int, Effort] = {}
        """What it took so far to get gangs bound, by gang row."""
        self.node_facts_version = 0
        """Rises with every change to what nodes are (not to what is on them)."""
        self.people_version = 0
        """Rises with every change to who there is and may have what: tasks, gangs, queues, namespaces, budgets."""

    # ------------------------------------------------------------------ what is told

    def observe(self, observations: Iterable[Observation]) -> None:
        """Take in what the cluster says. Later observations of one object replace earlier ones."""
        for observation in observations:
            match observation:
                case TaskFact():
                    self._observe_task(observation)
                case NodeFact():
                    self._observe_node(observation)
                case GangFact():
                    self._observe_gang(observation)
                case QueueFact():
                    self._observe_queue(observation)
                case Gone():
                    self._observe_gone(observation)
                case PriorityClassFact():
                    self.priority_classes[observation.name] = observation
                    self._resolve_priorities()
                case NamespaceFact():
                    self.namespaces[observation.name] = observation
                    self.people_version += 1
                case BudgetFact():
                    self.budgets[f"{observation.namespace}/{observation.name}"] = observation
                    self.people_version += 1
                case QuotaFact():
                    self.quotas[f"{observation.namespace}/{observation.name}"] = observation
                    self.people_version += 1
                case _:
                    self.storage.observe(observation)

    def _learn(self, amounts: Iterable[tuple[str, int]]) -> None:
        self.dimensions.learn(tuple(amounts))
        self.columns.widen(len(self.dimensions))

    def _observe_node(self, fact: NodeFact) -> None:
        row = self.node_row(fact.name)
        if self.nodes.facts[row] == fact:
            return
        self._learn(fact.allocatable)
        self.nodes.put(row, fact)
        traits = self.columns.traits
        traits.node_present[row] = True
        traits.node_allocatable[:, row] = 0
        for name, amount in fact.allocatable:
            traits.node_allocatable[self.dimensions.number(name), row] = amount
        self.node_facts_version += 1
        self.columns.log_node(row)

    def _observe_queue(self, fact: QueueFact) -> None:
        self._learn((*fact.capability, *fact.deserved, *fact.guarantee))
        row = self.queue_row(fact.key)
        if self.queues.facts[row] != fact:
            self._put_queue(row, fact)

    def _put_queue(self, row: int, fact: QueueFact | None) -> None:
        """Let a queue be declared otherwise, or no more: that concerns all of its gangs."""
        self.queues.put(row, fact)
        self.people_version += 1
        count = len(self.gangs)
        self.columns.log_gangs(np.flatnonzero(self.columns.ledger.gang_queue[:count] == row))

    def _observe_gang(self, fact: GangFact) -> None:
        row = self.gang_row(fact.key)
        before = self.gangs.facts[row]
        if before == fact:
            return
        queue = self.queue_row(fact.queue)
        self._learn(fact.min_resources or ())
        members = self.membership.of(row)
        self._count(members, -1)
        self.gangs.put(row, fact)
        self.gang_ages[row] = (fact.created, natural(fact.key))
        self.columns.ledger.gang_queue[row] = queue
        self.columns.ledger.gang_counts_gated[row] = fact.rules.gated_count
        self._describe_gang(row, fact, is_new=before is None or before.uid != fact.uid)
        self.membership.forget_cohorts(row)
        for task in members:
            self._assign_cohorts(task)
        self._count(members, 1)
        self.columns.log_gang(row)
        self.people_version += 1

    def _describe_gang(self, row: int, fact: GangFact, *, is_new: bool) -> None:
        traits = self.columns.traits
        traits.gang_declared[row] = True
        traits.gang_divided[row] = bool(fact.subgroups)
        traits.gang_parted[row] = bool(fact.min_roles or fact.subgroups)
        traits.gang_min[row] = fact.min_member
        traits.gang_created[row] = fact.created
        traits.gang_priority[row] = self._priority_of(fact.priority_class)
        traits.gang_has_min_resources[row] = fact.min_resources is not None
        traits.gang_min_resources[row] = 0
        for name, amount in fact.min_resources or ():
            traits.gang_min_resources[row, self.dimensions.number(name)] = amount
        if is_new:
            traits.gang_phase[row] = phase_at_first_sight(fact)
            traits.gang_started[row] = traits.gang_phase[row] in STARTED
            self.efforts.pop(row, None)

    def _observe_task(self, fact: TaskFact) -> None:
        row = self.tasks.find(fact.key)
        if row >= 0:
            before = self.tasks.facts[row]
            if before == fact:
                return
            if before is not None and before.uid != fact.uid:
                self._remove_task(row)
                row = -1
        if row < 0:
            row = self.tasks.add(fact.key)
            self.columns.grow_tasks(len(self.tasks))
        status, node = self._observed_state(row, fact)
        self._write_task(row, fact, status, node)

    def _observed_state(self, row: int, fact: TaskFact) -> tuple[Status, int]:
        """What a fact says of a task's state, given what we assumed."""
        ledger = self.columns.ledger
        assumed, assumed_node = Status(ledger.task_status[row]), int(ledger.task_node[row])
        status = status_of(fact)
        if status is Status.PIPELINED:
            return status, self.node_row(fact.nominated)
        if not fact.node:
            if status is Status.PENDING and assumed in ASSUMED:
                return assumed, assumed_node
            return status, -1
        node = self.node_row(fact.node)
        if assumed is Status.RELEASING and assumed_node == node and status in (Status.BOUND, Status.RUNNING):
            return Status.RELEASING, node
        return status, node

    def _write_task(self, row: int, fact: TaskFact, status: Status, node: int) -> None:
        gang = self.gang_row(fact.gang) if fact.gang else -1
        shape = self.shape_row(fact.shape)
        columns = self.columns
        self._count([row], -1)
        was = int(columns.ledger.task_gang[row])
        left_behind = int(columns.ledger.task_node[row])
        if was != gang or columns.ledger.task_shape[row] != shape:
            self._leave(was, row)
            self._join(gang, row, shape)
        else:
            self.membership.reorder(gang)
        ledger = columns.ledger
        ledger.task_gang[row], ledger.task_shape[row] = gang, shape
        kin = ledger.task_kin[row] = self.kin.row(fact.namespace, fact.labels)
        ledger.task_status[row], ledger.task_node[row] = status, node
        columns.traits.task_nominated[row] = bool(fact.nominated)
        columns.traits.task_index[row], columns.traits.task_created[row] = name_index(fact.name), fact.created
        columns.traits.task_priority[row] = DEFAULT_PRIORITY if fact.priority is None else fact.priority
        gang_key = self.gangs.keys[gang] if gang >= 0 else ""
        node_name = self.nodes.keys[node] if fact.node else ""
        kept = retold(fact, self.tasks.facts[row], self.kin.all[kin], self.shapes[shape], gang_key, node_name)
        self.tasks.put(row, kept)
        self._assign_cohorts(row)
        self._count([row], 1)
        self._release_gang_if_unused(was)
        self._release_node_if_unused(left_behind)
        self.people_version += 1

    def _observe_gone(self, gone: Gone) -> None:
        match gone.kind:
            case "task":
                self._drop(self.tasks, gone, self._remove_task)
            case "node":
                self._drop(self.nodes, gone, self._forget_node)
            case "gang":
                self._drop(self.gangs, gone, self._forget_gang)
            case "queue":
                self._drop(self.queues, gone, lambda row: self._put_queue(row, None))
            case "priority-class":
                if self.priority_classes.pop(gone.key, None) is not None:
                    self._resolve_priorities()
            case "namespace" | "budget" | "quota":
                of: dict[str, dict[str, Any]] = {
                    "namespace": self.namespaces,
                    "budget": self.budgets,
                    "quota": self.quotas,
                }
                of[gone.kind].pop(gone.key, None)
                self.people_version += 1
            case _:
                self.storage.gone(gone.kind, gone.key, gone.uid)

    def _drop(self, register: Register[Any], gone: Gone, forget: Callable[[int], None]) -> None:
        """Forget what stands in a register, if that is what is gone: an object of the same name may have come since."""
        row = register.find(gone.key)
        fact = register.facts[row] if row >= 0 else None
        if fact is not None and gone.uid in ("", fact.uid):
            forget(row)

    def _remove_task(self, row: int) -> None:
        self._count([row], -1)
        ledger = self.columns.ledger
        gang, node = int(ledger.task_gang[row]), int(ledger.task_node[row])
        ledger.task_status[row], ledger.task_node[row] = Status.GONE, -1
        ledger.task_gang[row] = ledger.task_role[row] = ledger.task_subgroup[row] = -1
        self._leave(gang, row)
        self.promises.pop(row, None)
        self.tasks.release(row)
        self._release_gang_if_unused(gang)
        self._release_node_if_unused(node)
        self.people_version += 1

    def _forget_node(self, row: int) -> None:
        """The node is gone; its row stays as long as a task names it."""
        self.nodes.put(row, None)
        traits = self.columns.traits
        traits.node_present[row] = False
        traits.node_allocatable[:, row] = 0
        self.node_facts_version += 1
        self.columns.log_node(row)
        self._release_node_if_unused(row)

    def _release_node_if_unused(self, row: int) -> None:
        if row >= 0 and self.nodes.facts[row] is None and not self.columns.ledger.node_residents[row]:
            self.nodes.release(row)

    def _forget_gang(self, row: int) -> None:
        """The declaration is gone; members keep the row until they are gone too."""
        members = self.membership.of(row)
        self._count(members, -1)
        self.gangs.put(row, None)
        self.efforts.pop(row, None)
        self.columns.clear_gang(row, self.queue_row(""))
        self.membership.forget_cohorts(row)
        for task in members:
            self._assign_cohorts(task)
        self._count(members, 1)
        self.columns.log_gang(row)
        self.people_version += 1
        self._release_gang_if_unused(row)

    def _release_gang_if_unused(self, row: int) -> None:
        if row >= 0 and self.gangs.facts[row] is None and self.gangs.keys[row] and not self.membership.size(row):
            self.membership.forget_cohorts(row)
            self.gangs.release(row)

    # ------------------------------------------------------------------ what is decided

    def move(self, tasks: Numbers, statuses: Numbers, nodes: Numbers) -> None:
        """Put tasks, one after the other, into another status and on another node (-1: none)."""
        self.columns.reserve_logs(2 * len(tasks))
        transfer(
            self.columns.ledger,
            np.asarray(tasks, np.int32),
            np.asarray(statuses, np.int8),
            np.asarray(nodes, np.int32),
        )

    def confirm(self, tasks: NDArray[np.int32], status: Status) -> None:
        """Put tasks into another status in which they are allocated as they were."""
        self.columns.reserve_logs(len(tasks))
        confirm(self.columns.ledger, tasks, int(status))

    # ------------------------------------------------------------------ rows

    def node_row(self, name: str) -> int:
        """The row of a node, made (as one that is only referred to) if it is new."""
        row = self.nodes.find(name)
        if row < 0:
            row = self.nodes.add(name)
            self.columns.add_node(row, self.seed, name)
        return row

    def queue_row(self, key: str) -> int:
        """The row of a queue, made if it is new."""
        row = self.queues.add(key)
        self.columns.grow_queues(len(self.queues))
        return row

    def gang_row(self, key: str) -> int:
        """The row of a gang, made (without a declaration, in no queue) if it is new."""
        row = self.gangs.find(key)
        if row < 0:
            row = self.gangs.add(key)
            self.columns.grow_gangs(len(self.gangs))
            self.columns.clear_gang(row, self.queue_row(""))
            self.membership.reach(row)
            if row == len(self.gang_ages):
                self.gang_ages.append((0, ""))
        return row

    def shape_row(self, shape: Shape) -> int:
        """The row of a shape, interned."""
        row = self._shape_rows.get(shape)
        if row is None:
            row = len(self.shapes)
            self._learn(shape.requests)
            self.columns.add_shape(row, shape, self.dimensions)
            self.shapes.append(shape)
            self._shape_rows[shape] = row
        return row

    def _join(self, gang: int, task: int, shape: int) -> None:
        """Let a task of a shape be a member of a gang."""
        if gang >= 0:
            traits, size = self.columns.traits, self.membership.size(gang)
            traits.gang_shape[gang] = self.mixes.join(gang, shape, int(traits.gang_shape[gang]), size)
            self.membership.join(gang, task)

    def _leave(self, gang: int, task: int) -> None:
        """Let a task be a member of a gang no more."""
        if gang >= 0:
            self.membership.leave(gang, task)
            traits, size = self.columns.traits, self.membership.size(gang)
            traits.gang_shape[gang] = self.mixes.leave(gang, int(self.columns.ledger.task_shape[task]), size)

    def rank(self, gangs: Iterable[int]) -> None:
        """Make sure that the members of these gangs have their places in the default order."""
        for gang in gangs:
            self.ordered_members(gang)

    def some_task_of(self, shape: int) -> int:
        """The row of some task of a shape, to ask about where any will do."""
        return int(np.argmax(self.columns.ledger.task_shape[: len(self.tasks)] == shape))

    def ordered_members(self, gang: int) -> NDArray[np.int32]:
        """The rows of a gang's tasks in their default order (see `ordering`)."""
        ordered = self.membership.ordered(gang)
        if ordered is None:
            traits, members = self.columns.traits, np.array(self.membership.of(gang), np.int32)
            ordered = in_order(members, traits.task_index, traits.task_created, self.tasks.facts)
            self.membership.keep_order(gang, ordered)
            traits.task_rank[ordered] = np.arange(len(ordered))
        return ordered

    def standing(self) -> tuple[NDArray[np.integer[Any]], ...]:
        """Where everybody stands: tasks' statuses and nodes, gangs' phases."""
        ledger = self.columns.ledger
        return ledger.task_status.copy(), ledger.task_node.copy(), self.columns.traits.gang_phase.copy()

    def gang_of(self, pod: str) -> str:
        """The key of a pod's gang, empty without."""
        row = self.tasks.find(pod)
        fact = self.tasks.facts[row] if row >= 0 else None
        return fact.gang if fact is not None else ""

    def amounts(self, vector: NDArray[np.int64]) -> Amounts:
        """A vector over dimensions as named amounts, without zeros, sorted by name."""
        named = zip(self.dimensions.names, vector.tolist(), strict=False)
        return tuple(sorted((name, amount) for name, amount in named if amount))

    def _assign_cohorts(self, task: int) -> None:
        """Find the task's role and sub-gang rows, where its gang counts by them."""
        ledger = self.columns.ledger
        gang = int(ledger.task_gang[task])
        fact, member = self.gangs.facts[gang] if gang >= 0 else None, self.tasks.facts[task]
        role = subgroup = -1
        if fact is not None and member is not None:
            if fact.min_roles:
                role = self.membership.role_row(gang, member.role)
            if fact.subgroups:
                subgroup = self.membership.subgang_row(gang, fact, member)
            self.columns.grow_cohorts(self.membership.cohort_rows)
        self.columns.ledger.task_role[task], self.columns.ledger.task_subgroup[task] = role, subgroup

    def _count(self, tasks: Sequence[int], sign: int) -> None:
        self.columns.reserve_logs(len(tasks))
        for task in tasks:
            count_in(self.columns.ledger, task, sign)

    # ------------------------------------------------------------------ priorities

    def _priority_of(self, class_name: str) -> int:
        named = self.priority_classes.get(class_name)
        if named is not None:
            return named.value
        defaults = [each for each in self.priority_classes.values() if each.is_default]
        return min(defaults, key=lambda each: (each.value, each.name)).value if defaults else 0

    def _resolve_priorities(self) -> None:
        for row in self.gangs.declared():
            fact = self.gangs.facts[row]
            priority = self._priority_of(fact.priority_class) if fact is not None else 0
            if self.columns.traits.gang_priority[row] != priority:
                self.columns.traits.gang_priority[row] = priority
                self.columns.log_gang(row)

    # ------------------------------------------------------------------ copies

    def fork(self, spare: "World | None" = None) -> "World":
        """An independent world that stands where this one does.

        It may take the columns of one that is no longer used.
        """
        other = World.__new__(World)
        other.seed = self.seed
        other.dimensions = self.dimensions.fork()
        other.nodes, other.tasks = self.nodes.fork(), self.tasks.fork()
        other.gangs, other.queues = self.gangs.fork(), self.queues.fork()
        other.shapes, other._shape_rows = list(self.shapes), dict(self._shape_rows)
        other.kin = self.kin.fork()
        other.priority_classes, other.namespaces = dict(self.priority_classes), dict(self.namespaces)
        other.budgets, other.quotas = dict(self.budgets), dict(self.quotas)
        other.storage = self.storage.fork()
        other.gang_ages = list(self.gang_ages)
        other.columns = self.columns.fork(spare.columns if spare is not None else None)
        other.membership, other.mixes = self.membership.fork(), self.mixes.fork()
        other.promises, other.efforts = dict(self.promises), dict(self.efforts)
        other.node_facts_version, other.people_version = self.node_facts_version, self.people_version
        return other


def same(one: Iterable[NDArray[Any]], other: Iterable[NDArray[Any]]) -> bool:
    """Whether everybody stands where he stood."""
    return all(np.array_equal(before, after) for before, after in zip(one, other, strict=True))
