"""Kernels: numba where it is installed, the same source as plain Python where it is not.

A kernel is a pure function over arrays that allocates nothing. It is compiled once per machine and version of its
source, and warmed when a scheduler is built, so that no compilation lands in a cycle that matters.

Compiled kernels lie in the user's cache (or in NUMBA_CACHE_DIR), under a digest of all files that hold kernels. Numba
itself looks only at the file of the outermost function, and would go on using an old one whose parts have changed.
"""

import hashlib
import os
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, ParamSpec, TypeVar

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")

PACKAGE = Path(__file__).parent.parent
SOURCES = ("cluster", "scheduler/placement")
"""The folders that hold kernels."""

try:
    from numba import config, njit

    COMPILES = True
except ImportError:  # the kernels are plain Python then: slower, and still right
    COMPILES = False


def _cache() -> Path:
    """Where kernels of exactly this source are kept."""
    digest = hashlib.blake2b(digest_size=8)
    for folder in SOURCES:
        for file in sorted((PACKAGE / folder).glob("*.py")):
            digest.update(file.read_bytes())
    base = (
        os.environ.get("NUMBA_CACHE_DIR") or Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "posse"
    )
    return Path(base) / f"kernels-{digest.hexdigest()}"


def _why_not_kept() -> str:
    """What keeps kernels from being kept: no home, or one that nobody may write to. Empty if nothing does."""
    try:
        folder = _cache()
    except RuntimeError as fault:
        return str(fault)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with TemporaryFile(dir=folder):
            return ""
    except OSError as fault:
        return f"{folder}: {fault.strerror}"


def _options() -> dict[str, Any]:
    """How kernels are compiled. Without numba's runtime no array is counted on its way through, which would cost more
    than what kernels do.
    """
    options: dict[str, Any] = {"nogil": True, "error_model": "numpy", "_nrt": False}
    if NOT_KEPT:
        return options
    setattr(config, "CACHE_DIR", str(_cache()))  # noqa: B010 - numba's own stubs do not know it
    return {**options, "cache": True}


NOT_KEPT = _why_not_kept() if COMPILES else ""
"""Why kernels are compiled at each start; empty if they are kept."""
OPTIONS = _options() if COMPILES else {}


def is_cold() -> bool:
    """Whether the kernels would have to be compiled here: nothing of this version is in the cache."""
    if not COMPILES:
        return False
    return bool(NOT_KEPT) or not any(_cache().rglob("*.nbc"))


def kernel(function: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
    """Compile a function over arrays, if there is a compiler."""
    if not COMPILES:
        return function
    compiled: Callable[Parameters, Result] = njit(**OPTIONS)(function)
    return compiled


def part(function: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
    """Compile a function that kernels call in their innermost loops: it becomes part of its caller.

    A call would copy every array header of the ledger onto the stack, which costs more than what such a function does.
    """
    if not COMPILES:
        return function
    compiled: Callable[Parameters, Result] = njit(forceinline=True, **OPTIONS)(function)
    return compiled
