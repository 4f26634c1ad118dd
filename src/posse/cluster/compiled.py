"""Kernels: numba where it is installed, the same source as plain Python where it is not.

A kernel is a pure function over arrays that allocates nothing. It is compiled once per machine and version of its
source, and warmed when a scheduler is built, so that no compilation lands in a cycle that matters.

Compiled kernels lie in the user's cache (or in NUMBA_CACHE_DIR), under a digest of all files that hold kernels. Numba
itself looks only at the file of the outermost function, and would go on using an old one whose parts have changed.

A cache that was filled beforehand may be read-only, as in a container: then it is used as it is.
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


def _why_not_written() -> str:
    """What keeps us from writing to the cache: no home, or one that nobody may write to. Empty if nothing does."""
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


def _is_filled() -> bool:
    """Whether there are kernels of this source in the cache."""
    try:
        return any(_cache().rglob("*.nbc"))
    except RuntimeError:
        return False


def _options() -> dict[str, Any]:
    """How kernels are compiled. Without numba's runtime no array is counted on its way through, which would cost more
    than what kernels do.
    """
    options: dict[str, Any] = {"nogil": True, "error_model": "numpy", "_nrt": False}
    if NOT_KEPT:
        return options
    setattr(config, "CACHE_DIR", str(_cache()))  # noqa: B010 - numba's own stubs do not know it
    return options if READ_ONLY else {**options, "cache": True}


NOT_WRITTEN = _why_not_written() if COMPILES else ""
READ_ONLY = bool(NOT_WRITTEN) and _is_filled()
"""Whether kernels come from a cache that others have filled."""
NOT_KEPT = "" if READ_ONLY else NOT_WRITTEN
"""Why kernels are compiled at each start; empty if they are kept."""
OPTIONS = _options() if COMPILES else {}


def is_cold() -> bool:
    """Whether the kernels would have to be compiled here: nothing of this version is in the cache."""
    return COMPILES and (bool(NOT_KEPT) or not _is_filled())


def _compile(function: Callable[Parameters, Result], **more: Any) -> Callable[Parameters, Result]:
    dispatcher: Any = njit(**more, **OPTIONS)(function)
    if READ_ONLY:
        from posse.cluster.filled_cache import FilledCache  # noqa: PLC0415 - there is none without a compiler

        dispatcher._cache = FilledCache(function)
    compiled: Callable[Parameters, Result] = dispatcher
    return compiled


def kernel(function: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
    """Compile a function over arrays, if there is a compiler."""
    return _compile(function) if COMPILES else function


def part(function: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
    """Compile a function that kernels call in their innermost loops: it becomes part of its caller.

    A call would copy every array header of the ledger onto the stack, which costs more than what such a function does.
    """
    return _compile(function, forceinline=True) if COMPILES else function
