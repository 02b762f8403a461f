"""Chats in Loquat's plain form: a reply ends where the next question would begin, and its cache is kept."""

from __future__ import annotations

import dataclasses

import pytest

from engine.chat import ChatRequest, Message
from engine.config import SamplingParams
from engine.engine import Engine
from engine.events import Finished, FinishReason, TextDelta
from engine.prompt import PromptBuilder
from engine.templates.plain import PLAIN_TEMPLATE, TemplateKind, first_stop, spaced
from tests.engine.fakes import END, FakeRunner, engine_with, loquat_tokenizer

TOKENIZER = loquat_tokenizer()


def plain_engine(*said: str) -> Engine:
    """An engine with a base model that says these texts, one after the other."""
    runner = FakeRunner(script=[token_id for text in said for token_id in TOKENIZER.encode(text)])
    engine = engine_with(runner, chunk=512)  # one pass a prompt: each takes a token of the script
    assert engine._model is not None
    prompt = PromptBuilder(TOKENIZER, PLAIN_TEMPLATE, TemplateKind.PLAIN, "base")
    engine._model = dataclasses.replace(engine._model, prompt=prompt)
    return engine


def answer(engine: Engine, *messages: Message, **more: str) -> tuple[str, Finished]:
    params = SamplingParams(temperature=0.0, max_tokens=60)
    events = list(engine.stream(ChatRequest("r", messages, params, "chat", speculate=False, **more), traced=False))  # type: ignore[arg-type]
    last = events[-1]
    assert isinstance(last, Finished)
    return "".join(event.text for event in events if isinstance(event, TextDelta)), last


@pytest.mark.parametrize("tail", ["\n\nUser:", "\nUser:", "\n\nAssistant:", "\nSystem:"])
def test_a_reply_ends_where_the_next_question_would_begin(tail: str) -> None:
    engine = plain_engine(" It is a fruit." + tail + " never said")
    text, last = answer(engine, Message("user", "What is a quince?"))
    assert text == last.text == "It is a fruit."
    assert last.reason is FinishReason.STOP


def test_the_models_own_end_counts_too() -> None:
    text, last = answer(plain_engine(" A fruit." + END), Message("user", "What?"))
    assert text == "A fruit." and last.reason is FinishReason.END


def test_the_next_question_finds_all_that_was_said_in_the_cache() -> None:
    engine = plain_engine(" A fruit.\n\nUser:", " In gardens.\n\nUser:")
    asked = Message("user", "What?")
    text, first = answer(engine, asked)
    _, second = answer(engine, asked, Message("assistant", text, first.token_ids), Message("user", "Where?"))
    assert second.text == "In gardens."
    # The next question's beginning was generated, and is written again just so.
    assert second.stats.cached_tokens >= first.stats.prompt_tokens + len(first.token_ids) - 1


def test_a_raw_prompt_is_neither_stopped_nor_trimmed() -> None:
    said = " A fruit.\n\nUser: Where?" + END
    text, last = answer(plain_engine(said), prompt="What?")
    assert text == said.removesuffix(END) and last.reason is FinishReason.END


def test_where_a_reply_stops() -> None:
    assert first_stop("Ho.\n\nUser: So?\nAssistant:") == 3
    assert first_stop("A User: is no stop") is None
    assert spaced("user", "Hi") == " Hi" and spaced("user", " Hi") == " Hi" and spaced("system", "Hi") == "Hi"
