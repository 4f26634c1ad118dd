"""Kernels: numba where it is installed, the same source as plain Python where it is not.

A kernel is a pure function over arrays. It is compiled once per machine (the cache lies beside the source, or in
NUMBA_CACHE_DIR) and warmed when a scheduler is built, so that no compilation lands in a cycle that matters.
"""

from collections.abc import Callable
from typing import ParamSpec, TypeVar

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")

try:
    from numba import njit

    COMPILES = True
except ImportError:  # the kernels are plain Python then: slower, and still right
    COMPILES = False


def kernel(function: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
    """Compile a function over arrays, if there is a compiler."""
    if not COMPILES:
        return function
    compiled: Callable[Parameters, Result] = njit(cache=True, nogil=True, error_model="numpy")(function)
    return compiled


def part(function: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
    """Compile a function that kernels call in their innermost loops: it becomes part of its caller.

    A call would copy every array header of the ledger onto the stack, which costs more than what such a function does.
    """
    if not COMPILES:
        return function
    compiled: Callable[Parameters, Result] = njit(cache=True, nogil=True, error_model="numpy", forceinline=True)(
        function
    )
    return compiled
