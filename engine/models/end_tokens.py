"""Which tokens end a turn: the one that a model names, and the known ones that it also has."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

# What chat models end a turn or a text with; many files name only one of the two that theirs uses.
KNOWN: Final = (
    "<|im_end|>",
    "<|eot_id|>",
    "<|eom_id|>",
    "<end_of_turn>",
    "<|end|>",
    "<|endoftext|>",
    "<|end_of_text|>",
    "<end_of_utterance>",
    "<|end_of_turn|>",
    "<|END_OF_TURN_TOKEN|>",
    "<|eot|>",
    "<|return|>",
)


def end_token_ids(named: Iterable[int | None], special_tokens: Mapping[str, int]) -> list[int]:
    """All ids that end a turn, the named ones first, each once.

    Args:
        named: What the model's files name.
        special_tokens: Text to id, of its special tokens only.
    """
    known = (special_tokens.get(text) for text in KNOWN)
    return list(dict.fromkeys(index for index in (*named, *known) if index is not None))
