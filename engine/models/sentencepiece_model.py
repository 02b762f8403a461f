"""Turns a SentencePiece tokenizer.model into a tokenizer of the `tokenizers` library, and checks that they agree.

The file is a protocol buffer (sentencepiece_model.proto in https://github.com/google/sentencepiece); only the few
fields that matter are read.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import numpy as np
import sentencepiece
from tokenizers import Tokenizer

from engine.errors import BadModelFile, UnsupportedModel
from engine.models.gguf_metadata import Metadata, Value
from engine.models.gguf_tokenizer import NORMAL, SPACE, USER_DEFINED, build_tokenizer

# Field numbers of the messages ModelProto, SentencePiece, TrainerSpec and NormalizerSpec.
_PIECES, _NORMALIZER = 1, 3
_PIECE, _SCORE, _TYPE = 1, 2, 3
_ADD_DUMMY_PREFIX: Final = 3
# Words, spaces, digits, scripts, emoji, code: where another kind of model (unigram, normalised text) would differ.
PROBES: Final = (
    "The quick brown fox jumps over the lazy dog.",
    "  Spaces in front,   inside\tand at the end ",
    "1234567890 3.14 \u00bd \uff21\uff22\uff23 \ufb01",
    "def f(x):\n    return {x: 'y'}\n\n",
    "Größe naïve São Paulo Ελληνικά 你好世界 😀👍🏽",
)


def convert_sentencepiece(path: Path, model_type: str, bos: bool) -> Tokenizer:
    """The tokenizer in a tokenizer.model.

    Args:
        path: The file.
        model_type: Of the model that it belongs to.
        bos: Whether a start token comes in front of every text.

    Raises:
        BadModelFile: The file is damaged.
        UnsupportedModel: It is of a kind (not BPE, or with a normaliser) that would give other ids.
        OSError: The file cannot be opened.
    """
    data = path.read_bytes()
    try:
        processor = sentencepiece.SentencePieceProcessor(model_proto=data)
        values = _vocabulary(data) | {"general.architecture": model_type}
    except (RuntimeError, ValueError, IndexError, struct.error) as error:
        raise BadModelFile(f"The tokenizer {path.name} cannot be read; get it again.", str(error)) from error
    tokenizer = build_tokenizer(Metadata(path.name, values))
    for text in PROBES:
        if tokenizer.encode(text).ids != processor.encode(text):
            raise UnsupportedModel(
                f"The tokenizer {path.name} is of a kind that is not supported; get the model with a tokenizer.json.",
                f"differs in {text!r}",
            )
    if not bos or processor.bos_id() < 0:
        return tokenizer
    start: dict[str, Value] = {"add_bos_token": True, "bos_token_id": processor.bos_id()}
    return build_tokenizer(Metadata(path.name, values | {f"tokenizer.ggml.{key}": start[key] for key in start}))


def _vocabulary(data: bytes) -> dict[str, Value]:
    """The vocabulary in the words of a GGUF file."""
    pieces = [_piece(message) for message in _messages(data, _PIECES)]
    kinds = [kind for _, _, kind in pieces]
    normalizer = dict(_fields(b"".join(_messages(data, _NORMALIZER))))
    values: dict[str, Value] = {
        "model": "llama",
        "tokens": [text.replace(SPACE, " ") if kind == USER_DEFINED else text for text, _, kind in pieces],
        "token_type": np.array(kinds),
        "scores": np.array([score for _, score, _ in pieces]),
        "unknown_token_id": kinds.index(2),
        "add_space_prefix": bool(normalizer.get(_ADD_DUMMY_PREFIX, 1)),
    }
    return {f"tokenizer.ggml.{key}": value for key, value in values.items()}


def _messages(data: bytes, number: int) -> Iterator[bytes]:
    return (value for field, value in _fields(data) if field == number and isinstance(value, bytes))


def _piece(data: bytes) -> tuple[str, float, int]:
    """Text, score and type of one piece; the types have the numbers that GGUF took over."""
    fields = dict(_fields(data))
    text, score = fields[_PIECE], fields.get(_SCORE, bytes(4))
    kind = fields.get(_TYPE, NORMAL)
    if not (isinstance(text, bytes) and isinstance(score, bytes) and isinstance(kind, int)):
        raise ValueError("a piece with fields of the wrong type")
    return text.decode(), struct.unpack("<f", score)[0], kind


def _fields(data: bytes) -> Iterator[tuple[int, int | bytes]]:
    """Number and value of each field of a protocol buffer message; numbers of fixed size come as bytes."""
    at = 0
    while at < len(data):
        key, at = _varint(data, at)
        kind = key & 7
        if kind == 0:
            value, at = _varint(data, at)
            yield key >> 3, value
            continue
        if kind not in (1, 2, 5):
            raise ValueError(f"a field of the unknown kind {kind}")
        length = {1: 8, 5: 4}.get(kind, 0)
        if kind == 2:
            length, at = _varint(data, at)
        if at + length > len(data):
            raise ValueError("a field reaches beyond the end")
        yield key >> 3, data[at : at + length]
        at += length


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """A number in groups of seven bits, lowest first, and where it ends."""
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value, at
