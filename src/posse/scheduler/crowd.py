"""Crowds: many small equal gangs of one queue, placed in one go.

Where gangs of equal members follow each other in line, each wants exactly those of its members that wait, and no other
queue is waiting for its turn, their turns are one run of the filling kernel: gang after gang, each whole or not at all.
The first that finds no room ends the run and has its turn alone, so that it is told why. The outcome is that of turns
one by one.
"""

import numpy as np

from posse.cluster.views import Gang
from posse.scheduler.line import Line
from posse.scheduler.pending import Pending
from posse.scheduler.plugin import Rows
from posse.scheduler.session import Session

MOST = 512
"""How many gangs are placed in one go at the most."""


class Crowd:
    """The gangs that wait in one cycle, and which of them are simple enough to go in a crowd."""

    def __init__(self, session: Session, gangs: Rows, pending: Pending) -> None:
        self._session, self._pending = session, pending
        traits = session.world.columns.traits
        self._counts = pending.counts()
        self._numbers = {row: at for at, row in enumerate(gangs.tolist())}
        self._shapes = traits.gang_shape[gangs]
        named = np.concatenate([[0], np.cumsum(traits.task_nominated[pending.tasks])])
        nominated = np.diff(named[pending.begins])
        short = session.tiers.shortfalls(gangs)
        wants_all = short.suffice & (short.least == self._counts)
        self._simple = wants_all & (self._shapes >= 0) & (self._counts > 0) & (nominated == 0)

    def waits(self, number: int) -> bool:
        """Whether a gang has a waiting task."""
        return bool(self._counts[number])

    def place(self, gang: Gang, line: Line) -> bool:
        """Place the gang whose turn it is together with those like it that follow.

        False if it must have its turn alone.
        """
        number, session = self._numbers[gang.row], self._session
        if not self._simple[number] or session.refused_roles(gang):
            return False
        followers = line.followers(gang, lambda row: self._is_like(number, row), MOST)
        gangs = [gang.row, *followers.gangs]
        placed = self._place_all(gangs, int(self._shapes[number])) if len(gangs) > 1 else 0
        followers.put_back_from(max(0, placed - 1))
        if placed < len(gangs):
            self._go_alone(self._numbers[gangs[placed]])
        return placed > 0

    def _is_like(self, number: int, row: int) -> bool:
        other = self._numbers[row]
        return bool(self._simple[other] and self._shapes[other] == self._shapes[number])

    def _go_alone(self, number: int) -> None:
        """Let a gang that found no room have its turn alone, and all that want as much: no room comes free while gangs
        are placed.
        """
        self._simple &= ~((self._shapes == self._shapes[number]) & (self._counts >= self._counts[number]))

    def _place_all(self, gangs: list[int], shape: int) -> int:
        """Place gangs in order. How many of them were."""
        session, numbers = self._session, [self._numbers[row] for row in gangs]
        tasks = np.concatenate([self._pending.of(number) for number in numbers])
        ends = np.cumsum(self._counts[numbers]).astype(np.int32)
        queue = Gang(session.world, gangs[0]).queue
        room = session.tiers.queue_room(queue, session.world.columns.ledger.shape_request.shape[1])
        if room is None or not session.filler.can_fill(shape, tasks):
            return 0
        done, _ = session.filler.fill(shape, tasks, room, ends)
        if not done:
            return 0
        statement = session.statement()
        statement.filled(tasks[:done])
        if session.tiers.queue_overused(queue) is not None:
            statement.rollback()
            self._simple[:] = False
            return 0
        statement.commit()
        return int(np.searchsorted(ends, done, side="right"))
