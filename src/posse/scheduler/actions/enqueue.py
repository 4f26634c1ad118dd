"""Enqueue: who is admitted to its queue.

A gang waits outside until its queue and the cluster could hold its minimum, so that the scheduler does not work on (and
controllers do not create pods for) what has no chance. Gangs are asked in order; one that is refused is passed over, not waited for. A gang that
states no minimal resources is admitted at once.
"""

from typing import ClassVar

from posse.cluster.phases import GangPhase
from posse.scheduler.action import Action
from posse.scheduler.line import Line
from posse.scheduler.session import Session


class Enqueue(Action):
    """Admit gangs to their queues."""

    name: ClassVar[str] = "enqueue"

    def run(self, session: Session) -> None:
        """Ask for every gang that waits outside."""
        line = Line(session.tiers, session.gangs([GangPhase.PENDING]))
        while (gang := line.next()) is not None:
            refusal = session.tiers.gang_not_enqueueable(gang) if gang.fact.min_resources is not None else None
            if refusal is None:
                session.tiers.gang_enqueued(gang)
                session.admit(gang)
            elif refusal.blocker is not None:
                session.block(gang, refusal.blocker)
            line.back(gang)
