"""Prompt-lookup decoding: the same tokens as without, the cache in step, fewer passes where text repeats."""

from __future__ import annotations

import itertools

import pytest
import torch

from engine.chat import ChatRequest, Message, RequestHandle
from engine.config import SamplingParams
from engine.events import FinishReason, TextDelta
from engine.prompt_lookup import PromptLookup
from tests.engine.fakes import FakeRunner, engine_with

PHRASE = "to be or not to be, that is the question; "


class Parrot(FakeRunner):
    """Says the prompt's letters over and over, with now and then a letter of its own: text that repeats itself."""

    def _row(self, held: list[int]) -> torch.Tensor:
        logits = torch.full((self.vocab_size,), -4.0)
        logits[256:] = -1e9
        at = len(held) % len(PHRASE)
        again = held[-len(PHRASE)] if len(held) > len(PHRASE) else 97
        logits[again if again < 256 else 98] = 4.0  # never the end token
        if len(held) % 31 == 0:
            logits[97 + at % 26] = 9.0
        return logits

    def prefill(self, ids, cache, keep=1):
        if self._before:
            self._before(ids)
        self.computed += 1
        start = len(cache.held)
        cache.held.extend(ids)
        ends = range(start + len(ids) - keep + 1, start + len(ids) + 1)
        return torch.stack([self._row(cache.held[:end]) for end in ends])


def run(params: SamplingParams, speculate: bool, runner: FakeRunner | None = None, handle=None):
    engine = engine_with(runner or Parrot(), chunk=4096)
    request = ChatRequest("r", (Message("user", PHRASE * 3),), params, "c", speculate=speculate)
    return engine, list(engine.stream(request, handle or RequestHandle("r")))


PARAMS = [
    SamplingParams(temperature=0.0, max_tokens=150),
    SamplingParams(temperature=1.0, top_k=0, top_p=1.0, min_p=0.0, seed=5, max_tokens=150),
    SamplingParams(temperature=1.5, seed=11, repetition_penalty=1.1, max_tokens=150),
]


@pytest.mark.parametrize("params", PARAMS)
def test_the_tokens_are_those_of_plain_decoding(params):
    _, plain = run(params, speculate=False)
    engine, drafted = run(params, speculate=True)
    assert drafted[-1].token_ids == plain[-1].token_ids
    assert drafted[-1].text == plain[-1].text
    assert plain[-1].stats.drafted_tokens == 0
    assert drafted[-1].stats.drafted_tokens > 0
    held = engine._model.store.begin("c", [0]).cache
    said = held.ids[plain[-1].stats.prompt_tokens :]
    assert tuple(said) == drafted[-1].token_ids[: len(said)]
    assert held._cache.held == held.ids


def test_repeating_text_takes_fewer_passes():
    plain, drafted = Parrot(), Parrot()
    run(PARAMS[0], speculate=False, runner=plain)
    _, events = run(PARAMS[0], speculate=True, runner=drafted)
    assert drafted.computed < plain.computed / 2
    assert events[-1].stats.accepted_tokens > 75


@pytest.mark.parametrize("stop_at", [40, 41, 42, 43, 44, 45])
def test_a_reply_cancelled_among_drafted_tokens_leaves_a_right_cache(stop_at):
    handle = RequestHandle("r")
    engine = engine_with(Parrot(), chunk=4096)
    request = ChatRequest("r", (Message("user", PHRASE * 3),), PARAMS[0], "c")
    tokens = 0
    for event in engine.stream(request, handle):
        tokens += isinstance(event, TextDelta)
        if tokens == stop_at:
            handle.cancel()
    assert (event.reason, len(event.token_ids)) == (FinishReason.CANCELLED, stop_at)
    messages = (*request.messages, Message("assistant", event.text, event.token_ids), Message("user", "go on"))
    after = list(engine.stream(ChatRequest("s", messages, PARAMS[0], "c")))[-1]
    fresh = list(engine_with(Parrot()).stream(ChatRequest("t", messages, PARAMS[0], "c", speculate=False)))[-1]
    assert after.token_ids == fresh.token_ids
    assert after.stats.cached_tokens >= event.stats.prompt_tokens + stop_at - 1


@pytest.mark.parametrize("limit", range(170, 182))
def test_a_draft_never_passes_the_end_of_the_context(limit):
    _, plain = run(SamplingParams(temperature=0.0), speculate=False, runner=Parrot(context_limit=limit))
    _, drafted = run(SamplingParams(temperature=0.0), speculate=True, runner=Parrot(context_limit=limit))
    assert drafted[-1].token_ids == plain[-1].token_ids


def test_a_draft_is_what_followed_the_same_tokens_last():
    lookup = PromptLookup([1, 2, 3, 4, 5, 6, 1, 2, 3, 7, 8, 9, 0, 1, 2, 3])
    assert lookup.guess() == [7, 8, 9]
    lookup.verified(3, 3, 0.0)
    assert lookup.guess() == [7, 8, 9, 0, 1, 2]


def test_no_repetition_no_draft():
    assert PromptLookup(range(100)).guess() == []
    assert PromptLookup([]).guess() == []
    assert PromptLookup([1, 1]).guess() == []


def test_drafting_pauses_where_it_does_not_pay_and_tries_again():
    lookup = PromptLookup([1, 2, 3] * 10)
    lookup.decoded(1.0)
    tries = itertools.takewhile(lambda _: lookup.guess(), range(100))
    wrong = sum(1 for _ in tries if lookup.verified(3, 0, 2.0) is None)
    assert wrong < 10
    for _ in range(32):
        assert lookup.guess() == []
        lookup.decoded(1.0)
    assert lookup.guess()


def test_drafting_goes_on_where_it_pays():
    lookup = PromptLookup([1, 2, 3] * 10)
    lookup.decoded(1.0)
    for _ in range(100):
        assert lookup.guess()
        lookup.verified(3, 2, 2.0)
