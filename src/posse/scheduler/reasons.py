"""Reasons: sentences as small numbers, so that a refusal per node is one int32 and a histogram is one `bincount`."""

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

PASSES, NOT_THERE = 0, 1


class Refusal(Struct, frozen=True):
    """Why no node takes a task: nodes by their first refusal."""

    nodes: tuple[tuple[str, int], ...]

    @property
    def total(self) -> int:
        """How many nodes there are."""
        return sum(count for _, count in self.nodes)

    def __str__(self) -> str:
        """The counts in a row: `3 insufficient cpu, 1 cordoned`."""
        return ", ".join(f"{count} {reason}" for reason, count in self.nodes)


class Reasons:
    """All reasons of one engine, numbered in the order of their first use.

    Number 0 is none: the node passes. Number 1 is for rows in which no node stands (any more); those are not counted.
    """

    def __init__(self) -> None:
        self.texts: list[str] = ["", "node is gone"]
        self._codes: dict[str, int] = {text: code for code, text in enumerate(self.texts)}
        self._of_pods: set[str] = set()
        self._last: tuple[NDArray[np.int32], Refusal] | None = None

    def code(self, text: str, *, of_pod: bool = False) -> int:
        """The number of a reason; `of_pod`: it lies with the pod, and no node cures it."""
        code = self._codes.get(text)
        if code is None:
            code = self._codes[text] = len(self.texts)
            self.texts.append(text)
            if of_pod:
                self._of_pods.add(text)
        return code

    def nodes_help(self, refusal: Refusal) -> bool:
        """Whether another node could take what was refused so."""
        return not refusal.nodes or any(text not in self._of_pods for text, _ in refusal.nodes)

    def refusal(self, codes: NDArray[np.int32]) -> Refusal:
        """What codes say of a task. Many equal tasks are refused by the same codes, one after the other."""
        if self._last is None or self._last[0] is not codes:
            self._last = (codes, Refusal(self.histogram(codes)))
        return self._last[1]

    def histogram(self, codes: NDArray[np.int32]) -> tuple[tuple[str, int], ...]:
        """How many nodes were refused for which reason, most first, then by text."""
        counts = np.bincount(codes, minlength=1)
        found = [(self.texts[code], int(counts[code])) for code in np.flatnonzero(counts) if code > NOT_THERE]
        return tuple(sorted(found, key=lambda pair: (-pair[1], pair[0])))
