"""Rules about what nodes are: cordons, selectors and node affinity, taints, declared features.

Many shapes differ only in what they ask for, so the codes of each rule are kept by the part of the shape that it
looks at, until a node changes.
"""

from collections.abc import Callable, Hashable, Sequence

import numpy as np
from numpy.typing import NDArray

from posse.cluster.facts import Shape, Taint, Toleration
from posse.cluster.selectors import NodeTerm, Requirement
from posse.cluster.world import World
from posse.scheduler.placement.node_traits import NodeTraits, stamp_of
from posse.scheduler.placement.taints import CORDON, bears, first_untolerated
from posse.scheduler.placement.terms import Codes
from posse.scheduler.reasons import PASSES, Reasons


class NodeRules:
    """Refusals by what nodes are."""

    def __init__(
        self, world: World, traits: NodeTraits, reasons: Reasons, *, minds_affinity: bool, minds_taints: bool
    ) -> None:
        self._world, self._traits, self._reasons = world, traits, reasons
        self.minds_affinity, self.minds_taints = minds_affinity, minds_taints
        self._kept: dict[Hashable, Codes] = {}
        self._stamp = (-1, 0)

    def codes(self, shape: Shape) -> Codes:
        """The first refusal of each node."""
        rules = [self.cordon(shape.tolerations)]
        if self.minds_affinity:
            rules += [self.selector(shape.node_selector), self.affinity(shape.node_terms)]
        if self.minds_taints:
            rules.append(self.taints(shape.tolerations))
        rules.append(self.features(shape.features))
        parts = (shape.node_selector, shape.node_terms, shape.tolerations, shape.features)
        return self._keep(parts, lambda: _first(rules))

    def cordon(self, tolerations: Sequence[Toleration]) -> Codes:
        """Cordoned nodes take only pods that tolerate it."""
        if bears(tolerations, CORDON):
            return self._pass()
        code = self._reasons.code("cordoned")
        return self._keep("cordon", lambda: self._traits.cordons() * np.int32(code))

    def selector(self, requirements: tuple[Requirement, ...]) -> Codes:
        """Every requirement of the node selector."""
        return _first([self._pass(), *(self._label(each) for each in requirements)])

    def _label(self, requirement: Requirement) -> Codes:
        def make() -> Codes:
            return self._refusing(self._traits.meets(requirement), f"node selector {requirement} does not match")

        return self._keep(requirement, make)

    def affinity(self, terms: tuple[NodeTerm, ...] | None) -> Codes:
        """At least one of the required node terms, if there are any."""
        if terms is None:
            return self._pass()

        def make() -> Codes:
            return self._refusing(self._traits.meets_any(terms), f"node affinity {in_words(terms)} does not match")

        return self._keep(("affinity", terms), make)

    def taints(self, tolerations: tuple[Toleration, ...]) -> Codes:
        """Every taint that keeps pods away must be tolerated."""

        def refusal(taints: tuple[Taint, ...]) -> int:
            taint = first_untolerated(tolerations, taints)
            return PASSES if taint is None else self._reasons.code(f"untolerated taint {taint}")

        return self._keep(("taints", tolerations), lambda: self._traits.taints().answers(refusal).astype(np.int32))

    def features(self, features: tuple[str, ...]) -> Codes:
        """Every feature that the pod needs must be declared."""
        if not features:
            return self._pass()

        def refusal(declared: Sequence[str]) -> int:
            lacking = next((each for each in features if each not in declared), None)
            return PASSES if lacking is None else self._reasons.code(f"undeclared node feature {lacking}")

        def make() -> Codes:
            return self._traits.features().answers(refusal, refusal(())).astype(np.int32)

        return self._keep(("features", features), make)

    def _pass(self) -> Codes:
        return self._keep("pass", lambda: np.zeros(len(self._world.nodes), np.int32))

    def _refusing(self, passes: NDArray[np.bool_], reason: str) -> Codes:
        return np.where(passes, np.int32(PASSES), np.int32(self._reasons.code(reason)))

    def _keep(self, key: Hashable, make: Callable[[], Codes]) -> Codes:
        stamp = stamp_of(self._world)
        if stamp != self._stamp:
            self._kept.clear()
            self._stamp = stamp
        codes = self._kept.get(key)
        if codes is None:
            codes = self._kept[key] = make()
        return codes


def in_words(terms: Sequence[NodeTerm]) -> str:
    """Node terms as a person would write them."""
    return " or ".join(map(str, terms)) or "<nothing>"


def _first(rules: Sequence[Codes]) -> Codes:
    codes = rules[0]
    for rule in rules[1:]:
        codes = np.where(codes == PASSES, rule, codes)
    return codes
