"""The KV cache of one conversation: which tokens it holds, and how much of a new prompt they cover."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from torch import Tensor

from engine.runner import AnyRunner

_MOST_MARKS: Final = 6


Ids = Sequence[int] | np.ndarray


def common_prefix(a: Ids, b: Ids) -> int:
    """Length of the longest common beginning."""
    length = min(len(a), len(b))
    differing = np.flatnonzero(np.asarray(a[:length]) != np.asarray(b[:length]))
    return int(differing[0]) if len(differing) else length


@dataclass(frozen=True, slots=True)
class _Mark:
    """The state of a cache that cannot be cropped, at one length it may have to return to."""

    length: int
    tensors: dict[str, Tensor]


class KVCache:
    """Token ids and, in step with them, the runner's keys and values.

    Every token goes in through `prefill` or `decode`, so the two cannot drift apart; a failing forward pass
    leaves the cache empty, never wrong.
    """

    def __init__(self, runner: AnyRunner) -> None:
        self._runner = runner
        self._cache = runner.new_cache()
        self._marks: list[_Mark] = []
        self.ids: list[int] = []

    @classmethod
    def restored(cls, runner: AnyRunner, ids: Sequence[int], tensors: Mapping[str, Tensor]) -> KVCache:
        """The cache of `ids` whose `export` these tensors are.

        Raises:
            BadModelFile: They are no cache of this model, or not of so many tokens.
        """
        made = cls(runner)
        made._cache = runner.restore_cache(tensors)
        made.ids = list(ids)
        return made

    @property
    def nbytes(self) -> int:
        """Memory held, in bytes."""
        marks = sum(t.nbytes for mark in self._marks for t in mark.tensors.values())
        return int(self._cache.nbytes) + marks

    def covers(self, ids: Sequence[int]) -> int:
        """Tokens of a new prompt that need not be computed; at most all but the last, whose logits are wanted."""
        common = min(common_prefix(self.ids, ids), len(ids) - 1)
        if common == len(self.ids) or self._runner.croppable:
            return common
        return max((mark.length for mark in self._marks if mark.length <= common), default=0)

    def reuse(self, ids: Sequence[int]) -> list[int]:
        """Keep the longest common prefix with `ids` and return the rest, at least one token."""
        kept = self.covers(ids)
        if kept < len(self.ids):
            self._return_to(kept)
        return list(ids[kept:])

    def mark(self) -> None:
        """Remember this point, so that a cache that cannot be cropped can return to it; else nothing to do."""
        if self._runner.croppable or not self.ids or any(mark.length == len(self.ids) for mark in self._marks):
            return
        state = {name: tensor.clone() for name, tensor in self._cache.export().items()}
        self._marks = [*self._marks[1 - _MOST_MARKS :], _Mark(len(self.ids), state)]

    def prefill(self, ids: Sequence[int]) -> Tensor:
        """Append `ids`; logits of the last one, float32 [vocab_size]."""
        if len(ids) == 1:
            return self.decode(ids[0])
        logits = self._guarded(lambda: self._runner.prefill(ids, self._cache, keep=1)[0])
        self.ids.extend(ids)
        return logits

    def decode(self, token_id: int) -> Tensor:
        """Append one token; its logits, float32 [vocab_size]."""
        logits = self._guarded(lambda: self._runner.decode(token_id, self._cache))
        self.ids.append(token_id)
        return logits

    def export(self, length: int | None = None) -> dict[str, Tensor]:
        """The first `length` tokens (None: all) as tensors, which may be views of this cache."""
        tensors: dict[str, Tensor] = self._cache.export(length)
        return tensors

    def compact(self) -> None:
        """Give back the room for tokens to come."""
        self._cache.compact()

    def clear(self) -> None:
        """Forget everything and give the memory back."""
        self._cache = self._runner.new_cache()
        self._marks = []
        self.ids = []

    def _return_to(self, length: int) -> None:
        """Shorten to a length that `covers` gave."""
        if not self._cache.crop(length):
            mark = next((mark for mark in self._marks if mark.length == length), None)
            self._cache = self._runner.restore_cache(mark.tensors) if mark else self._runner.new_cache()
        self._marks = [mark for mark in self._marks if mark.length <= length]
        del self.ids[length:]

    def _guarded(self, forward: Callable[[], Tensor]) -> Tensor:
        try:
            return forward()
        except BaseException:
            self.clear()
            raise
