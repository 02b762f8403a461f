"""The device, the dtype and the thread count: chosen once, each with its reason in words."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

import psutil
import torch

from engine.config import EngineConfig
from engine.errors import BadRequest
from engine.formats import Choosy, Format, choose_format
from engine.nvidia import nvidia_driver

_NONE: Final[Mapping[str, str]] = {}
_GPU_NAMES: Final = {"cuda": "GPU", "mps": "Apple GPU"}
_DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}


@dataclass(frozen=True, slots=True)
class DeviceChoice:
    """Where the model runs.

    Attributes:
        device: torch's device.
        format: How weights are held.
        dtype: What activations are computed in.
        threads: CPU threads.
        reason: One phrase for the status bar.
    """

    device: torch.device
    format: Format
    dtype: torch.dtype
    threads: int
    reason: str


def choose_device(config: EngineConfig, model: Choosy | None = None, failed: Mapping[str, str] = _NONE) -> DeviceChoice:
    """The device the configuration asks for, or the best there is (CUDA, then MPS, then CPU).

    Args:
        config: What is asked for.
        model: Which model, for the format that was chosen for it; None goes by the device alone.
        failed: Kinds of devices to leave alone, and why: the CPU takes the place of one, and its reason says so. A
            dtype that was set for that device is then left to Loquat.

    Raises:
        BadRequest: The device asked for is not on this machine, or has no such format.
    """
    name, reason = _device_name(config.device, failed)
    threads, threads_reason = choose_threads(config.threads)
    # Older GPUs can emulate bfloat16, many times slower than they compute in float16.
    bfloat16 = name != "cuda" or torch.cuda.is_bf16_supported(including_emulation=False)
    wanted = "auto" if config.device in failed else config.dtype
    chosen, _ = choose_format(name, wanted, bfloat16=bfloat16, model=model)
    if name == "cpu":
        reason = f"{threads_reason} · {reason}"
    return DeviceChoice(torch.device(name), chosen, _DTYPES[chosen.compute], threads, reason)


def choose_threads(wanted: int) -> tuple[int, str]:
    """CPU threads to use (0: one per physical core) and the phrase that says why."""
    usable = _usable_cpus()
    if wanted == 0:
        cores = min(psutil.cpu_count(logical=False) or usable, usable)
        return cores, _plural(cores, "thread")
    if wanted > usable:
        return usable, f"{_plural(usable, 'thread')}, not {wanted}: there are no more"
    return wanted, _plural(wanted, "thread")


def _usable_cpus() -> int:
    """Logical processors this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _device_name(wanted: str, failed: Mapping[str, str]) -> tuple[str, str]:
    available: dict[str, Callable[[], bool]] = {
        "cuda": torch.cuda.is_available,
        "mps": torch.backends.mps.is_available,
        "cpu": lambda: True,
    }
    if wanted in failed:
        return "cpu", _instead(wanted, failed)
    if wanted != "auto":
        if not available[wanted]():
            raise BadRequest(f"This machine has no {wanted} device; choose another one or leave the choice to Loquat.")
        return wanted, "as set"
    best = next(name for name in available if name not in failed and available[name]())
    if best != "cpu":
        return best, torch.cuda.get_device_name(0) if best == "cuda" else "Apple GPU"
    return "cpu", _instead(next(iter(failed)), failed) if failed else _why_not_cuda()


def _why_not_cuda() -> str:
    if torch.version.cuda and not nvidia_driver():
        return "no NVIDIA driver found"
    return "no CUDA device found"


def _instead(kind: str, failed: Mapping[str, str]) -> str:
    return f"the {_GPU_NAMES.get(kind, kind)} failed: {failed[kind]}"


def _plural(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
