"""Aspects: one thing about many rows, as a small number per row.

Thousands of nodes, or kin of pods, share few values of a label, few namespaces, few sets of taints. An aspect
numbers the distinct values, so that a question is asked once per value, and the answers for all rows are one lookup:
`answers[numbers]`. Number 0 is for rows that have no such thing.
"""

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from posse.cluster.selectors import Requirement

Thing = TypeVar("Thing")

ROWS_PER_VALUE_GONE = 4
"""When there are more values than this many times the rows, those that no row has any more are forgotten."""


class Aspect(Generic[Thing]):
    """What one reading of the things in some rows comes to."""

    def __init__(self, read: Callable[[Thing], Hashable | None]) -> None:
        self._read = read
        self.values: list[Any] = [None]
        """What each number stands for."""
        self.numbers: NDArray[np.int32] = np.zeros(0, np.int32)
        """The number of each row. Not to be changed."""
        self._known: dict[Hashable, int] = {None: 0}

    def reach(self, rows: int) -> None:
        """Make sure that there are this many rows."""
        if rows > len(self.numbers):
            self.numbers = np.concatenate([self.numbers, np.zeros(rows - len(self.numbers), np.int32)])

    def write(self, rows: Sequence[int] | slice, things: Iterable[Thing | None]) -> None:
        """Read the things that stand in some rows now; None: nothing stands there."""
        self.numbers[rows] = [0 if thing is None else self._number(self._read(thing)) for thing in things]
        if len(self.values) > ROWS_PER_VALUE_GONE * (len(self.numbers) + 16):
            self._forget_unused()

    def _number(self, value: Hashable | None) -> int:
        number = self._known.get(value)
        if number is None:
            number = self._known[value] = len(self.values)
            self.values.append(value)
        return number

    def _forget_unused(self) -> None:
        used, numbers = np.unique(np.append(self.numbers, 0), return_inverse=True)
        self.values = [self.values[number] for number in used.tolist()]
        self.numbers = numbers[:-1].astype(np.int32)
        self._known = {value: number for number, value in enumerate(self.values)}

    def known(self, values: Iterable[Hashable]) -> list[int]:
        """The numbers of those values that any row ever had."""
        return [self._known[value] for value in values if value in self._known]

    def answers(self, question: Callable[[Any], int], absent: int = 0) -> NDArray[np.int64]:
        """The answer for each row, asked once per value; `absent` for rows that have none."""
        table = np.array([absent, *(question(value) for value in self.values[1:])], np.int64)
        return table[self.numbers]


def satisfying(label: Aspect[Any], requirement: Requirement, since: int = 0) -> NDArray[np.bool_]:
    """Which rows, from one on, have a label value that meets a requirement on it."""
    meets = np.zeros(len(label.values), np.bool_)
    match requirement.operator:
        case "In":
            meets[label.known(requirement.values)] = True
        case "NotIn":
            meets[label.known(requirement.values)] = True
            meets = ~meets
        case "Exists":
            meets[1:] = True
        case "DoesNotExist":
            meets[0] = True
        case "Gt" | "Lt":
            meets[1:] = [requirement.matches({requirement.key: value}) for value in label.values[1:]]
    return meets[label.numbers[since:]]
