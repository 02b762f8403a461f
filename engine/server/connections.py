"""Connections that do not get on: those that send no request, or its end too slowly, and those that are too many."""

from __future__ import annotations

import asyncio
from typing import Final

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

MOST: Final = 256  # at once; each takes a file descriptor, of which there are often 1,024
HEADERS_S: Final = 30.0


class Connection(H11Protocol):
    """One connection, with limits that uvicorn lacks.

    Attributes:
        most: Connections at once; one more is closed as it comes.
        headers_s: Longest time in seconds for the head of a request, or for the rest of one that was refused.
    """

    most = MOST
    headers_s = HEADERS_S
    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Take it, or close it."""
        full = len(self.connections) >= self.most
        super().connection_made(transport)
        if full:
            transport.abort()
        else:
            self._watch()

    def data_received(self, data: bytes) -> None:
        """Read on."""
        super().data_received(data)
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        """It is over."""
        self._unwatch()
        super().connection_lost(exc)

    def _watch(self) -> None:
        """Let the time run while something is awaited of the client that nobody else waits for."""
        refused = self.conn.our_state is h11.DONE and self.conn.their_state is h11.SEND_BODY
        if self.conn.their_state is not h11.IDLE and not refused:
            self._unwatch()
        elif self._deadline is None:
            self._deadline = self.loop.call_later(self.headers_s, self._expire)

    def _unwatch(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _expire(self) -> None:
        self._deadline = None
        self.transport.abort()
