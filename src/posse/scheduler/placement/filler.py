"""The filler: which shapes can be filled by the kernel, and their tournaments, kept from gang to gang.

A shape whose terms are all fixed, normalised or about resources, and of whose claims all is settled, is filled by
`fill`; one with a live term, or a plugin that speaks of one task and one node, goes task by task through `choice`,
which knows everything.
"""

from collections import OrderedDict

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from posse.cluster.world import World
from posse.scheduler.claims import Claims
from posse.scheduler.placement.feasibility import Feasibility
from posse.scheduler.placement.fill import FIXED, NORMALISED, RESOURCE, ScoreTable, Tournament, capacity, fill
from posse.scheduler.placement.fullness import rules_of
from posse.scheduler.placement.node_traits import stamp_of
from posse.scheduler.placement.scoring import Scoring
from posse.scheduler.placement.terms import FixedScore, LiveScore, NormalisedScore, ResourceScore
from posse.scheduler.reasons import PASSES
from posse.scheduler.tiers import Tiers

KEPT_CELLS = 8_000_000
"""How many nodes, over all tournaments, are kept; the least recently used go first."""


class Kept(Struct):
    """A shape's tournament, and how much of the node log it knows."""

    table: ScoreTable
    tournament: Tournament
    epoch: int = -1
    seen: int = -1


class Filler:
    """Fills nodes with runs of equal tasks."""

    def __init__(self, world: World, tiers: Tiers, feasibility: Feasibility, scoring: Scoring, claims: Claims) -> None:
        self._world, self._tiers, self._claims = world, tiers, claims
        self._feasibility, self._scoring = feasibility, scoring
        self._kept: OrderedDict[int, tuple[int, Kept | None]] = OrderedDict()
        """By shape, with the stamp of its claims."""
        self._stamp = (-1, 0)

    def can_fill(self, shape: int, tasks: NDArray[np.int32]) -> bool:
        """Whether the kernel knows all there is to know about these tasks of a shape.

        A live term that concerns none of them may be left out. What concerns a task is a matter of its shape and its
        kin.
        """
        if self._of(shape) is None or self._feasibility.live(shape, tasks):
            return False
        scores = self._scoring.scores(shape).compared
        return not any(isinstance(term, LiveScore) and term.concerns(tasks) for term in scores)

    def fill(
        self, shape: int, tasks: NDArray[np.int32], room: NDArray[np.int64], ends: NDArray[np.int32] | None = None
    ) -> tuple[int, NDArray[np.int32]]:
        """Place tasks of one shape, of one gang or of several in order.

        Returns how many were looked at, and the node of each; see `fill.fill`.
        """
        kept, columns = self._of(shape), self._world.columns
        assert kept is not None
        columns.reserve_logs(4 * len(tasks))
        seen = kept.seen if kept.epoch == columns.log_epoch else -1
        nodes = np.full(len(tasks), -1, np.int32)
        if ends is None:
            ends = np.array([len(tasks)], np.int32)
        done = fill(columns.ledger, columns.traits, kept.table, kept.tournament, shape, seen, tasks, ends, room, nodes)
        kept.epoch, kept.seen = columns.log_epoch, int(columns.ledger.log_ends[0])
        return done, nodes

    def capacity(self, shape: int, enough: int, *, promised_too: bool = False) -> int:
        """How many tasks of a shape could find room at the most, as far as what nodes are and their room goes.

        `promised_too`: room that is promised to others counts as well.
        """
        passes = self._feasibility.fixed(shape) == PASSES
        return capacity(self._world.columns.ledger, self._world.columns.traits, passes, shape, enough, promised_too)

    def _of(self, shape: int) -> Kept | None:
        stamp = stamp_of(self._world)
        if self._stamp != stamp:
            self._kept.clear()
            self._stamp = stamp
        claims_stamp = self._claims.stamp(shape)
        if shape in self._kept and self._kept[shape][0] == claims_stamp:
            self._kept.move_to_end(shape)
            return self._kept[shape][1]
        kept = self._made(shape)
        self._kept[shape] = (claims_stamp, kept)
        while len(self._kept) > max(16, KEPT_CELLS // max(1, len(self._world.nodes))):
            self._kept.popitem(last=False)
        return kept

    def _made(self, shape: int) -> Kept | None:
        if self._tiers.filtering_singly or self._tiers.scoring_singly or self._feasibility.asks_claims(shape):
            return None
        passes = self._feasibility.fixed(shape) == PASSES
        table = self._table(shape)
        nodes = len(self._world.nodes)
        leaves = 1 << max(0, (nodes - 1).bit_length())
        terms = table.raw.shape[0]
        tournament = Tournament(
            passes=passes,
            competes=np.zeros(nodes, np.bool_),
            points=np.zeros(nodes, np.float64),
            winners=np.full(2 * leaves, -1, np.int32),
            highest=np.zeros(terms, np.int64),
            holders=np.zeros(terms, np.int64),
        )
        return Kept(table, tournament)

    def _table(self, shape: int) -> ScoreTable:
        """A shape's score terms as arrays, live ones left out."""
        nodes = len(self._world.nodes)
        kinds, which = [], []
        fixed: list[FixedScore] = []
        normalised: list[NormalisedScore] = []
        resource: list[ResourceScore] = []
        scores = self._scoring.scores(shape)
        for term in (*scores.alone, *scores.compared):
            match term:
                case FixedScore():
                    kinds.append(FIXED)
                    which.append(len(fixed))
                    fixed.append(term)
                case NormalisedScore():
                    kinds.append(NORMALISED)
                    which.append(len(normalised))
                    normalised.append(term)
                case ResourceScore():
                    kinds.append(RESOURCE)
                    which.append(len(resource))
                    resource.append(term)
        return ScoreTable(
            kinds=np.array(kinds, np.int8),
            which=np.array(which, np.int32),
            alone=len(scores.alone),
            counts_pods=self._feasibility.counts_pods(shape),
            fixed=np.array([term.points for term in fixed], np.float64).reshape(len(fixed), nodes),
            raw=np.array([term.raw for term in normalised], np.int64).reshape(len(normalised), nodes),
            raw_weights=np.array([term.weight for term in normalised], np.int64),
            lower_is_better=np.array([term.lower_is_better for term in normalised], np.bool_),
            rules=rules_of(self._world, resource),
        )
