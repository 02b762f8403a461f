"""The default model itself: the same words as transformers, and a load that nobody waits for."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
import torch

from engine.decoder import load_decoder

PROMPTS = (
    "What is the capital of France?",
    "Write a short poem about the sea in autumn.",
    "def fibonacci(n):",
)
NEW_TOKENS = 32

pytestmark = pytest.mark.model


@pytest.fixture(scope="module")
def folder(model_home) -> Path:
    from engine.models.registry import Registry

    return Registry(model_home.models).find(None).folder


@pytest.fixture(scope="module")
def reference(folder):
    from transformers import AutoModelForCausalLM

    return AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)


def greedy(runner, ids: list[int], ends: set[int]) -> list[int]:
    cache = runner.new_cache()
    logits = runner.prefill(ids, cache)[0]
    reply: list[int] = []
    while len(reply) < NEW_TOKENS:
        reply.append(int(logits.argmax()))
        if reply[-1] in ends:
            break
        logits = runner.decode(reply[-1], cache)
    return reply


@pytest.mark.parametrize("prompt", PROMPTS)
def test_greedy_replies_are_those_of_transformers(folder, reference, prompt):
    from tokenizers import Tokenizer

    text = f"<|im_start|>user\n{prompt}<|im_end|>\n<|im_start|>assistant\n"
    ids = Tokenizer.from_file(str(folder / "tokenizer.json")).encode(text).ids
    end = reference.generation_config.eos_token_id
    expected = reference.generate(torch.tensor([ids]), max_new_tokens=NEW_TOKENS, do_sample=False)[0, len(ids) :]
    ends = {end} if isinstance(end, int) else set(end)
    assert greedy(load_decoder(folder), ids, ends) == expected.tolist()


def test_loading_takes_well_under_a_second(folder):
    load_decoder(folder)  # reads the file into the system's cache
    start = time.process_time()
    load_decoder(folder)
    assert time.process_time() - start < 1.0
