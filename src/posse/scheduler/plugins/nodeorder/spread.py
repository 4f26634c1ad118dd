"""Points for even spread, where it is not a must: the fewer pods of the kind in a node's domains, the better.

Many domains make each pod weigh more. Candidates that lack one of the keys get nothing. On the key of host names
each node is its own domain, and the constraint's policies are not asked.
"""

import math
from collections.abc import Sequence

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from posse.cluster.facts import Shape, Spread
from posse.cluster.kin import Kin
from posse.cluster.world import World
from posse.scheduler.placement.domains import per_domain
from posse.scheduler.placement.node_traits import NodeTraits
from posse.scheduler.placement.pod_terms import PodCounts
from posse.scheduler.placement.spreading import counted, pods_of_the_kind, with_all_keys
from posse.scheduler.placement.terms import HIGHEST, Rows, Scores

HOSTNAME = "kubernetes.io/hostname"


class Field(Struct, frozen=True):
    """A constraint, the nodes that can have points, and those that count."""

    constraint: Spread
    eligible: NDArray[np.bool_]
    counted: NDArray[np.bool_]


class SpreadScore:
    """Points by how evenly pods would lie."""

    def __init__(self, world: World, traits: NodeTraits, counts: PodCounts) -> None:
        self._world, self._traits, self._counts = world, traits, counts

    def fields(self, shape: Shape, soft: Sequence[Spread]) -> tuple[Field, ...]:
        """The soft constraints of a shape, ready to be asked until a node changes."""
        eligible = with_all_keys(self._traits, soft)
        return tuple(Field(each, eligible, counted(self._traits, shape, each, eligible)) for each in soft)

    def points(self, fields: Sequence[Field], weight: int, task: int, candidates: Rows) -> Scores:
        """The points of each candidate."""
        kin = self._world.kin.all[int(self._world.columns.ledger.task_kin[task])]
        is_scored = fields[0].eligible[candidates]
        scored = candidates[is_scored]
        crowds = np.zeros(len(scored), np.float64)
        for field in fields:
            crowds += self._crowds(field, kin, scored)
        points: Scores = np.zeros(len(candidates), np.float64)
        points[is_scored] = _turned_around(crowds) * float(weight)
        return points

    def _crowds(self, field: Field, kin: Kin, scored: Rows) -> Scores:
        """How crowded the domain of each node is, in pods that weigh more the more domains there are."""
        constraint = field.constraint
        pods = pods_of_the_kind(self._counts, constraint, kin)
        if constraint.topology_key == HOSTNAME:
            counts, domains = pods[scored], len(scored)
        else:
            topology = self._traits.label(constraint.topology_key)
            numbers = topology.numbers[scored]
            counts, domains = per_domain(topology, pods, field.counted)[numbers], len(np.unique(numbers))
        crowds = counts.astype(np.float64)
        crowds *= math.log(float(domains + 2))
        crowds += float(constraint.max_skew - 1)
        return crowds


def _turned_around(crowds: Scores) -> Scores:
    """The least crowded node gets 100, halves being rounded up."""
    raw = np.floor(crowds).astype(np.int64)
    raw += crowds - raw >= 0.5
    if not len(raw) or raw.max() == 0:
        return np.full(len(raw), float(HIGHEST))
    points: Scores = (HIGHEST * (raw.max() + raw.min() - raw) // raw.max()).astype(np.float64)
    return points
