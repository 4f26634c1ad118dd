"""What a gang has and what it lacks: members by status and role; whether it may run, waits for room, or cannot run."""

from collections import Counter
from collections.abc import Iterable
from functools import cmp_to_key

from posse.cluster.facts import GangFact, TaskFact
from posse.cluster.ordering import by_index_then_age

from .cluster import ALLOCATED, Cluster, Status, is_best_effort
from .quirks import Quirks

PENDING: frozenset[Status] = frozenset({"pending"})
PIPELINED: frozenset[Status] = frozenset({"pipelined"})
SUCCEEDED: frozenset[Status] = frozenset({"succeeded"})


def members(cluster: Cluster, gang: GangFact, states: frozenset[Status]) -> list[TaskFact]:
    """The gang's tasks in one of these states."""
    return [task for task in cluster.members(gang.key) if cluster.status[task.key] in states]


def having(cluster: Cluster, gang: GangFact, quirks: Quirks, *, promised: bool = False) -> list[TaskFact]:
    """The members that count towards the minimum.

    Those that have room, those that ended well, and best-effort ones, which will find a place. `promised`: pipelined
    ones too.
    """
    states = ALLOCATED
    if gang.rules.finished_count:
        states |= SUCCEEDED
    if promised:
        states |= PIPELINED
    waiting = [task for task in members(cluster, gang, PENDING) if is_best_effort(task)]
    return members(cluster, gang, states) + [task for task in waiting if quirks.counts_gated or not task.gates]


def has_roles(gang: GangFact, counted: Iterable[TaskFact]) -> bool:
    """Whether every role has its minimum. Not asked if the gang's minimum is smaller than its roles' together."""
    if gang.min_member < sum(minimum for _, minimum in gang.min_roles):
        return True
    counts = Counter(task.role for task in counted)
    return all(counts[role] >= minimum for role, minimum in gang.min_roles)


def is_ready(cluster: Cluster, gang: GangFact, quirks: Quirks, *, promised: bool = False, roles: bool = True) -> bool:
    """Whether the gang may run: enough members in number and, if asked, in every role."""
    counted = having(cluster, gang, quirks, promised=promised)
    return len(counted) >= gang.min_member and (not roles or has_roles(gang, counted))


def is_valid(cluster: Cluster, gang: GangFact) -> bool:
    """Whether the gang could run if there were room: enough members not failed, in number and in every role."""
    alive = members(cluster, gang, ALLOCATED | SUCCEEDED | PIPELINED | PENDING)
    return len(alive) >= gang.min_member and has_roles(gang, alive)


def gives_up(cluster: Cluster, gang: GangFact, failed: set[str], quirks: Quirks) -> bool:
    """Whether the failure of some tasks (by key) settles that the gang cannot run."""
    everyone = cluster.members(gang.key)
    if gang.min_member >= len(everyone):
        return True
    failed_roles = {task.role for task in everyone if task.key in failed}
    if gang.min_member < sum(minimum for _, minimum in gang.min_roles):
        hopeful = [task for task in members(cluster, gang, PENDING) if task.role not in failed_roles]
        return len(members(cluster, gang, ALLOCATED | SUCCEEDED)) + len(hopeful) < gang.min_member
    counts = Counter(task.role for task in having(cluster, gang, quirks))
    return any(role in failed_roles and counts[role] < minimum for role, minimum in gang.min_roles)


def in_order(tasks: Iterable[TaskFact], *, by_priority: bool = True) -> list[TaskFact]:
    """Tasks in the order in which they are placed: priority, then the index in their names, then age."""
    ordered = sorted(tasks, key=lambda task: (task.created, task.uid))
    ordered.sort(key=cmp_to_key(by_index_then_age))
    return sorted(ordered, key=lambda task: -priority(task)) if by_priority else ordered


def priority(task: TaskFact) -> int:
    """A task's priority; 1 if it has none."""
    return 1 if task.priority is None else task.priority


def gang_priority(cluster: Cluster, gang: GangFact) -> int:
    """The value of the gang's priority class; without a known one, that of the default class, or 0."""
    known = cluster.priority_classes.get(gang.priority_class)
    if known is not None:
        return known.value
    return next((each.value for each in cluster.priority_classes.values() if each.is_default), 0)
