"""The door: who may ask at all, and how much. Pure ASGI, in front of everything else.

A page in a browser must not reach the server, neither from another site (Origin, Sec-Fetch-Site) nor under a name that
was bent to this machine (DNS rebinding: the Host header is that name). No CORS header is ever sent.
"""

from __future__ import annotations

import asyncio
import hmac
import ipaddress
import json
import socket
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlsplit

from starlette.responses import Response

from engine.server.failures import Failure, Refused
from engine.server.options import is_loopback

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

MAX_BODY: Final = 10_000_000
_MOST_DRAINED: Final = 256_000_000  # a client that is still sending hears no answer
_BODY_S: Final = 60.0
_OPEN: Final = ("/health",)


@dataclass(frozen=True, slots=True)
class Door:
    """What is let in.

    Attributes:
        host: The address that is listened on.
        api_key: What clients must show; "" asks for none.
        names: Host names that count as this machine's, besides its own.
    """

    host: str
    api_key: str = ""
    names: tuple[str, ...] = ()

    def refusal(self, path: str, headers: Mapping[str, str]) -> Failure | None:
        """Why a request is not let in; None if it is."""
        host = headers.get("host", "")
        if not self._ours(host):
            return _forbidden(f"Requests for the host {host[:80] or '(none)'} are not answered here.")
        if not _same_origin(headers, host):
            return _forbidden("Requests of web pages are not answered here.")
        if self.api_key and path not in _OPEN and not self._has_key(headers.get("authorization", "")):
            sentence = "The API key is missing or wrong; send it as `Authorization: Bearer KEY`."
            return Failure(401, sentence, code="invalid_api_key", headers={"WWW-Authenticate": "Bearer"})
        return None

    def _ours(self, header: str) -> bool:
        try:
            name = (urlsplit(f"//{header}").hostname or "").rstrip(".")
        except ValueError:
            return False
        if name in {"localhost", self.host.lower(), *(other.lower() for other in self.names)}:
            return name not in ("", "0.0.0.0", "::")  # noqa: S104 - compared, not bound
        if is_loopback(self.host):
            return is_loopback(name)
        return _is_address(name) or name == socket.gethostname().lower()  # rebinding takes a name of somebody else's

    def _has_key(self, header: str) -> bool:
        scheme, _, key = header.partition(" ")
        right = hmac.compare_digest(key.strip().encode("latin-1"), self.api_key.encode())  # the bytes that were sent
        return right and scheme.lower() == "bearer"


def _is_address(name: str) -> bool:
    try:
        return not ipaddress.ip_address(name).is_unspecified
    except ValueError:
        return False


def _same_origin(headers: Mapping[str, str], host: str) -> bool:
    if headers.get("sec-fetch-site", "none") not in ("none", "same-origin"):
        return False
    origin = headers.get("origin")
    return origin is None or origin.lower() == f"http://{host.lower()}"


def _forbidden(sentence: str) -> Failure:
    return Failure(403, sentence, "permission_error", "forbidden")


class Guard:
    """Lets requests through to an app, or answers them itself.

    Args:
        app: What is behind it.
        door: What is let in.
    """

    def __init__(self, app: App, door: Door) -> None:
        self._app = app
        self._door = door

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One connection's request."""
        if scope["type"] != "http":
            return
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        try:
            refusal = self._door.refusal(scope["path"], headers)
            if refusal:
                raise Refused(refusal)
            body = await _whole_body(receive, headers)
        except Refused as refused:
            await answer(refused.failure)(scope, receive, send)
            return
        if body is not None:
            await self._app(scope, _replayed(body, receive), send)


def answer(failure: Failure) -> Response:
    """The response that says so; in ASCII, because a sentence may quote half a character of the request."""
    return Response(json.dumps(failure.body()), failure.status, dict(failure.headers), "application/json")


async def _whole_body(receive: Receive, headers: Mapping[str, str]) -> bytes | None:
    """The request's body; None if the client is gone.

    Raises:
        Refused: It is larger than allowed, packed, or does not come.
    """
    declared = headers.get("content-length", "0")
    if declared.isdecimal() and int(declared[:20]) > MAX_BODY:
        raise Refused(_too_large())
    encoding = headers.get("content-encoding", "identity")
    if encoding.strip().lower() not in ("", "identity"):
        sentence = f"A body that is packed as {encoding[:40]} cannot be read here; send it without Content-Encoding."
        raise Refused(Failure(415, sentence))
    parts: list[bytes] = []
    size = 0
    try:
        async with asyncio.timeout(_BODY_S):
            while True:
                message = await receive()
                if message["type"] == "http.disconnect":
                    return None
                part = message.get("body", b"")
                size += len(part)
                if size <= MAX_BODY:
                    parts.append(part)
                if not message.get("more_body", False) or size > _MOST_DRAINED:
                    break
    except TimeoutError:
        raise Refused(Failure(408, "The body of the request did not come in time; send it again.")) from None
    if size > MAX_BODY:
        raise Refused(_too_large())
    return b"".join(parts)


def _too_large() -> Failure:
    return Failure(413, f"The body is larger than {MAX_BODY // 1_000_000} MB; send less at once.")


def _replayed(body: bytes, receive: Receive) -> Receive:
    """Gives the body in one piece, then whatever else the client does."""
    waiting = [{"type": "http.request", "body": body, "more_body": False}]

    async def replay() -> Message:
        return waiting.pop() if waiting else await receive()

    return replay
