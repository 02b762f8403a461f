"""What the worker does when nothing else is to be done: previews, reading ahead, titles, and measuring the machine.

Nothing here is an error for the person: what cannot be done now is left undone, and said in the log.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from engine.chat import ChatRequest, RequestHandle
from engine.commands import Command, CommandQueue, Idle
from engine.errors import EngineError
from engine.events import Event, Profiled, Titled

if TYPE_CHECKING:
    from engine.engine import Engine

_log = logging.getLogger(__name__)


class IdleWork:
    """Puts idle work into the queue, and does it on the worker's thread.

    Args:
        commands: The worker's queue.
        engine: The engine with a model on this machine; None while there is none to be had without waiting.
        emit: Told of the events of a preview that is done in the middle of something else.
    """

    def __init__(
        self, commands: CommandQueue, engine: Callable[[], Engine | None], emit: Callable[[Event], None]
    ) -> None:
        self._commands = commands
        self._engine = engine
        self._emit = emit

    def read_ahead(self, request: ChatRequest) -> RequestHandle:
        """Read what a request will begin with; its last message is a draft. No event comes of it."""
        handle = RequestHandle(request.id)
        self._commands.put_idle(Command(handle, lambda: self._read_ahead(handle, request)), Idle.AHEAD)
        return handle

    def preview(self, request: ChatRequest) -> RequestHandle:
        """Say what a request would cost: `Previewed`, or nothing if that cannot be said."""
        handle = RequestHandle(request.id)
        self._commands.put_idle(Command(handle, lambda: self._preview(handle, request)), Idle.PREVIEW)
        return handle

    def make_title(self, request: ChatRequest) -> RequestHandle:
        """Name a conversation: `Titled`. It begins again after whatever it had to give way to."""
        handle = RequestHandle(request.id)
        self._commands.put_idle(self._titling(handle, request), Idle.TITLE)
        return handle

    def measure_profile(self, handle: RequestHandle) -> RequestHandle:
        """Say what this machine can do with the loaded model: `Profiled`, or nothing if there is none."""
        self._commands.put_idle(self._profiling(handle), Idle.PROFILE)
        return handle

    def serve_preview(self) -> None:
        """Do in the middle of longer work what takes a moment."""
        waiting = self._commands.take(Idle.PREVIEW)
        for event in waiting.run() if waiting else ():
            self._emit(event)

    def _read_ahead(self, handle: RequestHandle, request: ChatRequest) -> Iterator[Event]:
        engine = self._engine()
        if engine is None or handle.cancelled:
            return
        try:
            engine.prefill_ahead(request, handle, self.serve_preview)
        except EngineError as error:
            _log.info("Nothing was read ahead: %s", error.sentence)
        yield from ()

    def _preview(self, handle: RequestHandle, request: ChatRequest) -> Iterator[Event]:
        engine = self._engine()
        if engine is None or handle.cancelled:
            return
        try:
            yield engine.preview(request)
        except EngineError as error:
            _log.info("Nothing was previewed: %s", error.sentence)

    def _titling(self, handle: RequestHandle, request: ChatRequest) -> Command:
        return Command(handle, lambda: self._make_title(handle, request))

    def _make_title(self, handle: RequestHandle, request: ChatRequest) -> Iterator[Event]:
        if handle.cancelled:
            return
        engine = self._engine()
        try:
            title = engine.make_title(request, lambda: self._stopped(handle)) if engine is not None else ""
        except EngineError as error:
            _log.info("No title was made: %s", error.sentence)
            title = ""
        if title is not None:
            yield Titled(handle.id, title)
        elif not handle.cancelled:
            self._commands.put_back(self._titling(handle, request), Idle.TITLE)

    def _profiling(self, handle: RequestHandle) -> Command:
        return Command(handle, lambda: self._profile(handle))

    def _profile(self, handle: RequestHandle) -> Iterator[Event]:
        engine = self._engine()
        if engine is None or handle.cancelled:
            return
        try:
            profile = engine.profile(lambda: handle.cancelled or self._commands.pressed())
        except EngineError as error:
            _log.info("Nothing was measured: %s", error.sentence)
            return
        if profile is not None:
            yield Profiled(handle.id, profile)
        elif not handle.cancelled:
            self._commands.put_back(self._profiling(handle), Idle.PROFILE)

    def _stopped(self, handle: RequestHandle) -> bool:
        self.serve_preview()
        return handle.cancelled or self._commands.pressed()
