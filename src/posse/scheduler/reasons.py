"""Reasons: sentences as small numbers, so that a refusal per node is one int32 and a histogram is one `bincount`."""

import numpy as np
from numpy.typing import NDArray

PASSES = 0


class Reasons:
    """All reasons of one engine, numbered in the order of their first use. Number 0 is none: the node passes."""

    def __init__(self) -> None:
        self.texts: list[str] = [""]
        self._codes: dict[str, int] = {"": PASSES}

    def code(self, text: str) -> int:
        """The number of a reason."""
        code = self._codes.get(text)
        if code is None:
            code = self._codes[text] = len(self.texts)
            self.texts.append(text)
        return code

    def histogram(self, codes: NDArray[np.int32]) -> tuple[tuple[str, int], ...]:
        """How many nodes were refused for which reason, most first, then by text."""
        counts = np.bincount(codes, minlength=1)
        found = [(self.texts[code], int(counts[code])) for code in np.flatnonzero(counts) if code != PASSES]
        return tuple(sorted(found, key=lambda pair: (-pair[1], pair[0])))
