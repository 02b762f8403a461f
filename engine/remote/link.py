"""The way to one server: the `openai` client on an event loop of its own, driven step by step by whoever waits.

Waiting can be given up at any moment, whatever the network does: a request is one task of the loop, and dropping the
task closes its connection.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any, Final, TypeVar

from engine.errors import Cancelled, ServerFailed
from engine.remote.servers import is_loopback

if TYPE_CHECKING:
    from openai import AsyncOpenAI

T = TypeVar("T")

CONNECT_S: Final = 10.0
STALL_S: Final = 120.0  # without a byte; a server may hold a request in its queue for a while
_POLL_S: Final = 0.02
_CLOSE_S: Final = 1.0


class Link:
    """Not thread-safe: it belongs to the thread that waits.

    Args:
        base_url: As `engine.remote.servers.check_address` gives it.
        key: Sent as a bearer token; empty sends none.
        stall_s: Longest silence in seconds.

    Attributes:
        client: The `openai` client.
        headers: Extra headers for each request: what it must not take from the environment.

    Raises:
        ServerFailed: The key cannot be sent, or the environment names a proxy that cannot be used.
    """

    def __init__(self, base_url: str, key: str, stall_s: float = STALL_S) -> None:
        if not (key.isascii() and key.isprintable()):
            raise ServerFailed("The key holds characters that no key has; type it in once more.")
        self.headers = _headers(key)
        self._loop = asyncio.new_event_loop()
        try:
            self.client = self.wait(_make_client(base_url, key, stall_s), lambda: False)
        except (ImportError, ValueError) as error:  # httpx reads the proxies, and refuses some
            self._loop.close()
            sentence = "Loquat cannot use this kind of proxy; set an HTTP proxy in the environment, or none."
            raise ServerFailed(sentence, repr(error)) from error

    def wait(self, work: Coroutine[Any, Any, T], stop: Callable[[], bool]) -> T:
        """The result of `work`, which may raise anything.

        Raises:
            Cancelled: `stop` said so first; the work was dropped.
        """
        task = self._loop.create_task(work)
        while not task.done():
            self._loop.run_until_complete(asyncio.wait({task}, timeout=_POLL_S))
            if stop() and not task.done():
                self._drop(task)
                raise Cancelled
        return task.result()

    def pause(self, seconds: float, stop: Callable[[], bool]) -> None:
        """Let time pass.

        Raises:
            Cancelled: `stop` said so first.
        """
        self.wait(asyncio.sleep(seconds), stop)

    def close(self) -> None:
        """Close all connections."""
        if self._loop.is_closed():
            return
        self._loop.run_until_complete(asyncio.wait({self._loop.create_task(self.client.close())}, timeout=_CLOSE_S))
        self._loop.run_until_complete(self._loop.shutdown_asyncgens())
        self._loop.close()

    def _drop(self, task: asyncio.Task[Any]) -> None:
        task.cancel()
        self._loop.run_until_complete(asyncio.wait({task}, timeout=_CLOSE_S))
        if task.done() and not task.cancelled():
            task.exception()  # looked at, or asyncio complains of it later


def _headers(key: str) -> dict[str, Any]:
    from openai import Omit

    names = ("OpenAI-Organization", "OpenAI-Project", *(() if key else ("Authorization",)))
    return {name: Omit() for name in names}


async def _make_client(base_url: str, key: str, stall_s: float) -> AsyncOpenAI:
    """A client that asks once, and follows no server to another host.

    Proxies of the environment are used, but not for this machine's own addresses.
    """
    from openai import AsyncOpenAI, DefaultAsyncHttpxClient, Timeout

    http = DefaultAsyncHttpxClient(follow_redirects=False, trust_env=not is_loopback(base_url))
    return AsyncOpenAI(
        api_key=key or "none",
        base_url=base_url,
        http_client=http,
        max_retries=0,
        timeout=Timeout(stall_s, connect=CONNECT_S),
    )
