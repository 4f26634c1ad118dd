"""Compiled kernels out of a folder that nobody may write to.

Numba would have none of it: it tries to write before it reads, and compiles everything anew if it may not. What is not
there, because it was compiled for another processor, is compiled and forgotten.
"""

from collections.abc import Callable
from typing import Any

from numba.core.caching import CompileResultCacheImpl, FunctionCache

Usual: Any = CompileResultCacheImpl._locator_classes[0]
"""Looks below the folder that `config.CACHE_DIR` names; its own name has changed from version to version."""


class _Where(Usual):  # type: ignore[misc]
    def ensure_cache_path(self) -> None:
        """Be content with what is there."""


class _What(CompileResultCacheImpl):
    _locator_classes = [_Where]  # noqa: RUF012 - as numba has it


class FilledCache(FunctionCache):
    """The cache of one function, as it was found."""

    _impl_class = _What

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)  # type: ignore[no-untyped-call]

    def save_overload(self, sig: Any, data: Any) -> None:
        """Forget it."""
