"""What prompt-lookup decoding is worth where text repeats: a paragraph is written again with one word changed."""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from engine.bench.harness import Figure, alternate
from engine.bench.talk import Talk
from engine.bench.text import prose
from engine.chat import Message
from engine.config import EngineConfig
from engine.engine import Engine
from engine.events import Finished
from engine.models.registry import ModelEntry
from engine.tokenizer import load_tokenizer

REPLY_TOKENS: Final = 160
LIMIT: Final = 1.5


def question() -> Message:
    """The essay's first paragraph, to be written again."""
    paragraph = prose().partition("\n")[0]
    return Message("user", f'Write this paragraph again, with "harbour" changed to "port":\n\n{paragraph}')


def rewrite_figures(entry: ModelEntry, config: EngineConfig, runs: int, tokens: int = REPLY_TOKENS) -> list[Figure]:
    """The decode rate with prompt lookup and without, and whether both say the same.

    Args:
        entry: The model.
        config: Device, dtype and threads; no caches are kept.
        runs: Of each side.
        tokens: Longest reply.

    Raises:
        EngineError: The model cannot be loaded.
    """
    engine = Engine(config, Path())
    engine.load(entry)
    try:
        talk = Talk(engine, load_tokenizer(entry.folder))
        sides = {
            "lookup": lambda: talk.rewrite([question()], tokens, speculate=True),
            "plain": lambda: talk.rewrite([question()], tokens, speculate=False),
        }
        return list(_figures(alternate(sides, runs)))
    finally:
        engine.unload()


def _figures(results: dict[str, list[Finished]]) -> Iterator[Figure]:
    rates = {
        name: statistics.median(done.stats.decode_tokens_per_s or 0.0 for done in of) for name, of in results.items()
    }
    ratio = rates["lookup"] / rates["plain"] if rates["plain"] else None
    values = {**rates, "ratio": ratio, "limit": LIMIT}
    yield Figure("rewrite", "rewriting a paragraph, with prompt lookup", "tokens/s", values, "more")
    last = results["lookup"][-1]
    drafted = {"lookup": float(last.stats.accepted_tokens), "plain": None}
    label = f"  tokens accepted, of {last.stats.drafted_tokens:,} drafted and {len(last.token_ids):,} written"
    yield Figure("accepted", label, "tokens", drafted)
    same = sum(done.token_ids == results["plain"][0].token_ids for done in results["lookup"])
    right = {"lookup": float(same), "limit": float(len(results["lookup"]))}
    yield Figure("rewrite_same", "  runs with the same tokens", "runs", right, "more", "lookup")
