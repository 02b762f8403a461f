"""Whether a server is there, which models it has, and how long it takes to say so."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from engine.errors import Cancelled, ServerFailed
from engine.remote.faults import fault_of, not_an_answer
from engine.remote.link import Link
from engine.remote.servers import RemoteServer, address_warning


@dataclass(frozen=True, slots=True)
class Listed:
    """A model that a server has.

    Attributes:
        name: Its name there.
        context_limit: Most tokens of a conversation; 0 where the server does not tell (OpenAI's API does not, vLLM
            does).
    """

    name: str
    context_limit: int = 0


@dataclass(frozen=True, slots=True)
class Probe:
    """A server that answered.

    Attributes:
        models: By name.
        latency_s: Seconds that it took to list them.
        warning: What the person should know before text is sent there; empty if nothing.
    """

    models: tuple[Listed, ...]
    latency_s: float
    warning: str = ""


def probe(server: RemoteServer, key: str, stop: Callable[[], bool] = lambda: False, stall_s: float = 20.0) -> Probe:
    """Ask a server for its models.

    Raises:
        ServerFailed: It does not answer, or not like a server of this kind.
        Cancelled: `stop` said so first.
    """
    link = Link(server.base_url, key, stall_s)
    try:
        began = time.perf_counter()
        models = _ask(link, server, stop)
        return Probe(models, time.perf_counter() - began, address_warning(server.base_url))
    finally:
        link.close()


def list_models(link: Link, server: RemoteServer, stop: Callable[[], bool], wanted: str) -> Listed:
    """The model of that name on a server.

    Raises:
        ServerFailed: The server does not answer, or has no such model.
        Cancelled: `stop` said so first.
    """
    models = _ask(link, server, stop)
    found = next((model for model in models if model.name == wanted), None)
    if found is None:
        known = ", ".join(model.name for model in models[:5]) or "none"
        raise ServerFailed(f"The server {server.name} has no model {wanted} any more; it has: {known}.")
    return found


def _ask(link: Link, server: RemoteServer, stop: Callable[[], bool]) -> tuple[Listed, ...]:
    try:
        page = link.wait(_first_page(link), stop)
    except Cancelled:
        raise
    except Exception as error:
        raise fault_of(error, server, "").error from error
    entries = getattr(page, "data", None)
    if not isinstance(entries, list):
        raise not_an_answer(server, repr(page)[:500])
    named = (_listed(entry) for entry in entries)
    return tuple(sorted((model for model in named if model is not None), key=lambda model: model.name))


async def _first_page(link: Link) -> Any:  # noqa: ANN401 - whatever a server sent, as the `openai` client read it
    return await link.client.models.list(extra_headers=link.headers)


def _listed(entry: Any) -> Listed | None:  # noqa: ANN401 - as above
    name, limit = getattr(entry, "id", None), getattr(entry, "max_model_len", None)
    if not isinstance(name, str) or not name:
        return None
    return Listed(name, limit if isinstance(limit, int) and not isinstance(limit, bool) and limit > 0 else 0)
