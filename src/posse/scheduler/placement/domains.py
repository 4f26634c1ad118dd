"""Domains: the nodes that share a value of a topology label, and the pods that lie in each of them.

A domain has the number that its value has in the label's aspect; number 0 stands for nodes without the label, which
form no domain.
"""

import numpy as np
from numpy.typing import NDArray

from posse.cluster.aspects import Aspect
from posse.cluster.facts import NodeFact

Counts = NDArray[np.int64]


def per_domain(topology: Aspect[NodeFact], counts: Counts, among: NDArray[np.bool_] | None = None) -> Counts:
    """The sum of each domain, over the nodes `among` which it is taken."""
    if among is not None:
        counts = np.where(among, counts, 0)
    sums = np.bincount(topology.numbers, weights=counts, minlength=len(topology.values)).astype(np.int64)
    sums[0] = 0
    return sums


def around(topology: Aspect[NodeFact], counts: Counts) -> Counts:
    """For each node the sum of its domain; 0 where it is in none."""
    return per_domain(topology, counts)[topology.numbers]
