"""From HTTP's event loop to the worker's thread and back: which requests are open, and their events as they come."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import logging
import math
import time
from collections.abc import AsyncGenerator, Iterator
from typing import Final, Protocol

from engine.chat import ChatRequest, RequestHandle
from engine.events import Event, Failed, Finished, FinishReason, ModelInfo
from engine.server.failures import Refused, interrupted, no_model, not_here, of_event, too_many, unknown_model
from engine.server.history import History
from engine.server.metrics import Metrics
from engine.worker import Emit

_log = logging.getLogger(__name__)
_LONGEST_WAIT_S: Final = 60
_SMOOTHING: Final = 0.2
_CLOSE_S: Final = 3.0


class ServingWorker(Protocol):
    """What the server needs of the engine's worker."""

    @property
    def info(self) -> ModelInfo | None:
        """What is known of the loaded model."""
        ...

    @property
    def kv_bytes(self) -> int:
        """Memory held by all KV caches."""
        ...

    def serve(self, request: ChatRequest, sink: Emit) -> RequestHandle:
        """Answer a request behind what the person asks; its events go to `sink`."""
        ...

    def forget(self, conversation_id: str) -> RequestHandle:
        """Drop the caches of a conversation."""
        ...


class Service:
    """Everything that all requests share. Its methods are called on the server's event loop alone.

    Args:
        worker: Who answers.
        queue_limit: Most requests that are answered or wait.
        reuse: Whether prompts use KV caches.

    Attributes:
        history: What was answered lately.
        metrics: What is counted.
    """

    def __init__(self, worker: ServingWorker, queue_limit: int, *, reuse: bool = True) -> None:
        self._worker = worker
        self._reuse = reuse
        self._limit = queue_limit
        self._admitted = 0
        self._open: dict[str, RequestHandle] = {}
        self._begun: set[str] = set()
        self._mean_s: float | None = None  # from one answer to the next, while somebody waits
        self._ended_at = 0.0
        self._closing = False
        self.history = History()
        self.metrics = Metrics(
            lambda: float(worker.kv_bytes), lambda: len(self._begun), lambda: len(self._open) - len(self._begun)
        )

    @property
    def model(self) -> ModelInfo:
        """The model that answers.

        Raises:
            Refused: There is none on this machine.
        """
        info = self._worker.info
        if info is None or self._closing:
            raise Refused(no_model())
        if info.remote:
            raise Refused(not_here(info.server))
        return info

    def model_named(self, name: str) -> ModelInfo:
        """The model that answers, if it is the one that a client asks for.

        Raises:
            Refused: It is another, or there is none.
        """
        info = self.model
        if name != info.name:
            raise Refused(unknown_model(name, info.name))
        return info

    @contextlib.contextmanager
    def admitted(self) -> Iterator[None]:
        """A place among the requests that are answered or wait.

        Raises:
            Refused: There is none; it says when to ask again.
        """
        if self._admitted >= self._limit:
            wait = math.ceil((self._mean_s or 0.0) * self._admitted / 2)
            raise Refused(too_many(self._limit, max(1, min(_LONGEST_WAIT_S, wait))))
        self._admitted += 1
        try:
            yield
        finally:
            self._admitted -= 1

    async def events(self, request: ChatRequest) -> AsyncGenerator[Event, None]:
        """The events of a request, `Finished` last. Closing the iterator cancels the request.

        Raises:
            Refused: It failed, or the engine gave it up.
        """
        arrived: asyncio.Queue[Event] = asyncio.Queue()
        handle = self._submit(request, arrived)
        try:
            with self.history.in_use(request.conversation_id):
                while True:
                    event = await arrived.get()
                    if isinstance(event, Failed):
                        if event.bug:
                            _log.error("A served request failed: %s", event.error.detail)
                        raise Refused(of_event(event))
                    if isinstance(event, Finished) and event.reason is FinishReason.CANCELLED:
                        raise Refused(interrupted())
                    yield event
                    if isinstance(event, Finished):
                        return
        finally:
            handle.cancel()

    def forget_outdated(self) -> None:
        """Let caches go of conversations that clients have not gone on with for long."""
        for name in self.history.outdated():
            self._worker.forget(name)

    async def close(self) -> None:
        """Cancel all requests, wait until the engine has let them go, and drop what their conversations hold."""
        self._closing = True
        for handle in self._open.values():
            handle.cancel()
        with contextlib.suppress(TimeoutError):  # an engine that hangs must not keep the server
            async with asyncio.timeout(_CLOSE_S):
                while self._open:
                    await asyncio.sleep(0.01)
        for name in self.history.clear():
            self._worker.forget(name)

    def _submit(self, request: ChatRequest, arrived: asyncio.Queue[Event]) -> RequestHandle:
        loop, began = asyncio.get_running_loop(), time.perf_counter()

        def take(event: Event) -> None:
            self._begun.add(request.id)
            if isinstance(event, Finished | Failed):
                self._ended(request.id, event, began)
            arrived.put_nowait(event)

        def sink(event: Event) -> None:
            with contextlib.suppress(RuntimeError):  # the loop is closed: the server has ended, and nobody listens
                loop.call_soon_threadsafe(take, event)

        handle = self._worker.serve(dataclasses.replace(request, reuse=self._reuse), sink)
        self._open[request.id] = handle
        return handle

    def _ended(self, request_id: str, event: Finished | Failed, began: float) -> None:
        now = time.perf_counter()
        seconds = now - max(began, self._ended_at)  # without the time in which others were answered before it
        self._open.pop(request_id, None)
        self._begun.discard(request_id)
        self._ended_at = now
        self._mean_s = seconds if self._mean_s is None else self._mean_s + _SMOOTHING * (seconds - self._mean_s)
        if isinstance(event, Finished):
            self.metrics.answered(event.reason.value, event.stats)
