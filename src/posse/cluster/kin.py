"""Kin: pods with the same namespace and labels, which no selector can tell apart.

Selectors are asked once per kin, not once per pod. Rows are only added: a selector's answers stay true, and only new kin are asked about.
"""

from collections.abc import Callable, Mapping

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray


class Kin(Struct, frozen=True, gc=False):
    """What selectors see of a pod."""

    namespace: str
    labels: Mapping[str, str]


class KinRegister:
    """All kin that were ever met, and their rows."""

    def __init__(self) -> None:
        self.all: list[Kin] = []
        self._rows: dict[tuple[str, frozenset[tuple[str, str]]], int] = {}

    def row(self, namespace: str, labels: Mapping[str, str]) -> int:
        """The row of this namespace and these labels, made if they are new."""
        key = (namespace, frozenset(labels.items()))
        row = self._rows.get(key)
        if row is None:
            row = self._rows[key] = len(self.all)
            self.all.append(Kin(namespace, labels))
        return row

    def fork(self) -> "KinRegister":
        """An independent copy."""
        other = KinRegister()
        other.all, other._rows = list(self.all), dict(self._rows)
        return other


class Selection:
    """Which kin a question selects, asked once of each."""

    def __init__(self, question: Callable[[Kin], bool]) -> None:
        self._question = question
        self._answers: list[bool] = []

    def among(self, kin: KinRegister) -> NDArray[np.bool_]:
        """One answer per kin row."""
        self._answers.extend(self._question(each) for each in kin.all[len(self._answers) :])
        return np.array(self._answers, np.bool_)
