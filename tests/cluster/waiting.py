"""Waiting for what other processes do: looked at often, and never for ever."""

import time
from collections.abc import Callable

PATIENCE = 60.0
"""Seconds that anything may take. It takes a tenth of that, on a machine that has nothing else to do."""

PAUSE = 0.05


def comes_true(question: Callable[[], bool], patience: float = PATIENCE) -> bool:
    """Ask until the answer is yes; no, if it never was in the time given."""
    deadline = time.monotonic() + patience
    while not (answer := question()) and time.monotonic() < deadline:
        time.sleep(PAUSE)
    return answer
