"""The line: who waits, in which order, and who is where in it."""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from posse.cluster.ordering import natural
from posse.cluster.status import READY_STATES, Status
from posse.cluster.views import Gang
from posse.cluster.world import World
from posse.scheduler.closing import NODELESS
from posse.scheduler.engine import Engine
from posse.scheduler.tiers import Tiers
from posse.whatif.explanation import Position

Counts = NDArray[np.int64]
NEVER = np.iinfo(np.int64).max


def ready(world: World) -> Counts:
    """[G] how many members of each gang are on nodes."""
    counts: Counts = world.columns.ledger.gang_count[: len(world.gangs), list(READY_STATES)].sum(axis=1, dtype=np.int64)
    return counts


def have_minimum(world: World) -> NDArray[np.bool_]:
    """[G] the declared gangs that have as many members on nodes as they need, one at the least."""
    count, traits = len(world.gangs), world.columns.traits
    have: NDArray[np.bool_] = ready(world) >= np.maximum(traits.gang_min[:count], 1)
    return have & traits.gang_declared[:count]


def started(engine: Engine) -> NDArray[np.bool_]:
    """[G] the gangs that have what it takes, by roles and sub-gangs where they have any."""
    have, world = have_minimum(engine.world), engine.world
    for row in np.flatnonzero(have & world.columns.traits.gang_parted[: len(have)]).tolist():
        have[row] = engine.tiers.gang_ready(Gang(world, row))
    return have


class Watch:
    """Tells who starts, cycle by cycle, in a copy of a world in which some had started; and which of those get a member
    more, if it is known how many they had.
    """

    def __init__(self, had: NDArray[np.bool_], members: Counts | None = None) -> None:
        self._had = had
        self._members = None if members is None else np.where(had, members, NEVER)

    def news(self, engine: Engine) -> list[str]:
        """The keys of gangs that have what it takes, and had not when this was last asked."""
        world, have = engine.world, have_minimum(engine.world)
        have[: len(self._had)] &= ~self._had
        rows = [row for row in np.flatnonzero(have).tolist() if engine.tiers.gang_ready(Gang(world, row))]
        had = np.zeros(len(have), np.bool_)
        had[: len(self._had)] = self._had
        had[rows] = True
        self._had = had
        return [world.gangs.keys[row] for row in (*rows, *self._grown(world))]

    def _grown(self, world: World) -> list[int]:
        """The gangs that got a member more than they had, each once."""
        if self._members is None:
            return []
        rows: list[int] = np.flatnonzero(ready(world)[: len(self._members)] > self._members).tolist()
        self._members[rows] = NEVER
        return rows


def is_over(gang: Gang) -> bool:
    """Whether all its members have ended, or are leaving."""
    counts = gang.counts
    return gang.size > 0 and counts[Status.SUCCEEDED] + counts[Status.FAILED] + counts[Status.RELEASING] == gang.size


def waiting(engine: Engine) -> list[Gang]:
    """The gangs that do not have their minimum, those included that nobody declared, by name."""
    world = engine.world
    found = [Gang(world, row) for row in np.flatnonzero(~started(engine)).tolist() if world.gangs.keys[row]]
    gangs = [gang for gang in found if not is_over(gang) and (gang.is_declared or (gang.size and not gang.ready_count))]
    return sorted(gangs, key=lambda gang: natural(gang.key))


def wants_more(gang: Gang) -> bool:
    """Whether a gang that has its minimum has members without a node."""
    return not is_over(gang) and any(gang.counts[status] for status in NODELESS)


def wanting_more(engine: Engine) -> list[Gang]:
    """The gangs that have their minimum and members without a node."""
    return [gang for row in np.flatnonzero(started(engine)).tolist() if wants_more(gang := Gang(engine.world, row))]


def in_line(tiers: Tiers, gangs: Iterable[Gang]) -> list[Gang]:
    """Gangs in the order in which their turn would come, as things stand. Those that stand in no line come last."""
    given = list(gangs)
    standing = [gang for gang in given if gang.is_declared and gang.queue.is_declared]
    queues = {gang.queue.row: tiers.queue_key(gang.queue) for gang in standing}
    ordered = sorted(standing, key=lambda gang: (queues[gang.queue.row], tiers.gang_key(gang)))
    return [*ordered, *(gang for gang in given if not gang.is_declared or not gang.queue.is_declared)]


def positions(gangs: Iterable[Gang]) -> dict[int, Position]:
    """The places of gangs that are in order, by row, each within its queue."""
    by_queue: dict[int, list[int]] = {}
    for gang in gangs:
        if gang.is_declared:
            by_queue.setdefault(gang.queue.row, []).append(gang.row)
    return {row: Position(place, len(rows)) for rows in by_queue.values() for place, row in enumerate(rows, 1)}
