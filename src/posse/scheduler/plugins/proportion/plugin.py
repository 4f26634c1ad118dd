"""Proportion: what each queue deserves of the cluster, by its weight.

    deserved    a queue's part of all that there is (see `division`), no more than it asks for or may have
    order       queues of higher priority first, then those that have the smaller part of what they deserve
    overused    a queue that has all it deserves gets no further room
    room        a task gets its queue's room if the queue then has no more than it deserves
    admission   a gang gets in if its minimal resources fit under the most that its queue may have, beside what others
                were admitted for and what is in use, not counting what gangs have beyond their minimum
    victims     across queues: tasks of queues that have more than they deserve, until they no longer do

What queues ask for is what all their gangs have and still want, admitted or not. All this is settled when a cycle
opens; what queues have is read off the columns when it is asked for, promises included.
"""

from collections.abc import Iterator, Sequence
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from posse.cluster.names import PODS
from posse.cluster.verdict import Blocker
from posse.cluster.views import Gang, Queue, Task
from posse.scheduler.metrics.series import Series, queue_amounts, series
from posse.scheduler.metrics.tally import Tally
from posse.scheduler.outstanding import admitted_for, all_admitted_for, by_queue, outstanding, used_of_minimum
from posse.scheduler.plugin import PERMIT, THE_WORLD, Key, Opinion, Plugin, Rows, Setup, Standing, Vote
from posse.scheduler.plugins.proportion.charters import Charters
from posse.scheduler.plugins.proportion.division import SLACK, divide, within
from posse.scheduler.session import Session
from posse.scheduler.supply import Supply

Amounts = NDArray[np.int64]

UNLIMITED = np.iinfo(np.int64).max
OPEN = "Open"


class ProportionPlugin(Plugin):
    """Share the cluster among queues by weight."""

    name: ClassVar[str] = "proportion"
    depends_on: ClassVar[frozenset[str]] = THE_WORLD
    queue_order_is_own = True

    def __init__(self, setup: Setup) -> None:
        super().__init__(setup)
        self._supply = Supply(setup.world)
        self._charters = Charters([], setup.world.dimensions)
        self._deserved = self._measure = self._ceiling = np.zeros((0, 0))
        self._whole = self._charged = self._beyond = np.zeros((0, 0), np.int64)
        self._open = np.zeros(0, np.bool_)

    # ------------------------------------------------------------------ the cycle

    def on_open(self, session: Session) -> None:
        """Divide the cluster."""
        world = session.world
        if self._charters.facts != world.queues.facts or self._charters.dimensions != len(world.dimensions):
            self._charters = Charters(world.queues.facts, world.dimensions)
        limits, self._ceiling = self._charters.ceilings(self._supply.total)
        self._deserved = self._divide(limits)
        self._whole = np.floor(self._deserved).astype(np.int64)
        self._measure = np.where(self._deserved >= SLACK, self._deserved, np.inf)
        count, ledger = len(world.queues), world.columns.ledger
        has = ledger.queue_allocated[:count] + ledger.queue_promised[:count]
        self._beyond = has - by_queue(world, *used_of_minimum(world))
        self._charged = by_queue(world, *outstanding(world))
        self._open = np.array([fact is not None and fact.state == OPEN for fact in world.queues.facts], np.bool_)

    def _divide(self, limits: NDArray[np.float64]) -> NDArray[np.float64]:
        """What queues deserve. Those without gangs take no part."""
        charters, ledger = self._charters, self.world.columns.ledger
        used = np.zeros(len(charters.facts), np.bool_)
        used[ledger.gang_queue[: len(self.world.gangs)]] = True
        rows = np.flatnonzero(used & charters.declared)
        rows = rows[np.argsort(np.array(self.world.queues.keys)[rows])]
        requests = self._requested()[rows]
        deserved = np.zeros(limits.shape)
        deserved[rows] = divide(
            self._supply.total, charters.weights[rows], requests, limits[rows], charters.guarantees[rows]
        )
        return deserved

    def _requested(self) -> Amounts:
        """What queues have and still want [Q, D]."""
        ledger = self.world.columns.ledger
        requested: Amounts = ledger.queue_allocated + ledger.queue_promised + ledger.queue_waiting
        return requested

    def _has(self, queue: int) -> Amounts:
        ledger = self.world.columns.ledger
        has: Amounts = ledger.queue_allocated[queue] + ledger.queue_promised[queue]
        return has

    # ------------------------------------------------------------------ queues

    def queue_order(self, queue: Queue) -> Key:
        """Put higher priority first, then who has the smaller part of what it deserves."""
        return (-queue.fact.priority, self._share(queue.row))

    def queue_standing(self, queue: Queue) -> Standing | None:
        """Give what a queue deserves, and the greatest part of it that it has; nothing of one that just came."""
        if queue.row >= len(self._charters.facts):
            return None
        return Standing(self.world.amounts(self._whole[queue.row]), self._share(queue.row))

    def queue_overused(self, queue: Queue) -> Blocker | None:
        """Refuse a queue that has all it deserves, pods included."""
        if not within(self._deserved[queue.row], self._has(queue.row)):
            return None
        wanted = self.world.columns.ledger.queue_waiting[queue.row]
        may_have = self._may_have(queue.row, self._has(queue.row) + wanted, wanted > 0)
        message, room = f"queue {queue.key} has all that it deserves", self._room(queue.row)
        asks = wanted > 0
        asks[PODS] = False
        if not asks.any():
            return Blocker(kind="queue", plugin=self.name, message=message, nodes_help=may_have)
        return self._of_amounts(message, int(asks.argmax()), room, wanted, may_have=may_have)

    def queue_allocatable(self, queue: Queue, task: Task) -> Blocker | None:
        """Refuse a task that would give its queue more than it deserves."""
        if queue.fact.state != OPEN:
            return self._closed(queue)
        request = self.world.columns.ledger.shape_request[task.shape_row]
        room = self._room(queue.row)
        lacks = (request > 0) & (request > room)
        if not lacks.any():
            return None
        wanted = self._has(queue.row) + request
        message = f"queue {queue.key} would have more than it deserves of"
        return self._lack(message, lacks, room, request, may_have=self._may_have(queue.row, wanted, lacks))

    def _share(self, queue: int) -> float:
        share: float = max((self._has(queue) / self._measure[queue]).tolist())
        return share

    def queue_room(self, queue: Queue) -> NDArray[np.int64] | None:
        """Give what the queue still deserves; less than nothing refuses only those who ask for that resource."""
        return self._room(queue.row) if queue.fact.state == OPEN else np.zeros_like(self._whole[queue.row])

    def _may_have(self, queue: int, amounts: Amounts, of: NDArray[np.bool_]) -> bool:
        """Whether a queue may have so much of some resources at all, if only the cluster were larger."""
        return bool((amounts[of] <= self._charters.capabilities[queue][of]).all())

    def _room(self, queue: int) -> Amounts:
        room: Amounts = self._whole[queue] - self._has(queue)
        room[PODS] = UNLIMITED
        return room

    # ------------------------------------------------------------------ admission

    def gang_enqueueable(self, gang: Gang) -> Opinion:
        """Reject a gang whose minimal resources its queue cannot hold besides all that is admitted."""
        queue = gang.queue
        if queue.fact.state != OPEN:
            return Opinion(Vote.REJECT, self._closed(queue))
        if gang.fact.min_resources is None:
            return PERMIT
        minimum = self.world.columns.traits.gang_min_resources[gang.row]
        has = self._has(queue.row) + self._charged[queue.row] - self._beyond[queue.row]
        room = self._ceiling[queue.row] - has
        lacks = (minimum > 0) & (minimum > room)
        lacks[PODS] = False
        if not lacks.any():
            return PERMIT
        message = f"queue {queue.key} may not be promised more"
        may_have = self._may_have(queue.row, has + minimum, lacks)
        return Opinion(Vote.REJECT, self._lack(message, lacks, room, minimum, may_have=may_have))

    def gang_enqueued(self, gang: Gang) -> None:
        """Charge a gang that was admitted to its queue."""
        if gang.fact.min_resources is not None:
            self._charged[gang.queue.row] += admitted_for(gang)

    def gangs_enqueueable(self, gangs: Rows) -> NDArray[np.bool_] | None:
        """Say of many gangs whether each would be admitted now."""
        columns = self.world.columns
        queues, minimum = columns.ledger.gang_queue[gangs], columns.traits.gang_min_resources[gangs]
        lacks = (minimum > 0) & (minimum > self._admission_room()[queues])
        lacks[:, PODS] = False
        admitted: NDArray[np.bool_] = self._open[queues] & ~lacks.any(axis=1)
        return admitted

    def all_enqueueable(self, gangs: Rows) -> bool:
        """Say whether all would be, one after the other."""
        columns = self.world.columns
        queues = columns.ledger.gang_queue[gangs]
        wanted = np.zeros((len(self.world.queues), len(self.world.dimensions)), np.int64)
        np.add.at(wanted, queues, columns.traits.gang_min_resources[gangs])
        lacks = (wanted > 0) & (wanted > self._admission_room())
        lacks[:, PODS] = False
        return bool(self._open[queues].all()) and not lacks.any()

    def gangs_enqueued(self, gangs: Rows) -> None:
        """Charge many gangs at once."""
        np.add.at(self._charged, self.world.columns.ledger.gang_queue[gangs], all_admitted_for(self.world, gangs))

    def _admission_room(self) -> NDArray[np.float64]:
        """[Q, D] what each queue may still be promised."""
        ledger, count = self.world.columns.ledger, len(self.world.queues)
        has = ledger.queue_allocated[:count] + ledger.queue_promised[:count]
        room: NDArray[np.float64] = self._ceiling[:count] - (has + self._charged[:count] - self._beyond[:count])
        return room

    # ------------------------------------------------------------------ victims

    def reclaimable(self, reclaimer: Task, candidates: Sequence[Task]) -> Sequence[Task] | None:
        """Take from queues that have more than they deserve, as long as they do. Each victim is gone for the next."""
        left: dict[int, Amounts] = {}
        victims = []
        for task in candidates:
            gang = task.gang
            if gang is None or not gang.is_declared or not gang.queue.is_declared:
                continue
            queue = gang.queue.row
            has = left.setdefault(queue, self._has(queue))
            if not within(has, self._deserved[queue]):
                left[queue] = has - self.world.columns.ledger.shape_request[task.shape_row]
                victims.append(task)
        return victims

    # ------------------------------------------------------------------ figures

    def figures(self, tally: Tally) -> Iterator[Series]:
        """Give what each queue weighs, has and wants, and what it deserves if it wants anything."""
        world, requested = self.world, self._requested()
        for row in (row for row in world.queues.declared() if row < len(self._charters.facts)):
            queue, name = Queue(world, row), world.queues.keys[row]
            yield series("volcano_queue_weight", queue.fact.weight, queue_name=name)
            yield from queue_amounts("allocated", name, world.amounts(self._has(row)))
            yield from queue_amounts("request", name, world.amounts(requested[row]))
            if requested[row].any():
                yield from queue_amounts("deserved", name, world.amounts(self._whole[row]))
                yield series("volcano_queue_share", self._share(row), queue_name=name)
                yield series("volcano_queue_overused", self.queue_overused(queue) is not None, queue_name=name)

    # ------------------------------------------------------------------ words

    def _closed(self, queue: Queue) -> Blocker:
        message = f"queue {queue.key} is {queue.fact.state.lower()}, and takes nothing new"
        return Blocker(kind="queue", plugin=self.name, message=message, have=0, need=1, unit="queues")

    def _lack(
        self,
        message: str,
        lacks: NDArray[np.bool_],
        room: NDArray[np.generic],
        asked: Amounts,
        *,
        may_have: bool,
    ) -> Blocker:
        """Say of which resources there is too little, and how much of the first.

        A larger cluster means larger parts.
        """
        names = self.world.dimensions.names
        first = int(lacks.argmax())
        resources = ", ".join(names[dimension] for dimension in np.flatnonzero(lacks).tolist())
        return self._of_amounts(f"{message} {resources}", first, room, asked, may_have=may_have)

    def _of_amounts(
        self, message: str, dimension: int, room: NDArray[np.generic], asked: Amounts, *, may_have: bool
    ) -> Blocker:
        """Say how much of a resource a queue still gives, and how much is asked of it."""
        return Blocker(
            kind="queue",
            plugin=self.name,
            message=message,
            have=max(0, int(room[dimension])),
            need=int(asked[dimension]),
            unit=self.world.dimensions.names[dimension],
            nodes_help=may_have,
        )
