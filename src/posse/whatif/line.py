"""The line: who waits, in which order, and who is where in it."""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from posse.cluster.ordering import natural
from posse.cluster.status import READY_STATES, Status
from posse.cluster.views import Gang
from posse.cluster.world import World
from posse.scheduler.engine import Engine
from posse.scheduler.tiers import Tiers
from posse.whatif.explanation import Position


def have_minimum(world: World) -> NDArray[np.bool_]:
    """[G] the declared gangs that have as many members on nodes as they need, one at the least."""
    count, columns = len(world.gangs), world.columns
    ready = columns.ledger.gang_count[:count, list(READY_STATES)].sum(axis=1)
    have: NDArray[np.bool_] = ready >= np.maximum(columns.traits.gang_min[:count], 1)
    return have & columns.traits.gang_declared[:count]


def started(engine: Engine) -> NDArray[np.bool_]:
    """[G] the gangs that have what it takes, by roles and sub-gangs where they have any."""
    have, world = have_minimum(engine.world), engine.world
    for row in np.flatnonzero(have & world.columns.traits.gang_parted[: len(have)]).tolist():
        have[row] = engine.tiers.gang_ready(Gang(world, row))
    return have


class Watch:
    """Tells who starts, cycle by cycle, in a copy of a world in which some had started."""

    def __init__(self, had: NDArray[np.bool_]) -> None:
        self._had = had

    def news(self, engine: Engine) -> list[str]:
        """The keys of gangs that have what it takes, and had not when this was last asked."""
        world, have = engine.world, have_minimum(engine.world)
        have[: len(self._had)] &= ~self._had
        rows = [row for row in np.flatnonzero(have).tolist() if engine.tiers.gang_ready(Gang(world, row))]
        had = np.zeros(len(have), np.bool_)
        had[: len(self._had)] = self._had
        had[rows] = True
        self._had = had
        return [world.gangs.keys[row] for row in rows]


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
