"""How every kernel is compiled, and where the compiled code is kept."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import numba
from numba.core import config


def _cache_folder() -> Path | None:
    """The folder that NUMBA_CACHE_DIR names, if it can be written."""
    name = os.environ.get("NUMBA_CACHE_DIR")
    return Path(name) if name and os.access(name, os.W_OK) else None


CACHE_FOLDER: Final = _cache_folder()
# Numba read the variable when it was first imported, which may have been before it was set.
setattr(config, "CACHE_DIR", str(CACHE_FOLDER or ""))  # noqa: B010  Numba declares its settings at run time
_OPTIONS: Final[dict[str, Any]] = {"nogil": True, "boundscheck": False, "error_model": "numpy"}


def kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a part of a kernel; it becomes part of the entry function that calls it."""
    compiled: Callable[..., Any] = numba.njit(**_OPTIONS)(function)
    return compiled


def entry(signature: str) -> Callable[[Callable[..., Any]], Entry]:
    """Make a function that Python calls: compiled when first called, and kept on disk where possible."""

    def wrap(function: Callable[..., Any]) -> Entry:
        return Entry(function, signature)

    return wrap


class Entry:
    """A compiled function; reading it from disk or compiling it waits until it is needed."""

    def __init__(self, function: Callable[..., Any], signature: str) -> None:
        self._function = numba.njit(**_OPTIONS, cache=CACHE_FOLDER is not None)(function)
        self._signature = signature
        self.__doc__ = function.__doc__

    @property
    def compiled(self) -> bool:
        """Whether a call starts at once."""
        return bool(self._function.signatures)

    def compile(self) -> None:
        """Read the code from disk, or compile it and write it there; from any thread."""
        self._function.compile(self._signature)

    def __call__(self, *args: int) -> Any:
        """Run it."""
        if not self._function.signatures:
            self.compile()
        return self._function(*args)
