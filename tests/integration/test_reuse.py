"""The promise itself, on the real default model: what was read once is not read again, and no token changes.

Five conversations of three turns are answered with the cache kept, without it, and by transformers' own `generate`
on the same weights in fp32.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import pytest
import torch
import transformers

from engine.chat import ChatRequest, Message
from engine.config import EngineConfig, SamplingParams
from engine.engine import Engine
from engine.events import Finished
from engine.models.registry import Registry

pytestmark = [pytest.mark.model, pytest.mark.timeout(600)]

TOKENS = 24
PARAMS = SamplingParams(temperature=0.0, max_tokens=TOKENS)
CONVERSATIONS = {
    "capitals": ("What is the capital of France?", "And of Italy?", "Which of the two is larger?"),
    "chinese": ("你好！请用中文回答：水为什么会沸腾？🫖", "那在高山上呢？🏔️", "谢谢 🙏，再用一句话总结。"),
    "code": ("Write a Python function that adds two numbers.", "Now make it subtract.", 'Add a docstring `"""`.'),
    "system": ("Name three fruits.", "Name three more.", "Which of them is red?"),
    "odd": ("<|im_end|> is not the end.\n\n\tTabs & ümläute — “quotes”", "1234567890 + 1 = ?", "  spaces   around  "),
}
SYSTEM = {"system": "You are a terse assistant. Answer in one line."}


@dataclass(frozen=True)
class Turn:
    """What was sent, and what came back."""

    messages: tuple[Message, ...]
    finished: Finished


@pytest.fixture(scope="module")
def engine(model_home, tmp_path_factory):
    made = Engine(EngineConfig(dtype="float32", save_caches=False), tmp_path_factory.mktemp("cache"))
    made.load(Registry(model_home.models).find(None))
    yield made
    made.unload()


@pytest.fixture(scope="module")
def reference(model_home):
    folder = Registry(model_home.models).find(None).folder
    return transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()


@pytest.fixture(scope="module")
def turns(engine) -> dict[str, list[Turn]]:
    return {name: talk(engine, name, prompts) for name, prompts in CONVERSATIONS.items()}


def talk(engine: Engine, name: str, prompts: tuple[str, ...]) -> list[Turn]:
    messages = [Message("system", SYSTEM[name])] if name in SYSTEM else []
    done = []
    for n, prompt in enumerate(prompts):
        messages.append(Message("user", prompt))
        finished = list(engine.stream(ChatRequest(f"{name}-{n}", tuple(messages), PARAMS, name)))[-1]
        done.append(Turn(tuple(messages), finished))
        messages.append(Message("assistant", finished.text, finished.token_ids))
    return done


@pytest.mark.parametrize("name", CONVERSATIONS)
def test_only_what_is_new_is_read(turns, name):
    for before, after in itertools.pairwise(turn.finished.stats for turn in turns[name]):
        seen = before.prompt_tokens + before.completion_tokens
        assert seen - 1 <= after.cached_tokens <= seen
        assert after.prefill_tokens == after.prompt_tokens - after.cached_tokens < 40


@pytest.mark.parametrize("name", CONVERSATIONS)
def test_a_run_without_reuse_says_the_same(engine, turns, name):
    for turn in turns[name]:
        fresh = list(engine.stream(ChatRequest("fresh", turn.messages, PARAMS, "fresh", reuse=False)))[-1]
        assert fresh.stats.cached_tokens == 0
        assert fresh.token_ids == turn.finished.token_ids


@pytest.mark.parametrize("name", CONVERSATIONS)
def test_transformers_says_the_same(engine, reference, turns, name):
    builder = engine._model.prompt
    for turn in turns[name]:
        prompt = builder.encode(ChatRequest("r", turn.messages))
        output = reference.generate(
            torch.tensor([prompt]),
            attention_mask=torch.ones(1, len(prompt), dtype=torch.long),
            do_sample=False,
            max_new_tokens=TOKENS,
            eos_token_id=sorted(builder.tokenizer.end_ids),
            pad_token_id=0,
        )
        assert tuple(output[0, len(prompt) :].tolist()) == turn.finished.token_ids


def test_the_prompt_is_the_one_that_transformers_builds(engine, model_home):
    tokenizer = transformers.AutoTokenizer.from_pretrained(Registry(model_home.models).find(None).folder)
    messages = (Message("system", "Be brief."), Message("user", "你好 🦜, 42 owls?"))
    plain = [{"role": m.role, "content": m.content} for m in messages]
    wanted = tokenizer.apply_chat_template(plain, add_generation_prompt=True, tokenize=True, return_dict=False)
    assert engine._model.prompt.encode(ChatRequest("r", messages)) == list(wanted)
