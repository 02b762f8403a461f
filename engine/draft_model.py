"""Speculative decoding with a smaller model of the same tokenizer: it guesses a few tokens, the large one checks them.

All guesses are checked in one forward pass, and each is kept only if the sampler of the large model chooses it too, so
the tokens and their probabilities are those of plain decoding. Sources: Leviathan et al. 2023, "Fast Inference from
Transformers via Speculative Decoding", for a draft that is certain of itself; that a draft ends where its model is
unsure is transformers' `assistant_confidence_threshold`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Final

from torch import Tensor

from engine.kv_cache import KVCache
from engine.runner import AnyRunner
from engine.speculate import Payoff

_LONGEST: Final = 8  # tokens of a draft
_UNSURE: Final = 0.4  # below this probability its own best guess is not worth a place in the pass
_AT_ONCE: Final = 64  # tokens that it catches up on between two of the reply, so that nobody sees it read


class DraftModel:
    """A loaded draft model and its one KV cache, which follows whichever conversation is answered.

    Args:
        name: For people.
        runner: Of the smaller model; its caches can be cropped.
    """

    def __init__(self, name: str, runner: AnyRunner) -> None:
        self.name = name
        self.runner = runner
        self.cache = KVCache(runner)

    def forget(self) -> None:
        """Give the cache's memory back."""
        self.cache.clear()


class ModelDrafts:
    """Drafts for one reply; stops drafting while it does not pay.

    Args:
        model: Who guesses.
        ids: The prompt.
        clock: Monotonic seconds.
        vocab_size: Of the model that it guesses for, which a draft's own may exceed by rows that mean nothing.

    Attributes:
        drafted, accepted: Tokens so far.
    """

    def __init__(
        self,
        model: DraftModel,
        ids: Sequence[int],
        clock: Callable[[], float] = time.perf_counter,
        *,
        vocab_size: int | None = None,
    ) -> None:
        self._model = model
        self._vocab_size = vocab_size
        self._ids = list(ids)
        self._known = max(self._ids, default=0) < model.runner.vocab_size
        self._clock = clock
        self._length = 2
        self._pays = Payoff()
        self._spent_s = 0.0
        self.drafted = 0
        self.accepted = 0

    def push(self, token_id: int) -> None:
        """A token that now stands in the conversation."""
        self._ids.append(token_id)
        # The larger model's list of tokens can be filled up further; a row that is not there cannot be read.
        self._known = self._known and token_id < self._model.runner.vocab_size

    def guess(self) -> list[int]:
        """What may come next; nothing while a plain step was not timed yet, or drafting does not pay."""
        if not self._known or not self._pays.known or not self._pays.worth_trying() or self._is_full:
            return []
        began = self._clock()
        rest = self._model.cache.reuse(self._ids)
        if len(rest) > _AT_ONCE:
            self._model.cache.prefill(rest[:_AT_ONCE])  # no loss: it is read once for all guesses to come
            return []
        found = self._found(rest)
        self._spent_s = self._clock() - began
        if not found:
            self._pays.lost(self._spent_s)
        return found

    def verified(self, drafted: int, accepted: int, seconds: float) -> None:
        """Learn from a pass that verified a draft."""
        self.drafted += drafted
        self.accepted += accepted
        self._length = min(_LONGEST, self._length + 2) if accepted == drafted else max(1, accepted + 1)
        self._pays.verified(accepted, seconds + self._spent_s)

    def decoded(self, seconds: float) -> None:
        """Learn from a plain step."""
        self._pays.decoded(seconds)

    @property
    def _is_full(self) -> bool:
        return len(self._ids) + _LONGEST > self._model.runner.context_limit

    def _found(self, rest: Sequence[int]) -> list[int]:
        """Read what is new, then guess greedily while the model is sure."""
        cache, found = self._model.cache, list[int]()
        logits = cache.prefill(rest)
        while len(found) < self._length:
            token_id = _sure(logits[: self._vocab_size])
            if token_id is None:
                break
            found.append(token_id)
            if len(found) < self._length:
                logits = cache.decode(token_id)
        return found


def _sure(logits: Tensor) -> int | None:
    """The likeliest token; None where it is not likely enough. `logits` is float32 [vocab_size]."""
    best = int(logits.argmax())
    return best if float((logits - logits[best]).exp().sum()) < 1 / _UNSURE else None
