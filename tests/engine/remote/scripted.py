"""A real HTTP server on a real socket that does what a test says, faults too."""

from __future__ import annotations

import contextlib
import json
import socket
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from engine.remote.servers import RemoteServer

MODEL = "org/big-model"
PATIENCE_S = 20.0
Action = Callable[["Exchange"], None]


@dataclass
class Exchange:
    """One request and the way to answer it."""

    handler: BaseHTTPRequestHandler
    path: str
    headers: dict[str, str]
    body: dict[str, Any]
    ended: threading.Event

    def send(self, status: int, body: bytes | dict[str, Any], kind: str = "application/json", **headers: str) -> None:
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.handler.send_response(status)
        for name, value in {"Content-Type": kind, "Content-Length": str(len(data)), **headers}.items():
            self.handler.send_header(name.replace("_", "-"), value)
        self.handler.end_headers()
        self.handler.wfile.write(data)

    def begin_stream(self) -> None:
        self.handler.send_response(200)
        self.handler.send_header("Content-Type", "text/event-stream")
        self.handler.send_header("Transfer-Encoding", "chunked")
        self.handler.end_headers()

    def write(self, text: str) -> None:
        data = text.encode()
        self.handler.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
        self.handler.wfile.flush()

    def event(self, value: dict[str, Any]) -> None:
        self.write(f"data: {json.dumps(value)}\n\n")

    def piece(self, text: str = "", reason: str | None = None, **delta: Any) -> None:
        shown = {"content": text, **delta} if text or not delta else delta
        self.event({"id": "1", "choices": [{"index": 0, "delta": shown, "finish_reason": reason}]})

    def end_stream(self) -> None:
        self.write("data: [DONE]\n\n")
        self.handler.wfile.write(b"0\r\n\r\n")

    def cut(self) -> None:
        """Hang up in the middle."""
        with contextlib.suppress(OSError):
            self.handler.connection.shutdown(socket.SHUT_RDWR)
        self.handler.close_connection = True

    def hung_up(self) -> bool:
        """Wait until the client hangs up; whether it does."""
        self.handler.connection.settimeout(PATIENCE_S)
        try:
            return self.handler.connection.recv(1) == b""
        except ConnectionError:
            return True
        except TimeoutError:
            return False


@dataclass
class Scripted:
    """The server: `actions` answer the chat requests in order, the last one all further ones."""

    actions: list[Action] = field(default_factory=list)
    models: list[dict[str, Any]] = field(default_factory=lambda: [{"id": MODEL, "object": "model"}])
    listing: Action | None = None
    seen: list[Exchange] = field(default_factory=list)
    listed: list[Exchange] = field(default_factory=list)
    ended: threading.Event = field(default_factory=threading.Event)
    port: int = 0

    @property
    def server(self) -> RemoteServer:
        return RemoteServer("box", "GPU box", f"http://127.0.0.1:{self.port}/v1", (MODEL,))

    def take(self, exchange: Exchange) -> None:
        if exchange.path.endswith("/models"):
            self.listed.append(exchange)
            (self.listing or self._list)(exchange)
            return
        self.seen.append(exchange)
        action = self.actions.pop(0) if len(self.actions) > 1 else self.actions[0]
        action(exchange)

    def _list(self, exchange: Exchange) -> None:
        exchange.send(200, {"object": "list", "data": self.models})


@contextlib.contextmanager
def running(scripted: Scripted) -> Iterator[Scripted]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self._answer({})

        def do_POST(self) -> None:
            self._answer(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))

        def _answer(self, body: dict[str, Any]) -> None:
            headers = {name.lower(): value for name, value in self.headers.items()}
            with contextlib.suppress(ConnectionError):
                scripted.take(Exchange(self, self.path, headers, body, scripted.ended))

        def log_message(self, *_: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as http:
        http.daemon_threads = True
        scripted.port = http.server_address[1]
        thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        thread.start()
        try:
            yield scripted
        finally:
            scripted.ended.set()
            http.shutdown()
            thread.join(PATIENCE_S)


def says(*pieces: str, reason: str = "stop", usage: dict[str, Any] | None = None) -> Action:
    """An answer in these pieces, with the usage that a server reports if it does."""

    def act(exchange: Exchange) -> None:
        exchange.begin_stream()
        exchange.piece(role="assistant")
        for text in pieces:
            exchange.piece(text)
        exchange.piece(reason=reason)
        if usage is not None:
            exchange.event({"id": "1", "choices": [], "usage": usage})
        exchange.end_stream()

    return act


def refuses(status: int, message: str = "no reason", **headers: str) -> Action:
    def act(exchange: Exchange) -> None:
        exchange.send(status, {"error": {"message": message, "type": "error"}}, **headers)

    return act
