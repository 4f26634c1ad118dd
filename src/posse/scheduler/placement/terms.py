"""Terms: what plugins say about nodes, in a form that can be computed for all nodes at once.

A plugin is asked once per shape, and answers with terms. A *fixed* term depends on what nodes are, and is kept until
one of them changes; a *live* term depends on who lies where, and is looked at again whenever that may have moved. A
*resource* score is data, no callable: the kernel evaluates it while it fills nodes. A plugin that speaks of one task
and one node in plain Python is wrapped as a live term.

A filter gives one reason code per node row, 0 where the node passes (see `reasons`); a score gives a number per
candidate.
"""

from collections.abc import Callable, Sequence
from enum import IntEnum
from typing import Protocol

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

Codes = NDArray[np.int32]
Rows = NDArray[np.intp]
Scores = NDArray[np.float64]

HIGHEST = 100
"""A score of one plugin lies between 0 and this, before its weight."""


class FixedFilter(Struct, frozen=True):
    """Refusals by what nodes are."""

    codes: Codes


class CountFilter(Struct, frozen=True):
    """Refusal of nodes that hold as many pods as they may, terminating and promised ones included.

    Without it only room counts, and terminating pods give their place back. It is data, no callable: whoever fills
    nodes counts along.
    """

    code: int


def always(_: NDArray[np.int32]) -> bool:
    """Concern all tasks."""
    return True


class LiveFilter(Struct, frozen=True):
    """Refusals by who lies where: asked for the codes of all node rows, for one task of the shape (its row).

    `concerns` says of tasks whether it could refuse any of them a node at all, whoever is placed; where not, it need
    not be asked.
    """

    codes: Callable[[int], Codes]
    concerns: Callable[[NDArray[np.int32]], bool] = always


class FixedScore(Struct, frozen=True):
    """Points by what nodes are, weight included."""

    points: Scores


class NormalisedScore(Struct, frozen=True):
    """Raw points by what nodes are, brought to 0..100 by the highest among the candidates.

    `lower_is_better` turns them around.
    """

    raw: NDArray[np.int64]
    weight: int
    lower_is_better: bool = False

    def of(self, candidates: Rows) -> Scores:
        """The points of the candidates. Divisions drop the remainder, as Kubernetes' do."""
        raw = self.raw[candidates]
        highest = int(raw.max(initial=0))
        if highest == 0:
            points = np.full(len(raw), HIGHEST if self.lower_is_better else 0, np.int64)
        else:
            points = raw * HIGHEST // highest
            if self.lower_is_better:
                points = HIGHEST - points
        return (points * self.weight).astype(np.float64)


class ResourceRule(IntEnum):
    """How a resource score looks at what is used."""

    LEAST = 0
    """Prefers free nodes: Kubernetes' LeastAllocated."""
    MOST = 1
    """Prefers used nodes: Kubernetes' MostAllocated."""
    BALANCED = 2
    """Prefers nodes whose resources are used evenly: Kubernetes' BalancedAllocation."""
    BINPACK = 3
    """Prefers nodes that the task fills: Volcano's binpack."""


class ResourceScore(Struct, frozen=True):
    """Points by how full a node would be: a rule, the resources that count, with weights, the weight of the whole."""

    rule: ResourceRule
    resources: tuple[tuple[str, int], ...]
    weight: int


class LiveScore(Struct, frozen=True):
    """Points by who lies where: asked for those of candidates, weight included, for one task of the shape (its row).

    `concerns` says of tasks whether it could give any of them anything but 0 points, whoever is placed; where not, it
    need not be asked.
    """

    points: Callable[[int, Rows], Scores]
    concerns: Callable[[NDArray[np.int32]], bool] = always


Filter = FixedFilter | CountFilter | LiveFilter
Score = FixedScore | NormalisedScore | ResourceScore | LiveScore


class Clause(Struct, frozen=True):
    """One requirement of a pod in words, and which node rows satisfy it by itself."""

    text: str
    passes: NDArray[np.bool_]


class Terms(Protocol):
    """What a plugin that filters or scores can be asked, per shape row."""

    def filters(self, shape: int) -> Sequence[Filter]:
        """Its filters, in the order in which a node's first refusal is sought."""

    def scores(self, shape: int) -> Sequence[Score]:
        """Its scores."""
