"""What reading ahead is worth: a long text is pasted, some words are typed after it, then Enter is pressed."""

from __future__ import annotations

import queue
import time
from types import TracebackType
from typing import Final, Self

from engine.bench.harness import Figure, alternate, medians
from engine.bench.talk import request_for
from engine.bench.text import passage
from engine.chat import ChatRequest, Message
from engine.config import EngineConfig
from engine.errors import EngineError
from engine.events import Event, Failed, Finished, Loaded
from engine.models.registry import ModelEntry
from engine.paths import Paths
from engine.tokenizer import Tokenizer
from engine.worker import Worker

TYPING_S: Final = 3.0
_KEYS_S: Final = 0.25  # the window tells of a draft that often
_TYPED_TOKENS: Final = 12
_FIRST_SEED: Final = 10_000  # texts that no other figure has


class Desk:
    """A person's end of a worker that loads a model.

    Args:
        entry: The model.
        paths: Where it lies, and a folder for caches.
        config: Device, dtype and threads.
    """

    def __init__(self, entry: ModelEntry, paths: Paths, config: EngineConfig) -> None:
        self._entry = entry
        self._events: queue.SimpleQueue[Event] = queue.SimpleQueue()
        self.worker = Worker(self._events.put, config, paths)

    def __enter__(self) -> Self:
        self.worker.start()
        try:
            self._wait(self.worker.load(self._entry.name).id)
        except EngineError:
            self.worker.close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.worker.close(timeout_s=30.0)

    def send(self, request: ChatRequest) -> float:
        """Milliseconds to the first token.

        Raises:
            EngineError: The request failed.
        """
        self.worker.submit(request)
        done = self._wait(request.id)
        return 1000 * (done.stats.ttft_s or 0.0) if isinstance(done, Finished) else 0.0

    def _wait(self, request_id: str) -> Event:
        while True:
            event = self._events.get()
            if isinstance(event, Failed):
                raise event.error
            if isinstance(event, Finished | Loaded) and event.request_id == request_id:
                return event


def paste_figure(desk: Desk, tokenizer: Tokenizer, pasted: int, runs: int, typing_s: float = TYPING_S) -> Figure:
    """TTFT with the pasted text read while the person types, and without.

    Args:
        desk: The model is loaded by it, and goes with it.
        tokenizer: The model's.
        pasted: Tokens of the pasted text.
        runs: Of each side.
        typing_s: Seconds from the paste to Enter.

    Raises:
        EngineError: The model cannot be loaded.
    """
    seeds = iter(range(_FIRST_SEED, 2 * _FIRST_SEED))

    def run(ahead: bool) -> float:
        seed = next(seeds)
        text, more = (passage(tokenizer, count, seed) for count in (pasted, _TYPED_TOKENS))
        if ahead:
            _type(desk.worker, f"typed {seed}", text, more, typing_s)
        return desk.send(request_for([Message("user", f"{text}\n{more}")], f"typed {seed}"))

    with desk:
        values = medians(alternate({"reuse": lambda: run(True), "fresh": lambda: run(False)}, runs))
    label = f"paste of {pasted:,} tokens, {typing_s:.0f} s of typing"
    return Figure("paste", label, "ms", {**values, "ratio": values["reuse"] / values["fresh"], "limit": 0.2})


def _type(worker: Worker, conversation: str, text: str, more: str, seconds: float) -> None:
    """The paste, then key after key; the worker hears of each draft as it would from the window."""
    strokes = max(1, round(seconds / _KEYS_S))
    for n in range(strokes):
        draft = f"{text}\n{more[: n * len(more) // strokes]}"
        worker.prefill_ahead(request_for([Message("user", draft)], conversation))
        time.sleep(seconds / strokes)
