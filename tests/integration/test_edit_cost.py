"""What an edit was said to cost and what it cost, thirty times on the real default model."""

from __future__ import annotations

import dataclasses
import random
import statistics

import pytest

from app.cost import PrefillCosts
from engine.bench.text import passage
from engine.chat import ChatRequest, Message
from engine.config import GREEDY, EngineConfig
from engine.engine import Engine
from engine.events import Finished
from engine.models.registry import Registry

pytestmark = [pytest.mark.model, pytest.mark.slow, pytest.mark.timeout(600)]

EDITS = 30
TURNS = 8


@pytest.fixture
def engine(model_home, tmp_path):
    made = Engine(EngineConfig(save_caches=False), tmp_path)
    made.load(Registry(model_home.models).find(None))
    yield made
    made.unload()


def answered(engine: Engine, messages: list[Message]) -> Finished:
    params = dataclasses.replace(GREEDY, max_tokens=8)
    *_, last = engine.stream(ChatRequest("edit", tuple(messages), params, "edits"))
    return last


def test_the_cost_of_an_edit_is_known_before_it_is_made(engine):
    chance, costs = random.Random(3), PrefillCosts()
    tokenizer = engine._model.prompt.tokenizer
    messages: list[Message] = []
    for n in range(TURNS):
        messages.append(Message("user", passage(tokenizer, chance.choice((20, 60, 150, 300)), n)))
        last = answered(engine, messages)
        messages.append(Message("assistant", last.text, last.token_ids))
        costs.learn("m", last.stats)
    errors = []
    for n in range(EDITS):
        at = 2 * chance.randrange(TURNS)
        messages[at] = Message("user", passage(tokenizer, chance.choice((20, 60, 150, 300)), 100 + n))
        preview = engine.preview(ChatRequest("preview", tuple(messages[:-1]), conversation_id="edits"))
        predicted = costs.seconds("m", preview.cached_tokens, preview.prompt_tokens - preview.cached_tokens)
        last = answered(engine, messages[:-1])
        messages[-1] = Message("assistant", last.text, last.token_ids)
        took = last.stats.template_s + last.stats.prefill_s
        assert predicted is not None and last.stats.cached_tokens == preview.cached_tokens
        errors.append(abs(predicted - took) / took)
        costs.learn("m", last.stats)
    print(f"median error of {EDITS} edits: {statistics.median(errors):.1%}, worst {max(errors):.0%}")
    assert statistics.median(errors) < 0.30
