"""The default model itself: the same words as transformers, and a load that nobody waits for."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

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


def seconds(action) -> float:
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def test_loading_costs_about_as_much_as_copying_the_file_once(folder):
    """A ratio, because the machine that runs the tests may be busy; alone, either takes a quarter of a second."""

    def copy() -> dict[str, torch.Tensor]:
        return {name: tensor.clone() for name, tensor in load_file(folder / "model.safetensors").items()}

    pairs = [(seconds(copy), seconds(lambda: load_decoder(folder))) for _ in range(6)]
    copying, loading = (min(times) for times in zip(*pairs[1:], strict=True))
    assert loading < 2 * copying
