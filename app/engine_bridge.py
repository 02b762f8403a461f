"""The worker thread and one queued Qt signal: requests go down, events come up, nothing else."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, Protocol

from PySide6.QtCore import QObject, Signal

from engine.chat import ChatRequest, Message, RequestHandle
from engine.config import EngineConfig
from engine.events import Event
from engine.keys import Keys

CLOSE_TIMEOUT_S: Final = 3.0


class WorkerLike(Protocol):
    """What the bridge needs of the engine's worker.

    Attributes:
        keys: Of servers.
    """

    keys: Keys

    def start(self) -> None:
        """Start the thread."""
        ...

    def load(self, name: str | None, config: EngineConfig) -> RequestHandle:
        """Make the named model (None: the default) ready."""
        ...

    def submit(self, request: ChatRequest) -> RequestHandle:
        """Answer a request after those before it."""
        ...

    def prefill_ahead(self, request: ChatRequest) -> RequestHandle:
        """Read what a request whose last message is a draft will begin with, when nothing else is to be done."""
        ...

    def preview(self, request: ChatRequest) -> RequestHandle:
        """Say what a request whose last message is a draft would cost."""
        ...

    def make_title(self, request: ChatRequest) -> RequestHandle:
        """Name a conversation when nothing else is to be done."""
        ...

    def list_models(self) -> RequestHandle:
        """Say which models there are."""
        ...

    def set_default_model(self, name: str) -> RequestHandle:
        """Load this model when none is named."""
        ...

    def rename_model(self, name: str, label: str) -> RequestHandle:
        """Call a model something else for people."""
        ...

    def remove_model(self, name: str) -> RequestHandle:
        """Delete a model from the disk."""
        ...

    def check(self, messages: Sequence[Message], started_on: str) -> RequestHandle:
        """Answer a conversation with its cache and without."""
        ...

    def compare_cache(self, messages: Sequence[Message], started_on: str) -> RequestHandle:
        """Generate some tokens with the cache and without."""
        ...

    def measure_profile(self) -> RequestHandle:
        """Say, when nothing else is to be done, what this machine can do with the loaded model."""
        ...

    def forget(self, conversation_id: str) -> RequestHandle:
        """Drop the caches of a conversation that was deleted for good."""
        ...

    def close(self, timeout_s: float) -> bool:
        """Cancel everything and end the thread, waiting at most so many seconds; whether it ended."""
        ...


WorkerFactory = Callable[[Callable[[Event], None]], WorkerLike]


class EngineBridge(QObject):
    """Owns the worker; `arrived` is emitted on its thread and, being queued, received in the window's.

    Args:
        make_worker: Makes the worker from the function that it calls with each event.
    """

    arrived = Signal(object)  # an engine.events.Event

    def __init__(self, make_worker: WorkerFactory, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._closed = False
        self._worker = make_worker(self._emit)
        self._worker.start()

    @property
    def worker(self) -> Any:  # noqa: ANN401 - what serving asks of it is `engine.server.service.ServingWorker`
        """The worker, for the server over it."""
        return self._worker

    def _emit(self, event: Event) -> None:
        # On the worker's thread. A worker that outlives the bound of `close` must find no half-destroyed object here.
        if not self._closed:
            self.arrived.emit(event)

    def load(self, name: str | None, config: EngineConfig) -> RequestHandle:
        """Make the named model (None: the default) ready; returns at once, as all that follow."""
        return self._worker.load(name, config)

    @property
    def keys(self) -> Keys:
        """Of servers, as the worker takes them."""
        return self._worker.keys

    def list_models(self) -> RequestHandle:
        """Say which models there are."""
        return self._worker.list_models()

    def set_default_model(self, name: str) -> RequestHandle:
        """Load this model when none is named."""
        return self._worker.set_default_model(name)

    def rename_model(self, name: str, label: str) -> RequestHandle:
        """Call a model something else for people."""
        return self._worker.rename_model(name, label)

    def remove_model(self, name: str) -> RequestHandle:
        """Delete a model from the disk."""
        return self._worker.remove_model(name)

    def submit(self, request: ChatRequest) -> RequestHandle:
        """Answer a request after those before it."""
        return self._worker.submit(request)

    def prefill_ahead(self, request: ChatRequest) -> RequestHandle:
        """Read what a request whose last message is a draft will begin with, when nothing else is to be done."""
        return self._worker.prefill_ahead(request)

    def preview(self, request: ChatRequest) -> RequestHandle:
        """Say soon what a request whose last message is a draft would cost, in place of one that waits: `Previewed`."""
        return self._worker.preview(request)

    def make_title(self, request: ChatRequest) -> RequestHandle:
        """Name a conversation when nothing else is to be done: `Titled`."""
        return self._worker.make_title(request)

    def check(self, messages: Sequence[Message], started_on: str) -> RequestHandle:
        """Answer a conversation with its cache and without."""
        return self._worker.check(messages, started_on)

    def compare_cache(self, messages: Sequence[Message], started_on: str) -> RequestHandle:
        """Generate some tokens with the cache and without: `CompareProgress` a token, then `Compared`."""
        return self._worker.compare_cache(messages, started_on)

    def measure_profile(self) -> RequestHandle:
        """Say, when nothing else is to be done, what this machine can do with the loaded model: `Profiled`."""
        return self._worker.measure_profile()

    def forget(self, conversation_id: str) -> RequestHandle:
        """Drop the caches of a conversation that was deleted for good."""
        return self._worker.forget(conversation_id)

    def close(self, timeout_s: float = CLOSE_TIMEOUT_S) -> bool:
        """Drop all further events and end the worker, waiting at most `timeout_s` seconds; whether it ended."""
        self._closed = True
        return self._worker.close(timeout_s)
