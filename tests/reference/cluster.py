"""Who lies where: the facts, and for each task its status and node.

`put` is the only thing that changes a cluster; everything else is added up anew whenever somebody asks.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Literal

from posse.cluster.facts import (
    Amounts,
    Fact,
    GangFact,
    NamespaceFact,
    NodeFact,
    PriorityClassFact,
    QueueFact,
    TaskFact,
)

Status = Literal[
    "pending", "allocated", "pipelined", "binding", "bound", "running", "releasing", "succeeded", "failed", "unknown"
]

ALLOCATED: frozenset[Status] = frozenset({"allocated", "binding", "bound", "running"})
"""Counts as having its room."""
USING: frozenset[Status] = ALLOCATED | {"releasing", "unknown"}
"""Takes room on its node."""
RESIDENT: frozenset[Status] = USING | {"pipelined"}
"""Lies on its node, as far as ports, affinity, spread and scores are concerned."""

PODS, CPU, MEMORY = "pods", "cpu", "memory"


@dataclass
class Cluster:
    """Facts by key, and the state of each task."""

    nodes: dict[str, NodeFact] = field(default_factory=dict)
    tasks: dict[str, TaskFact] = field(default_factory=dict)
    gangs: dict[str, GangFact] = field(default_factory=dict)
    queues: dict[str, QueueFact] = field(default_factory=dict)
    namespaces: dict[str, NamespaceFact] = field(default_factory=dict)
    priority_classes: dict[str, PriorityClassFact] = field(default_factory=dict)
    status: dict[str, Status] = field(default_factory=dict)
    place: dict[str, str] = field(default_factory=dict)
    lying: dict[str, dict[str, TaskFact]] = field(default_factory=dict)
    """By node, the tasks that name it, in the order they came."""

    @classmethod
    def of(cls, facts: Iterable[Fact]) -> "Cluster":
        """The cluster that these facts describe. Kinds that no rule here reads are left out."""
        cluster = cls()
        for fact in facts:
            match fact:
                case NodeFact():
                    cluster.nodes[fact.name] = fact
                case TaskFact():
                    cluster.tasks[fact.key] = fact
                    cluster.put(fact, observed_status(fact), fact.node)
                case GangFact():
                    cluster.gangs[fact.key] = fact
                case QueueFact():
                    cluster.queues[fact.key] = fact
                case NamespaceFact():
                    cluster.namespaces[fact.name] = fact
                case PriorityClassFact():
                    cluster.priority_classes[fact.name] = fact
        return cluster

    def put(self, task: TaskFact, status: Status, node: str = "") -> None:
        """Let a task have this status, on this node or on none."""
        self.lying.get(self.place.get(task.key, ""), {}).pop(task.key, None)
        self.status[task.key], self.place[task.key] = status, node
        if node:
            self.lying.setdefault(node, {})[task.key] = task

    def copy(self) -> "Cluster":
        """A cluster that may go its own way."""
        return replace(
            self,
            status=dict(self.status),
            place=dict(self.place),
            lying={node: dict(tasks) for node, tasks in self.lying.items()},
        )

    def residents(self, node: str, states: frozenset[Status] = RESIDENT) -> list[TaskFact]:
        """The tasks on a node that are in one of these states."""
        return [task for key, task in self.lying.get(node, {}).items() if self.status[key] in states]

    def members(self, gang: str) -> list[TaskFact]:
        """The tasks of a gang, finished and terminating ones included."""
        return [task for task in self.tasks.values() if task.gang == gang]

    def used(self, node: str, resource: str) -> int:
        """What is taken on a node, terminating tasks included."""
        return sum(amount(task.shape.requests, resource) for task in self.residents(node, USING))

    def idle(self, node: str, resource: str) -> int:
        """What is free now."""
        return amount(self.nodes[node].allocatable, resource) - self.used(node, resource)

    def future_idle(self, node: str, resource: str) -> int:
        """What is free once terminating tasks are gone and promised tasks have come."""
        leaving = self.residents(node, frozenset({"releasing"}))
        coming = self.residents(node, frozenset({"pipelined"}))
        return (
            self.idle(node, resource)
            + sum(amount(task.shape.requests, resource) for task in leaving)
            - sum(amount(task.shape.requests, resource) for task in coming)
        )


def observed_status(fact: TaskFact) -> Status:
    """What a fact says of its task's status."""
    if fact.phase == "Succeeded":
        return "succeeded"
    if fact.phase == "Failed":
        return "failed"
    if fact.phase == "Unknown":
        return "unknown"
    if fact.terminating:
        return "releasing"
    if fact.phase == "Running":
        return "running"
    return "bound" if fact.node else "pending"


def amount(amounts: Amounts, resource: str) -> int:
    """How much of a resource; 0 if it is not named."""
    return dict(amounts).get(resource, 0)


def compared_resources(task: TaskFact) -> list[str]:
    """The resources a node is asked for: cpu and memory even if the request is 0, others only if it is not."""
    others = [name for name, asked in task.shape.requests if asked > 0 and name not in (CPU, MEMORY)]
    return [CPU, MEMORY, *sorted(others)]


def is_best_effort(task: TaskFact) -> bool:
    """Whether a task asks for nothing but a place among the node's pods."""
    return not any(asked > 0 for name, asked in task.shape.requests if name != PODS)
