"""Pods that must be near, or must not: required affinity and anti-affinity, by the terms of both sides.

Affinity: only a pod that meets all of the terms at once counts, for every node in its domain. The first of its kind,
whom nobody could be near, goes anywhere with the topology labels if it meets its own terms. Anti-affinity is asked
term by term, and a node without the label is in nobody's way.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from posse.cluster.facts import PodTerm, Shape
from posse.cluster.world import World
from posse.scheduler.placement.domains import around, per_domain
from posse.scheduler.placement.node_traits import NodeTraits
from posse.scheduler.placement.pod_terms import LyingTerms, Namespaces, PodCounts, Voice
from posse.scheduler.placement.terms import Codes
from posse.scheduler.reasons import PASSES, Reasons


class PodRules:
    """Refusals by who lies near."""

    def __init__(self, world: World, traits: NodeTraits, counts: PodCounts, reasons: Reasons) -> None:
        self._world, self._traits, self._counts, self._reasons = world, traits, counts, reasons
        self._namespaces = Namespaces(world)
        self._lying = LyingTerms(world, self._namespaces, counts, _required_apart)

    def near(self, terms: Sequence[PodTerm], task: int) -> Codes:
        """Refuse nodes in whose domains nobody lies that the task must be near."""
        choices = [self._namespaces.choice(term) for term in terms]
        counts = self._counts.chosen(*choices)
        missing, alone = self._pass(), self._pass()
        has_friends = False
        for term in terms:
            topology = self._traits.label(term.topology_key)
            sums = per_domain(topology, counts)
            has_friends |= bool(sums.any())
            text = in_words("affinity", term)
            missing = self._refuse(missing, topology.numbers == 0, f"{text}: the node has no such label")
            alone = self._refuse(alone, sums[topology.numbers] == 0, text)
        kin = self._world.kin.all[self._kin(task)]
        if not has_friends and all(choice.takes(kin) for choice in choices):
            return missing
        return np.where(missing == PASSES, alone, missing)

    def apart(self, terms: Sequence[PodTerm]) -> Codes:
        """Refuse nodes in whose domains somebody lies that one must not be near."""
        codes = self._pass()
        for term in terms:
            counts = self._counts.chosen(self._namespaces.choice(term))
            crowded = around(self._traits.label(term.topology_key), counts) > 0
            codes = self._refuse(codes, crowded, in_words("anti-affinity", term))
        return codes

    def kept_away(self, task: int) -> Codes:
        """Refuse nodes in whose domains somebody lies that must not be near the task."""
        codes = self._pass()
        for voice in self._lying.meaning(self._kin(task)):
            term, _ = voice
            crowded = around(self._traits.label(term.topology_key), self._lying.bearers(voice)) > 0
            codes = self._refuse(codes, crowded, f"kept away by another's {in_words('anti-affinity', term)}")
        return codes

    def may_keep_away(self, tasks: NDArray[np.int32]) -> bool:
        """Whether anybody that ever was here could mind any of these tasks."""
        return self._lying.mean_any(tasks)

    def _kin(self, task: int) -> int:
        return int(self._world.columns.ledger.task_kin[task])

    def _pass(self) -> Codes:
        return np.zeros(len(self._world.nodes), np.int32)

    def _refuse(self, codes: Codes, refused: NDArray[np.bool_], reason: str) -> Codes:
        """Give those nodes the reason that pass so far."""
        refused = refused & (codes == PASSES)
        return np.where(refused, np.int32(self._reasons.code(reason)), codes) if refused.any() else codes


def _required_apart(shape: Shape) -> Sequence[Voice]:
    return [(term, 1) for term in shape.apart]


def in_words(sort: str, term: PodTerm) -> str:
    """A term as a reason names it."""
    return f"pod {sort} to {term.selector or '<nobody>'} in topology {term.topology_key}"
