"""A server as the person types it, and what a try of it found: frozen values between the dialog and the program."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from engine.remote.probe import Probe  # brings asyncio, which would hold up every start


@dataclass(frozen=True, slots=True)
class ServerEntry:
    """A server as the person typed it.

    Attributes:
        id: Of the server that is changed; empty for a new one.
        key: None leaves the key as it is; "" drops it.
    """

    id: str
    name: str
    address: str
    key: str | None
    models: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Tried:
    """What a try of a server found.

    Attributes:
        found: None if it failed.
        sentence, detail: Why it failed.
    """

    found: Probe | None
    sentence: str = ""
    detail: str = ""
