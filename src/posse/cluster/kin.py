"""Kin: pods with the same namespace and labels, which no selector can tell apart.

Selectors are asked of kin, not of pods, and of all kin at once: each label that is ever asked about is an aspect of
them. Rows are only added: a selector's answers stay true, and only new kin are asked about.
"""

from collections.abc import Mapping

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from posse.cluster.aspects import Aspect, satisfying
from posse.cluster.selectors import Selector


class Kin(Struct, frozen=True, gc=False):
    """What selectors see of a pod."""

    namespace: str
    labels: Mapping[str, str]

    def __hash__(self) -> int:
        return hash((self.namespace, frozenset(self.labels.items())))


class PodChoice(Struct, frozen=True, gc=False):
    """Pods by their labels and their namespaces. No namespaces (None): all of them; no selector: no pod."""

    selector: Selector | None
    namespaces: tuple[str, ...] | None = None

    def takes(self, kin: Kin) -> bool:
        """Whether it chooses the pods of one kin."""
        in_reach = self.namespaces is None or kin.namespace in self.namespaces
        return in_reach and self.selector is not None and self.selector.matches(kin.labels)


class KinRegister:
    """All kin that were ever met, and their rows."""

    def __init__(self) -> None:
        self.all: list[Kin] = []
        self._rows: dict[Kin, int] = {}
        self._labels: dict[str, Aspect[Kin]] = {}
        self._namespaces: Aspect[Kin] = Aspect(_namespace)

    def row(self, namespace: str, labels: Mapping[str, str]) -> int:
        """The row of this namespace and these labels, made if they are new."""
        kin = Kin(namespace, labels)
        row = self._rows.get(kin)
        if row is None:
            row = self._rows[kin] = len(self.all)
            self.all.append(kin)
        return row

    def chosen(self, choice: PodChoice, since: int = 0) -> NDArray[np.bool_]:
        """Which kin, from one row on, a choice takes."""
        takes = np.full(len(self.all) - since, choice.selector is not None)
        if choice.namespaces is not None:
            spaces = self._caught_up(self._namespaces)
            known = np.zeros(len(spaces.values), np.bool_)
            known[spaces.known(choice.namespaces)] = True
            takes &= known[spaces.numbers[since:]]
        for requirement in choice.selector.requirements if choice.selector is not None else ():
            takes &= satisfying(self._label(requirement.key), requirement, since)
        return takes

    def namespaces(self) -> list[str]:
        """The namespaces met so far, in the order they were met."""
        return self._caught_up(self._namespaces).values[1:]

    def _label(self, key: str) -> Aspect[Kin]:
        label = self._labels.get(key)
        if label is None:
            label = self._labels[key] = Aspect(lambda kin: kin.labels.get(key))
        return self._caught_up(label)

    def _caught_up(self, aspect: Aspect[Kin]) -> Aspect[Kin]:
        """An aspect, once it has read all kin there are."""
        seen, rows = len(aspect.numbers), len(self.all)
        if seen < rows:
            aspect.reach(rows)
            aspect.write(slice(seen, rows), self.all[seen:])
        return aspect

    def fork(self) -> "KinRegister":
        """An independent copy. What can be read again from the kin is left behind."""
        other = KinRegister()
        other.all, other._rows = list(self.all), dict(self._rows)
        return other


def _namespace(kin: Kin) -> str:
    return kin.namespace


class Selection:
    """The kin that several choices all take, each asked of once."""

    def __init__(self, *choices: PodChoice) -> None:
        self._choices = choices
        self._answers = np.zeros(0, np.bool_)

    def among(self, kin: KinRegister) -> NDArray[np.bool_]:
        """One answer per kin row. Not to be changed."""
        seen = len(self._answers)
        if seen < len(kin.all):
            new = np.ones(len(kin.all) - seen, np.bool_)
            for choice in self._choices:
                new &= kin.chosen(choice, seen)
            self._answers = np.concatenate([self._answers, new])
        return self._answers
