"""Promises: room that a gang will get once it is free, and how long such a promise lives.

A gang whose minimum needs room that is still being freed is promised it as a whole: its members are *pipelined*, those
on idle nodes included. Each cycle begins with the promises whose room has come, in gang order: a gang that can be bound
is bound. A promise ends by that, by its deadline, with a lost node, when its gang is no longer valid, or when what it
still has is no longer enough. Only a gang of strictly higher priority may take promised room, and then the promise ends
for the whole gang that had it. Seen from outside it is `nominatedNodeName`.

Volcano forgets its promises when the cycle ends; `Forgetful` does the same.
"""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from posse.cluster.status import Status
from posse.cluster.views import Gang, Task
from posse.cluster.world import World
from posse.scheduler.session import Session, ours

NANOSECONDS = 1_000_000_000
PATIENCE = 300 * NANOSECONDS
"""How long a promise lives on a node from which nobody is leaving."""


class PromiseKeeper(Protocol):
    """A rule for the life of promises."""

    can_be_taken: bool
    """Whether a gang of higher priority may take promised room."""

    def open(self, session: Session) -> None:
        """Begin a cycle: redeem and end promises of earlier cycles."""

    def settle(self, session: Session) -> None:
        """Say what is promised, once all is decided and before anything is told."""

    def close(self, session: Session) -> None:
        """End a cycle."""

    def deadline(self, world: World, task: int) -> int | None:
        """When a promise ends by itself, if it does."""


def take_back(session: Session, tasks: NDArray[np.int32]) -> None:
    """Make tasks wait again: they lose their place, what was reserved for them, and the clock of their promise."""
    world = session.world
    if len(tasks):
        session.tiers.deallocated(tasks)
        session.claims.give_back(tasks.tolist())
        world.move(tasks, np.full(len(tasks), Status.PENDING, np.int8), np.full(len(tasks), -1, np.int32))
        for task in tasks.tolist():
            world.promises.pop(task, None)


class Forgetful:
    """Promises end with the cycle that made them."""

    can_be_taken = False

    def open(self, session: Session) -> None:
        """Nothing is promised when a cycle begins."""

    def settle(self, session: Session) -> None:
        """What was decided is told as it was."""

    def close(self, session: Session) -> None:
        """Forget."""
        take_back(session, ours(session.world, Status.PIPELINED))
        take_back(session, ours(session.world, Status.ALLOCATED))

    def deadline(self, world: World, task: int) -> int | None:
        """No promise lives that long."""
        return None


class Lasting:
    """Promises live until redeemed, or until one of the ends that the module's story names."""

    can_be_taken = True

    def open(self, session: Session) -> None:
        """End what has to end, then bind the gangs whose room has come, first come first."""
        world = session.world
        if session.cycle == 1:
            self._rebuild(session)
        self._end_the_overdue(session)
        gangs = {int(world.columns.ledger.task_gang[row]) for row in ours(world, Status.PIPELINED)}
        declared = [Gang(world, row) for row in gangs if world.gangs.facts[row] is not None]
        for gang in sorted(declared, key=session.tiers.gang_key):
            self._redeem(session, gang)

    def settle(self, session: Session) -> None:
        """Promise a pipelined gang all of its nodes, those included whose room is free."""
        world, gang_of = session.world, session.world.columns.ledger.task_gang
        allocated = ours(world, Status.ALLOCATED)
        for row in sorted(set(gang_of[allocated].tolist())):
            if world.gangs.facts[row] is not None and session.tiers.gang_pipelined(Gang(world, row)):
                tasks = allocated[gang_of[allocated] == row]
                nodes = world.columns.ledger.task_node[tasks].copy()
                world.move(tasks, np.full(len(tasks), Status.PIPELINED, np.int8), nodes)

    def close(self, session: Session) -> None:
        """Keep the promises, take back what was given to gangs that did not become ready."""
        world = session.world
        take_back(session, ours(world, Status.ALLOCATED))
        promised = ours(world, Status.PIPELINED).tolist()
        for task in promised:
            world.promises.setdefault(task, session.now)
        for task in sorted(set(world.promises) - set(promised)):
            del world.promises[task]

    def deadline(self, world: World, task: int) -> int | None:
        """When a promise ends by itself: a while after it was made, but not while one of its nodes is being left."""
        ledger = world.columns.ledger
        gang = ledger.task_gang[task]
        together = [each for each in world.promises if ledger.task_gang[each] == gang]
        nodes = ledger.task_node[together]
        if task not in world.promises or ledger.node_releasing[:, nodes].any():
            return None
        return max(world.promises[each] for each in together) + PATIENCE

    def _end_the_overdue(self, session: Session) -> None:
        world = session.world
        ledger, traits = world.columns.ledger, world.columns.traits
        ended: set[int] = set()
        for task in ours(world, Status.PIPELINED).tolist():
            node, gang = int(ledger.task_node[task]), int(ledger.task_gang[task])
            deadline = self.deadline(world, task)
            overdue = deadline is not None and session.now >= deadline
            lost = not traits.node_present[node]
            invalid = world.gangs.facts[gang] is None or session.tiers.gang_invalid(Gang(world, gang)) is not None
            if overdue or lost or invalid or not session.tiers.gang_pipelined(Gang(world, gang)):
                ended.add(gang)
        promised = ours(world, Status.PIPELINED)
        take_back(session, promised[np.isin(ledger.task_gang[promised], list(ended))])

    def _redeem(self, session: Session, gang: Gang) -> None:
        """Bind a gang's promised members where their room is free, if that makes it ready."""
        ledger = session.world.columns.ledger
        members = session.world.ordered_members(gang.row)
        promised = members[ledger.task_status[members] == Status.PIPELINED]
        statement = session.statement()
        for row in promised.tolist():
            task, node = np.array([row], np.int32), np.array([ledger.task_node[row]], np.int32)
            mark = statement.checkpoint()
            statement.release(task)
            if session.chooser.can_have(row, int(node[0])):
                statement.allocate(task, node)
            else:
                statement.rollback(mark)
        if session.tiers.gang_ready(gang):
            statement.commit()
        else:
            statement.rollback()

    def _rebuild(self, session: Session) -> None:
        """Promise again what was promised before a restart: waiting members say which node their status names."""
        world, tasks = session.world, len(session.world.tasks)
        ledger, traits = world.columns.ledger, world.columns.traits
        named = (ledger.task_status[:tasks] == Status.PENDING) & traits.task_nominated[:tasks]
        rows = np.flatnonzero(named & (ledger.task_gang[:tasks] >= 0)).astype(np.int32)
        gangs = [Gang(world, row) for row in set(ledger.task_gang[rows].tolist()) if traits.gang_declared[row]]
        for gang in sorted(gangs, key=session.tiers.gang_key):
            statement = session.statement()
            for row in rows[ledger.task_gang[rows] == gang.row].tolist():
                node = session.promised_node(Task(world, row))
                if node >= 0 and session.chooser.could_have(row, node):
                    statement.pipeline(np.array([row], np.int32), np.array([node], np.int32))
            if session.tiers.gang_ready(gang) or not session.tiers.gang_pipelined(gang):
                statement.rollback()
