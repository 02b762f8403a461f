"""How a conversation samples: the settings, with what it does otherwise. Pure."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any

from engine.config import SamplingParams

log = logging.getLogger(__name__)

_NAMES = frozenset(field.name for field in fields(SamplingParams))


def varied(params: SamplingParams) -> SamplingParams:
    """How another answer to the same question is sampled: what was greedy, with some temperature."""
    if params.temperature > 0:
        return params
    usual = SamplingParams()
    return replace(params, temperature=usual.temperature, top_k=usual.top_k, top_p=usual.top_p, min_p=usual.min_p)


def sampling_of(settings: SamplingParams, own: Mapping[str, float | int | None]) -> SamplingParams:
    """The settings with a conversation's own values over them; one that is not allowed leaves the settings' value."""
    params = settings
    for name, value in own.items():
        try:
            known: dict[str, Any] = {name: value} if name in _NAMES else {}
            params = replace(params, **known)
        except (TypeError, ValueError) as error:  # from an import, or another version
            log.info("a conversation's own %s is not used: %s", name, error)
    return params
