"""Keeps the Hugging Face libraries off the network: they ask nobody anything, whatever they are told to load.

One door stays: `engine/hub/`, which opens its own connections when a person asks for something from a hub.
"""

from __future__ import annotations

from collections.abc import MutableMapping
from types import MappingProxyType
from typing import Final

_QUIET: Final = MappingProxyType(
    {
        "HF_HUB_OFFLINE": "1",
        "TRANSFORMERS_OFFLINE": "1",
        "HF_HUB_DISABLE_TELEMETRY": "1",
        "HF_HUB_DISABLE_UPDATE_CHECK": "1",
        "HF_HUB_DISABLE_IMPLICIT_TOKEN": "1",
        "HF_HUB_DISABLE_XET": "1",
        "HF_HUB_DISABLE_PROGRESS_BARS": "1",
    }
)


def stay_offline(environment: MutableMapping[str, str]) -> None:
    """To be called with `os.environ` before any of those libraries is imported; child processes inherit it."""
    environment.update(_QUIET)
