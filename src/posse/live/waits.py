"""Waits: how long gangs wait for their minimum to be bound.

A gang's wait begins when it is first seen, or when it was created if that is longer ago than the second that creation
times are rounded to. It is over once, in the cycle that knows that the minimum is bound; what a gang loses later, or
gets beyond its minimum, is not waited for.
"""

from collections.abc import Callable

from posse.cluster.records import CycleResult
from posse.cluster.world import World

SECOND = 1_000_000_000


class Waits:
    """Tells of each gang that has got its minimum, and how many seconds that took."""

    def __init__(self, world: World, tell: Callable[[str, float], None]) -> None:
        self._world, self._tell = world, tell
        self._since: dict[str, tuple[str, int]] = {}
        """Of gangs that wait: their uid, and since when."""

    def __call__(self, now: int, result: CycleResult) -> None:
        """Learn how gangs stood when a cycle closed."""
        gangs, started = self._world.gangs, self._world.columns.traits.gang_started
        for verdict in result.verdicts:
            row = gangs.find(verdict.gang)
            fact = gangs.facts[row] if row >= 0 else None
            uid, since = self._since.get(verdict.gang, ("", 0))
            if fact is None or fact.uid != verdict.uid:
                continue
            if not started[row]:
                if uid != verdict.uid:
                    is_new = now - fact.created <= SECOND or not fact.created
                    self._since[verdict.gang] = (verdict.uid, now if is_new else fact.created)
            elif uid == verdict.uid:
                del self._since[verdict.gang]
                self._tell(verdict.gang, max(0, now - since) / SECOND)
        if len(self._since) > 2 * len(gangs):
            self._since = {gang: kept for gang, kept in self._since.items() if gangs.find(gang) >= 0}
