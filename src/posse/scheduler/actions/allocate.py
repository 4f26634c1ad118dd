"""Allocate: gangs get their nodes, all of what they need or nothing.

In turns: the best queue, its best gang, its tasks in order. A turn ends as soon as the gang is ready; what it still
wants beyond that it gets one task per turn, so that others whose share is smaller come in between. A turn that leaves
the gang neither ready nor ready once promised room is free is undone as if it had not been.

A gang with sub-gangs is placed sub-gang by sub-gang, those first that its minimum of groups needs, and the whole counts
or nothing.
"""

from typing import ClassVar

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from posse.cluster.phases import GangPhase
from posse.cluster.status import Status
from posse.cluster.views import Division, Gang, Task
from posse.scheduler.action import ERROR_CACHE, Action
from posse.scheduler.arguments import Argument
from posse.scheduler.crowd import Crowd
from posse.scheduler.line import Heap, Line
from posse.scheduler.pending import pending_in
from posse.scheduler.placement.choice import Choice
from posse.scheduler.placement.fill import REFUSED_BY_QUEUE
from posse.scheduler.plugin import Rows
from posse.scheduler.remaining import NothingKnown, Remaining
from posse.scheduler.session import Session
from posse.scheduler.statement import Statement

ADMITTED = (GangPhase.INQUEUE, GangPhase.RUNNING, GangPhase.UNKNOWN, GangPhase.COMPLETED)


class Part(Struct):
    """A gang, or one of its sub-gangs, and its tasks that still wait for their turn: those from `at` on."""

    rows: NDArray[np.int32]
    division: Division | None = None
    at: int = 0

    @property
    def tasks(self) -> NDArray[np.int32]:
        """The tasks that still wait for their turn."""
        return self.rows[self.at :]

    @property
    def has_tasks(self) -> bool:
        """Whether any does."""
        return self.at < len(self.rows)

    @property
    def cohort(self) -> int:
        """The row it is counted in, -1 for a whole gang."""
        return self.division.row if self.division is not None else -1


class Allocate(Action):
    """Place gangs."""

    name: ClassVar[str] = "allocate"
    arguments: ClassVar[tuple[Argument, ...]] = (ERROR_CACHE,)

    def run(self, session: Session) -> None:
        """Give every gang its turns."""
        gangs = self._gangs(session)
        pending = pending_in(session.world, session.tiers, gangs, best_effort=False)
        crowd = Crowd(session, gangs, pending)
        parts = {
            row: _parts(session, Gang(session.world, row), pending.of(at))
            for at, row in enumerate(gangs.tolist())
            if crowd.waits(at)
        }
        remaining = NothingKnown() if session.tells else Remaining(session, gangs)
        line = Line(session.tiers, session.world, np.array(list(parts), np.intp))
        while (gang := line.next(skip_overused=True)) is not None:
            if remaining.lacks(gang) or crowd.place(gang, line):
                pass
            elif _turn(session, gang, parts[gang.row]):
                remaining.is_ready(gang)
                line.again(gang)
            line.back(gang)

    def _gangs(self, session: Session) -> Rows:
        """The gangs that may be placed: admitted (or nobody admits here), not hopeless, and valid."""
        if "enqueue" not in self.actions:
            session.admit(session.gang_rows([GangPhase.PENDING]))
        gangs = session.awake(session.gang_rows(ADMITTED, with_status=Status.PENDING))
        gangs = gangs[session.is_fresh(gangs) | ~session.hopeless.among(gangs)]
        if not session.tells:
            gangs = gangs[~Remaining(session, gangs).queues_lack()]
        valid = [session.tiers.gang_invalid(Gang(session.world, row)) is None for row in gangs.tolist()]
        return gangs[np.array(valid, np.bool_)]


def _parts(session: Session, gang: Gang, tasks: NDArray[np.int32]) -> list[Part]:
    """The tasks of a gang that wait, by sub-gang if it has any."""
    divisions = gang.subgangs
    if not divisions:
        return [Part(tasks)]
    of = session.world.columns.ledger.task_subgroup[tasks]
    parts = [Part(tasks[of == division.row], division) for division in divisions]
    return [part for part in parts if part.has_tasks]


def _turn(session: Session, gang: Gang, parts: list[Part]) -> bool:
    """Let a gang have its turn. True if it wants another."""
    statement, ready_before = session.statement(), session.tiers.gang_ready(gang)
    placed = _place_parts(session, statement, gang, parts)
    if not placed and not ready_before:
        placed = _place_on_promised_room(session, statement, gang, parts)
    if not placed or not session.tiers.gang_ready(gang):
        return False
    statement.commit()
    return any(part.has_tasks for part in parts)


def _place_parts(session: Session, statement: Statement, gang: Gang, parts: list[Part]) -> bool:
    """Place a gang, part by part if it has parts. True if it then is ready, or will be."""
    if parts[0].division is None:
        return place(session, statement, gang, parts[0])
    return _place_divisions(session, statement, gang, parts)


def _place_on_promised_room(session: Session, statement: Statement, gang: Gang, parts: list[Part]) -> bool:
    """Place a gang on room that is promised to gangs of lower priority, the weakest first; each gives up all of its
    promise.
    """
    note, weaker = session.notes.get(gang.row), session.promised_to_weaker(gang)
    for promised, alone in [*((each, True) for each in weaker), *((each, False) for each in weaker)]:
        session.notes.pop(gang.row, None)
        statement.release(promised)
        for part in parts:
            part.at = 0
        if _place_parts(session, statement, gang, parts):
            return True
        if alone:
            statement.rollback()
    statement.rollback()
    if note is not None:
        session.notes[gang.row] = note
    return False


def _place_divisions(session: Session, statement: Statement, gang: Gang, parts: list[Part]) -> bool:
    """Place sub-gangs until the gang is ready. True if it then is, or will be."""
    mark = statement.checkpoint()
    session.notes.pop(gang.row, None)
    required = _required(session, gang)
    by_cohort = {part.cohort: part for part in parts}
    heap: Heap[Division] = Heap(lambda each: (each.row not in required, session.tiers.subgang_key(each)))
    for part in parts:
        if part.division is not None and part.has_tasks:
            heap.push(part.division)
    while len(heap):
        division = heap.pop()
        part, before = by_cohort[division.row], len(statement)
        if place(session, statement, gang, part):
            if part.has_tasks:
                heap.push(division)
            if len(statement) > before and session.tiers.gang_ready(gang):
                break
    if len(statement) > mark and (session.tiers.gang_ready(gang) or session.tiers.gang_pipelined(gang)):
        return True
    session.remember_attempts(gang, statement, mark)
    statement.rollback(mark)
    return False


def _required(session: Session, gang: Gang) -> set[int]:
    """The sub-gangs (their rows) that are the shortest way to the minimum of ready groups of each policy."""
    wanted = {policy.name: policy.min_groups for policy in gang.fact.subgroups}
    waiting = []
    for division in gang.subgangs:
        if session.tiers.subgang_ready(division):
            wanted[division.subgang.policy] = wanted.get(division.subgang.policy, 0) - 1
        else:
            waiting.append(division)
    required = set()
    for division in sorted(waiting, key=session.tiers.subgang_key):
        if wanted.get(division.subgang.policy, 0) > 0:
            wanted[division.subgang.policy] -= 1
            required.add(division.row)
    return required


def place(session: Session, statement: Statement, gang: Gang, part: Part) -> bool:
    """Place a part's tasks in order until it is ready.

    True if it then is, or will be; else nothing of it stays placed.
    """
    mark = statement.checkpoint()
    while part.has_tasks:
        if _fill(session, statement, gang, part) and _is_ready(session, gang, part):
            break
        if not part.has_tasks or not _place_next(session, statement, gang, part) or _is_ready(session, gang, part):
            break
    if _is_ready(session, gang, part) or _is_pipelined(session, gang, part):
        return True
    session.remember_attempts(gang, statement, mark)
    statement.rollback(mark)
    return False


def _fill(session: Session, statement: Statement, gang: Gang, part: Part) -> bool:
    """Place the next tasks at once, as many equal ones as there are and the part still needs.

    True if any was placed.
    """
    world = session.world
    ledger, traits = world.columns.ledger, world.columns.traits
    tasks = part.tasks[: _missing(session, gang, part)]
    shape = int(ledger.task_shape[tasks[0]])
    unequal = np.flatnonzero((ledger.task_shape[tasks] != shape) | traits.task_nominated[tasks])
    tasks = tasks[: unequal[0]] if len(unequal) else tasks
    if not len(tasks) or session.refused_roles(gang, part.cohort) or not session.filler.can_fill(shape, tasks):
        return False
    room = session.tiers.queue_room(gang.queue, ledger.shape_request.shape[1])
    if room is None:
        return False
    looked_at, nodes = session.filler.fill(shape, tasks, room)
    part.at += looked_at
    placed = tasks[:looked_at][nodes[:looked_at] >= 0]
    if len(placed):
        statement.filled(placed)
    if len(placed) < looked_at:
        refused = int(np.flatnonzero(nodes[:looked_at] == REFUSED_BY_QUEUE)[0])
        blocker = session.tiers.queue_refuses(gang.queue, Task(world, int(tasks[refused])))
        if blocker is not None:
            session.block(gang, blocker)
    return bool(len(placed))


def _missing(session: Session, gang: Gang, part: Part) -> int:
    """How many more tasks the part needs at the least."""
    division = part.division
    if division is None:
        return session.tiers.missing(gang)
    return max(1, division.minimum - division.ready_count - division.pending_best_effort)


def _place_next(session: Session, statement: Statement, gang: Gang, part: Part) -> bool:
    """Let the next task have its turn. False if it found no node and the others need not try."""
    task = Task(session.world, int(part.rows[part.at]))
    part.at += 1
    refusal = session.tiers.queue_refuses(gang.queue, task)
    if refusal is not None:
        session.block(gang, refusal)
        return True
    if task.fact.role and task.fact.role in session.refused_roles(gang, part.cohort):
        session.note(gang).skipped[task.row] = f"another {task.fact.role} of this gang found no node"
        return True
    choice = session.chooser.choose(task.row, preferred=session.promised_node(task))
    if not isinstance(choice, Choice):
        session.refused(gang, task, choice)
        return _may_still_be_ready(session, gang, part)
    rows, nodes = np.array([task.row], np.int32), np.array([choice.node], np.int32)
    if choice.is_idle:
        statement.allocate(rows, nodes)
    else:
        statement.pipeline(rows, nodes)
    return True


def _is_ready(session: Session, gang: Gang, part: Part) -> bool:
    return session.tiers.gang_ready(gang) if part.division is None else session.tiers.subgang_ready(part.division)


def _is_pipelined(session: Session, gang: Gang, part: Part) -> bool:
    if part.division is None:
        return session.tiers.gang_pipelined(gang)
    return session.tiers.subgang_pipelined(part.division)


def _may_still_be_ready(session: Session, gang: Gang, part: Part) -> bool:
    """Whether it makes sense to go on with a gang of which one task found no node."""
    if gang.minimum == gang.size:
        return False
    team = gang if part.division is None else part.division
    if team.minimum >= team.size:
        return False
    if gang.fact.subgroups:
        return True
    failed = session.refused_roles(gang, part.cohort)
    if not gang.roles_count:
        return gang.ready_count + _pending_outside(gang, failed) >= gang.minimum
    roles = gang.roles
    return not any(
        role in roles
        and roles[role].minimum
        and roles[role].ready_count + roles[role].pending_best_effort < roles[role].minimum
        for role in failed
    )


def _pending_outside(gang: Gang, roles: set[str]) -> int:
    """How many members wait that are of none of these roles."""
    waiting = (Status.PENDING, Status.GATED)
    return sum(1 for task in gang.members if task.status in waiting and task.fact.role not in roles)
