"""Spreading: whose pods count for a topology spread constraint, and where.

The constraints of a pod, all hard or all soft ones, look at the nodes that have every one of their keys; each of
them leaves out nodes that the pod could not go to, as its policies on node affinity and taints say. Counted are pods
of the pod's own namespace that are not terminating.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from posse.cluster.facts import Shape, Spread
from posse.cluster.kin import Kin, PodChoice
from posse.scheduler.placement.node_traits import NodeTraits
from posse.scheduler.placement.pod_terms import PodCounts
from posse.scheduler.placement.taints import tolerated

Mask = NDArray[np.bool_]


def wanted(traits: NodeTraits, shape: Shape) -> Mask:
    """Which nodes the node selector and the required node terms of a shape take."""
    passes = traits.meets_all(shape.node_selector)
    return passes if shape.node_terms is None else passes & traits.meets_any(shape.node_terms)


def with_all_keys(traits: NodeTraits, constraints: Sequence[Spread]) -> Mask:
    """Which nodes have the topology keys of all constraints."""
    eligible = traits.present()
    for each in constraints:
        eligible = eligible & (traits.label(each.topology_key).numbers > 0)
    return eligible


def counted(traits: NodeTraits, shape: Shape, constraint: Spread, eligible: Mask) -> Mask:
    """Which of the eligible nodes count, by the constraint's policies."""
    if constraint.honor_affinity:
        eligible = eligible & wanted(traits, shape)
    if constraint.honor_taints:
        eligible = eligible & tolerated(traits, shape.tolerations)
    return eligible


def pods_of_the_kind(counts: PodCounts, constraint: Spread, kin: Kin) -> NDArray[np.int64]:
    """How many pods on each node are of the kind to spread. A selector without requirements counts none."""
    selector = constraint.selector
    if selector is not None and not selector.requirements:
        selector = None
    return counts.chosen(PodChoice(selector, (kin.namespace,)), with_terminating=False)
