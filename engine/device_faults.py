"""Devices that failed while the program runs: told from other errors, noted with the reason, and not tried again."""

from __future__ import annotations

from collections.abc import Mapping

import torch

_LONGEST = 120  # characters of what a driver says
_OUT_OF_MEMORY = ("out of memory", "not enough memory", "can't allocate memory")


class DeviceFaults:
    """What failed so far, each kind of device with a phrase that says how."""

    def __init__(self) -> None:
        self._known: dict[str, str] = {}

    @property
    def known(self) -> Mapping[str, str]:
        """By kind of device ("cuda", "mps"), why it is left alone."""
        return dict(self._known)

    def note(self, kind: str, error: BaseException) -> None:
        """Leave this kind of device alone from now on."""
        self._known[kind] = fault_words(error)


def is_out_of_memory(error: BaseException) -> bool:
    """Whether memory ran out, on whatever device; torch has no type of its own for that on a CPU or in MPS."""
    if isinstance(error, MemoryError | torch.OutOfMemoryError):
        return True
    return isinstance(error, RuntimeError) and any(words in str(error) for words in _OUT_OF_MEMORY)


def is_device_fault(kind: str, error: BaseException) -> bool:
    """Whether an error from a computation is the device's, so that another device may do what this one cannot.

    Args:
        kind: "cpu", "cuda" or "mps"; the CPU is never at fault, there is nothing behind it.
        error: What torch raised; it has no type of its own for what MPS cannot do, or a build without CUDA.
    """
    if kind == "cpu":
        return False
    if isinstance(error, torch.AcceleratorError | torch.OutOfMemoryError):
        return True
    return isinstance(error, RuntimeError | AssertionError) and any(
        word in str(error) for word in ("CUDA", "cuda", "cuBLAS", "CUBLAS", "cuDNN", "NVIDIA", "MPS")
    )


def fault_words(error: BaseException) -> str:
    """What a driver said, as one short phrase without its full stop."""
    if is_out_of_memory(error):
        return "its memory ran out"
    said = str(error.args[0]) if error.args else ""
    first = said.strip().partition("\n")[0].partition(". ")[0].rstrip(".")
    return f"{first[:_LONGEST]}…" if len(first) > _LONGEST else first or type(error).__name__
