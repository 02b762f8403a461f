"""Prefill and decode as two generators over token ids; both poll the cancel flag between their steps."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator, Sequence

from torch import Tensor

from engine.kv_cache import KVCache

_CHUNK_TARGET_S = 0.1  # a person who presses Stop should not notice that prefill runs in chunks
_SMALLEST_CHUNK = 16

Cancelled = Callable[[], bool]


class ChunkPacer:
    """Sizes prefill chunks so that each takes about 0.1 s on this machine.

    Sizes are powers of two times the smallest, so a repeated run soon has the same chunks and the same rounding.

    Args:
        largest: Most tokens in a chunk.
    """

    def __init__(self, largest: int) -> None:
        self._largest = largest
        self.size = min(64, largest)

    def took(self, tokens: int, seconds: float) -> None:
        """Learn from a chunk that was run."""
        if tokens < self.size:
            return
        if seconds > _CHUNK_TARGET_S:
            self.size = max(_SMALLEST_CHUNK, self.size // 2)
        elif seconds < _CHUNK_TARGET_S / 3:
            self.size = min(self._largest, self.size * 2)


def prefill(
    cache: KVCache, ids: Sequence[int], pacer: ChunkPacer, cancelled: Cancelled
) -> Generator[int, None, Tensor | None]:
    """Read `ids` into the cache, chunk by chunk.

    Yields:
        Tokens read so far, after each chunk.

    Returns:
        Logits after the last token, float32 [vocab_size], or None when cancelled; then the cache holds what
        was read and stays reusable.
    """
    logits: Tensor | None = None
    done = 0
    while done < len(ids):
        if cancelled():
            return None
        chunk = ids[done : done + pacer.size]
        began = time.perf_counter()
        logits = cache.prefill(chunk)
        pacer.took(len(chunk), time.perf_counter() - began)
        done += len(chunk)
        yield done
    return logits


def decode(
    cache: KVCache, logits: Tensor, sample: Callable[[Tensor], int], limit: int, cancelled: Cancelled
) -> Iterator[int]:
    """Generate up to `limit` tokens, one forward pass each.

    The caller ends it by not asking for more. A token enters the cache only when the next one is wanted, so the
    last one of a reply is read with the following turn.
    """
    for n in range(limit):
        if cancelled():
            return
        token_id = sample(logits)
        yield token_id
        if n + 1 < limit and not cancelled():
            logits = cache.decode(token_id)
