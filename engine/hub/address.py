"""Where the hub is, and how its address is told. Torch-free, and without the client's library."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

PUBLIC: Final = "https://huggingface.co"


def named_hub(environment: Mapping[str, str]) -> str:
    """The hub that HF_ENDPOINT names in place of the public one, unchecked, and with the password that it may hold."""
    return (environment.get("HF_ENDPOINT", "").strip() or PUBLIC).rstrip("/")


def told(address: str) -> str:
    """An address without the name and password that it may hold, which nobody else is to read."""
    scheme, between, rest = address.partition("://")
    place, slash, path = rest.partition("/")
    return scheme + between + place.rpartition("@")[2] + slash + path
