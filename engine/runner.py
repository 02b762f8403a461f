"""The forward pass as the rest of the engine sees it: two protocols, any number of implementations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, TypeAlias, TypeVar

from torch import Tensor


class SequenceCache(Protocol):
    """Keys and values of one sequence, in whatever layout its runner likes."""

    @property
    def length(self) -> int:
        """Tokens held."""
        ...

    @property
    def nbytes(self) -> int:
        """Memory held, in bytes."""
        ...

    def crop(self, length: int) -> bool:
        """Forget all but the first `length` tokens; False if this cache cannot (then it is unchanged)."""
        ...


Cache = TypeVar("Cache", bound=SequenceCache)


class Runner(Protocol[Cache]):
    """One model on one device. Not thread-safe: it belongs to the worker thread.

    A runner works on caches that it made itself, of type `Cache`.
    """

    @property
    def description(self) -> str:
        """Which implementation runs and why, in words."""
        ...

    @property
    def vocab_size(self) -> int:
        """Length of a row of logits."""
        ...

    @property
    def context_limit(self) -> int:
        """Most tokens a cache of this runner can hold."""
        ...

    @property
    def weight_bytes(self) -> int:
        """Memory held by the weights."""
        ...

    @property
    def kv_bytes_per_token(self) -> int:
        """Memory that one more token costs."""
        ...

    def new_cache(self) -> Cache:
        """An empty cache."""
        ...

    def prefill(self, ids: Sequence[int], cache: Cache, keep: int = 1) -> Tensor:
        """Read `ids` in parallel, append them to `cache`.

        Returns:
            Logits of the last `keep` positions, float32 on the CPU, shape [keep, vocab_size].
        """
        ...

    def decode(self, token_id: int, cache: Cache) -> Tensor:
        """Read one token, append it to `cache`; its logits, float32 on the CPU, shape [vocab_size]."""
        ...


AnyRunner: TypeAlias = Runner[Any]
