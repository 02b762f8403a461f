"""The one thread that owns model, tokenizer and caches: commands go in, events come out.

Nothing here imports torch before the thread's first command needs it, so a window can be on screen first.
"""

from __future__ import annotations

import itertools
import logging
import threading
import traceback
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from engine.chat import ChatRequest, RequestHandle, after_reply
from engine.commands import Command, CommandQueue
from engine.config import EngineConfig
from engine.errors import Cancelled, EngineError
from engine.events import UPGRADE, Event, Failed, Finished, Loaded, LoadProgress, LoadStage
from engine.paths import Paths

if TYPE_CHECKING:
    from engine.engine import Engine
    from engine.models.progress import Step
    from engine.models.registry import ModelEntry

    Steps = Generator[Step, None, ModelEntry]

_log = logging.getLogger(__name__)

Emit = Callable[[Event], None]


class Worker:
    """Runs commands one after the other on its own thread.

    Args:
        emit: Called with every event, on the worker's thread; must return soon.
        config: How models are loaded.
        paths: Where models lie.
        wait_for_kernels: Whether a load on the first start waits until the CPU kernels are compiled; if not, torch
            answers meanwhile, and a `Loaded` with the id UPGRADE tells of the change.
    """

    def __init__(self, emit: Emit, config: EngineConfig, paths: Paths, *, wait_for_kernels: bool = False) -> None:
        self._emit = emit
        self._config = config
        self._paths = paths
        self._wait = wait_for_kernels
        self._commands = CommandQueue()
        self._numbers = itertools.count(1)
        self._engine: Engine | None = None
        self._thread = threading.Thread(target=self._run, name="engine", daemon=True)

    def start(self) -> None:
        """Start the thread; call once."""
        self._thread.start()

    def load(self, name: str | None = None) -> RequestHandle:
        """Make a model ready: fetch it if it is the default one and missing, then load it.

        Args:
            name: As in the registry; None for the default model.
        """
        handle = RequestHandle(f"load-{next(self._numbers)}")
        return self._put(handle, lambda: self._load(handle, name))

    def add_model(self, source: Path) -> RequestHandle:
        """Import a GGUF file or a folder with safetensors, then load it."""
        handle = RequestHandle(f"add-{next(self._numbers)}")
        return self._put(handle, lambda: self._add(handle, source))

    def submit(self, request: ChatRequest) -> RequestHandle:
        """Answer a request after everything that was asked before."""
        handle = RequestHandle(request.id)
        return self._put(handle, lambda: self._answer(handle, request))

    def prefill_ahead(self, request: ChatRequest) -> RequestHandle:
        """Read, when nothing else is to be done, what a request will begin with; its last message is a draft.

        Nothing comes of it but a fuller cache: no event, and any real command takes over at once.
        """
        handle = RequestHandle(request.id)
        self._commands.put_idle(Command(handle, lambda: self._read_ahead(handle, request)))
        return handle

    def close(self, timeout_s: float = 5.0) -> bool:
        """Cancel everything, let the thread end and join it; whether it ended in time."""
        self._commands.close()
        if self._thread.ident is None:
            return True
        self._thread.join(timeout_s)
        return not self._thread.is_alive()

    def _put(self, handle: RequestHandle, run: Callable[[], Iterator[Event]]) -> RequestHandle:
        self._commands.put(Command(handle, run))
        return handle

    def _run(self) -> None:
        while (command := self._commands.get()) is not None:
            try:
                for event in command.run():
                    self._emit(event)
            except EngineError as error:
                self._emit(Failed(command.handle.id, error))
            except Exception as error:
                self._emit(Failed(command.handle.id, _bug(error), bug=True))
        if self._engine is not None:
            self._engine.unload()

    def _load(self, handle: RequestHandle, name: str | None) -> Iterator[Event]:
        from engine.models.prepare import prepare
        from engine.models.registry import Registry

        steps = prepare(Registry(self._paths.models), name, handle)
        entry: ModelEntry = yield from self._progress(handle, steps)
        yield from self._load_entry(handle, entry)

    def _add(self, handle: RequestHandle, source: Path) -> Iterator[Event]:
        from engine.models.registry import Registry

        steps = Registry(self._paths.models).add(source, handle)
        entry: ModelEntry = yield from self._progress(handle, steps)
        yield from self._load_entry(handle, entry)

    def _load_entry(self, handle: RequestHandle, entry: ModelEntry) -> Iterator[Event]:
        def loading(done: int) -> LoadProgress:
            return LoadProgress(handle.id, LoadStage.LOAD, done, 2, f"Loading {entry.label}")

        yield loading(0)
        engine = self._the_engine()
        if handle.cancelled:
            raise Cancelled
        yield loading(1)
        yield Loaded(handle.id, engine.load(entry, wait=self._wait))

    def _answer(self, handle: RequestHandle, request: ChatRequest) -> Iterator[Event]:
        faster = self._the_engine().upgrade()
        if faster:
            yield Loaded(UPGRADE, faster)
        for event in self._the_engine().stream(request, handle):
            yield event
            if isinstance(event, Finished) and request.reuse:
                self.prefill_ahead(after_reply(request, event.text, event.token_ids))

    def _read_ahead(self, handle: RequestHandle, request: ChatRequest) -> Iterator[Event]:
        """Yields nothing; what goes wrong here will be said when the real request comes."""
        if self._engine is None or handle.cancelled:
            return
        try:
            self._engine.prefill_ahead(request, handle)
        except EngineError as error:
            _log.info("Nothing was read ahead: %s", error.sentence)
        yield from ()

    def _the_engine(self) -> Engine:
        """The engine, made on first use: importing torch takes seconds."""
        if self._engine is None:
            from engine.engine import Engine

            self._engine = Engine(self._config, self._paths.cache)
        return self._engine

    @staticmethod
    def _progress(handle: RequestHandle, steps: Steps) -> Generator[Event, None, ModelEntry]:
        """Pass a long operation's steps on as events, and its result back."""
        while True:
            try:
                step = next(steps)
            except StopIteration as end:
                entry: ModelEntry = end.value
                return entry
            yield LoadProgress(handle.id, step.stage, step.done, step.total, step.sentence)


def _bug(error: Exception) -> EngineError:
    sentence = "Something went wrong inside Loquat; the conversation is saved, and asking again may work."
    return EngineError(sentence, "".join(traceback.format_exception(error)))
