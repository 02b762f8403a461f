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
config.CACHE_DIR = str(CACHE_FOLDER or "")
_OPTIONS: Final = {"nogil": True, "boundscheck": False, "error_model": "numpy"}


def kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a part of a kernel; it becomes part of the entry function that calls it."""
    compiled: Callable[..., Any] = numba.njit(**_OPTIONS)(function)
    return compiled


def entry(*, parallel: bool = False) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Compile a function that Python calls, once its first call comes, and keep the code on disk where possible."""

    def wrap(function: Callable[..., Any]) -> Callable[..., Any]:
        options = {**_OPTIONS, "parallel": parallel, "cache": CACHE_FOLDER is not None}
        compiled: Callable[..., Any] = numba.njit(**options)(function)
        return compiled

    return wrap
