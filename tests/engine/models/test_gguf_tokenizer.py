"""Tokenizers rebuilt from a GGUF vocabulary give the ids of the tokenizers that the vocabulary came from."""

from __future__ import annotations

import io
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sentencepiece
from tokenizers.pre_tokenizers import ByteLevel

from engine.errors import BadModelFile, UnsupportedModel
from engine.models.gguf_metadata import Metadata
from engine.models.gguf_parts import open_gguf
from engine.models.gguf_tokenizer import (
    CONTROL,
    LONGEST_MERGED,
    NORMAL,
    USER_DEFINED,
    build_tokenizer,
    token_types,
)
from engine.models.pre_tokenizers import pre_tokenizer
from engine.models.registry import Registry
from engine.paths import Paths

CORPUS = [
    "The quick brown fox jumps over the lazy dog. The dog sleeps, the fox does not.",
    "A model reads a prompt and writes a reply, token by token, until it ends.",
    "def fibonacci(n):\n    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)\n",
    "Numbers: 1 23 456 7890, 3.14159 and 2026-11-29.",
    "你好，世界。今天天气很好，我们去公园散步吧。",
    "Größe, naïve, café, façade, Ærøskøbing, São Paulo.",
]
TEXTS = [
    *CORPUS,
    "Hello, world!",
    "  two leading and   three inner spaces",
    "tabs\tand\nnew\n\nlines",
    "emoji 🎉👍🏽 and 🏳️‍🌈",
    "unseen scripts: Ελληνικά, עברית, ไทย, हिन्दी",
    "x = 12345 // 67 # comment",
    "a",
    " ",
]


def metadata(kind: str, tokens: list[str], types: Any, **more: Any) -> Metadata:
    values = {
        "general.architecture": more.pop("architecture", "llama"),
        "tokenizer.ggml.model": kind,
        "tokenizer.ggml.tokens": tokens,
        "tokenizer.ggml.token_type": np.asarray(types, np.int32),
    }
    return Metadata("test.gguf", values | {f"tokenizer.ggml.{key}": value for key, value in more.items()})


def train(prefix: bool, symbols: list[str]) -> sentencepiece.SentencePieceProcessor:
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(CORPUS * 5),
        model_writer=model,
        model_type="bpe",
        vocab_size=520,
        byte_fallback=True,
        character_coverage=0.99,
        add_dummy_prefix=prefix,
        remove_extra_whitespaces=False,
        normalization_rule_name="identity",
        user_defined_symbols=symbols,
        minloglevel=2,
    )
    return sentencepiece.SentencePieceProcessor(model_proto=model.getvalue())


def of_sentencepiece(
    processor: sentencepiece.SentencePieceProcessor, architecture: str, prefix: bool, symbols: list[str]
) -> Metadata:
    """What llama.cpp's converter writes for a SentencePiece model."""
    size = processor.get_piece_size()
    pieces = [processor.id_to_piece(index) for index in range(size)]
    types = [NORMAL] * size
    for index, piece in enumerate(pieces):
        if processor.is_unknown(index):
            types[index] = 2
        elif processor.is_control(index):
            types[index] = CONTROL
        elif processor.is_byte(index):
            types[index] = 6
        elif piece in symbols:
            types[index] = USER_DEFINED
    return metadata(
        "llama",
        [piece.replace("\u2581", " ") if types[index] == USER_DEFINED else piece for index, piece in enumerate(pieces)],
        types,
        architecture=architecture,
        scores=np.array([processor.get_score(index) for index in range(size)], np.float32),
        unknown_token_id=processor.unk_id(),
        bos_token_id=processor.bos_id(),
        add_bos_token=False,
        add_space_prefix=prefix,
    )


@pytest.mark.parametrize("architecture", ["llama", "gemma3"])
def test_sentencepiece_ids_are_the_same(architecture: str) -> None:
    prefix = architecture == "llama"
    symbols = [] if prefix else ["\n\n", "\u2581\u2581"]
    processor = train(prefix, symbols)
    tokenizer = build_tokenizer(of_sentencepiece(processor, architecture, prefix, symbols))
    for text in TEXTS:
        ids = tokenizer.encode(text).ids
        assert ids == processor.encode(text), text
        assert tokenizer.decode(ids) == text


def test_a_start_token_comes_in_front_where_the_file_wants_it() -> None:
    processor = train(True, [])
    about = of_sentencepiece(processor, "llama", True, [])
    wanted = Metadata("test.gguf", {**about.values, "tokenizer.ggml.add_bos_token": True})
    unsaid = Metadata("test.gguf", {k: v for k, v in about.values.items() if not k.endswith("add_bos_token")})
    plain = processor.encode("Hello")
    assert build_tokenizer(about).encode("Hello").ids == plain
    assert build_tokenizer(wanted).encode("Hello").ids == [processor.bos_id(), *plain]
    assert build_tokenizer(unsaid).encode("Hello").ids == [processor.bos_id(), *plain]


def test_control_tokens_are_found_whole_and_are_special() -> None:
    tokens = [*sorted(ByteLevel.alphabet()), "<|im_end|>", "<think>"]
    types = [NORMAL] * 256 + [CONTROL, USER_DEFINED]
    tokenizer = build_tokenizer(metadata("gpt2", tokens, types, pre="gpt-2", merges=[]))
    ids = tokenizer.encode("a<|im_end|>b<think>").ids
    assert ids == [tokens.index("a"), 256, tokens.index("b"), 257]
    assert tokenizer.decode(ids) == "ab<think>"


def test_a_large_vocabulary_can_be_given_up_on_the_way() -> None:
    """Some take seconds, in which a person may change their mind."""
    tokens = ["<unk>", *(chr(0x4E00 + index % 20_000) * (1 + index // 20_000) for index in range(40_000))]
    about = metadata("llama", tokens, [2, *[NORMAL] * 40_000], scores=np.zeros(len(tokens), np.float32))
    looks = 0

    def poll() -> None:
        nonlocal looks
        looks += 1

    build_tokenizer(about, poll)
    assert looks > len(tokens) / 20_000
    for last in range(1, looks + 1):
        left = iter(range(last - 1))
        with pytest.raises(StopIteration):
            build_tokenizer(about, lambda left=left: next(left) and None)


def test_a_token_as_long_as_a_book_takes_no_time() -> None:
    tokens = ["<unk>", "a", "aa", "a" * LONGEST_MERGED, "a" * 1_000_000]
    about = metadata("llama", tokens, [2, *[NORMAL] * 4], scores=np.zeros(5, np.float32))
    start = time.thread_time()
    assert build_tokenizer(about).token_to_id("a" * 1_000_000) == 4
    assert time.thread_time() - start < 1


CUTS: Mapping[str, list[str]] = {
    "gpt-2": ["Don", "'t", "Ġpay", "Ġ12345", "!!", "Ċ", "Ċ", "Now"],
    "smollm": ["Don", "'t", "Ġpay", "Ġ", "1", "2", "3", "4", "5", "!!", "Ċ", "Ċ", "Now"],
    "llama-bpe": ["Don", "'t", "Ġpay", "Ġ", "123", "45", "!!ĊĊ", "Now"],
    "qwen2": ["Don", "'t", "Ġpay", "Ġ", "1", "2", "3", "4", "5", "!!ĊĊ", "Now"],
    "tekken": ["Don", "'t", "Ġpay", "Ġ", "1", "2", "3", "4", "5", "!!ĊĊ", "Now"],
    "gpt-4o": ["Don't", "Ġpay", "Ġ", "123", "45", "!!ĊĊ", "Now"],
    "default": ["Don", "'", "t", "Ġpay", "Ġ", "123", "45", "!!", "Ċ", "Ċ", "Now"],
}


@pytest.mark.parametrize("name", CUTS)
def test_text_is_cut_as_the_model_learned_it(name: str) -> None:
    cutter = pre_tokenizer(name)
    assert cutter is not None
    assert [piece for piece, _ in cutter.pre_tokenize_str("Don't pay 12345!!\n\nNow")] == CUTS[name]


def test_an_unknown_kind_is_named() -> None:
    with pytest.raises(UnsupportedModel, match="brand-new"):
        build_tokenizer(metadata("gpt2", ["a"], [NORMAL], pre="brand-new", merges=[]))
    with pytest.raises(UnsupportedModel, match="rwkv"):
        build_tokenizer(metadata("rwkv", ["a"], [NORMAL]))


@pytest.mark.parametrize(
    "change",
    [
        {"tokens": ["a", "a", "b"]},
        {"token_type": np.ones(2, np.int32)},
        {"merges": ["ab"]},
        {"merges": ["a c"]},
        {"bos_token_id": 3, "add_bos_token": True},
        {"merges": 5},
    ],
)
def test_a_contradiction_gets_a_sentence(change: dict[str, Any]) -> None:
    about = metadata("gpt2", ["a", "b", "ab"], [NORMAL] * 3, pre="gpt-2", merges=["a b"])
    build_tokenizer(about)
    changed = {f"tokenizer.ggml.{key}": value for key, value in change.items()}
    with pytest.raises(BadModelFile) as caught:
        build_tokenizer(Metadata("test.gguf", {**about.values, **changed}))
    assert "test.gguf" in caught.value.sentence and caught.value.sentence.endswith(".")


SMOLLM: Mapping[str, list[str]] = {
    "What is 12345 + 678?": ["What", "Ġis", "Ġ", "1", "2", "3", "4", "5", "Ġ+", "Ġ", "6", "7", "8", "?"],
    "你好": ["ä½", "ł", "å¥", "½"],
    "🎉": ["ðŁ", "İ", "ī"],
    "Hello world<|im_end|>\n": ["Hello", "Ġworld", "<|im_end|>", "Ċ"],
    "  if x:\n\treturn": ["Ġ", "Ġif", "Ġx", ":", "Ċ", "ĉ", "return"],
}


@pytest.mark.model
def test_smollm2_speaks_as_its_file_says(model_home: Paths) -> None:
    from transformers import AutoTokenizer

    folder = Registry(model_home.models).find(None).folder
    tokenizer = AutoTokenizer.from_pretrained(folder)
    with open_gguf(folder / "source.gguf") as file:
        tokens, types = file.metadata.strings("tokenizer.ggml.tokens"), token_types(file.metadata)
    assert tokenizer.convert_ids_to_tokens(list(range(len(tokens)))) == tokens
    assert set(tokenizer.all_special_ids) <= set(np.flatnonzero(types == CONTROL).tolist())
    for text, expected in SMOLLM.items():
        assert tokenizer.convert_ids_to_tokens(tokenizer(text).input_ids) == expected
    for text in TEXTS:
        assert tokenizer.decode(tokenizer(text).input_ids) == text


@pytest.mark.model
def test_smollm2_knows_its_ends_and_its_template(model_home: Paths) -> None:
    import json

    folder: Path = Registry(model_home.models).find(None).folder
    ends = json.loads((folder / "generation_config.json").read_text())["eos_token_id"]
    assert ends == [2, 0]
    assert "<|im_start|>" in (folder / "chat_template.jinja").read_text()
