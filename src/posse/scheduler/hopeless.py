"""Hopeless: gangs for which there surely is not room enough, by counts that can only be too high.

A gang that wants n more members of a shape cannot be placed where fewer than n of them find room on all suitable nodes
together, whatever others do; those that are promised a node already need no other. Where members differ, so many of
each shape are wanted as are left when all that may be spared are of that shape.

What a gang wants is remembered until the gang changes, and asked of the nodes once per shape, not once per gang. So ten
thousand hopeless gangs in front do not slow down the next good one. Leaving them out changes no decision: each would
have failed.
"""

import numpy as np
from numpy.typing import NDArray

from posse.cluster.mixes import MIXED
from posse.cluster.status import PROMISED_STATES, Status
from posse.cluster.world import World
from posse.scheduler.placement.filler import Filler
from posse.scheduler.plugin import Rows
from posse.scheduler.tiers import Tiers

Want = tuple[tuple[int, int], ...]
"""Shapes (their rows), and of how many members of each there must be room."""

NOT_ASKED = -1
FEW = 1 << 12
"""So many wants are kept at any rate, even if there are fewer gangs."""
WHOLE = 1 << 32
"""More than any gang has members."""


class Hopeless:
    """What gangs want, and which of them surely do not get it."""

    def __init__(self, world: World, tiers: Tiers, filler: Filler, *, promised_too: bool) -> None:
        self._world, self._tiers, self._filler = world, tiers, filler
        self._promised_too = promised_too
        """Whether room that is promised to others counts as well."""
        self._forget()

    def _forget(self) -> None:
        self._wants: list[Want] = []
        self._numbers: dict[Want, int] = {}
        self._of = np.full(len(self._world.gangs), NOT_ASKED, np.int32)
        self._seen = int(self._world.columns.ledger.moment[0])

    def among(self, gangs: Rows) -> NDArray[np.bool_]:
        """Which of these gangs surely find no room."""
        self._follow()
        self._ask(gangs[self._of[gangs] == NOT_ASKED])
        of = self._of[gangs]
        lack = np.zeros(len(self._wants), np.bool_)
        wanted = np.flatnonzero(np.bincount(of, minlength=len(self._wants))).tolist()
        room = self._room([self._wants[number] for number in wanted])
        lack[wanted] = [any(count > room[shape] for shape, count in self._wants[number]) for number in wanted]
        found: NDArray[np.bool_] = lack[of]
        return found

    def _room(self, wants: list[Want]) -> dict[int, int]:
        """How many of each shape find room, not counted further than anybody wants."""
        most: dict[int, int] = {}
        for want in wants:
            for shape, count in want:
                most[shape] = max(count, most.get(shape, 0))
        promised_too = self._promised_too
        return {s: self._filler.capacity(s, count, promised_too=promised_too) for s, count in most.items()}

    # ------------------------------------------------------------------ what gangs want

    def _follow(self) -> None:
        """Forget what gangs wanted that have changed since."""
        ledger, count = self._world.columns.ledger, len(self._world.gangs)
        if len(self._wants) > max(FEW, 2 * count):
            self._forget()
        if len(self._of) < count:
            self._of = np.append(self._of, np.full(count - len(self._of), NOT_ASKED, np.int32))
        self._of[:count][ledger.gang_touched[:count] > self._seen] = NOT_ASKED
        self._seen = int(ledger.moment[0])

    def _ask(self, gangs: Rows) -> None:
        """Find out what gangs want."""
        if not len(gangs):
            return
        shapes, least = self._world.columns.traits.gang_shape[gangs], self._tiers.shortfalls(gangs).least
        self._ask_equal(gangs[shapes >= 0], least[shapes >= 0])
        for gang, short in zip(gangs[shapes < 0].tolist(), least[shapes < 0].tolist(), strict=True):
            self._of[gang] = self._number(self._want_of_mixed(gang, short))

    def _ask_equal(self, gangs: Rows, least: NDArray[np.int64]) -> None:
        """Those whose members are all of one shape."""
        columns = self._world.columns
        promised = columns.ledger.gang_count[gangs][:, PROMISED_STATES].sum(axis=1)
        wanted = np.maximum(least - promised, 1)
        shapes = columns.traits.gang_shape[gangs].astype(np.int64)
        kinds, of = np.unique(shapes * WHOLE + wanted, return_inverse=True)
        self._of[gangs] = np.array([self._number((divmod(kind, WHOLE),)) for kind in kinds.tolist()], np.int32)[of]

    def _want_of_mixed(self, gang: int, least: int) -> Want:
        """One whose members differ; of it nothing is said once any member has left the line."""
        ledger = self._world.columns.ledger
        waiting = int(ledger.gang_count[gang, Status.PENDING])
        if self._world.columns.traits.gang_shape[gang] != MIXED or waiting != ledger.gang_count[gang].sum():
            return ()
        spare = max(0, waiting - int(ledger.gang_best_effort[gang]) - least)
        counts = ((s, count - spare) for s, count in self._world.mixes.counts(gang) if not ledger.shape_best_effort[s])
        return tuple((shape, count) for shape, count in counts if count > 0)

    def _number(self, want: Want) -> int:
        number = self._numbers.setdefault(want, len(self._wants))
        if number == len(self._wants):
            self._wants.append(want)
        return number
