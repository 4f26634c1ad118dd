"""Enqueue: who is admitted to its queue.

A gang waits outside until its queue and the cluster could hold its minimum, so that the scheduler does not work on (and
controllers do not create pods for) what has no chance. Gangs are asked in order; one that is refused is passed over,
not waited for. A gang that states no minimal resources is admitted at once.

Asking one by one is needed only where the order matters. Who would not be admitted even if asked first is not asked
further, and if all others fit together, they are admitted together.
"""

from typing import ClassVar

import numpy as np

from posse.cluster.phases import GangPhase
from posse.cluster.views import Gang
from posse.scheduler.action import Action
from posse.scheduler.line import Line
from posse.scheduler.plugin import Rows
from posse.scheduler.session import Session


class Enqueue(Action):
    """Admit gangs to their queues."""

    name: ClassVar[str] = "enqueue"

    def run(self, session: Session) -> None:
        """Ask for every gang that waits outside, and note why the others stay there."""
        waiting = session.gang_rows([GangPhase.PENDING])
        states = session.world.columns.traits.gang_has_min_resources[waiting]
        self._admit(session, waiting[~states])
        asking = waiting[states]
        may_get_in = session.tiers.enqueueable(asking)
        candidates = asking if may_get_in is None else asking[may_get_in]
        if may_get_in is not None and session.tiers.all_enqueueable(candidates):
            self._admit(session, candidates)
        else:
            self._ask(session, candidates)
        for row in session.to_be_told(asking).tolist():
            gang = Gang(session.world, row)
            refusal = None if gang.is_admitted else session.tiers.gang_not_enqueueable(gang)
            if refusal is not None and refusal.blocker is not None:
                session.block(gang, refusal.blocker)

    def _ask(self, session: Session, gangs: Rows) -> None:
        line = Line(session.tiers, session.world, gangs)
        may_get_in = set(gangs.tolist())
        while may_get_in and (gang := line.next()) is not None:
            if gang.row in may_get_in and session.tiers.gang_not_enqueueable(gang) is None:
                self._admit(session, np.array([gang.row]))
                may_get_in = self._left(session, may_get_in - {gang.row})
            line.back(gang)

    def _left(self, session: Session, gangs: set[int]) -> set[int]:
        """Those of some gangs that may still get in; the more are admitted, the fewer may."""
        rows = np.array(sorted(gangs), np.intp)
        may_get_in = session.tiers.enqueueable(rows)
        return gangs if may_get_in is None else set(rows[may_get_in].tolist())

    def _admit(self, session: Session, gangs: Rows) -> None:
        if len(gangs):
            session.tiers.gangs_enqueued(gangs)
            session.admit(gangs)
