"""Where the server listens and whom it answers. Light: the window knows these values without the server's libraries."""

from __future__ import annotations

import ipaddress
import secrets
from dataclasses import dataclass
from typing import Final

_KEY_BYTES: Final = 24


@dataclass(frozen=True, slots=True)
class ServerOptions:
    """What is chosen when the server is started.

    Attributes:
        host: Address to listen on.
        port: 0 takes a free one.
        api_key: What clients must show; must not be empty unless `host` is a loopback address.
        names: Host names that clients may call this machine by, besides `host`.
        queue_limit: Most requests that are answered or wait; one more is refused with 429.
        reuse: False computes every prompt afresh, for comparisons.
    """

    host: str = "127.0.0.1"
    port: int = 8000
    api_key: str = ""
    names: tuple[str, ...] = ()
    queue_limit: int = 32
    reuse: bool = True

    @property
    def lacks_key(self) -> bool:
        """Whether other machines could ask without showing a key; then the server does not start."""
        return not self.api_key and not is_loopback(self.host)


def is_loopback(host: str) -> bool:
    """Whether only programs on this machine can reach this address."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def new_key() -> str:
    """A key that nobody guesses."""
    return secrets.token_urlsafe(_KEY_BYTES)
