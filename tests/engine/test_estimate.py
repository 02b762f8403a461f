"""What cannot fit is never tokenised: by its length it is known that it cannot."""

from __future__ import annotations

from dataclasses import replace

import pytest

from engine.chat import ChatRequest, Message, RequestHandle
from engine.config import SamplingParams
from engine.errors import ContextFull
from engine.estimate import about_prompt, about_tokens
from tests.engine.fakes import FakeRunner, engine_with

LIMIT = 4096
HUGE = "the quick brown fox " * 250_000  # 5 MB
PARAMS = SamplingParams(temperature=0.0, max_tokens=4)


def request(*messages: Message, **values) -> ChatRequest:
    return ChatRequest("r", messages, PARAMS, "c", **values)


@pytest.fixture
def engine(monkeypatch):
    """An engine whose tokenizer refuses what cannot fit."""
    engine = engine_with(FakeRunner(context_limit=LIMIT))
    tokenizer = engine._model.prompt.tokenizer
    encode = type(tokenizer)._ids

    def checked(text: str, **values) -> list[int]:
        assert len(text) <= 33 * LIMIT, "a text was tokenised that cannot fit"
        return encode(tokenizer, text, **values)

    monkeypatch.setattr(tokenizer, "_ids", checked)
    return engine


def test_only_what_is_far_too_long_is_guessed():
    assert about_tokens([Message("user", "a" * 32 * LIMIT)], LIMIT) is None
    assert about_tokens([Message("user", "a" * (32 * LIMIT + 1))], LIMIT) == 8 * LIMIT
    assert about_tokens([Message("assistant", HUGE, (1, 2))], LIMIT) is None, "its ids are known"
    assert about_prompt(request(prompt=HUGE), LIMIT) == len(HUGE) // 4
    assert about_prompt(request(prompt=(1,) * 10), LIMIT) is None


@pytest.mark.parametrize("overflow", ["stop", "drop_oldest"])
def test_a_question_that_cannot_fit_is_refused_by_its_length(engine, overflow):
    asked = request(Message("user", HUGE), overflow=overflow)
    told = engine.preview(asked)
    assert (told.prompt_tokens, told.cached_tokens, told.draft_tokens) == (len(HUGE) // 4, 0, len(HUGE) // 4)
    assert told.about
    assert engine.prefill_ahead(asked, RequestHandle("a")) == 0
    with pytest.raises(ContextFull, match="has about 1,250,000 tokens, but the model can hold 4,096"):
        list(engine.stream(asked))
    with pytest.raises(ContextFull, match="about 1,250,000 tokens"):
        list(engine.stream(request(prompt=HUGE, reuse=False)))


def test_a_turn_that_cannot_fit_is_left_out_of_what_follows_it(engine):
    asked = request(Message("user", HUGE), Message("assistant", "No."), Message("user", "Why?"))
    told = engine.preview(asked)
    assert (told.left_out, told.about) == ((0, 1), False)
    done = list(engine.stream(asked))[-1]
    assert done.left_out == (0, 1)
    assert done.stats.prompt_tokens == told.prompt_tokens
    assert [s.tokens for s in done.trace.segments if s.left_out] == [len(HUGE) // 4, len("No.")]
    answered = (*asked.messages, Message("assistant", done.text, done.token_ids))
    assert engine.make_title(replace(asked, messages=answered), lambda: False) is not None
