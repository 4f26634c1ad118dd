"""Backfill: tasks that ask for nothing but a place go wherever one is.

They are placed one by one, in line order, and bound as soon as their gang is ready; one whose gang is not keeps its
place until the cycle ends. No queue's share is asked: they use none.
"""

from typing import ClassVar

import numpy as np

from posse.cluster.status import Status
from posse.cluster.views import Gang, Task
from posse.scheduler.action import ERROR_CACHE, Action
from posse.scheduler.actions.allocate import ADMITTED
from posse.scheduler.arguments import Argument
from posse.scheduler.line import Line
from posse.scheduler.pending import pending_in
from posse.scheduler.placement.choice import Choice
from posse.scheduler.session import Session


class Backfill(Action):
    """Place best-effort tasks."""

    name: ClassVar[str] = "backfill"
    arguments: ClassVar[tuple[Argument, ...]] = (ERROR_CACHE,)

    def run(self, session: Session) -> None:
        """Place what is waiting when the action begins."""
        for gang, tasks in self._waiting(session):
            for row in tasks:
                self._place(session, gang, Task(session.world, row))

    def _waiting(self, session: Session) -> list[tuple[Gang, list[int]]]:
        """Best-effort tasks by gang, in line order."""
        gangs = session.awake(session.gang_rows(ADMITTED, with_status=Status.PENDING))
        gangs = gangs[session.world.columns.ledger.gang_best_effort[gangs] > 0]
        pending = pending_in(session.world, session.tiers, gangs, best_effort=True)
        tasks = {row: pending.of(at).tolist() for at, row in enumerate(gangs.tolist())}
        valid = [row for row in tasks if tasks[row] and session.tiers.gang_invalid(Gang(session.world, row)) is None]
        line = Line(session.tiers, session.world, np.array(valid, np.intp))
        waiting = []
        while (gang := line.next()) is not None:
            waiting.append((gang, tasks[gang.row]))
            line.back(gang)
        return waiting

    def _place(self, session: Session, gang: Gang, task: Task) -> None:
        choice = session.chooser.choose(task.row)
        if not isinstance(choice, Choice):
            session.refused(gang, task, choice)
            return
        if not choice.is_idle:
            return
        statement = session.statement()
        statement.allocate(np.array([task.row], np.int32), np.array([choice.node], np.int32))
        if session.tiers.gang_ready(gang):
            session.carry_out(session.world.ordered_members(gang.row))
