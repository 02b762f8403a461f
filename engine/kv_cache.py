"""The KV cache of one conversation: which tokens it holds, and how much of a new prompt they cover."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from torch import Tensor

from engine.runner import AnyRunner


def common_prefix(a: Sequence[int], b: Sequence[int]) -> int:
    """Length of the longest common beginning."""
    for n, (x, y) in enumerate(zip(a, b, strict=False)):
        if x != y:
            return n
    return min(len(a), len(b))


class KVCache:
    """Token ids and, in step with them, the runner's keys and values.

    Every token goes in through `prefill` or `decode`, so the two cannot drift apart; a failing forward pass
    leaves the cache empty, never wrong.
    """

    def __init__(self, runner: AnyRunner) -> None:
        self._runner = runner
        self._cache = runner.new_cache()
        self.ids: list[int] = []

    @property
    def nbytes(self) -> int:
        """Memory held, in bytes."""
        return int(self._cache.nbytes)

    def reuse(self, ids: Sequence[int]) -> list[int]:
        """Keep the longest common prefix with `ids` and return the rest, at least one token.

        One token is always left to read, because its logits are what the reply starts from.
        """
        kept = min(common_prefix(self.ids, ids), len(ids) - 1)
        kept = self._crop(kept)
        return list(ids[kept:])

    def prefill(self, ids: Sequence[int]) -> Tensor:
        """Append `ids`; logits of the last one, float32 [vocab_size]."""
        logits = self._guarded(lambda: self._runner.prefill(ids, self._cache, keep=1)[0])
        self.ids.extend(ids)
        return logits

    def decode(self, token_id: int) -> Tensor:
        """Append one token; its logits, float32 [vocab_size]."""
        logits = self._guarded(lambda: self._runner.decode(token_id, self._cache))
        self.ids.append(token_id)
        return logits

    def clear(self) -> None:
        """Forget everything and give the memory back."""
        self._cache = self._runner.new_cache()
        self.ids = []

    def _crop(self, length: int) -> int:
        """Shorten to `length` tokens where the runner's cache can, else to none; the length that is left."""
        if length < len(self.ids):
            if self._cache.crop(length):
                del self.ids[length:]
            else:
                self.clear()
        return len(self.ids)

    def _guarded(self, forward: Callable[[], Tensor]) -> Tensor:
        try:
            return forward()
        except BaseException:
            self.clear()
            raise
