"""Plain English for the benchmarks: the same in every run, as long as it has to be."""

from __future__ import annotations

import random
import re
from functools import cache
from pathlib import Path
from typing import Final

from engine.tokenizer import Tokenizer

_FILE: Final = Path(__file__).with_name("prose.txt")


@cache
def prose() -> str:
    """An essay of about 1,100 words, for mean negative log likelihoods."""
    return _FILE.read_text(encoding="utf-8")


def passage(tokenizer: Tokenizer, tokens: int, seed: int) -> str:
    """About `tokens` tokens of the essay's sentences in an order of their own; other seeds begin otherwise."""
    text = f"{seed}. "
    chance = random.Random(seed)  # noqa: S311 - an order, no secret
    sentences = [sentence for sentence in re.split(r"(?<=\.)\s+", prose()) if sentence]
    while len(tokenizer.encode(text)) < tokens:
        text += " ".join(chance.sample(sentences, len(sentences))) + " "
    return tokenizer.decode(tokenizer.encode(text)[:tokens]).strip()
