"""A session: one cycle's open view of the world, and what the cycle has found and decided so far.

Actions get it, ask its tiers, change the world through its statements, and leave notes of what was refused and why. The
notes become verdicts when the cycle closes; the bindings and evictions that statements committed become its effects.
"""

from collections.abc import Iterable

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from posse.cluster.phases import GangPhase
from posse.cluster.records import Bind, Effect, Evict
from posse.cluster.status import Status
from posse.cluster.verdict import Blocker
from posse.cluster.views import Gang, Task
from posse.cluster.world import World
from posse.scheduler.claims import Claims
from posse.scheduler.configuration import Configuration
from posse.scheduler.hopeless import Hopeless
from posse.scheduler.pending import pending_in
from posse.scheduler.placement.choice import Chooser
from posse.scheduler.placement.filler import Filler
from posse.scheduler.placement.terms import Codes
from posse.scheduler.plugin import Rows
from posse.scheduler.reasons import Reasons, Refusal
from posse.scheduler.statement import Statement
from posse.scheduler.tiers import Tiers


class Note(Struct):
    """What was found about a gang in this cycle."""

    blockers: list[Blocker]
    refusals: dict[int, Refusal]
    """Per task row: why each node refuses it."""
    skipped: dict[int, str]
    """Per task row: why it was not even tried."""
    attempts: dict[int, tuple[Status, str]]
    """Per task row: the status and node it had in a statement that was undone."""


def ours(world: World, status: Status) -> NDArray[np.int32]:
    """The tasks of gangs that are in a status, by row."""
    tasks, ledger = len(world.tasks), world.columns.ledger
    if not ledger.gang_count[: len(world.gangs), status].any():
        return np.empty(0, np.int32)
    return np.flatnonzero((ledger.task_status[:tasks] == status) & (ledger.task_gang[:tasks] >= 0)).astype(np.int32)


class Session:
    """Everything a cycle works with."""

    def __init__(
        self,
        world: World,
        configuration: Configuration,
        tiers: Tiers,
        chooser: Chooser,
        filler: Filler,
        claims: Claims,
        reasons: Reasons,
        hopeless: Hopeless,
        *,
        fresh: NDArray[np.bool_],
        takes_promises: bool,
        tells: bool,
        now: int,
        cycle: int,
    ) -> None:
        self.world, self.configuration, self.tiers = world, configuration, tiers
        self.chooser, self.filler, self.claims, self.reasons = chooser, filler, claims, reasons
        self.hopeless = hopeless
        self.now, self.cycle, self._fresh = now, cycle, fresh
        self.takes_promises = takes_promises
        """Whether a gang of higher priority may take room that is promised to others."""
        self.tells = tells
        """Whether anybody is told what the cycle found; if not, only its decisions count."""
        self.resting: set[int] = set()
        """Gangs (their rows) that are not tried in this cycle."""
        self.effects: list[Effect] = []
        self.notes: dict[int, Note] = {}

    # ------------------------------------------------------------------ gangs

    def gang_rows(self, phases: Iterable[GangPhase], *, with_status: Status | None = None) -> NDArray[np.intp]:
        """The rows of declared gangs of declared queues in one of these phases, and with a member in this status if one
        is named.
        """
        world, count = self.world, len(self.world.gangs)
        ledger, traits = world.columns.ledger, world.columns.traits
        wanted = np.zeros(len(GangPhase), np.bool_)
        wanted[list(phases)] = True
        chosen = wanted[traits.gang_phase[:count]] & traits.gang_declared[:count]
        if with_status is not None:
            chosen &= ledger.gang_count[:count, with_status] > 0
        declared = np.array([fact is not None for fact in world.queues.facts], np.bool_)
        rows: NDArray[np.intp] = np.flatnonzero(chosen & declared[ledger.gang_queue[:count]])
        return rows

    def gangs(self, phases: Iterable[GangPhase], *, with_status: Status | None = None) -> list[Gang]:
        """The same as views."""
        return [Gang(self.world, row) for row in self.gang_rows(phases, with_status=with_status).tolist()]

    def rest(self, gang: Gang, why: Blocker) -> None:
        """Leave a gang alone in this cycle."""
        self.resting.add(gang.row)
        self.block(gang, why)

    def awake(self, gangs: Rows) -> Rows:
        """Those among the gangs that are not left alone."""
        return gangs[~np.isin(gangs, list(self.resting))] if self.resting else gangs

    def pending(self, gang: Gang, *, best_effort: bool) -> NDArray[np.int32]:
        """The pending tasks of a gang in task order: those that ask for nothing but a place, or the others."""
        return pending_in(self.world, self.tiers, np.array([gang.row]), best_effort=best_effort).of(0)

    def admit(self, gangs: Rows) -> None:
        """Let gangs into their queues."""
        self.world.columns.traits.gang_phase[gangs] = GangPhase.INQUEUE
        self.world.columns.log_gangs(gangs)

    def is_fresh(self, gangs: Rows) -> NDArray[np.bool_]:
        """Which of these gangs changed since the last cycle closed: they must be looked at and told anew, if anybody
        is.
        """
        fresh: NDArray[np.bool_] = self._fresh[gangs] & self.tells
        return fresh

    def to_be_told(self, gangs: Rows) -> Rows:
        """Those among the gangs that must be told anew."""
        return gangs[self.is_fresh(gangs)]

    def set_phase(self, gang: Gang, phase: GangPhase) -> None:
        """Put a gang into a phase of its life."""
        if gang.phase is not phase:
            self.world.columns.traits.gang_phase[gang.row] = phase
            self.world.columns.log_gang(gang.row)

    def promised_to_weaker(self, gang: Gang) -> list[NDArray[np.int32]]:
        """The tasks of weaker gangs that were promised room in earlier cycles, gang by gang, the weakest first."""
        if not self.takes_promises:
            return []
        promised, of = np.array(sorted(self.world.promises), np.int32), self.world.columns.ledger.task_gang
        promised = promised[self.world.columns.ledger.task_status[promised] == Status.PIPELINED]
        weaker = [
            each for row in set(of[promised].tolist()) if (each := Gang(self.world, row)).priority < gang.priority
        ]
        ages = self.world.gang_ages
        weaker.sort(key=lambda each: (-each.priority, ages[each.row]), reverse=True)
        return [promised[of[promised] == each.row] for each in weaker]

    # ------------------------------------------------------------------ decisions

    def statement(self) -> Statement:
        """Open a transaction."""
        return Statement(self)

    def carry_out(self, tasks: NDArray[np.int32]) -> None:
        """Let what a statement decided about tasks happen: the allocated are bound."""
        world, ledger = self.world, self.world.columns.ledger
        bound = tasks[ledger.task_status[tasks] == Status.ALLOCATED]
        if not len(bound):
            return
        world.confirm(bound, Status.BINDING)
        facts, keys, claims = world.tasks.facts, world.tasks.keys, self.claims
        nodes, gangs = world.nodes.keys, world.gangs.keys
        rows = zip(bound.tolist(), ledger.task_node[bound].tolist(), ledger.task_gang[bound].tolist(), strict=True)
        self.effects += [
            Bind(keys[row], fact.uid, nodes[node], gangs[gang], claims.payloads(row, node) if claims.exist else ())
            for row, node, gang in rows
            if (fact := facts[row]) is not None
        ]

    def evicted(self, task: Task, by: Gang, action: str, reason: str) -> None:
        """Let an eviction that a statement decided happen."""
        node = self.world.nodes.keys[task.node]
        self.effects.append(Evict(task.key, task.fact.uid, node, by.key, action, reason))

    def promised_node(self, task: Task) -> int:
        """The row of the node that a waiting task's status names, -1 without."""
        nominated = task.fact.nominated
        return self.world.nodes.find(nominated) if nominated else -1

    # ------------------------------------------------------------------ notes

    def note(self, gang: Gang) -> Note:
        """The notes on a gang."""
        note = self.notes.get(gang.row)
        if note is None:
            note = self.notes[gang.row] = Note([], {}, {}, {})
        return note

    def block(self, gang: Gang, blocker: Blocker) -> None:
        """Note what keeps a gang from starting."""
        blockers = self.note(gang).blockers
        if blocker not in blockers:
            blockers.append(blocker)

    def refused(self, gang: Gang, task: Task, codes: Codes) -> None:
        """Note why each node refuses a task."""
        self.note(gang).refusals[task.row] = self.reasons.refusal(codes)

    def remember_attempts(self, gang: Gang, statement: Statement, mark: int) -> None:
        """Note where tasks would have gone, before a statement is rolled back to a mark."""
        ledger, keys = self.world.columns.ledger, self.world.nodes.keys
        for row in statement.tasks_since(mark):
            node = int(ledger.task_node[row])
            if node >= 0:
                self.note(gang).attempts[row] = (Status(ledger.task_status[row]), keys[node])

    def refused_roles(self, gang: Gang, cohort: int = -1) -> set[str]:
        """Roles of which a member found no node in this cycle, within one sub-gang if one is named."""
        note = self.notes.get(gang.row)
        if note is None:
            return set()
        of = self.world.columns.ledger.task_subgroup
        rows = [*note.refusals, *note.skipped]
        return {Task(self.world, row).fact.role for row in rows if cohort < 0 or of[row] == cohort}
