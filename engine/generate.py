"""Prefill and decode as two generators over token ids; both poll the cancel flag between their steps."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Generator, Iterator, Sequence

from torch import Tensor

from engine.kv_cache import KVCache
from engine.speculate import Drafter

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
        if done == len(ids) - 1:
            cache.mark()  # asking again returns to here
        chunk = _next_chunk(cache, ids[done:], pacer.size)
        began = time.perf_counter()
        logits = cache.prefill(chunk)
        pacer.took(len(chunk), time.perf_counter() - began)
        done += len(chunk)
        yield done
    return logits


def prefill_all(cache: KVCache, ids: Sequence[int], pacer: ChunkPacer, cancelled: Cancelled) -> Tensor | None:
    """`prefill` to its end, for whoever shows no progress: the logits, or None when cancelled."""
    steps = prefill(cache, ids, pacer, cancelled)
    while True:
        try:
            next(steps)
        except StopIteration as end:
            logits: Tensor | None = end.value
            return logits


def _next_chunk(cache: KVCache, ids: Sequence[int], size: int) -> Sequence[int]:
    """The ids to read next; where a cache cannot be cropped the last one comes alone, so that a mark lies before it."""
    chunk = ids[:size]
    return chunk[:-1] if cache.stateful and 1 < len(chunk) == len(ids) else chunk


def decode(
    cache: KVCache,
    logits: Tensor,
    sample: Callable[[Tensor], int],
    limit: int,
    cancelled: Cancelled,
    *,
    drafter: Drafter | None = None,
) -> Iterator[int]:
    """Generate up to `limit` tokens, one forward pass each, or one for several where a draft was right.

    The caller ends it by closing it. A plainly decoded token enters the cache only when the next one is wanted, so
    the last one of a reply is read with the following turn.
    """
    if cancelled():
        return
    with contextlib.closing(_tokens(cache, logits, sample, drafter)) as tokens:
        for made, token_id in enumerate(tokens, 1):
            yield token_id
            if made == limit or cancelled():
                return


def _tokens(
    cache: KVCache, logits: Tensor, sample: Callable[[Tensor], int], drafter: Drafter | None
) -> Generator[int, None, None]:
    """Tokens without end, drafted ones among them."""
    token_id = sample(logits)
    while True:
        yield token_id
        draft = _draft(cache, drafter, token_id)
        if drafter and draft:
            token_id = yield from _verify(cache, token_id, draft, sample, drafter)
        else:
            token_id = sample(_step(cache, token_id, drafter))


def _draft(cache: KVCache, drafter: Drafter | None, token_id: int) -> list[int]:
    if drafter is None:
        return []
    drafter.push(token_id)
    return drafter.guess()[: max(0, cache.room - 1)]


def _step(cache: KVCache, token_id: int, drafter: Drafter | None) -> Tensor:
    began = time.perf_counter()
    logits = cache.decode(token_id)
    if drafter:
        drafter.decoded(time.perf_counter() - began)
    return logits


def _verify(
    cache: KVCache, token_id: int, draft: list[int], sample: Callable[[Tensor], int], drafter: Drafter
) -> Generator[int, None, int]:
    """Read a token and its draft in one pass, and yield the draft's tokens for as long as the sampler agrees.

    Each position is sampled once, from the logits that plain decoding would have had there, so the draft changes
    neither the tokens nor their probabilities.

    Returns:
        The token that was sampled behind the last one that was kept.
    """
    began = time.perf_counter()
    rows = cache.verify([token_id, *draft])
    seconds = time.perf_counter() - began
    held, kept = len(cache.ids) - len(draft), 0
    try:
        while (token_id := sample(rows[kept])) in draft[kept : kept + 1]:
            kept += 1
            drafter.push(token_id)
            yield token_id
    finally:
        cache.crop(held + kept)
        drafter.verified(len(draft), kept, seconds)
    return token_id
