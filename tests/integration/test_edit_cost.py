"""What an edit was said to cost and what it cost, thirty times on the real default model."""

from __future__ import annotations

import dataclasses
import random
import statistics

import pytest

from engine.bench.text import passage
from engine.chat import ChatRequest, Message
from engine.config import GREEDY, EngineConfig
from engine.engine import Engine
from engine.explain.costs import PrefillCosts
from engine.explain.trace import TurnTrace
from engine.models.registry import Registry

pytestmark = [pytest.mark.model, pytest.mark.slow, pytest.mark.timeout(600)]

EDITS = 30
TURNS = 8


@pytest.fixture(scope="module")
def engine(model_home, tmp_path_factory):
    made = Engine(EngineConfig(save_caches=False), tmp_path_factory.mktemp("cache"))
    made.load(Registry(model_home.models).find(None))
    yield made
    made.unload()


def answered(engine: Engine, messages: list[Message]) -> tuple[Message, TurnTrace]:
    params = dataclasses.replace(GREEDY, max_tokens=8)
    *_, last = engine.stream(ChatRequest("edit", tuple(messages), params, "edits"))
    return Message("assistant", last.text, last.token_ids), last.trace


def test_the_cost_of_an_edit_is_known_before_it_is_made(engine):
    chance, costs = random.Random(3), PrefillCosts()
    tokenizer = engine._model.prompt.tokenizer
    messages: list[Message] = []
    for n in range(TURNS):
        messages.append(Message("user", passage(tokenizer, chance.choice((20, 60, 150, 300)), n)))
        reply, trace = answered(engine, messages)
        messages.append(reply)
        costs.learn(trace)
    errors = []
    for n in range(EDITS):
        at = 2 * chance.randrange(TURNS)
        messages[at] = Message("user", passage(tokenizer, chance.choice((20, 60, 150, 300)), 100 + n))
        asked = messages[:-1]
        prompt = engine._model.prompt.encode(ChatRequest("preview", tuple(asked)))
        cached = engine._model.store.known("edits", prompt)
        predicted = costs.seconds(len(prompt) - cached, cached)
        messages[-1], trace = answered(engine, asked)
        assert predicted is not None and trace.cached_tokens == cached
        errors.append(abs(predicted - trace.phases.prefill) / trace.phases.prefill)
        costs.learn(trace)
    print(f"median error of {EDITS} edits: {statistics.median(errors):.1%}, worst {max(errors):.0%}")
    assert statistics.median(errors) < 0.30
