"""Starts and stops the server for a window that must not wait: importing it and binding a port take a moment."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from engine.errors import EngineError
from engine.server.options import ServerOptions

if TYPE_CHECKING:
    from engine.server.service import ServingWorker
    from engine.server.thread import ServerThread


@dataclass(frozen=True, slots=True)
class ServerState:
    """What the switch in the window shows.

    Attributes:
        url: The base URL for clients; "" while nothing is served.
        error: Why nothing is served, one sentence; "" when nobody wanted it otherwise.
    """

    url: str = ""
    error: str = ""


Tell = Callable[[ServerState], None]


class ServerControl:
    """One switch over a worker that somebody else owns. All methods return at once but `close`.

    Args:
        worker: Who answers; has to be closed after this.
        tell: Called with the new state after each `start` and `stop`, on a thread of this.
    """

    def __init__(self, worker: ServingWorker, tell: Tell) -> None:
        self._worker = worker
        self._tell = tell
        self._wanted: queue.SimpleQueue[ServerOptions | bool] = queue.SimpleQueue()
        self._server: ServerThread | None = None
        self._thread = threading.Thread(target=self._run, name="server-control", daemon=True)

    def start(self, options: ServerOptions) -> None:
        """Serve like this from now on, in place of what was served before."""
        self._put(options)

    def stop(self) -> None:
        """Serve no more."""
        self._put(True)

    def close(self, timeout_s: float = 5.0) -> bool:
        """Serve no more, tell nothing more, and join the thread; whether it ended in time."""
        if self._thread.ident is None:
            return True
        self._put(False)
        self._thread.join(timeout_s)
        return not self._thread.is_alive()

    def _put(self, wanted: ServerOptions | bool) -> None:
        if self._thread.ident is None:
            self._thread.start()
        self._wanted.put(wanted)

    def _run(self) -> None:
        while True:
            wanted = self._wanted.get()
            if self._server is not None:
                self._server.stop()
                self._server = None
            if wanted is False:
                return
            self._tell(self._served(wanted) if isinstance(wanted, ServerOptions) else ServerState())

    def _served(self, options: ServerOptions) -> ServerState:
        from engine.server.thread import ServerThread  # noqa: PLC0415 - with it come FastAPI and uvicorn

        try:
            server = ServerThread(self._worker, options)
            server.start()
        except EngineError as error:
            return ServerState(error=error.sentence)
        self._server = server
        return ServerState(server.url)
