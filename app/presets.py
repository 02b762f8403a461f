"""Sampling presets: a few good sets of values under one name each, so that nobody has to know what top p is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

from engine.config import GREEDY, SamplingParams

CUSTOM: Final = "custom"
NAMES: Final = ("temperature", "top_k", "top_p", "min_p", "repetition_penalty")


@dataclass(frozen=True, slots=True)
class Preset:
    """Values of the sampling settings under one name, which the setting "preset" declares.

    Attributes:
        values: By the names of the settings, those in NAMES.
    """

    id: str
    values: dict[str, float]


def _values(params: SamplingParams) -> dict[str, float]:
    return {name: getattr(params, name) for name in NAMES}


EXACT: Final = "exact"
BALANCED: Final = "balanced"
CREATIVE: Final = "creative"
OWN: Final = "model"
PRESETS: Final = (
    Preset(EXACT, _values(GREEDY)),
    Preset(BALANCED, _values(SamplingParams())),
    Preset(
        CREATIVE,
        _values(SamplingParams(temperature=1.1, top_k=0, top_p=0.98, min_p=0.03, repetition_penalty=1.05)),
    ),
)
_BY_ID: Final = {preset.id: preset for preset in PRESETS}


def values_of(preset: str, own: Mapping[str, float]) -> Mapping[str, float]:
    """What a preset sets; nothing for "custom" and for one that is not known.

    Args:
        preset: Its id.
        own: How the model's makers sample it; what they do not say is balanced.
    """
    if preset == OWN:
        return _BY_ID[BALANCED].values | {name: value for name, value in own.items() if name in NAMES}
    return _BY_ID[preset].values if preset in _BY_ID else {}


def preset_of(values: Mapping[str, Any], own: Mapping[str, float] = MappingProxyType({})) -> str:
    """The preset whose values these are, or "custom"; a temperature of 0 is exact whatever the others are."""
    if values["temperature"] == 0 and values["repetition_penalty"] == 1:
        return EXACT
    held = {name: values[name] for name in NAMES}
    found = next((preset.id for preset in PRESETS if preset.values == held), CUSTOM)
    return OWN if found == CUSTOM and values_of(OWN, own) == held else found
