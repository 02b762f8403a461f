"""From a GGUF file's vocabulary to a tokenizer in the `tokenizers` library's own format."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final

import numpy as np
import numpy.typing as npt
from tokenizers import AddedToken, Tokenizer, decoders, normalizers, processors
from tokenizers.models import BPE

from engine.errors import BadModelFile, UnsupportedModel
from engine.models.gguf_metadata import Metadata
from engine.models.names import shown
from engine.models.pre_tokenizers import COMPOSED, WHOLE_PIECES_FIRST, pre_tokenizer

TOKENS: Final = "tokenizer.ggml.tokens"
SPACE: Final = "\u2581"
# A longer token is made by no merge: all ways to cut it take time that grows with the square of its length.
LONGEST_MERGED: Final = 256
_TOKENS_AT_ONCE: Final = 10_000  # between two looks at whether to go on: some hundredths of a second
# llama.cpp's token types.
NORMAL, UNKNOWN, CONTROL, USER_DEFINED = 1, 2, 3, 4


def _go_on() -> None:
    """Nobody asks to stop."""


def build_tokenizer(metadata: Metadata, poll: Callable[[], None] = _go_on) -> Tokenizer:
    """The tokenizer that a GGUF file describes.

    Args:
        metadata: The file's.
        poll: Called several times a second; what it raises ends the work.

    Raises:
        BadModelFile: The file holds no tokenizer, or one that contradicts itself.
        UnsupportedModel: A kind of tokenizer that is not supported.
    """
    if TOKENS not in metadata:
        raise BadModelFile(f"The file {metadata.file_name} holds no tokenizer; get one that does.")
    kind = metadata.text("tokenizer.ggml.model")
    if kind not in ("gpt2", "llama"):
        raise UnsupportedModel(
            f"The model in {metadata.file_name} has a tokenizer that is not supported ({shown(kind)})."
        )
    tokens, types = metadata.strings(TOKENS), token_types(metadata)
    poll()
    tokenizer = _byte_level(metadata, tokens) if kind == "gpt2" else _sentencepiece(metadata, tokens, types, poll)
    poll()
    _add_whole_tokens(tokenizer, tokens, types)
    _add_bos(tokenizer, metadata, tokens, default=kind == "llama")
    return tokenizer


def token_types(metadata: Metadata) -> npt.NDArray[np.generic]:
    """The type of each token, shape [vocabulary]; all are normal where the file does not say."""
    count = len(metadata.strings(TOKENS))
    if "tokenizer.ggml.token_type" not in metadata:
        return np.full(count, NORMAL)
    return _per_token(metadata, "tokenizer.ggml.token_type", count)


def _per_token(metadata: Metadata, key: str, count: int) -> npt.NDArray[np.generic]:
    values = metadata.numbers(key)
    if len(values) != count:
        raise BadModelFile(
            f"The tokenizer in {metadata.file_name} contradicts itself; get the file again.",
            f"{count} tokens, {len(values)} in {key}",
        )
    return values


def _vocabulary(metadata: Metadata, tokens: Sequence[str]) -> dict[str, int]:
    vocabulary = {token: index for index, token in enumerate(tokens)}
    if len(vocabulary) != len(tokens):
        raise BadModelFile(f"The tokenizer in {metadata.file_name} holds a token twice; get the file again.")
    return vocabulary


def _byte_level(metadata: Metadata, tokens: Sequence[str]) -> Tokenizer:
    """Byte-level BPE (GPT-2 and its many heirs); how text is cut first differs from model to model."""
    name = metadata.text("tokenizer.ggml.pre", "default")
    cutter = pre_tokenizer(name)
    if cutter is None:
        raise UnsupportedModel(
            f"The model in {metadata.file_name} has a tokenizer that is not supported ({shown(name)})."
        )
    merges = [_pair(metadata, merge) for merge in metadata.strings("tokenizer.ggml.merges")]
    tokenizer = _bpe(metadata, _vocabulary(metadata, tokens), merges, ignore_merges=name in WHOLE_PIECES_FIRST)
    if name in COMPOSED:
        tokenizer.normalizer = normalizers.NFC()
    tokenizer.pre_tokenizer = cutter
    tokenizer.decoder = decoders.ByteLevel()
    return tokenizer


def _pair(metadata: Metadata, merge: str) -> tuple[str, str]:
    left, space, right = merge.partition(" ")
    if not (left and space and right):
        raise BadModelFile(f"The tokenizer in {metadata.file_name} is damaged; get the file again.", f"merge {merge!r}")
    return left, right


def _bpe(
    metadata: Metadata, vocabulary: dict[str, int], merges: list[tuple[str, str]], **options: bool | str
) -> Tokenizer:
    try:
        return Tokenizer(BPE(vocab=vocabulary, merges=merges, **options))
    except Exception as error:  # the library raises plain Exception, for example for a merge without its token
        raise BadModelFile(
            f"The tokenizer in {metadata.file_name} contradicts itself; get the file again.", str(error)
        ) from error


def _sentencepiece(
    metadata: Metadata, tokens: Sequence[str], types: npt.NDArray[np.generic], poll: Callable[[], None]
) -> Tokenizer:
    """SentencePiece BPE with byte fallback (Llama 1 and 2, Mistral, Phi-3, Gemma)."""
    gemma = metadata.text("general.architecture").startswith("gemma")
    spelled = [SPACE * len(token) if gemma and token.isspace() and set(token) == {" "} else token for token in tokens]
    vocabulary = _vocabulary(metadata, spelled)
    # Gemma's scores do not follow the order in which its merges were learned; the order of its tokens does.
    scores: npt.NDArray[np.generic] = (
        -np.arange(len(tokens)) if gemma else _per_token(metadata, "tokenizer.ggml.scores", len(tokens))
    )
    unknown = spelled[_token_id(metadata, "unknown", len(tokens), default=0)]
    mergeable = np.isin(types, (NORMAL, USER_DEFINED)).tolist()
    merges = _merges(vocabulary, scores.tolist(), mergeable, poll)
    poll()
    tokenizer = _bpe(metadata, vocabulary, merges, unk_token=unknown, fuse_unk=True, byte_fallback=True)
    prefix = metadata.flag("tokenizer.ggml.add_space_prefix", not gemma)
    _spell_spaces(tokenizer, prefix)
    return tokenizer


def _spell_spaces(tokenizer: Tokenizer, prefix: bool) -> None:
    """A space is written as a low block; some models also put one in front of a text."""
    replace = normalizers.Replace(" ", SPACE)
    plain: list[decoders.Decoder] = [decoders.Replace(SPACE, " "), decoders.ByteFallback(), decoders.Fuse()]
    if prefix:
        tokenizer.normalizer = normalizers.Sequence([normalizers.Prepend(SPACE), replace])
        tokenizer.decoder = decoders.Sequence([*plain, decoders.Strip(" ", 1, 0)])
    else:
        tokenizer.normalizer = replace
        tokenizer.decoder = decoders.Sequence(plain)


def _merges(
    vocabulary: dict[str, int], scores: list[float], mergeable: list[bool], poll: Callable[[], None]
) -> list[tuple[str, str]]:
    """The merges that a SentencePiece vocabulary implies: each way to make a token of two, best score first."""
    texts = list(vocabulary)
    ranked: list[tuple[float, int, int]] = []
    for start in range(0, len(texts), _TOKENS_AT_ONCE):
        poll()
        ranked += [
            (-scores[index], left, right)
            for index, token in enumerate(texts[start : start + _TOKENS_AT_ONCE], start)
            if mergeable[index] and len(token) <= LONGEST_MERGED
            for left, right in _halves(token, vocabulary)
        ]
    ranked.sort()
    return [(texts[left], texts[right]) for _, left, right in ranked]


def _halves(token: str, vocabulary: dict[str, int]) -> Iterator[tuple[int, int]]:
    find = vocabulary.get
    for cut in range(1, len(token)):
        left = find(token[:cut])
        if left is not None and (right := find(token[cut:])) is not None:
            yield left, right


def _add_whole_tokens(tokenizer: Tokenizer, tokens: Sequence[str], types: npt.NDArray[np.generic]) -> None:
    """Control tokens (special) and user-defined ones (plain) are found in the text before anything else."""
    known = tokenizer.get_vocab(with_added_tokens=False)
    for wanted, special in ((CONTROL, True), (USER_DEFINED, False)):
        texts = [tokens[index] for index in np.flatnonzero(types == wanted).tolist() if tokens[index] in known]
        added = [AddedToken(text, normalized=False, special=special) for text in texts if text]
        if special:
            tokenizer.add_special_tokens(added)
        else:
            tokenizer.add_tokens(added)


def _add_bos(tokenizer: Tokenizer, metadata: Metadata, tokens: Sequence[str], default: bool) -> None:
    """Some models want a start token in front of every text."""
    if "tokenizer.ggml.bos_token_id" not in metadata or not metadata.flag("tokenizer.ggml.add_bos_token", default):
        return
    index = _token_id(metadata, "bos", len(tokens))
    bos = tokens[index]
    tokenizer.post_processor = processors.TemplateProcessing(
        single=[bos, "$A"], pair=[bos, "$A", "$B:1"], special_tokens=[(bos, index)]
    )


def _token_id(metadata: Metadata, which: str, count: int, default: int | None = None) -> int:
    index = metadata.integer(f"tokenizer.ggml.{which}_token_id", default)
    if not 0 <= index < count:
        raise BadModelFile(
            f"The tokenizer in {metadata.file_name} contradicts itself; get the file again.",
            f"{which} token {index} of {count}",
        )
    return index


def token_id(metadata: Metadata, which: str) -> int | None:
    """The id of the "bos", "eos", "unknown", "padding", "eot" or "eom" token; None where the file names none.

    Raises:
        BadModelFile: The id lies outside the vocabulary.
    """
    if f"tokenizer.ggml.{which}_token_id" not in metadata:
        return None
    return _token_id(metadata, which, len(metadata.strings(TOKENS)))
