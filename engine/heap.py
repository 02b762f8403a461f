"""Gives memory that was freed back to the system."""

from __future__ import annotations

import ctypes
import gc
import logging
import sys
from collections.abc import Callable

import torch

_log = logging.getLogger(__name__)


def _find_trim() -> Callable[[int], int] | None:
    """The malloc_trim of glibc, the one C library that keeps freed buffers of a cache's size to itself."""
    if sys.platform != "linux":
        return None
    trim: Callable[[int], int] | None = getattr(ctypes.CDLL(None), "malloc_trim", None)
    return trim


_trim = _find_trim()


def release_freed_memory() -> None:
    """Let the system have what caches left behind; some milliseconds, so only after caches were dropped."""
    if _trim is not None:
        _trim(0)


def collect() -> None:
    """Free at once what holds itself, as parts of a model of transformers do; the window does so in its own thread."""
    if gc.isenabled():
        gc.collect()


def release_memory() -> None:
    """Give back what a model held, on every device; after one was unloaded, or loaded by way of a larger form."""
    release_freed_memory()
    try:
        if torch.cuda.is_available():
            torch.cuda.empty_cache()
        elif torch.backends.mps.is_available():
            torch.mps.empty_cache()
    except RuntimeError as error:  # of a device that has failed, which is no reason not to use another
        _log.warning("A device did not give its memory back: %s", error)
