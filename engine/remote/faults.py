"""What can go wrong between Loquat and a server, each as one sentence that says what to do."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from engine.errors import BadRequest, ServerFailed
from engine.remote.servers import RemoteServer

LONGEST_WAIT_S: Final = 20.0  # that a server may ask for and be given
_BUSY_WAIT_S: Final = 2.0  # where it asks for none
_TOO_MANY: Final = 429
_FAILED: Final = 500  # and all above, of which proxies have made up some
_MOST_SAID: Final = 300  # characters of a server's own words


@dataclass(frozen=True, slots=True)
class Fault:
    """A request that failed before any text came.

    Attributes:
        error: For the person.
        retry_s: Seconds after which it may be sent once more; None where that makes no sense.
    """

    error: ServerFailed | BadRequest
    retry_s: float | None = None


def fault_of(error: Exception, server: RemoteServer, model: str) -> Fault:
    """What an exception of the `openai` client means; `model` is empty where the server was asked for its list.

    Raises:
        Exception: `error` itself, if it is no fault of network or server.
    """
    import openai

    detail = f"{server.base_url}: {_chain(error)}"
    if isinstance(error, openai.APITimeoutError):
        return Fault(ServerFailed(_timeout_sentence(error, server), detail))
    if isinstance(error, openai.APIConnectionError):
        return _connection_fault(error, server, detail)
    if isinstance(error, openai.APIStatusError):
        return _status_fault(error, server, model, detail)
    if isinstance(error, openai.APIError):  # an error object in the stream, or an answer that is none
        said = _said(error.message)
        return Fault(ServerFailed(f"The server {server.name} gave up: {said}", detail))
    if isinstance(error, ValueError | AttributeError | TypeError):  # the client stumbles over what it did not expect
        return Fault(not_an_answer(server, detail))
    raise error


def not_an_answer(server: RemoteServer, detail: str = "") -> ServerFailed:
    """What came is nothing that OpenAI's API sends."""
    sentence = f"What came from {server.host} is no answer of an OpenAI-compatible server; check its address."
    return ServerFailed(sentence, detail)


def broke_off(server: RemoteServer, detail: str = "") -> ServerFailed:
    """The stream ended before the answer did."""
    sentence = f"The connection to {server.name} broke off in the middle of the answer; what came is kept, try again."
    return ServerFailed(sentence, detail)


def stalled(server: RemoteServer, detail: str = "") -> ServerFailed:
    """Nothing comes any more."""
    return ServerFailed(f"The server {server.name} has stopped sending; what came is kept, try again.", detail)


def waiting_sentence(server: RemoteServer, seconds: float) -> str:
    """What is said while a busy server is waited for."""
    return f"{server.name} is busy; asks again in {seconds:.0f} s"


def _timeout_sentence(error: Exception, server: RemoteServer) -> str:
    if any("Connect" in type(cause).__name__ for cause in _causes(error)):
        return f"The server at {server.host} does not respond; check its address, and whether it runs."
    return f"The server {server.name} has not answered for too long; try again, or look at what keeps it."


def _connection_fault(error: Exception, server: RemoteServer, detail: str) -> Fault:
    causes = list(_causes(error))
    host = server.host
    if any(isinstance(cause, socket.gaierror) for cause in causes):
        return Fault(ServerFailed(f"There is no host {host}, or no network; check the server's address.", detail))
    if any(isinstance(cause, ssl.SSLError) for cause in causes):
        sentence = f"The encryption of {host} cannot be trusted; check the address, or the server's certificate."
        return Fault(ServerFailed(sentence, detail))
    if any(isinstance(cause, ConnectionRefusedError) for cause in causes):
        return Fault(ServerFailed(f"Nothing answers at {host}; start the server there, or check its address.", detail))
    if any("Proxy" in type(cause).__name__ for cause in causes):
        sentence = f"The proxy does not let Loquat through to {host}; check the proxy's settings."
        return Fault(ServerFailed(sentence, detail))
    sentence = f"The connection to {host} failed; check the network and whether the server runs."
    return Fault(ServerFailed(sentence, detail), 1.0)


def _status_fault(error: Exception, server: RemoteServer, model: str, detail: str) -> Fault:
    status, retry_after = _status(error), _retry_after(error)
    name, said = server.name, _server_says(error)
    if status == 401 or (status == 403 and _had_key(error)):
        return Fault(ServerFailed(_key_sentence(error, name), detail))
    if status == 404:
        sentence = f"The server {name} has no model {model} at this address; check both."
        if not model:
            sentence = f"The server {name} lists no models at this address; check how its path ends."
        return Fault(ServerFailed(sentence, detail))
    if status == _TOO_MANY:
        return _busy_fault(server, retry_after, detail)
    if status >= _FAILED:
        sentence = f"The server {name} has failed inside (error {status}); try again, or look at its log."
        wait = 1.0 if retry_after is None else retry_after
        return Fault(ServerFailed(sentence, detail), wait if wait <= LONGEST_WAIT_S else None)
    if 300 <= status < 400:
        sentence = f"The server at {server.host} sends requests on to another address; use that one instead."
        return Fault(ServerFailed(sentence, detail))
    refused = BadRequest(f"The server {name} refuses the request (error {status}): {said}", detail)
    return Fault(refused)


def _busy_fault(server: RemoteServer, retry_after: float | None, detail: str) -> Fault:
    wait = _BUSY_WAIT_S if retry_after is None else retry_after
    sentence = f"The server {server.name} has too many requests at the moment; try again later."
    if retry_after is not None:
        sentence = f"The server {server.name} has too many requests; try again in {retry_after:.0f} s."
    return Fault(ServerFailed(sentence, detail), wait if wait <= LONGEST_WAIT_S else None)


def _status(error: Exception) -> int:
    status = getattr(error, "status_code", 0)
    return status if isinstance(status, int) else 0


def _key_sentence(error: Exception, name: str) -> str:
    if _had_key(error):
        return f"The server {name} does not accept the key; type it in once more."
    return f"The server {name} asks for a key, and there is none yet; type it in."


def _had_key(error: Exception) -> bool:
    """Whether a key went with the request that was refused."""
    request = getattr(getattr(error, "response", None), "request", None)
    return "authorization" in getattr(request, "headers", {})


def _retry_after(error: Exception) -> float | None:
    """Seconds that the server asks to wait, where it says so in seconds."""
    headers = getattr(getattr(error, "response", None), "headers", {})
    try:
        return max(0.0, float(headers.get("retry-after", "")))
    except ValueError:
        return None  # no header, or a date; our clock need not be the server's


def _server_says(error: Exception) -> str:
    """The server's own words, from whatever object it put them into."""
    body = getattr(error, "body", None)
    message = body.get("message") or body.get("detail") if isinstance(body, dict) else body
    return _said(message if isinstance(message, str) else "it does not say why")


def _said(words: str) -> str:
    line = " ".join(words.split())[:_MOST_SAID].rstrip(".")
    return f"{line or 'it does not say why'}."


def _causes(error: BaseException) -> Iterator[BaseException]:
    """An exception and all that led to it."""
    seen: set[int] = set()
    waiting: list[BaseException | None] = [error]
    while waiting:
        current = waiting.pop()
        if current is None or id(current) in seen:
            continue
        seen.add(id(current))
        yield current
        waiting += [current.__cause__, current.__context__]
        if isinstance(current, BaseExceptionGroup):
            waiting += current.exceptions


def _chain(error: BaseException) -> str:
    return " <- ".join(f"{type(cause).__name__}: {cause}"[:_MOST_SAID] for cause in _causes(error))
