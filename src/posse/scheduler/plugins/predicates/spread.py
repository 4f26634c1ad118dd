"""Topology spread that must hold: no domain may have more than `max_skew` pods of the kind beyond the emptiest one.

Fewer domains than `min_domains` make the emptiest one count as empty. A node that lacks the key of any hard
constraint is refused.
"""

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
from posse.scheduler.placement.terms import Codes
from posse.scheduler.reasons import PASSES, Reasons


class Field(Struct, frozen=True):
    """A constraint, and the nodes that it counts."""

    constraint: Spread
    counted: NDArray[np.bool_]


class SpreadRule:
    """Refusals by how unevenly pods would lie."""

    def __init__(self, world: World, traits: NodeTraits, counts: PodCounts, reasons: Reasons) -> None:
        self._world, self._traits, self._counts, self._reasons = world, traits, counts, reasons

    def fields(self, shape: Shape, hard: Sequence[Spread]) -> tuple[Field, ...]:
        """The hard constraints of a shape, ready to be asked until a node changes."""
        eligible = with_all_keys(self._traits, hard)
        return tuple(Field(each, counted(self._traits, shape, each, eligible)) for each in hard)

    def codes(self, fields: Sequence[Field], task: int) -> Codes:
        """Refuse nodes that lack a key, or whose domain would be too full."""
        kin = self._world.kin.all[int(self._world.columns.ledger.task_kin[task])]
        codes = np.zeros(len(self._world.nodes), np.int32)
        for field in fields:
            key = field.constraint.topology_key
            numbers, skew = self._traits.label(key).numbers, self._skew(field, kin)
            most, text = field.constraint.max_skew, in_words(field.constraint)
            lacking = (codes == PASSES) & (numbers == 0)
            codes[lacking] = self._reasons.code(f"{text}: the node has no such label")
            uneven = (codes == PASSES) & (skew[numbers] > most)
            codes[uneven] = self._reasons.code(f"{text}: skew would exceed {most}")
        return codes

    def _skew(self, field: Field, kin: Kin) -> NDArray[np.int64]:
        """For each domain, how many more than the emptiest one it would have with one more pod."""
        constraint = field.constraint
        topology = self._traits.label(constraint.topology_key)
        sums = per_domain(topology, pods_of_the_kind(self._counts, constraint, kin), field.counted)
        domains = np.unique(topology.numbers[field.counted])
        least = int(sums[domains].min()) if len(domains) >= max(constraint.min_domains, 1) else 0
        is_of_the_kind = constraint.selector is not None and constraint.selector.matches(kin.labels)
        return sums + is_of_the_kind - least


def in_words(constraint: Spread) -> str:
    """A constraint as a reason names it."""
    return f"topology spread over {constraint.topology_key}"
