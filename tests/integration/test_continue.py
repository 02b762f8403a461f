"""A cut-off reply that goes on, and a title in between, on real forward passes: no token changes."""

from __future__ import annotations

import shutil
from dataclasses import replace

import pytest

from engine.chat import ChatRequest, Message, joined
from engine.config import EngineConfig, SamplingParams
from engine.engine import Engine
from engine.models.registry import Registry

TOKENS = 24
PARAMS = SamplingParams(temperature=0.0, max_tokens=TOKENS)
QUESTION = Message("user", "Name three fruits — 三种水果 🍎, please.")


@pytest.fixture(params=["llama", "qwen3", "mamba2"])
def engine(request, tiny_model, loquat_home):
    folder = tiny_model(request.param)
    shutil.copytree(folder, loquat_home.models / folder.name)
    made = Engine(EngineConfig(device="cpu", dtype="float32", save_caches=False), loquat_home.cache)
    made.load(Registry(loquat_home.models).find(folder.name))
    yield made
    made.unload()


def answer(engine, *messages: Message, **values):
    return list(engine.stream(ChatRequest("r", messages, PARAMS, "c", **values)))[-1]


def continued(engine, first, tokens: int):
    begun = Message("assistant", first.text, first.token_ids)
    request = ChatRequest("r", (QUESTION, begun), replace(PARAMS, max_tokens=tokens), "c", continue_reply=True)
    second = list(engine.stream(request))[-1]
    return joined(begun, second.text, second.token_ids), second


def test_a_reply_cut_in_three_is_the_whole_one_and_so_is_what_follows(engine):
    whole = answer(engine, QUESTION, reuse=False)
    cut = list(engine.stream(ChatRequest("r", (QUESTION,), replace(PARAMS, max_tokens=9), "c")))[-1]
    half, _ = continued(engine, cut, 5)
    half_done = replace(cut, text=half.content, token_ids=half.token_ids)
    engine.make_title(ChatRequest("t", (QUESTION, half), PARAMS, "c"), lambda: False)
    reply, last = continued(engine, half_done, TOKENS - 14)
    assert (reply.content, reply.token_ids) == (whole.text, whole.token_ids)
    assert last.stats.prefill_tokens < 4, "what was said so far was not read again"
    follow_up = (QUESTION, reply, Message("user", "And one more?"))
    assert answer(engine, *follow_up).token_ids == answer(engine, *follow_up, reuse=False).token_ids
