"""Standstill: when actions need not run, because they ran in vain and nothing has moved since.

Actions decide from the world, the plugins' answers and what is reserved in the books. Where they changed nothing, and
none of that has changed either, they would change nothing again: a cycle in which nothing happened costs next to
nothing, however many gangs wait. Promises end with time, so with any of these there is no standstill; nor with a plugin
that keeps state or does not say that its answers do not depend on the time.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from posse.cluster.world import World, same
from posse.scheduler.claims import Claims
from posse.scheduler.repairs import Repairs
from posse.scheduler.session import Session
from posse.scheduler.tiers import Tiers

Mark = tuple[int, ...]
"""Numbers of which at least one has risen if anything moved."""


class Standstill:
    """Knows how things stood when the actions last ran in vain."""

    def __init__(self, world: World, tiers: Tiers, claims: Claims, repairs: Repairs) -> None:
        self._world, self._claims, self._repairs = world, claims, repairs
        self._plugins = tiers.plugins
        self._may_come = not any("time" in plugin.depends_on for plugin in self._plugins)
        self._before: tuple[NDArray[np.integer[Any]], ...] = ()
        self._mark: Mark = ()
        self._told = False

    def holds(self, session: Session) -> bool:
        """Whether the actions would run in vain in a session that is about to begin."""
        return (
            self._mark == self._mark_of_now()
            and self._told >= session.tells
            and not self._world.promises
            and not self._is_due(self._repairs.next_due(), session.now)
            and not any(self._is_due(plugin.wake_at(), session.now) for plugin in self._plugins)
        )

    def begin(self) -> None:
        """Remember how everybody stands before the actions run."""
        self._before = self._world.standing() if self._can_come() else ()

    def end(self, session: Session) -> None:
        """Take note of whether they, and closing, changed anything."""
        in_vain = bool(self._before) and not session.effects and same(self._before, self._world.standing())
        self._mark, self._told = self._mark_of_now() if in_vain else (), session.tells

    def _can_come(self) -> bool:
        return self._may_come and all(plugin.state is None for plugin in self._plugins)

    def _mark_of_now(self) -> Mark:
        columns, world = self._world.columns, self._world
        ends = columns.ledger.log_ends
        moment = int(columns.ledger.moment[0])
        return (
            columns.log_epoch,
            int(ends[0]),
            int(ends[1]),
            moment,
            world.node_facts_version,
            world.people_version,
            world.storage.version,
            self._claims.version,
        )

    @staticmethod
    def _is_due(time: int | None, now: int) -> bool:
        return time is not None and time <= now
