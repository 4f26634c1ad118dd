"""Overcommit: gangs are admitted as if the cluster were a little larger than it is.

    room = allocatable of all nodes × factor − what is used − what admitted gangs have not got yet

A gang is admitted if its minimal resources fit into that. Admitting a few more than fit keeps the cluster busy while
others end; admitting all would make controllers create pods that have no chance. Who is admitted is charged until the
next cycle adds everything up anew. Pods as such are not counted here, only what they ask for.
"""

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from posse.cluster.names import PODS
from posse.cluster.verdict import Blocker
from posse.cluster.views import Gang
from posse.scheduler.arguments import Argument
from posse.scheduler.outstanding import admitted_for, all_admitted_for
from posse.scheduler.plugin import PERMIT, THE_WORLD, Opinion, Plugin, Rows, Setup, Vote
from posse.scheduler.plugins.overcommit.rules import ClampedAndOnce, Rule
from posse.scheduler.plugins.overcommit.upstream import ResetAndTwice
from posse.scheduler.session import Session
from posse.scheduler.supply import Supply

FACTOR = "overcommit-factor"
LARGEST = 1_000_000


class OvercommitPlugin(Plugin):
    """Admit gangs to a cluster a little larger than the real one."""

    name: ClassVar[str] = "overcommit"
    depends_on: ClassVar[frozenset[str]] = THE_WORLD
    arguments: ClassVar[tuple[Argument, ...]] = (
        Argument(
            FACTOR,
            "float",
            1.2,
            maximum=LARGEST,
            help="To how many times its size the cluster admits gangs; 1.0 at the least.",
        ),
    )

    def __init__(self, setup: Setup) -> None:
        super().__init__(setup)
        upstream = setup.compatibility.side("overcommit") == "upstream"
        self._rule: Rule = ResetAndTwice() if upstream else ClampedAndOnce()
        given = setup.arguments.get_float(FACTOR)
        factor = self._rule.factor(given)
        if factor != given:
            self.warnings += (f"plugin {self.name}: {FACTOR} {given:g} is below 1.0, taken as {factor:g}",)
        self._factor = min(factor, LARGEST)  # a lenient reading lets more through
        self._supply = Supply(setup.world)
        self._room = np.zeros(0)
        self._charged = np.zeros(0, np.int64)

    def on_open(self, session: Session) -> None:
        """Add up what is free and what is promised."""
        columns = session.world.columns
        used = (columns.ledger.node_used * columns.traits.node_present).sum(axis=1)
        self._room = self._supply.total * self._factor - used
        self._charged = self._rule.outstanding(session.world)

    def gang_enqueueable(self, gang: Gang) -> Opinion:
        """Reject a gang whose minimal resources the enlarged cluster cannot hold besides all that is admitted."""
        if gang.fact.min_resources is None:
            return PERMIT
        minimum = self.world.columns.traits.gang_min_resources[gang.row]
        lacks = (minimum > 0) & (self._charged + minimum > self._room)
        lacks[PODS] = False
        if not lacks.any():
            return PERMIT
        return Opinion(Vote.REJECT, self._blocker(gang, int(lacks.argmax()), np.flatnonzero(lacks).tolist()))

    def gang_enqueued(self, gang: Gang) -> None:
        """Charge a gang that was admitted."""
        if gang.fact.min_resources is not None:
            self._charged = self._charged + admitted_for(gang)

    def gangs_enqueueable(self, gangs: Rows) -> NDArray[np.bool_] | None:
        """Say of many gangs whether each would be admitted now."""
        minimum = self.world.columns.traits.gang_min_resources[gangs]
        wanted = np.where(minimum > 0, self._charged + minimum, -np.inf)
        wanted[:, PODS] = -np.inf
        return np.asarray((wanted <= self._room).all(axis=1), np.bool_)

    def all_enqueueable(self, gangs: Rows) -> bool:
        """Say whether all would be, one after the other."""
        wanted = self.world.columns.traits.gang_min_resources[gangs].sum(axis=0)
        lacks = (wanted > 0) & (self._charged + wanted > self._room)
        lacks[PODS] = False
        return not lacks.any()

    def gangs_enqueued(self, gangs: Rows) -> None:
        """Charge many gangs at once."""
        self._charged = self._charged + all_admitted_for(self.world, gangs).sum(axis=0)

    def _blocker(self, gang: Gang, worst: int, lacking: list[int]) -> Blocker:
        names = self.world.dimensions.names
        lack = ", ".join(names[dimension] for dimension in lacking)
        return Blocker(
            kind="admission",
            plugin=self.name,
            message=f"all {lack} that the cluster may promise, {self._factor:g} times what it has, is promised already",
            have=max(0, int(self._room[worst] - self._charged[worst])),
            need=int(self.world.columns.traits.gang_min_resources[gang.row, worst]),
            unit=names[worst],
            nodes_help=True,
        )
