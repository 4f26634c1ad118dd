"""Tiers: how the answers of several plugins make one.

Plugins are asked tier by tier, in the order in which a configuration lists them, and only at the extension points that
they override and that their flags leave on. Which plugins that are is settled when the configuration is loaded; a cycle
only asks.

    orders      the keys of all plugins, compared in turn; then age, then name
    validity    the first refusal
    ready       all must agree
    votes       in each tier: a rejection ends it, else a permission ends it, else the next tier; nobody cares: yes
    starving    all of the first tier in which anybody is asked
    queue room  the first refusal
    scores      the sum, in plugin order
"""

from collections.abc import Callable, Iterable, Sequence

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from posse.cluster.ordering import natural
from posse.cluster.verdict import Blocker
from posse.cluster.views import Division, Gang, Queue, Task
from posse.scheduler.conf_flags import Flag
from posse.scheduler.plugin import KEPT, Key, Opinion, Plugin, Rows, Shortfalls, Vote

UNLIMITED = np.iinfo(np.int64).max // 4
"""More than anybody can ask for."""


class Seat(Struct, frozen=True):
    """A plugin in its place in a configuration."""

    plugin: Plugin
    flags: frozenset[Flag]


class Tiers:
    """All plugins of a configuration, and the questions that they answer together."""

    def __init__(self, tiers: Sequence[Sequence[Seat]]) -> None:
        self._tiers = tuple(tuple(tier) for tier in tiers)
        self.plugins = tuple(seat.plugin for tier in self._tiers for seat in tier)
        self._queue_orders = self._all("queue_order", "queue_order")
        self.queue_order_is_own = all(plugin.queue_order_is_own for plugin in self._queue_orders)
        self._gang_orders = self._all("gang_order", "gang_order")
        self.gang_order_is_own = all(plugin.gang_order_is_own for plugin in self._gang_orders)
        self._subgang_orders = self._all("subgang_order", "subgroup_order")
        self._task_orderers = self._all("task_order", "task_order")
        self._valid = self._all("gang_valid", None)
        self._ready = self._all("gang_ready", "gang_ready")
        self._subgang_ready = self._all("subgang_ready", "subgroup_ready")
        self._pipelined = self._by_tier("gang_pipelined", "gang_pipelined")
        self._subgang_pipelined = self._by_tier("subgang_pipelined", "subgroup_pipelined")
        self._starving = self._by_tier("gang_starving", "gang_starving")
        self._enqueueable = self._by_tier("gang_enqueueable", "gang_enqueued")
        self._enqueued = self._all("gang_enqueued", "gang_enqueued")
        self._overused = self._all("queue_overused", "overused")
        self._allocatable = self._all("queue_allocatable", "allocatable")
        self.filtering = self._all("filters", "node_filter")
        singly = self._all("node_filter", "node_filter")
        self.filtering_once = tuple(plugin for plugin in singly if plugin.depends_on <= KEPT)
        self.filtering_singly = tuple(plugin for plugin in singly if not plugin.depends_on <= KEPT)
        self.scoring = self._all("scores", "node_score")
        singly = self._all("node_score", "node_score")
        self.scoring_once = tuple(plugin for plugin in singly if plugin.depends_on <= KEPT)
        self.scoring_singly = tuple(plugin for plugin in singly if not plugin.depends_on <= KEPT)
        self.preemptable = self._by_tier("preemptable", "preemptable")
        self.reclaimable = self._by_tier("reclaimable", "reclaimable")
        self.evictable = self._by_tier("evictable", None)
        self._gainers = tuple(p for p in self.plugins if p.overrides("on_allocate") or p.overrides("task_allocated"))
        self._losers = tuple(p for p in self.plugins if p.overrides("on_deallocate") or p.overrides("task_deallocated"))
        self.watchers = tuple(plugin for plugin in self.plugins if plugin in (*self._gainers, *self._losers))

    def _all(self, point: str, flag: Flag | None) -> tuple[Plugin, ...]:
        return tuple(seat.plugin for tier in self._tiers for seat in tier if _speaks(seat, point, flag))

    def _by_tier(self, point: str, flag: Flag | None) -> tuple[tuple[Plugin, ...], ...]:
        tiers = (tuple(seat.plugin for seat in tier if _speaks(seat, point, flag)) for tier in self._tiers)
        return tuple(tier for tier in tiers if tier)

    # ------------------------------------------------------------------ orders

    def queue_key(self, queue: Queue) -> Key:
        """Where a queue goes among the queues."""
        fact = queue.fact
        return (*(plugin.queue_order(queue) for plugin in self._queue_orders), fact.created, natural(fact.key))

    def gang_key(self, gang: Gang) -> Key:
        """Where a gang goes among those of its queue."""
        return (*[plugin.gang_order(gang) for plugin in self._gang_orders], gang.world.gang_ages[gang.row])

    def gang_keys(self, gangs: Rows) -> list[Key]:
        """The same for many gangs at once."""
        columns: list[Sequence[Key]] = []
        for plugin in self._gang_orders:
            keys = plugin.gang_orders(gangs)
            columns.append(keys.tolist() if isinstance(keys, np.ndarray) else keys)
        ages = self.plugins[0].world.gang_ages if self.plugins else None
        return list(zip(*columns, [ages[row] if ages else row for row in gangs.tolist()], strict=True))

    def subgang_key(self, division: Division) -> Key:
        """Where a sub-gang goes among those of its gang."""
        subgang = division.subgang
        keys = (plugin.subgang_order(division) for plugin in self._subgang_orders)
        return (*keys, subgang.index, subgang.policy, subgang.values)

    def in_task_order(self, tasks: NDArray[np.int32]) -> NDArray[np.int32]:
        """Tasks that are in their default order, in the plugins' order."""
        for plugin in reversed(self._task_orderers):
            keys = plugin.task_orders(tasks)
            if isinstance(keys, np.ndarray):
                tasks = tasks[np.argsort(keys, kind="stable")]
            else:
                tasks = tasks[sorted(range(len(tasks)), key=keys.__getitem__)]
        return tasks

    # ------------------------------------------------------------------ gangs

    def gang_invalid(self, gang: Gang) -> Blocker | None:
        """Why a gang cannot be placed whatever the room, if so."""
        return _first(plugin.gang_valid(gang) for plugin in self._valid)

    def gang_ready(self, gang: Gang) -> bool:
        """Whether a gang may be bound as it stands."""
        return all(plugin.gang_ready(gang) for plugin in self._ready)

    def missing(self, gang: Gang) -> int:
        """How many more tasks a gang that is not ready wants at the least."""
        return max((plugin.missing(gang) for plugin in self._ready), default=1)

    def shortfalls(self, gangs: Rows) -> Shortfalls:
        """How many more tasks each of many gangs needs to be ready."""
        said = [plugin.shortfalls(gangs) for plugin in self._ready]
        known = [each for each in said if each is not None]
        least = np.max([np.zeros(len(gangs), np.int64), *(each.least for each in known)], axis=0)
        suffice = np.full(len(gangs), len(known) == len(said))
        for each in known:
            suffice &= each.suffice
        return Shortfalls(least, suffice)

    def subgang_ready(self, division: Division) -> bool:
        """Whether a sub-gang has what it takes."""
        return all(plugin.subgang_ready(division) for plugin in self._subgang_ready)

    def gang_pipelined(self, gang: Gang) -> bool:
        """Whether a gang would be ready once what it is promised is free."""
        return _carried(self._pipelined, lambda plugin: plugin.gang_pipelined(gang))

    def subgang_pipelined(self, division: Division) -> bool:
        """Whether a sub-gang would be ready once what it is promised is free."""
        return _carried(self._subgang_pipelined, lambda plugin: plugin.subgang_pipelined(division))

    def gang_starving(self, gang: Gang) -> bool:
        """Whether a gang deserves room that others have."""
        return bool(self._starving) and all(plugin.gang_starving(gang) for plugin in self._starving[0])

    def gang_not_enqueueable(self, gang: Gang) -> Opinion | None:
        """The opinion that keeps a gang out of its queue, if one does."""
        for tier in self._enqueueable:
            permitted = False
            for plugin in tier:
                opinion = plugin.gang_enqueueable(gang)
                if opinion.vote is Vote.REJECT:
                    return opinion
                permitted |= opinion.vote is Vote.PERMIT
            if permitted:
                return None
        return None

    def enqueueable(self, gangs: Rows) -> NDArray[np.bool_] | None:
        """Of many gangs, who would be admitted now, alone; None if that must be asked singly.

        It can be said of many at once if all who have a say sit in one tier and can say it of many.
        """
        admitted = np.ones(len(gangs), np.bool_)
        if len(self._enqueueable) > 1:
            return None
        for plugin in (plugin for tier in self._enqueueable for plugin in tier):
            said = plugin.gangs_enqueueable(gangs)
            if said is None:
                return None
            admitted &= said
        return admitted

    def all_enqueueable(self, gangs: Rows) -> bool:
        """Whether many gangs would be admitted one after the other, whatever their order."""
        return all(plugin.all_enqueueable(gangs) for tier in self._enqueueable for plugin in tier)

    def gangs_enqueued(self, gangs: Rows) -> None:
        """Tell all who asked that many gangs were admitted."""
        for plugin in self._enqueued:
            plugin.gangs_enqueued(gangs)

    # ------------------------------------------------------------------ queues

    def queue_overused(self, queue: Queue) -> Blocker | None:
        """Why a queue gets no further room, if so."""
        return _first(plugin.queue_overused(queue) for plugin in self._overused)

    def queue_refuses(self, queue: Queue, task: Task) -> Blocker | None:
        """Why a task does not get its queue's room, if so."""
        return _first(plugin.queue_allocatable(queue, task) for plugin in self._allocatable)

    def queue_room(self, queue: Queue, dimensions: int) -> NDArray[np.int64] | None:
        """What a queue still gives per dimension, if all who have a say can say it so."""
        room = np.full(dimensions, UNLIMITED, np.int64)
        for plugin in self._allocatable:
            given = plugin.queue_room(queue)
            if given is None:
                return None
            room[: len(given)] = np.minimum(room[: len(given)], given)
        return room

    # ------------------------------------------------------------------ events

    def allocated(self, tasks: NDArray[np.int32]) -> None:
        """Tell all who asked that tasks got a node."""
        for plugin in self._gainers:
            plugin.on_allocate(tasks)

    def deallocated(self, tasks: NDArray[np.int32]) -> None:
        """Tell all who asked that tasks are about to lose their node."""
        for plugin in self._losers:
            plugin.on_deallocate(tasks)


def _speaks(seat: Seat, point: str, flag: Flag | None) -> bool:
    return seat.plugin.overrides(point) and (flag is None or flag in seat.flags)


def _first(answers: Iterable[Blocker | None]) -> Blocker | None:
    return next((answer for answer in answers if answer is not None), None)


def _carried(tiers: Sequence[Sequence[Plugin]], vote: Callable[[Plugin], Vote]) -> bool:
    """A vote over tiers."""
    for tier in tiers:
        votes = [vote(plugin) for plugin in tier]
        if Vote.REJECT in votes:
            return False
        if Vote.PERMIT in votes:
            return True
    return True
