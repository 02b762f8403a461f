"""How text is cut before BPE for each `tokenizer.ggml.pre`; the expressions are those of the models' tokenizer.json."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from tokenizers import Regex
from tokenizers.pre_tokenizers import ByteLevel, Digits, PreTokenizer, Sequence, Split

_WORDS: Final = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+"
_REST: Final = r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
LLAMA3: Final = _WORDS + r"|\p{N}{1,3}" + _REST
QWEN2: Final = _WORDS + r"|\p{N}" + _REST
_UPPER: Final = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]"
_LOWER: Final = r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
_CASED_REST: Final = r"| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
TEKKEN: Final = (
    rf"[^\r\n\p{{L}}\p{{N}}]?{_UPPER}*{_LOWER}+|[^\r\n\p{{L}}\p{{N}}]?{_UPPER}+{_LOWER}*|\p{{N}}" + _CASED_REST
)
_SHORT: Final = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
GPT4O: Final = (
    rf"[^\r\n\p{{L}}\p{{N}}]?{_UPPER}*{_LOWER}+{_SHORT}|[^\r\n\p{{L}}\p{{N}}]?{_UPPER}+{_LOWER}*{_SHORT}|\p{{N}}{{1,3}}"
    + _CASED_REST
)


def _split(pattern: str) -> PreTokenizer:
    cut = Split(Regex(pattern), behavior="isolated")
    return Sequence([cut, ByteLevel(add_prefix_space=False, use_regex=False)])


def _gpt2() -> PreTokenizer:
    return ByteLevel(add_prefix_space=False, use_regex=True)


def _single_digits() -> PreTokenizer:
    return Sequence([Digits(individual_digits=True), _gpt2()])


def _default() -> PreTokenizer:
    """llama.cpp's choice for files that name none: its four expressions one after the other."""
    punctuation = Split(Regex(r"[\p{P}\$\+<=>\^~\|]+"), behavior="isolated")
    numbers = Split(Regex(r"\p{N}+"), behavior="isolated")
    threes = Split(Regex(r"[0-9][0-9][0-9]"), behavior="isolated")
    words = Split(Regex(r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)"), behavior="isolated")
    return Sequence([punctuation, words, numbers, threes, ByteLevel(add_prefix_space=False, use_regex=False)])


_BUILDERS: Final[Mapping[str, Callable[[], PreTokenizer]]] = {
    **dict.fromkeys(("gpt-2", "mpt", "olmo", "jais", "phi-2", "trillion"), _gpt2),
    **dict.fromkeys(
        ("smollm", "starcoder", "refact", "command-r", "codeshell", "exaone", "minerva-7b"), _single_digits
    ),
    **dict.fromkeys(
        ("llama-bpe", "llama3", "llama-v3", "smaug-bpe", "dbrx", "falcon3", "pixtral"), lambda: _split(LLAMA3)
    ),
    **dict.fromkeys(("qwen2", "stablelm2", "deepseek-r1-qwen", "megrez", "hunyuan"), lambda: _split(QWEN2)),
    "tekken": lambda: _split(TEKKEN),
    **dict.fromkeys(("gpt-4o", "llama4"), lambda: _split(GPT4O)),
    "default": _default,
}
# Here a piece that is a whole token is taken as it is, before any merge.
WHOLE_PIECES_FIRST: Final = frozenset(("llama-bpe", "llama3", "llama-v3", "falcon3", "pixtral", "tekken"))
# Here text is brought into Unicode's composed form (NFC) first.
COMPOSED: Final = frozenset(("qwen2", "deepseek-r1-qwen", "megrez"))


def pre_tokenizer(name: str) -> PreTokenizer | None:
    """The pre-tokenizer of that `tokenizer.ggml.pre`; None for a name that is not known."""
    builder = _BUILDERS.get(name)
    return None if builder is None else builder()
