"""The server on a thread of its own, over a worker that somebody else owns: the window's, or that of `loquat serve`."""

from __future__ import annotations

import asyncio
import os
import socket
import sys
import threading
from typing import Final

import uvicorn

from engine.errors import BadRequest, EngineError
from engine.server.app import build_app
from engine.server.connections import Connection
from engine.server.guard import Door, Guard
from engine.server.options import ServerOptions
from engine.server.service import Service, ServingWorker

_KEEP_ALIVE_S: Final = 30
_GRACE_S: Final = 2
_START_S: Final = 10.0


class CannotServe(EngineError):
    """The address cannot be listened on."""


class ServerThread:
    """Serves until it is stopped; may be started once.

    Args:
        worker: Who answers. The server neither starts nor closes it, and has to be stopped before it is closed.
        options: Where and for whom.

    Raises:
        BadRequest: Others than this machine could ask, and no key is demanded of them.
    """

    def __init__(self, worker: ServingWorker, options: ServerOptions) -> None:
        if options.lacks_key:
            raise BadRequest(
                f"Programs on other machines can reach {options.host or 'every address'}, so an API key is needed; "
                "give one, or serve on 127.0.0.1."
            )
        self._options = options
        self._worker = worker
        self._service: Service | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._server: uvicorn.Server | None = None
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._run, name="http-server", daemon=True)
        self._socket: socket.socket | None = None

    @property
    def url(self) -> str:
        """The base URL for clients."""
        host = f"[{self._options.host}]" if ":" in self._options.host else self._options.host
        return f"http://{host}:{self.port}/v1"

    @property
    def port(self) -> int:
        """The port that is listened on, once started."""
        return self._port if self._socket is not None else self._options.port

    def start(self) -> None:
        """Listen, and answer from now on.

        Raises:
            CannotServe: The port is taken, or the address is not this machine's.
        """
        self._socket = _listen(self._options)
        self._port: int = self._socket.getsockname()[1]
        self._thread.start()
        self._ready.wait(_START_S)

    def stop(self, timeout_s: float = 5.0) -> bool:
        """Cancel all requests, close all connections and join the thread; whether it ended in time."""
        if self._thread.ident is None:
            return True
        if self._loop is not None and self._service is not None:
            ending = self._end(self._service)
            try:
                asyncio.run_coroutine_threadsafe(ending, self._loop)
            except RuntimeError:  # the loop has ended before
                ending.close()
        self._thread.join(timeout_s)
        return not self._thread.is_alive()

    async def _end(self, service: Service) -> None:
        await service.close()
        if self._server is not None:
            self._server.should_exit = True

    def _run(self) -> None:
        asyncio.run(self._serve())

    async def _serve(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._service = Service(self._worker, self._options.queue_limit, reuse=self._options.reuse)
        door = Door(self._options.host, self._options.api_key, self._options.names)
        config = uvicorn.Config(
            Guard(build_app(self._service), door),
            loop="none",
            http=Connection,
            ws="none",
            lifespan="off",
            log_config=None,
            access_log=False,
            proxy_headers=False,
            server_header=False,
            timeout_keep_alive=_KEEP_ALIVE_S,
            timeout_graceful_shutdown=_GRACE_S,
        )
        self._server = uvicorn.Server(config)
        self._ready.set()
        await self._server.serve(sockets=[self._socket] if self._socket else None)


def _listen(options: ServerOptions) -> socket.socket:
    """A listening socket.

    Raises:
        CannotServe: There is none to be had.
    """
    try:
        family, kind, _, _, address = socket.getaddrinfo(
            options.host, options.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        # Only of a socket that says it is TCP does asyncio send small pieces at once: a token would wait for 40 ms.
        made = socket.socket(family, kind, socket.IPPROTO_TCP)
    except (OSError, UnicodeError) as error:
        raise CannotServe(f"{options.host} is no address of this machine; choose another.", repr(error)) from error
    try:
        if sys.platform != "win32":  # there it would let two programs listen on one port
            made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind(address)
        made.listen()
    except OSError as error:
        made.close()
        raise _cannot_bind(options, error) from error
    return made


def _cannot_bind(options: ServerOptions, error: OSError) -> CannotServe:
    reason = os.strerror(error.errno) if error.errno else str(error)
    if isinstance(error, PermissionError):
        sentence = f"Port {options.port} may not be used by this account; take one above 1,023."
    elif "in use" in reason.lower() or getattr(error, "winerror", 0) == 10048:
        sentence = f"Port {options.port} is taken by another program; choose another port."
    else:
        sentence = f"Loquat cannot listen on {options.host}, port {options.port}: {reason}."
    return CannotServe(sentence, repr(error))
