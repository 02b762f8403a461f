"""Replies that follow a JSON schema: which tokens may come next, by llguidance over the model's own vocabulary.

A matcher holds the grammar's state behind the tokens so far and gives a mask over the vocabulary for the next one
(https://github.com/guidance-ai/llguidance). Every token that is sampled goes through it in order, drafted ones too,
so drafting needs nothing of its own.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Final

import numpy as np
import torch
from llguidance import LLMatcher, LLParserLimits, LLTokenizer
from torch import Tensor

from engine.errors import BadRequest

if TYPE_CHECKING:
    from llguidance._lib import JsonCompileOptions

# Spaces as Python's json writes them, and no others: a small model can lose itself in white space that means nothing.
_LAYOUT: Final[JsonCompileOptions] = {"whitespace_flexible": False, "item_separator": ", ", "key_separator": ": "}
_SILENT: Final = 0
_SHOWN: Final = 200  # characters of what the library says


class Vocabulary:
    """A model's tokens as the grammar sees them: bytes, and the ids that end a reply.

    Args:
        tokenizer: tokenizer.json as text.
        size: Length of the logits.
        end_ids: Ids that end a reply.
    """

    def __init__(self, tokenizer: str, size: int, end_ids: Collection[int]) -> None:
        self.size = size
        self._ends = bool(end_ids)
        self._tokens = LLTokenizer(tokenizer, n_vocab=size, eos_token=sorted(end_ids) or None)

    def token_bytes(self, token_id: int) -> bytes:
        """The bytes of one token."""
        return self._tokens.decode_bytes([token_id])

    def constraint(self, schema: str) -> Constraint:
        """A fresh constraint to texts that this JSON schema admits.

        Raises:
            BadRequest: It is no schema, or uses what is not supported.
        """
        if not self._ends:
            raise BadRequest("This model has no token that ends a reply, so it cannot be held to a JSON schema.")
        try:
            grammar = LLMatcher.grammar_from_json_schema(schema, defaults=_LAYOUT)
        except ValueError as error:
            raise _refused(str(error)) from error
        matcher = LLMatcher(self._tokens, grammar, log_level=_SILENT, limits=LLParserLimits(verbose_errors=False))
        if matcher.is_error():
            raise _refused(matcher.get_error())
        return Constraint(matcher, self.size)


class Constraint:
    """Where one reply stands in its grammar.

    Args:
        matcher: At its beginning.
        size: Length of the logits.
    """

    def __init__(self, matcher: LLMatcher, size: int) -> None:
        self._matcher = matcher
        self._size = size

    def masked(self, logits: Tensor) -> Tensor:
        """`logits` (float32 [size]) with minus infinity for every token that must not come next.

        Raises:
            BadRequest: No token may come next; the schema asks for more than can be followed.
        """
        bits = np.frombuffer(self._matcher.compute_bitmask(), dtype=np.uint8)
        allowed = torch.from_numpy(np.unpackbits(bits, bitorder="little")[: self._size].astype(bool))
        if self._matcher.is_error() or not bool(allowed.any()):
            sentence = "The reply cannot be held to this JSON schema any longer; ask with a simpler one."
            raise BadRequest(sentence, self._matcher.get_error())
        return torch.where(allowed, logits, -torch.inf)

    def push(self, token_id: int) -> None:
        """A token that was sampled from masked logits."""
        self._matcher.consume_token(token_id)


def _refused(reason: str) -> BadRequest:
    line = " ".join(reason.partition(". Enable ")[0].split()).rstrip(".")[:_SHOWN]  # options are ours, not the client's
    return BadRequest(f"The JSON schema cannot be used: {line}.", reason)
