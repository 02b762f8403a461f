"""The text of the benchmarks: always the same, as long as wanted, different from seed to seed."""

from __future__ import annotations

import os

import pytest

from engine.bench.text import passage, prose
from engine.kv_cache import common_prefix
from tests.engine.fakes import loquat_tokenizer


@pytest.mark.parametrize("tokens", [8, 500, 20_000])
def test_a_passage_has_its_length_and_is_the_same_again(tokens: int) -> None:
    tokenizer = loquat_tokenizer()
    text = passage(tokenizer, tokens, seed=3)
    assert tokens - 1 <= len(tokenizer.encode(text)) <= tokens
    assert passage(tokenizer, tokens, seed=3) == text


def test_passages_share_no_beginning_that_a_cache_could_use() -> None:
    tokenizer = loquat_tokenizer()
    ids = [tokenizer.encode(passage(tokenizer, 300, seed)) for seed in range(100, 120)]
    assert max(common_prefix(a, b) for n, a in enumerate(ids) for b in ids[:n]) < 8


def test_the_essay_is_plain_english_of_more_than_a_thousand_words() -> None:
    assert len(prose().split()) > 1000
    assert prose().isascii()
    assert os.linesep == "\n" or "\r" not in prose()
