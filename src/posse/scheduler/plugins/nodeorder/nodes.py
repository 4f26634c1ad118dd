"""Points by what nodes are: how much they are preferred, and how few taints would rather keep the pod away."""

from collections.abc import Sequence

import numpy as np

from posse.cluster.facts import PreferredNodes, Taint, Toleration
from posse.scheduler.placement.node_traits import NodeTraits
from posse.scheduler.placement.taints import bears
from posse.scheduler.placement.terms import NormalisedScore

DISCOURAGING = "PreferNoSchedule"


def liked_nodes(traits: NodeTraits, preferred: Sequence[PreferredNodes], weight: int) -> NormalisedScore:
    """The weights of the preferred terms that a node meets."""
    raw = np.zeros(len(traits.present()), np.int64)
    for each in preferred:
        raw += each.weight * traits.meets_term(each.term)
    return NormalisedScore(raw, weight)


def disliked_taints(traits: NodeTraits, tolerations: Sequence[Toleration], weight: int) -> NormalisedScore:
    """How many discouraging taints a node has that the pod does not tolerate: the fewer, the better."""

    def disliked(taints: Sequence[Taint]) -> int:
        return sum(taint.effect == DISCOURAGING and not bears(tolerations, taint) for taint in taints)

    return NormalisedScore(traits.taints().answers(disliked), weight, lower_is_better=True)
