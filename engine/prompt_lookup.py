"""Prompt-lookup decoding: what followed the last few tokens before is a draft of what follows them now.

Source: Saxena, "Prompt Lookup Decoding" (2023), with the acceptance rule of Leviathan et al. 2023 for a draft that is
certain of itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from engine.speculate import Payoff

_NGRAM: Final = 3
_SHORTEST: Final = 3
_LONGEST: Final = 12


class PromptLookup:
    """Drafts from the conversation's own tokens, and stops drafting while it does not pay.

    Args:
        ids: The prompt.

    Attributes:
        drafted, accepted: Tokens so far.
    """

    def __init__(self, ids: Sequence[int]) -> None:
        self._ids: list[int] = []
        self._ends: dict[tuple[int, ...], int] = {}  # n-gram -> index behind its last occurrence but the newest
        self._length = _SHORTEST
        self._pays = Payoff()
        self.drafted = 0
        self.accepted = 0
        for token_id in ids:
            self.push(token_id)

    def push(self, token_id: int) -> None:
        """A token that now stands in the conversation."""
        if len(self._ids) >= _NGRAM:
            # Entered one token late, so that looking up the newest n-gram finds an earlier one.
            self._ends[tuple(self._ids[-_NGRAM:])] = len(self._ids)
        self._ids.append(token_id)

    def guess(self) -> list[int]:
        """What may come next, likeliest as it stood before; often nothing."""
        if not self._pays.worth_trying():
            return []
        end = self._ends.get(tuple(self._ids[-_NGRAM:]))
        return [] if end is None else self._ids[end : end + self._length]

    def verified(self, drafted: int, accepted: int, seconds: float) -> None:
        """Learn from a pass that verified a draft."""
        self.drafted += drafted
        self.accepted += accepted
        self._length = min(_LONGEST, 2 * self._length) if accepted == drafted else max(_SHORTEST, accepted + 1)
        self._pays.verified(accepted, seconds)

    def decoded(self, seconds: float) -> None:
        """Learn from a plain step."""
        self._pays.decoded(seconds)
