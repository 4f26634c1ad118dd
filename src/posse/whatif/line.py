"""The line: who waits, in which order, and who is where in it."""

from collections.abc import Iterable

from posse.cluster.ordering import natural
from posse.cluster.status import Status
from posse.cluster.views import Gang
from posse.scheduler.line import Line
from posse.scheduler.tiers import Tiers
from posse.cluster.world import World
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
    found = (Gang(world, row) for row in world.gangs.rows())
    gangs = [gang for gang in found if not has_minimum(gang) and not is_over(gang) and (gang.is_declared or gang.size)]
    return sorted(gangs, key=lambda gang: natural(gang.key))


def in_line(tiers: Tiers, gangs: Iterable[Gang]) -> list[Gang]:
    """Gangs in the order in which their turn would come. Those that stand in no line come last."""
    given = list(gangs)
    standing = [gang for gang in given if gang.is_declared and gang.queue.is_declared]
    line, ordered = Line(tiers, standing), []
    while (gang := line.next()) is not None:
        ordered.append(gang)
        line.back(gang)
    return [*ordered, *(gang for gang in given if not gang.is_declared or not gang.queue.is_declared)]


def positions(gangs: Iterable[Gang]) -> dict[int, Position]:
    """The places of gangs that are in order, by row, each within its queue."""
    by_queue: dict[int, list[int]] = {}
    for gang in gangs:
        if gang.is_declared:
            by_queue.setdefault(gang.queue.row, []).append(gang.row)
    return {row: Position(place, len(rows)) for rows in by_queue.values() for place, row in enumerate(rows, 1)}
