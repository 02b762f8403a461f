"""This machine as a model's fit is foretold for it: its device, its memory and what it did before. Asks torch."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Final

import torch

from engine.budget import limits_of
from engine.config import EngineConfig
from engine.device import choose_device
from engine.explain.profile import processor_name
from engine.formats import Format
from engine.machine import measure_machine
from engine.models.fit import Here
from engine.models.quick_profile import quick_profile
from engine.models.speed import known_profile

# What the window takes beside what a terminal command holds that has imported torch: Qt, its fonts and what is drawn.
_WINDOW: Final = 110 << 20


def look_here(
    cache_folder: Path, config: EngineConfig | None = None, freed: int = 0, tell: Callable[[str], None] | None = None
) -> Here:
    """What there is.

    Args:
        cache_folder: Where profiles are kept; where there is none, a quick one is made if that takes no compiling.
        config: Device and limits; None takes the defaults.
        freed: Bytes that will be free when another model takes the place of the one that is loaded elsewhere.
        tell: Given a sentence before it takes seconds.
    """
    config = config or EngineConfig()
    choice = choose_device(config)
    machine = measure_machine(choice.device.type)
    if machine.available is not None:
        machine = dataclasses.replace(machine, available=min(machine.total, machine.available + freed))
    if choice.device.type != "cuda":
        machine = dataclasses.replace(machine, runtime=machine.runtime + _WINDOW)
    bfloat16 = choice.device.type != "cuda" or torch.cuda.is_bf16_supported(including_emulation=False)
    profile = known_profile(cache_folder, choice.format, processor_of(choice.format))
    if profile is None and choice.format.path == "kernels":
        profile = quick_profile(cache_folder, tell)
    return Here(machine, choice.device.type, profile, bfloat16, limits_of(config))


def processor_of(held: Format) -> str:
    """The name of what computes with weights held like that, as a profile has it."""
    return str(torch.cuda.get_device_name()) if held.device == "cuda" else processor_name()
