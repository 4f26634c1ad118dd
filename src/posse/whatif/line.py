"""The line: who waits, in which order, and who is where in it."""

from collections.abc import Iterable

import numpy as np

from posse.cluster.ordering import natural
from posse.cluster.status import READY_STATES, Status
from posse.cluster.views import Gang
from posse.cluster.world import World
from posse.scheduler.tiers import Tiers
from posse.whatif.explanation import Position


def has_minimum(gang: Gang) -> bool:
    """Whether a gang has what it takes, on nodes."""
    return gang.is_declared and gang.ready_count >= max(1, gang.minimum)


def is_over(gang: Gang) -> bool:
    """Whether all its members have ended, or are leaving."""
    counts = gang.counts
    return gang.size > 0 and counts[Status.SUCCEEDED] + counts[Status.FAILED] + counts[Status.RELEASING] == gang.size


def waiting(world: World) -> list[Gang]:
    """The gangs that do not have their minimum, those included that nobody declared, by name."""
    count, columns = len(world.gangs), world.columns
    ready = columns.ledger.gang_count[:count, list(READY_STATES)].sum(axis=1)
    short = np.flatnonzero(ready < np.maximum(columns.traits.gang_min[:count], 1))
    found = [Gang(world, row) for row in short.tolist() if world.gangs.keys[row]]
    gangs = [gang for gang in found if not is_over(gang) and (gang.is_declared or gang.size)]
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
