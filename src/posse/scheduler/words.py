"""Words: the one word that a waiting pod's PodScheduled condition carries, on which autoscalers act.

Posse says `Unschedulable` only where more or freer nodes could start the gang, so that an autoscaler buys no node that
cannot help. Volcano says it of every waiting pod, and `Schedulable` of one that had found its node while its gang had
not.
"""

from typing import Protocol

from posse.cluster.status import Status
from posse.cluster.verdict import Blocker
from posse.cluster.views import Gang, Task
from posse.scheduler.session import Note, Session

UNSCHEDULABLE, SCHEDULABLE, GANG_WAITING = "Unschedulable", "Schedulable", "GangWaiting"


class WaitingWords(Protocol):
    """A choice of words."""

    def reason(self, session: Session, gang: Gang, task: Task, note: Note, blockers: tuple[Blocker, ...]) -> str:
        """The word for one waiting pod."""

    def nominated(self, task: Task) -> str:
        """The node that a waiting pod's status names."""


class WordsForAutoscalers:
    """`Unschedulable` where nodes would help, `GangWaiting` where they would not."""

    def reason(self, session: Session, gang: Gang, task: Task, note: Note, blockers: tuple[Blocker, ...]) -> str:
        """The word for one waiting pod: the same for all that wait for the same thing."""
        if task.status in (Status.PIPELINED, Status.HELD):
            return GANG_WAITING
        return UNSCHEDULABLE if blockers and all(blocker.nodes_help for blocker in blockers) else GANG_WAITING

    def nominated(self, task: Task) -> str:
        """The node that it is promised, so that a restart and others know."""
        return task.world.nodes.keys[task.node] if task.status is Status.PIPELINED else ""


class VolcanoWords:
    """Volcano's own."""

    def reason(self, session: Session, gang: Gang, task: Task, note: Note, blockers: tuple[Blocker, ...]) -> str:
        """The word for one waiting pod."""
        status, _ = note.attempts.get(task.row, (task.status, ""))
        return SCHEDULABLE if status is Status.ALLOCATED else UNSCHEDULABLE

    def nominated(self, task: Task) -> str:
        """What it was before: only evictions for its sake nominate a node."""
        return task.fact.nominated
