from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from engine.decoder import DecoderRunner, load_decoder

TOKENS = 60  # longer than every sliding window of the tiny models
TOLERANCE = 1e-4


@pytest.fixture(scope="package", autouse=True)
def _one_thread() -> Iterator[None]:
    """Tiny matrices gain nothing from a second thread, and much from not waiting for it on a busy machine."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@dataclass(frozen=True)
class Pair:
    """A tiny model in both implementations, and what transformers says to a text, read at once without a cache."""

    folder: Path
    runner: DecoderRunner
    model: Any
    ids: list[int]
    logits: Tensor  # [TOKENS, vocab_size]

    def far_from(self, got: Tensor, start: int, end: int) -> float:
        """Largest difference of logits `got` from transformers' of positions start to end - 1."""
        assert got.dtype == torch.float32
        assert got.isfinite().all()
        return float((got - self.logits[start:end]).abs().max())


@pytest.fixture(scope="session")
def pair(tiny_model: Callable[..., Path]) -> Iterator[Callable[..., Pair]]:
    """`pair("llama", **config)`."""
    from transformers import AutoModelForCausalLM

    made: dict[str, Pair] = {}

    def make(architecture: str, **config: Any) -> Pair:
        key = repr((architecture, sorted(config.items())))
        if key not in made:
            folder = tiny_model(architecture, **config)
            model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32, attn_implementation="eager")
            runner = load_decoder(folder)
            ids = random.Random(5).choices(range(runner.vocab_size), k=TOKENS)
            with torch.inference_mode():
                logits = model(torch.tensor([ids]), use_cache=False).logits[0]
            made[key] = Pair(folder, runner, model, ids, logits)
        return made[key]

    yield make
    made.clear()
