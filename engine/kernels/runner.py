"""The `Runner` whose forward pass is one compiled call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np
import torch
from torch import Tensor

from engine.decoder.config import DecoderConfig
from engine.decoder.rope import RopeTable
from engine.errors import BadRequest
from engine.kernels.cache import CacheShape, KernelCache
from engine.kernels.many import forward_many
from engine.kernels.step import forward
from engine.kernels.team import Team
from engine.kernels.weights import KernelWeights, check_sizes
from engine.kernels.workspace import CHUNK, Workspace


class KernelRunner:
    """A decoder over packed weights on the CPU. Not thread-safe: it belongs to the worker thread.

    Args:
        config: What the decoder computes.
        weights: Its packed weights.
        threads: CPU threads; more than there are cores only wait for each other.
        max_context: Limits the context in tokens; None takes the model's own.

    Raises:
        UnsupportedModel: The kernels cannot compute this decoder, with the reason.
    """

    def __init__(
        self, config: DecoderConfig, weights: KernelWeights, *, threads: int, max_context: int | None = None
    ) -> None:
        check_sizes(config)
        self.config, self.weights = config, weights
        self.threads = max(1, threads)
        self._team = Team(self.threads)
        self.shape = CacheShape(
            layers=len(config.layers),
            kv_heads=config.kv_heads,
            head_dim=config.head_dim,
            context_limit=min(config.context_limit, max_context or config.context_limit),
        )
        place = torch.device("cpu")
        tables = tuple(RopeTable(rope, config.head_dim, dtype=torch.float32, device=place) for rope in config.ropes)
        self._work = Workspace(config, weights, tables, self.threads)

    @property
    def description(self) -> str:
        """Which implementation runs and why, in words."""
        return f"compiled CPU kernels for {self.config.family} ({', '.join(self._kinds)} weights, 15-bit activations)"

    @property
    def cache_format(self) -> str:
        """Names how keys and values are computed and held."""
        return f"kernels-1 {'+'.join(self._kinds)} float16"

    @property
    def _kinds(self) -> list[str]:
        return sorted({linear.matrix.kind.name for layer in self.weights.layers for linear in layer.linears})

    @property
    def croppable(self) -> bool:
        """Whether caches can be cropped: always."""
        return True

    @property
    def vocab_size(self) -> int:
        """Length of a row of logits."""
        return self.config.vocab_size

    @property
    def context_limit(self) -> int:
        """Most tokens a cache of this runner can hold."""
        return self.shape.context_limit

    @property
    def weight_bytes(self) -> int:
        """Memory held by the weights."""
        return self.weights.nbytes

    @property
    def kv_bytes_per_token(self) -> int:
        """Memory that one more token costs."""
        return self.shape.bytes_per_token

    def new_cache(self) -> KernelCache:
        """An empty cache."""
        return KernelCache(self.shape)

    def restore_cache(self, tensors: Mapping[str, Tensor]) -> KernelCache:
        """The cache whose `export` these tensors are; they are copied.

        Raises:
            BadModelFile: They are no cache of this model and format.
        """
        return KernelCache.restore(self.shape, tensors)

    def prefill(self, ids: Sequence[int], cache: KernelCache, keep: int = 1) -> Tensor:
        """Read `ids` in parallel, append them to `cache`.

        Returns:
            Logits of the last `keep` positions (0 computes none), float32 on the CPU, shape [keep, vocab_size].

        Raises:
            BadRequest: There is nothing to read, or an id is not in the vocabulary.
            ContextFull: The context limit would be passed; the cache is unchanged.
        """
        self._check(ids)
        cache.reserve(len(ids))
        keep = min(keep, len(ids))
        start, parts = cache.length, []
        for first in range(0, len(ids), CHUNK):
            chunk = ids[first : first + CHUNK]
            wanted = max(0, min(len(chunk), first + len(chunk) - (len(ids) - keep)))
            parts.append(self._pass(chunk, cache, start + first, wanted))
        cache.advance(len(ids))
        return parts[0] if len(parts) == 1 else torch.from_numpy(np.concatenate([part.numpy() for part in parts]))

    def decode(self, token_id: int, cache: KernelCache) -> Tensor:
        """Read one token, append it to `cache`; its logits, float32 on the CPU, shape [vocab_size].

        Raises:
            BadRequest: The id is not in the vocabulary.
            ContextFull: The cache is full; it is unchanged.
        """
        self._check((token_id,))
        cache.reserve(1)
        logits = self._pass((token_id,), cache, cache.length, 1)[0]
        cache.advance(1)
        return logits

    @property
    def most_sequences(self) -> int:
        """Most sequences of one `decode_many`."""
        return CHUNK

    def decode_many(self, token_ids: Sequence[int], caches: Sequence[KernelCache]) -> Tensor:
        """Read one token of each of several sequences in one pass, append it to its cache.

        Args:
            token_ids: One a cache, at most `most_sequences`.
            caches: All different.

        Returns:
            Logits, float32 on the CPU, shape [sequences, vocab_size]; each row has the bits that `decode` gives.

        Raises:
            BadRequest: An id is not in the vocabulary.
            ContextFull: A cache is full; none has been appended to.
        """
        self._check(token_ids)
        for cache in caches:
            cache.reserve(1)
        count, work = len(caches), self._work
        logits = work.logits(count)
        many = work.bind_many(caches)
        work.ids[:count] = token_ids
        self._team.run(partial(forward_many, *work.addresses, *many.addresses))
        for cache in caches:
            cache.advance(1)
        return torch.from_numpy(logits[:, : self.vocab_size].copy())

    def _check(self, ids: Sequence[int]) -> None:
        if not ids:
            raise BadRequest("There is no text to read.")
        # The kernels check nothing: an id outside the vocabulary would read foreign memory.
        if min(ids) < 0 or max(ids) >= self.vocab_size:
            raise BadRequest("The text holds tokens that this model does not know.", f"vocabulary {self.vocab_size}")

    def _pass(self, ids: Sequence[int], cache: KernelCache, start: int, keep: int) -> Tensor:
        """One pass of at most CHUNK tokens; logits of its last `keep`."""
        work = self._work
        logits = work.logits(max(keep, 1))
        work.bind(cache, len(ids))
        work.ids[: len(ids)] = ids
        self._team.run(partial(forward, *work.addresses, start, keep))
        # Copied by NumPy: torch would share so many numbers out among its own threads, which then spin beside ours.
        return torch.from_numpy(logits[:keep, : self.vocab_size].copy())
