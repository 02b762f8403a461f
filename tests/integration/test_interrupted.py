"""A served reply that is interrupted again and again says, token for token, what it says alone; on the real kernels."""

from __future__ import annotations

import queue

import pytest

from engine.chat import ChatRequest, Message
from engine.config import EngineConfig, SamplingParams
from engine.events import Event, Failed, Finished, Loaded, TextDelta
from engine.paths import Paths
from engine.worker import Worker

PATIENCE_S = 120
pytestmark = pytest.mark.model
QUESTION = "Write the numbers from one to twenty as words, then write them again in the same order."


def test_a_reply_on_the_real_kernels_is_the_same_when_it_is_interrupted(home_with_model: Paths) -> None:
    window: queue.SimpleQueue[Event] = queue.SimpleQueue()
    worker = Worker(window.put, EngineConfig(), home_with_model, wait_for_kernels=True)
    worker.start()
    try:
        worker.load()
        while not isinstance(window.get(timeout=PATIENCE_S), Loaded):
            pass

        def reply(name: str, every: int) -> Finished:
            """Of a served request; the window asks after every so many tokens, always longer questions."""
            events: queue.SimpleQueue[Event] = queue.SimpleQueue()
            seen = 0

            def sink(event: Event) -> None:
                nonlocal seen
                seen += isinstance(event, TextDelta)
                events.put(event)
                if every and isinstance(event, TextDelta) and seen % every == 0:
                    worker.submit(ask(f"window {seen}", "window", "And then? " * seen, 4))

            worker.serve(ask(name, name, QUESTION, 90), sink)
            while not isinstance(event := events.get(timeout=PATIENCE_S), Finished | Failed):
                pass
            assert isinstance(event, Finished), event
            return event

        alone, interrupted = reply("http-alone", 0), reply("http-interrupted", 7)
    finally:
        assert worker.close(PATIENCE_S)
    assert interrupted.token_ids == alone.token_ids
    answered = []
    while not window.empty():
        answered.append(window.get())
    assert sum(isinstance(event, Finished) for event in answered) == len(alone.token_ids) // 7
    assert not [event for event in answered if isinstance(event, Failed)]


def ask(name: str, conversation: str, text: str, tokens: int) -> ChatRequest:
    params = SamplingParams(temperature=0.0, max_tokens=tokens)
    return ChatRequest(name, (Message("user", text),), params, conversation)
