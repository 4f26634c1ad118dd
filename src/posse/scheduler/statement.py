"""Statements: decisions that stand together or not at all.

A statement moves tasks in the world at once, so that every later question sees them moved, and writes down where they
came from. `rollback` puts them back in reverse; columns are sums of integers, so they return bit for bit, and so does
every plugin's state, of which a copy is kept from before its first change. `commit` makes bindings of allocations;
promises (pipelined tasks) stay promises.
"""

import copy
from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from posse.cluster.status import Status
from posse.scheduler.claims import Held

if TYPE_CHECKING:
    from posse.scheduler.session import Session

Rows = NDArray[np.int32]


class Step(Struct, frozen=True):
    """Tasks that were moved at once, and where they stood before."""

    tasks: Rows
    statuses: NDArray[np.int8]
    nodes: Rows
    held: tuple[tuple[int, Held], ...]
    """What was reserved for which of them."""
    states: tuple[Any, ...]


class Statement:
    """An open transaction on the world of a session."""

    def __init__(self, session: "Session") -> None:
        self._session = session
        self._steps: list[Step] = []

    def __len__(self) -> int:
        return len(self._steps)

    def allocate(self, tasks: Rows, nodes: Rows) -> None:
        """Give tasks room that is free."""
        self._move(tasks, Status.ALLOCATED, nodes)

    def pipeline(self, tasks: Rows, nodes: Rows) -> None:
        """Promise tasks room that is being freed."""
        self._move(tasks, Status.PIPELINED, nodes)

    def release(self, tasks: Rows) -> None:
        """Take back from tasks what they were given or promised."""
        nodes = np.full(len(tasks), -1, np.int32)
        self._move(tasks, Status.PENDING, nodes)

    def evict(self, tasks: Rows) -> None:
        """Make tasks leave their nodes."""
        ledger = self._session.world.columns.ledger
        self._move(tasks, Status.RELEASING, ledger.task_node[tasks].copy())

    def _move(self, tasks: Rows, status: Status, nodes: Rows) -> None:
        session = self._session
        world, ledger = session.world, session.world.columns.ledger
        gains = status in (Status.ALLOCATED, Status.PIPELINED)
        states = tuple(copy.deepcopy(plugin.state) for plugin in session.tiers.watchers)
        before = (ledger.task_status[tasks].copy(), ledger.task_node[tasks].copy())
        held = session.claims.held_by(tasks)
        if not gains:
            session.tiers.deallocated(tasks)
        if gains:
            session.claims.reserve(tasks, nodes)
        elif status is Status.PENDING:
            session.claims.give_back(tasks.tolist())
        world.move(tasks, [status] * len(tasks), nodes)
        self._steps.append(Step(tasks, *before, held, states))
        if gains:
            session.tiers.allocated(tasks)

    def filled(self, tasks: Rows) -> None:
        """Take note of pending tasks that a kernel has allocated."""
        session, count = self._session, len(tasks)
        states = tuple(copy.deepcopy(plugin.state) for plugin in session.tiers.watchers)
        before = (np.full(count, Status.PENDING, np.int8), np.full(count, -1, np.int32))
        self._steps.append(Step(tasks, *before, (), states))
        session.tiers.allocated(tasks)

    def checkpoint(self) -> int:
        """A point to return to."""
        return len(self._steps)

    def tasks_since(self, checkpoint: int) -> list[int]:
        """The tasks that were moved since a checkpoint, in order."""
        return [task for step in self._steps[checkpoint:] for task in step.tasks.tolist()]

    def rollback(self, checkpoint: int = 0) -> None:
        """Undo everything since a checkpoint."""
        session = self._session
        while len(self._steps) > checkpoint:
            step = self._steps.pop()
            session.claims.give_back(step.tasks[::-1].tolist())
            session.world.move(step.tasks[::-1], step.statuses[::-1], step.nodes[::-1])
            session.claims.take_again(step.held)
            for plugin, state in zip(session.tiers.watchers, step.states, strict=True):
                plugin.state = state

    def commit(self) -> None:
        """Make it so: what is allocated is bound, what was evicted goes."""
        for step in self._steps:
            self._session.carry_out(step.tasks)
        self._steps.clear()
