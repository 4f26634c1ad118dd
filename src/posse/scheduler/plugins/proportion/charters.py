"""Charters: what queues declare, in columns by queue row.

The most that a queue may ever have follows from all charters: what others' guarantees leave of the cluster, its own
guarantee, and never more than its capability. A capability limits only what it names; cpu or memory of 0 count as not
named. A resource that guarantees take up whole is nobody's limit when shares are divided (there is none to divide),
and nothing when gangs are admitted.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from posse.cluster.facts import Amounts as Declared
from posse.cluster.facts import QueueFact
from posse.cluster.names import CPU, MEMORY, Dimensions

Amounts = NDArray[np.int64]
Fractions = NDArray[np.float64]


class Charters:
    """The declarations of all queues. Rows in which no queue stands are nobody's: weight 0, nothing guaranteed."""

    def __init__(self, facts: Sequence[QueueFact | None], dimensions: Dimensions) -> None:
        self.facts, self.dimensions = list(facts), len(dimensions)
        shape = (len(facts), self.dimensions)
        self.declared = np.array([fact is not None for fact in facts], np.bool_)
        self.weights = np.array([fact.weight if fact else 0 for fact in facts], np.int64)
        self.guarantees = np.zeros(shape, np.int64)
        self._guarantees_named = np.zeros(shape, np.bool_)
        self.capabilities = np.full(shape, np.inf)
        for row, fact in enumerate(facts):
            if fact is not None:
                self._read(row, fact, dimensions)

    def _read(self, row: int, fact: QueueFact, dimensions: Dimensions) -> None:
        for dimension, amount in _numbered(fact.guarantee, dimensions):
            self.guarantees[row, dimension] = amount
            self._guarantees_named[row, dimension] = True
        for dimension, amount in _numbered(fact.capability, dimensions):
            if amount or dimension not in (CPU, MEMORY):
                self.capabilities[row, dimension] = amount

    def ceilings(self, total: Amounts) -> tuple[Fractions, Fractions]:
        """[Q, D] the most that each queue may have of a total [D]: as limits of its part, and for admission."""
        guaranteed = self.guarantees.sum(axis=0)
        possible = np.minimum(np.maximum(total - guaranteed, 0) + self.guarantees, self.capabilities)
        gone = (total <= guaranteed) & ~self._guarantees_named
        gone[:, [CPU, MEMORY]] = False
        return np.where(gone, np.inf, possible), np.where(gone, 0.0, possible)


def _numbered(amounts: Declared, dimensions: Dimensions) -> list[tuple[int, int]]:
    return [(dimensions.number(name), amount) for name, amount in amounts]
