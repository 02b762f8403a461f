"""What a request asks of sampling, through a whole turn: schemas, log probabilities, and that drafts change neither."""

from __future__ import annotations

import dataclasses
import itertools
import json
import math

import pytest

from engine.chat import ChatRequest, Message
from engine.config import GREEDY, EngineConfig, SamplingParams
from engine.engine import Engine
from engine.errors import BadRequest
from engine.events import Finished, FinishReason, TextDelta
from engine.models.registry import Registry
from tests.engine.fakes import FakeRunner, engine_with

numbers = itertools.count()
LIST = json.dumps({"type": "array", "items": {"enum": ["the the", "other"]}, "minItems": 6, "maxItems": 8})


def ask(engine: Engine, text: str, params: SamplingParams, **more) -> list:
    request = ChatRequest(f"r{next(numbers)}", (Message("user", text),), params, conversation_id="c", **more)
    return list(engine.stream(request))


def test_a_reply_follows_its_schema_to_the_end():
    integer = {"n": {"type": "integer", "minimum": 0, "maximum": 999}}
    schema = json.dumps({"type": "object", "properties": integer, "required": ["n"], "additionalProperties": False})
    params = SamplingParams(temperature=1.0, seed=3, json_schema=schema, max_tokens=400)
    done = ask(engine_with(FakeRunner()), "q", dataclasses.replace(params, frequency_penalty=1.0))[-1]
    assert isinstance(done, Finished)
    assert done.reason is FinishReason.END
    assert isinstance(json.loads(done.text)["n"], int)


def test_a_schema_that_cannot_be_used_is_refused_before_anything_is_computed():
    runner = FakeRunner()
    with pytest.raises(BadRequest, match="JSON schema"):
        ask(engine_with(runner), "q", dataclasses.replace(GREEDY, json_schema='{"type": 5}'))
    assert runner.computed == 0


def test_each_token_of_the_text_has_its_log_probability():
    events = ask(engine_with(FakeRunner()), "q", dataclasses.replace(GREEDY, logprobs=2, max_tokens=6))
    deltas = [event for event in events if isinstance(event, TextDelta) and event.token_ids]
    assert len(deltas) == 6
    for delta in deltas:
        assert delta.logprob.token == delta.logprob.top[0].token  # greedy: the likeliest was taken
        assert delta.logprob.logprob == delta.logprob.top[0].logprob
        assert sum(math.exp(other.logprob) for other in delta.logprob.top) < 1
    said = b"".join(delta.logprob.token for delta in deltas).decode(errors="ignore")
    assert events[-1].text.replace("\ufffd", "") in said or said in events[-1].text


def test_the_end_token_is_no_part_of_the_text_and_nobody_who_did_not_ask_is_told():
    end = 256 + 1  # <|im_end|>
    script = [ord("a") - 33 + 0, end]
    engine = engine_with(FakeRunner(script=script), chunk=256)
    events = ask(engine, "q", dataclasses.replace(GREEDY, logprobs=0))
    assert [e.logprob is None for e in events if isinstance(e, TextDelta) and e.token_ids] == [False, True]
    assert all(e.logprob is None for e in ask(engine_with(FakeRunner()), "q", GREEDY_3) if isinstance(e, TextDelta))


GREEDY_3 = dataclasses.replace(GREEDY, max_tokens=3)


@pytest.mark.parametrize(
    "more", [{"json_schema": LIST}, {"presence_penalty": 0.5, "logprobs": 1}, {"logit_bias": ((70, 3.0),)}], ids=str
)
def test_drafted_tokens_are_those_of_plain_decoding(more, tiny_model, tmp_path):
    engine = Engine(EngineConfig(device="cpu", dtype="float32", save_caches=False), tmp_path)
    folder = tiny_model("llama")
    engine.load(Registry(folder.parent).find(folder.name))
    params = dataclasses.replace(GREEDY, max_tokens=60, **more)
    text = '["the the", "other", "the the", "other", "the the", "other"]'
    plain, drafted = (ask(engine, text, params, speculate=speculate) for speculate in (False, True))
    engine.unload()
    assert drafted[-1].token_ids == plain[-1].token_ids
    if "json_schema" in more:
        assert drafted[-1].stats.accepted_tokens > 0
        assert isinstance(json.loads(drafted[-1].text), list)
    logprobs = [
        [e.logprob and round(e.logprob.logprob, 3) for e in events if isinstance(e, TextDelta)]
        for events in (plain, drafted)
    ]
    assert logprobs[0] == logprobs[1]
