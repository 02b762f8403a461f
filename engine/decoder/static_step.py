"""Decode in a step that is recorded once and replayed: same shapes and addresses for every token.

Recording is a function that is passed in, a CUDA graph on a GPU (`engine.decoder.cuda_graph`), so that everything else
about it is the same on every device.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Final, Protocol, TypeAlias

import torch
from torch import Tensor

from engine.decoder.cache import KVCache
from engine.decoder.layers import Decoder

_log = logging.getLogger(__name__)

PATIENCE: Final = 4  # steps on the same buffers before recording pays; a regenerated last token is one step

Step: TypeAlias = Callable[[], Tensor]
Record: TypeAlias = Callable[[Step], Step]


class Decoding(Protocol):
    """How one token is decoded."""

    @property
    def words(self) -> str:
        """What is special about it, for people; mostly empty."""
        ...

    def logits(self, ids: Tensor, cache: KVCache) -> Tensor:
        """float32 [1, vocab_size] of a token [1], for which the cache has room; the caller counts it as held."""
        ...


class EagerDecoding:
    """Operation by operation.

    Args:
        words: Why not otherwise, or empty.
    """

    def __init__(self, decoder: Decoder, words: str = "") -> None:
        self._decoder = decoder
        self.words = words

    def logits(self, ids: Tensor, cache: KVCache) -> Tensor:
        """float32 [1, vocab_size] of a token [1]."""
        return self._decoder.logits(self._decoder.decode(ids, cache))


class StaticStep:
    """The decode step of one cache as it lies in memory now.

    Token and position are read from tensors, so nothing in `compute` depends on them but numbers.
    """

    def __init__(self, decoder: Decoder, cache: KVCache) -> None:
        device = cache.layout.device
        self._decoder = decoder
        self._tables = decoder.rope_rows(0, cache.capacity)  # held here: the decoder replaces its own as they grow
        self._ids = torch.zeros(1, dtype=torch.int64, device=device)
        self._position = torch.full((1,), cache.length, dtype=torch.int64, device=device)
        self.buffers = cache.buffers
        cache.blank_spare()

    def set(self, ids: Tensor, position: int) -> None:
        """The token [1] to read next, and where it goes."""
        self._ids.copy_(ids)
        self._position.fill_(position)

    def compute(self, cache: KVCache) -> Tensor:
        """float32 [1, vocab_size] of the token that was set; its keys and values go to the cache it was made for."""
        hidden = self._decoder.decode_at(self._ids, self._position, self._tables, cache)
        return self._decoder.logits(hidden)


class RecordedDecoding:
    """Replays a recorded step while the cache stays where it is, and records anew when it grew or is another one.

    One recording is kept, for the conversation that is going on. It holds no cache, only addresses, which it replays
    for as long as `KVCache.buffers` is the object that stood for them.

    Args:
        decoder: Whose steps.
        record: Makes a step replayable; its result overwrites the logits of the call before.
        words: For people.
        patience: Steps on the same buffers that are computed eagerly before one is recorded.

    Attributes:
        broken: A recording failed; all steps are eager from then on.
    """

    def __init__(self, decoder: Decoder, record: Record, *, words: str, patience: int = PATIENCE) -> None:
        self.words = words
        self._decoder, self._record, self._patience = decoder, record, patience
        self._eager = EagerDecoding(decoder)
        self._seen: object = None
        self._steps = 0
        self._static: StaticStep | None = None
        self._replay: Step | None = None
        self.broken = False

    def logits(self, ids: Tensor, cache: KVCache) -> Tensor:
        """float32 [1, vocab_size] of a token [1]; overwritten by the next call."""
        if self._static is None or self._replay is None or self._static.buffers is not cache.buffers:
            if self._waits(cache):
                return self._eager.logits(ids, cache)
            self._replay = self._recorded(cache)
        if self._replay is None or self._static is None:
            return self._eager.logits(ids, cache)
        self._static.set(ids, cache.length)
        return self._replay()

    def _recorded(self, cache: KVCache) -> Step | None:
        self._static = self._replay = None  # the memory of the last recording is free for the next
        static = StaticStep(self._decoder, cache)
        try:
            replay = self._record(lambda: static.compute(cache))
        except RuntimeError as error:  # out of memory, most likely: without a recording there may be enough
            _log.warning("A decode step could not be recorded; it goes on operation by operation: %s", error)
            self.broken, self.words = True, ""
            return None
        self._static = static
        return replay

    def _waits(self, cache: KVCache) -> bool:
        if self.broken:
            return True
        if self._seen is not cache.buffers:
            self._seen, self._steps = cache.buffers, 0
        self._steps += 1
        return self._steps <= self._patience
