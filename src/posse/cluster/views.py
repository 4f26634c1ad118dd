"""Views: rows of the world that read like objects.

A view is a world and a row number; it holds nothing of its own and is made where it is needed. Actions and plugins read
these; kernels read the columns.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from functools import cached_property

import numpy as np

from posse.cluster.facts import GangFact, NodeFact, QueueFact, Shape, TaskFact
from posse.cluster.phases import GangPhase
from posse.cluster.status import OCCUPIES, PROMISED, Status
from posse.cluster.subgroups import SubGang
from posse.cluster.world import World

PENDING, GATED, ALLOCATED, PIPELINED, HELD, BINDING, BOUND, RUNNING, RELEASING, SUCCEEDED, FAILED = map(
    int, list(Status)[:11]
)


class Task:
    """A pod."""

    __slots__ = ("row", "world")

    def __init__(self, world: World, row: int) -> None:
        self.world, self.row = world, row

    @property
    def fact(self) -> TaskFact:
        """What was observed of it."""
        fact = self.world.tasks.facts[self.row]
        assert fact is not None
        return fact

    @property
    def key(self) -> str:
        """Namespace and name."""
        return self.world.tasks.keys[self.row]

    @property
    def labels(self) -> Mapping[str, str]:
        """The pod's labels."""
        return self.fact.labels

    @property
    def annotations(self) -> Mapping[str, str]:
        """The pod's annotations."""
        return self.fact.annotations

    @property
    def status(self) -> Status:
        """Where it stands."""
        return Status(self.world.columns.ledger.task_status[self.row])

    @property
    def node(self) -> int:
        """Its node's row, -1 without."""
        return int(self.world.columns.ledger.task_node[self.row])

    @property
    def shape_row(self) -> int:
        """The row of its shape."""
        return int(self.world.columns.ledger.task_shape[self.row])

    @property
    def shape(self) -> Shape:
        """What it asks for."""
        return self.world.shapes[self.shape_row]

    @property
    def priority(self) -> int:
        """Its priority, 1 if its pod has none."""
        return int(self.world.columns.traits.task_priority[self.row])

    @property
    def is_best_effort(self) -> bool:
        """Whether it asks for nothing but a place."""
        return bool(self.world.columns.ledger.shape_best_effort[self.shape_row])

    @property
    def gang(self) -> "Gang | None":
        """Its gang."""
        row = int(self.world.columns.ledger.task_gang[self.row])
        return Gang(self.world, row) if row >= 0 else None


class Team(ABC):
    """A gang or a sub-gang: members by status, and how many of them it takes."""

    __slots__ = ("row", "world")

    def __init__(self, world: World, row: int) -> None:
        self.world, self.row = world, row

    @property
    @abstractmethod
    def counts(self) -> list[int]:
        """Members by status."""

    @property
    @abstractmethod
    def minimum(self) -> int:
        """How many it takes."""

    @property
    @abstractmethod
    def pending_best_effort(self) -> int:
        """Pending members that ask for nothing but a place."""

    @property
    def size(self) -> int:
        """All members."""
        return sum(self.counts)

    @property
    def ready_count(self) -> int:
        """Members that have their node, or had it and ended well."""
        counts = self.counts
        return counts[ALLOCATED] + counts[BINDING] + counts[BOUND] + counts[RUNNING] + counts[SUCCEEDED]

    @property
    def waiting_count(self) -> int:
        """Members that are promised a node."""
        counts = self.counts
        return counts[PIPELINED] + counts[HELD]

    @property
    @abstractmethod
    def counts_gated(self) -> bool:
        """Whether gated members count as if they only waited."""

    @property
    def valid_count(self) -> int:
        """Members that could still be part of it."""
        counts = self.counts
        gated = counts[GATED] if self.counts_gated else 0
        return self.ready_count + self.waiting_count + counts[PENDING] + gated

    @property
    def is_ready(self) -> bool:
        """Whether its minimum has nodes."""
        return self.ready_count + self.pending_best_effort >= self.minimum

    @property
    def is_pipelined(self) -> bool:
        """Whether its minimum has nodes, or is promised some."""
        return self.waiting_count + self.ready_count + self.pending_best_effort >= self.minimum

    @property
    def is_starving(self) -> bool:
        """Whether even with what is promised its minimum is not met. Best-effort members do not help here."""
        return self.waiting_count + self.ready_count < self.minimum


class Gang(Team):
    """A gang: one row of everything that has a G axis."""

    __slots__ = ()

    @property
    def fact(self) -> GangFact:
        """What was declared."""
        fact = self.world.gangs.facts[self.row]
        assert fact is not None
        return fact

    @property
    def annotations(self) -> Mapping[str, str]:
        """The annotations of what declares it."""
        return self.fact.annotations

    @property
    def is_declared(self) -> bool:
        """Whether anything declares it; members may name a gang that nobody declared."""
        return self.world.gangs.facts[self.row] is not None

    @property
    def key(self) -> str:
        """What it is known by."""
        return self.world.gangs.keys[self.row]

    @property
    def counts(self) -> list[int]:
        """Members by status."""
        counts: list[int] = self.world.columns.ledger.gang_count[self.row].tolist()
        return counts

    @property
    def minimum(self) -> int:
        """How many members it takes."""
        return int(self.world.columns.traits.gang_min[self.row])

    @property
    def pending_best_effort(self) -> int:
        """Pending members that ask for nothing but a place."""
        return int(self.world.columns.ledger.gang_best_effort[self.row])

    @property
    def counts_gated(self) -> bool:
        """Whether gated members count as if they only waited."""
        return bool(self.world.columns.ledger.gang_counts_gated[self.row])

    @property
    def queue(self) -> "Queue":
        """Its queue, declared or not."""
        return Queue(self.world, int(self.world.columns.ledger.gang_queue[self.row]))

    @property
    def priority(self) -> int:
        """The value of its priority class."""
        return int(self.world.columns.traits.gang_priority[self.row])

    @property
    def phase(self) -> GangPhase:
        """Where it is in its life."""
        return GangPhase(self.world.columns.traits.gang_phase[self.row])

    @property
    def is_admitted(self) -> bool:
        """Whether its queue let it in."""
        return self.phase is not GangPhase.PENDING

    @property
    def members(self) -> list[Task]:
        """Its tasks, in their default order."""
        return [Task(self.world, row) for row in self.world.ordered_members(self.row).tolist()]

    @property
    def roles(self) -> "dict[str, Role]":
        """Its roles that have a minimum or members, if roles count for it."""
        rows = self.world.membership.roles(self.row)
        minimums = dict(self.fact.min_roles)
        return {
            name: Role(self.world, rows.get(name, -1), self, minimums.get(name, 0))
            for name in sorted({*rows, *minimums})
        }

    @property
    def roles_count(self) -> bool:
        """Whether the minimums of roles are asked for: not if the gang's own minimum is smaller than their sum."""
        return self.minimum >= sum(minimum for _, minimum in self.fact.min_roles)

    @property
    def subgangs(self) -> "list[Division]":
        """Its sub-gangs that have members; none if it has no policies."""
        rows = self.world.membership.subgangs(self.row)
        divisions = [Division(self.world, row, self, subgang) for subgang, row in rows.items()]
        return sorted(
            (each for each in divisions if each.size), key=lambda each: (each.subgang.policy, each.subgang.values)
        )


class Cohort(Team):
    """A part of a gang that is counted by itself: one row of everything that has a C axis. Row -1: nobody."""

    __slots__ = ()

    @property
    def counts(self) -> list[int]:
        """Members by status."""
        if self.row < 0:
            return [0] * len(Status)
        counts: list[int] = self.world.columns.ledger.cohort_count[self.row].tolist()
        return counts

    @property
    def pending_best_effort(self) -> int:
        """Pending members that ask for nothing but a place."""
        return int(self.world.columns.ledger.cohort_best_effort[self.row]) if self.row >= 0 else 0


class Role(Cohort):
    """The members of a gang in one role."""

    __slots__ = ("_gang", "_minimum")

    def __init__(self, world: World, row: int, gang: Gang, minimum: int) -> None:
        super().__init__(world, row)
        self._gang, self._minimum = gang, minimum

    @property
    def counts_gated(self) -> bool:
        """Whether gated members count as if they only waited."""
        return self._gang.counts_gated

    @property
    def minimum(self) -> int:
        """How many of the role it takes."""
        return self._minimum


class Division(Cohort):
    """A sub-gang."""

    __slots__ = ("gang", "subgang")

    def __init__(self, world: World, row: int, gang: Gang, subgang: SubGang) -> None:
        super().__init__(world, row)
        self.gang, self.subgang = gang, subgang

    @property
    def counts_gated(self) -> bool:
        """Whether gated members count as if they only waited."""
        return self.gang.counts_gated

    @property
    def minimum(self) -> int:
        """How many members make it ready."""
        return self.subgang.minimum

    @property
    def members(self) -> list[Task]:
        """Its tasks, in their default order."""
        of = self.world.columns.ledger.task_subgroup
        return [task for task in self.gang.members if of[task.row] == self.row]

    @property
    def priority(self) -> int:
        """The highest priority among its members, at least 0."""
        return max([0, *(task.priority for task in self.members)])


class Queue:
    """A queue."""

    __slots__ = ("row", "world")

    def __init__(self, world: World, row: int) -> None:
        self.world, self.row = world, row

    @property
    def key(self) -> str:
        """What it is known by."""
        return self.world.queues.keys[self.row]

    @property
    def fact(self) -> QueueFact:
        """What was declared."""
        fact = self.world.queues.facts[self.row]
        assert fact is not None
        return fact

    @property
    def is_declared(self) -> bool:
        """Whether it exists, and is not only named."""
        return self.world.queues.facts[self.row] is not None


class Node:
    """A node."""

    __slots__ = ("__dict__", "row", "world")

    def __init__(self, world: World, row: int) -> None:
        self.world, self.row = world, row

    @cached_property
    def fact(self) -> NodeFact:
        """What was observed of it."""
        fact = self.world.nodes.facts[self.row]
        assert fact is not None
        return fact

    @property
    def name(self) -> str:
        """Its name."""
        return self.world.nodes.keys[self.row]

    @property
    def labels(self) -> Mapping[str, str]:
        """Its labels."""
        return self.fact.labels

    @property
    def annotations(self) -> Mapping[str, str]:
        """Its annotations."""
        return self.fact.annotations

    @property
    def tasks(self) -> list[Task]:
        """The pods that are on it or have it promised, terminating ones included, in no particular order."""
        ledger, count = self.world.columns.ledger, len(self.world.tasks)
        status = ledger.task_status[:count]
        here = (ledger.task_node[:count] == self.row) & (OCCUPIES[status] | PROMISED[status])
        return [Task(self.world, row) for row in np.flatnonzero(here).tolist()]

    def idle(self, resource: str) -> int:
        """What is free of a resource, in model units."""
        dimension = self.world.dimensions.known(resource)
        if dimension is None:
            return 0
        columns = self.world.columns
        return int(columns.traits.node_allocatable[dimension, self.row] - columns.ledger.node_used[dimension, self.row])
