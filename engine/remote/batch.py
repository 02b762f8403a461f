"""Many prompts answered offline with a model on a server: so many requests at once, which the server batches."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterable, Iterator

from engine.batch_values import Answer, Prompt
from engine.chat import RequestHandle
from engine.errors import BadRequest
from engine.events import Finished, FinishReason
from engine.remote.engine import RemoteEngine

_Outcome = Answer | Exception | None


class _Shared:
    """Prompts for several threads, and what became of them."""

    def __init__(self, prompts: Iterable[Prompt]) -> None:
        self._prompts = iter(prompts)
        self._lock = threading.Lock()
        self.outcomes: queue.SimpleQueue[_Outcome] = queue.SimpleQueue()
        self.stop = RequestHandle("batch")

    def next(self) -> Prompt | None:
        """The next prompt; None once there is none, or all is over."""
        with self._lock:
            return None if self.stop.cancelled else next(self._prompts, None)


def answer_all(connect: Callable[[], RemoteEngine], prompts: Iterable[Prompt], size: int) -> Iterator[Answer]:
    """Complete prompts; answers come as they end. A prompt that the server refuses is answered with its error.

    Args:
        connect: Makes an engine for one thread.
        prompts: Taken one by one, from several threads, never from two at once.
        size: How many requests at once.

    Raises:
        ServerFailed: The server could not be reached, or broke off; what was not answered stays unanswered.
    """
    shared = _Shared(prompts)
    threads = [threading.Thread(target=_work, args=(shared, connect), daemon=True) for _ in range(size)]
    for thread in threads:
        thread.start()
    left = size
    try:
        while left:
            outcome = shared.outcomes.get()
            if isinstance(outcome, Exception):
                raise outcome
            if outcome is None:
                left -= 1
            else:
                yield outcome
    finally:
        shared.stop.cancel()
        for thread in threads:
            thread.join()


def _work(shared: _Shared, connect: Callable[[], RemoteEngine]) -> None:
    engine: RemoteEngine | None = None
    try:
        engine = connect()
        while (prompt := shared.next()) is not None:
            answer = _answer(engine, prompt, shared.stop)
            if answer is not None:
                shared.outcomes.put(answer)
    except Exception as error:  # whoever waits for answers raises it
        shared.stop.cancel()
        shared.outcomes.put(error)
    finally:
        if engine is not None:
            engine.close()
        shared.outcomes.put(None)


def _answer(engine: RemoteEngine, prompt: Prompt, stop: RequestHandle) -> Answer | None:
    """What a server makes of a prompt; None if all was stopped meanwhile."""
    try:
        *_, last = engine.stream(prompt.request, stop)
    except BadRequest as error:
        return Answer(prompt.index, error=error.sentence)
    assert isinstance(last, Finished)  # noqa: S101 - a stream ends so
    if last.reason is FinishReason.CANCELLED:
        return None
    stats = last.stats
    prompt_tokens = stats.prompt_tokens if stats.reported("prompt_tokens") else None
    completion = stats.completion_tokens if stats.reported("completion_tokens") else None
    return Answer(prompt.index, last.text, last.reason, prompt_tokens, completion)
