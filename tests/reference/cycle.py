"""One scheduling cycle: admit gangs, place gangs, fill in best-effort tasks.

Queues take turns, and in a queue gangs; a turn brings a gang to its minimum, or, once it has that, one task further.
After every turn the order is looked at afresh, so that shares that grew count at once.
"""

from collections import defaultdict
from dataclasses import dataclass, field, replace
from typing import Literal

from posse.cluster.facts import GangFact, TaskFact

from . import proportion
from .admission import Admission, Phases, Voice
from .cluster import ALLOCATED, CPU, MEMORY, Cluster, is_best_effort
from .gangs import PENDING, PIPELINED, gang_priority, gives_up, in_order, is_ready, is_valid, members
from .node_rules import insufficient
from .placement import Chooser, Placed, put_in_place
from .quirks import MEANT, Quirks
from .resources import Resources, dominant_share, requests

GangKey = Literal["priority", "gang", "drf"]


@dataclass(frozen=True)
class Policy:
    """What a configuration chooses."""

    actions: tuple[str, ...] = ("enqueue", "allocate", "backfill")
    gang_keys: tuple[GangKey, ...] = ("priority", "gang", "drf")
    orders_tasks_by_priority: bool = True
    shares_by_weight: bool = True
    """Whether queues deserve by weight (proportion)."""
    drops_overused: bool = True
    limits_tasks: bool = True
    admission: tuple[tuple[Voice, ...], ...] = (("overcommit", "proportion"),)
    overcommit_factor: float = 1.2
    quirks: Quirks = MEANT


@dataclass(frozen=True)
class Outcome:
    """What one cycle decided, by task key; and the phase of every gang after admission."""

    binds: dict[str, str]
    pipelined: dict[str, str]
    phases: Phases


@dataclass
class Cycle:
    """The state of one cycle."""

    cluster: Cluster
    chooser: Chooser
    policy: Policy
    gang_order: Literal["ready-first", "unready-first"]
    phases: Phases
    deserved: dict[str, Resources]
    failed: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    """By gang, the tasks that found no node."""

    def gangs(self) -> list[GangFact]:
        """The gangs that take part: those whose queue is known."""
        return [gang for gang in self.cluster.gangs.values() if gang.queue in self.cluster.queues]

    def placeable(self) -> list[GangFact]:
        """The gangs that are admitted and could run."""
        return [gang for gang in self.gangs() if self.phases[gang.key] != "Pending" and is_valid(self.cluster, gang)]

    # ---------------------------------------------------------------- orders

    def queue_key(self, name: str) -> tuple[float, ...] | tuple[object, ...]:
        """Queues by priority and share; then by age and name."""
        queue = self.cluster.queues[name]
        if not self.policy.shares_by_weight:
            return (queue.created, name)
        return (-queue.priority, proportion.share(self.cluster, name, self.deserved[name]), queue.created, name)

    def gang_key(self, gang: GangFact) -> tuple[object, ...]:
        """Gangs by the keys of the policy; then by age and name."""
        return (*(self._key(gang, key) for key in self.policy.gang_keys), gang.created, gang.key)

    def _key(self, gang: GangFact, key: GangKey) -> float:
        match key:
            case "priority":
                return -gang_priority(self.cluster, gang)
            case "gang":
                ready = is_ready(self.cluster, gang, self.policy.quirks, roles=False)
                return float(ready is (self.gang_order == "unready-first"))
            case "drf":
                has = requests(members(self.cluster, gang, ALLOCATED | PIPELINED))
                return dominant_share(has, proportion.total_allocatable(self.cluster))

    def ordered(self, tasks: list[TaskFact]) -> list[TaskFact]:
        """Tasks in the order in which they are placed."""
        return in_order(tasks, by_priority=self.policy.orders_tasks_by_priority)

    # ---------------------------------------------------------------- actions

    def enqueue(self) -> None:
        """Admit waiting gangs, queue by queue in order, the first gang of each."""
        policy = self.policy
        admission = Admission(self.cluster, self.phases, policy.admission, policy.overcommit_factor, policy.quirks)
        waiting = [gang for gang in self.gangs() if self.phases[gang.key] == "Pending"]
        while waiting:
            queue = min({gang.queue for gang in waiting}, key=self.queue_key)
            gang = min((gang for gang in waiting if gang.queue == queue), key=self.gang_key)
            waiting.remove(gang)
            if admission.admit(gang):
                self.phases[gang.key] = "Inqueue"

    def allocate(self) -> None:
        """Let queues and gangs take turns until nobody has anything to try. Without enqueue, all are admitted first."""
        if "enqueue" not in self.policy.actions:
            self.phases |= {gang.key: "Inqueue" for gang in self.gangs() if self.phases[gang.key] == "Pending"}
        untried = {gang.key: self.ordered(self._to_place(gang)) for gang in self.placeable()}
        waiting = [gang for gang in self.placeable() if untried[gang.key]]
        while waiting:
            queue = min({gang.queue for gang in waiting}, key=self.queue_key)
            if self._has_had_enough(queue):
                waiting = [gang for gang in waiting if gang.queue != queue]
                continue
            gang = min((gang for gang in waiting if gang.queue == queue), key=self.gang_key)
            if not self.take_turn(gang, untried[gang.key]) or not untried[gang.key]:
                waiting.remove(gang)

    def _to_place(self, gang: GangFact) -> list[TaskFact]:
        waiting = members(self.cluster, gang, PENDING)
        return [task for task in waiting if not task.gates and not is_best_effort(task)]

    def take_turn(self, gang: GangFact, tasks: list[TaskFact]) -> bool:
        """Place tasks until the gang is ready, and bind them; whether it is, so that it may have another turn.

        A gang that is only promised its minimum keeps its places and binds nobody. One that falls short gives all back.
        """
        quirks, placed = self.policy.quirks, self._place_until_ready(gang, tasks)
        if is_ready(self.cluster, gang, quirks):
            for choice in placed:
                if choice.how == "allocate":
                    self.cluster.put(choice.task, "binding", choice.node)
            return True
        if not is_ready(self.cluster, gang, quirks, promised=True):
            for choice in placed:
                self.cluster.put(choice.task, "pending")
        return False

    def _place_until_ready(self, gang: GangFact, tasks: list[TaskFact]) -> list[Placed]:
        quirks, placed = self.policy.quirks, list[Placed]()
        refusing: dict[str, set[str]] = defaultdict(set)
        while tasks:
            task = tasks.pop(0)
            if not self._queue_lets(gang, task):
                continue
            if quirks.role_memory and task.role in self._failed_roles(gang) - {""}:
                self.failed[gang.key].add(task.key)
                continue
            choice = self.chooser.choose(self.cluster, task, refusing[task.role])
            if quirks.role_memory and task.role:
                willing = {node.name for node in self.chooser.willing(self.cluster, task, refusing[task.role])}
                refusing[task.role] = set(self.cluster.nodes) - willing
            if choice is not None:
                put_in_place(self.cluster, choice)
                placed.append(choice)
                if is_ready(self.cluster, gang, quirks):
                    break
                continue
            self.failed[gang.key].add(task.key)
            if quirks.role_memory and gives_up(self.cluster, gang, self.failed[gang.key], quirks):
                break
        return placed

    def _has_had_enough(self, queue: str) -> bool:
        if not (self.policy.shares_by_weight and self.policy.drops_overused):
            return False
        return proportion.is_overused(self.cluster, queue, self.deserved[queue])

    def _queue_lets(self, gang: GangFact, task: TaskFact) -> bool:
        queue = self.cluster.queues[gang.queue]
        if not (self.policy.shares_by_weight and self.policy.limits_tasks):
            return True
        return proportion.may_take(self.cluster, queue, task, self.deserved[queue.key])

    def _failed_roles(self, gang: GangFact) -> set[str]:
        return {self.cluster.tasks[key].role for key in self.failed[gang.key]}

    def backfill(self) -> None:
        """Place best-effort tasks, in an order fixed at first; all of a gang that has become ready are bound."""
        waiting = [gang for gang in self.placeable() if self._to_fill_in(gang)]
        waiting.sort(key=self.gang_key)
        waiting.sort(key=lambda gang: self.queue_key(gang.queue))
        filling = replace(
            self.chooser, filters=tuple(rule for rule in self.chooser.filters if rule is not insufficient)
        )
        in_line = [(gang, task) for gang in waiting for task in self.ordered(self._to_fill_in(gang))]
        for gang, task in in_line:
            nodes = filling.willing(self.cluster, task)
            if not nodes:
                continue
            self.cluster.put(task, "allocated", filling.best(self.cluster, task, nodes))
            if is_ready(self.cluster, gang, self.policy.quirks):
                self._bind_all(gang)

    def _bind_all(self, gang: GangFact) -> None:
        for member in members(self.cluster, gang, frozenset({"allocated"})):
            node = self.cluster.place[member.key]
            is_full = any(self.cluster.idle(node, resource) < 0 for resource in (CPU, MEMORY))
            if not (is_full and self.policy.quirks.bind_needs_room):
                self.cluster.put(member, "binding", node)

    def _to_fill_in(self, gang: GangFact) -> list[TaskFact]:
        waiting = members(self.cluster, gang, PENDING)
        return [task for task in waiting if not task.gates and is_best_effort(task)]


def run_cycle(
    cluster: Cluster,
    chooser: Chooser,
    policy: Policy = Policy(),
    gang_order: Literal["ready-first", "unready-first"] = "unready-first",
) -> Outcome:
    """Run one cycle on a cluster, which is changed, and say what it decided."""
    deserved = proportion.deserved(cluster) if policy.shares_by_weight else {}
    chooser = chooser.at_open(cluster, policy.quirks)
    cycle = Cycle(cluster, chooser, policy, gang_order, phases_at_open(cluster), deserved)
    for action in policy.actions:
        match action:
            case "enqueue":
                cycle.enqueue()
            case "allocate":
                cycle.allocate()
            case "backfill":
                cycle.backfill()
            case _:
                raise ValueError(f"the reference knows no action {action}")
    by_status = {
        status: {key: cluster.place[key] for key in sorted(cluster.tasks) if cluster.status[key] == status}
        for status in ("binding", "pipelined")
    }
    return Outcome(by_status["binding"], by_status["pipelined"], cycle.phases)


def phases_at_open(cluster: Cluster) -> Phases:
    """The phase of every gang when a cycle opens."""
    return {gang.key: _phase_at_open(gang) for gang in cluster.gangs.values()}


def _phase_at_open(gang: GangFact) -> str:
    if gang.phase not in ("", "Pending"):
        return gang.phase
    return "Pending" if gang.rules.gated_by_queue else "Inqueue"
