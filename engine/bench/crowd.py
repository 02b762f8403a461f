"""`loquat bench turns --memory`: many conversations in little memory, all of them answered right."""

from __future__ import annotations

import dataclasses
import gc
import tempfile
from pathlib import Path
from typing import Final

from engine.bench.harness import Figure, Report, machine_name
from engine.bench.talk import Talk
from engine.chat import Message
from engine.config import EngineConfig
from engine.engine import Engine
from engine.machine import PeakSampler, resident
from engine.models.registry import ModelEntry
from engine.tokenizer import load_tokenizer
from engine.units import binary

_REPLY: Final = 12
_QUESTION: Final = 24
_MARGIN: Final = 128
ALLOWED_OVER: Final = 1.1


@dataclasses.dataclass(frozen=True, slots=True)
class Crowd:
    """How many conversations of how many tokens, in how many bytes of memory."""

    conversations: int = 30
    tokens: int = 2000
    budget: int = 300 << 20


def bench_crowd(entry: ModelEntry, config: EngineConfig, crowd: Crowd) -> Report:
    """Start every conversation, come back to each, and compare with answers computed afresh.

    Args:
        entry: The model.
        config: Device, dtype and threads; its cache budget is replaced.
        crowd: The load.

    Raises:
        EngineError: The model cannot be loaded, or the conversations are longer than it can hold.
    """
    config = dataclasses.replace(config, cache_memory_bytes=crowd.budget, save_caches=True)
    with tempfile.TemporaryDirectory() as folder:
        engine = Engine(config, Path(folder))
        context = engine.load(entry).context_limit
        talk = Talk(engine, load_tokenizer(entry.folder))
        tokens = min(crowd.tokens, context - _MARGIN)
        try:
            figures = _measure(talk, crowd, tokens)
        finally:
            engine.unload()
    load = f"{crowd.conversations} conversations of {tokens:,} tokens in {binary(crowd.budget)}"
    return Report("memory", {"model": entry.label, "machine": machine_name(), "load": load}, figures)


def _measure(talk: Talk, crowd: Crowd, tokens: int) -> list[Figure]:
    firsts = [[talk.question(tokens - _QUESTION - 2 * _REPLY)] for _ in range(crowd.conversations)]
    talk.ask([talk.question(tokens)], "", _REPLY, reuse=False)  # workspace of this length, given back or kept
    gc.collect()
    before = resident()
    with PeakSampler() as sampler:
        seconds = [_second(talk, messages, f"chat {n}") for n, messages in enumerate(firsts)]
        kept = [talk.ask(messages, f"chat {n}", _REPLY) for n, messages in enumerate(seconds)]
    fresh = [talk.ask(messages, "", _REPLY, reuse=False) for messages in seconds]
    right = sum(a.token_ids == b.token_ids for a, b in zip(kept, fresh, strict=True))
    reused = sum(done.stats.cached_tokens for done in kept) / sum(done.stats.prompt_tokens for done in kept)
    held = (sampler.peak - before) / 2**20
    budget = crowd.budget / 2**20
    return [
        Figure(
            "resident",
            "most memory held by caches",
            "MiB",
            {"measured": held, "limit": budget * ALLOWED_OVER},
            checked="measured",
        ),
        Figure("right", "answers equal to fresh ones", "", {"measured": right, "limit": len(kept)}, "more", "measured"),
        Figure("reused", "tokens reused on coming back", "of 1", {"measured": reused}),
    ]


def _second(talk: Talk, messages: list[Message], conversation: str) -> list[Message]:
    """The first turn; the messages up to the second question."""
    done = talk.ask(messages, conversation, _REPLY)
    return [*messages, Message("assistant", done.text, done.token_ids), talk.question(_QUESTION)]
