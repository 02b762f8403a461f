"""The decoder as the engine's `Runner`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import torch
from torch import Tensor

from engine.decoder.cache import KVCache
from engine.decoder.checkpoint import Checkpoint, read_json
from engine.decoder.config import DecoderConfig
from engine.decoder.cuda_graph import choose_decoding
from engine.decoder.layers import Decoder
from engine.decoder.linear import DenseFactory, LinearFactory
from engine.decoder.merge import Merge
from engine.decoder.rows import CacheLayout
from engine.decoder.static_step import RecordedDecoding
from engine.decoder.weights import DecoderWeights, load_weights
from engine.errors import BadRequest


class DecoderRunner:
    """A `Runner` in plain torch operations, on any device: the reference for faster ones.

    Args:
        kv_dtype: Of cached keys and values, int8 among them; None takes the weights'.
        max_context: Limits the context in tokens; None takes the model's own.
    """

    def __init__(
        self,
        config: DecoderConfig,
        weights: DecoderWeights,
        *,
        kv_dtype: torch.dtype | None = None,
        max_context: int | None = None,
    ) -> None:
        self.config = config
        self.weights = weights
        self.layout = CacheLayout(
            layers=len(config.layers),
            kv_heads=config.kv_heads,
            head_dim=config.head_dim,
            context_limit=min(config.context_limit, max_context or config.context_limit),
            dtype=kv_dtype or weights.dtype,
            device=weights.device,
        )
        self._decoder = Decoder(config, weights)
        self._decoding = choose_decoding(self._decoder, self.layout)

    @property
    def description(self) -> str:
        """Which implementation runs and why, in words."""
        held = _name(self.weights.dtype)
        if self.layout.dtype != self.weights.dtype:
            held += f", keys and values in {_name(self.layout.dtype)}"
        text = f"fast decoder for {self.config.family} in torch operations ({held})"
        if self._decoding.words:
            text += f", {self._decoding.words}"
        if self.config.context_limit < self.config.stated_context:
            text += f"; at most {self.config.context_limit:,} tokens, where its position embedding changes"
        return text

    @property
    def replays(self) -> bool:
        """Whether a decode step is recorded once and replayed, so that launching it costs next to nothing."""
        return isinstance(self._decoding, RecordedDecoding)

    @property
    def cache_format(self) -> str:
        """Names how keys and values are computed and held."""
        return f"decoder-1 {_name(self.weights.dtype)} {_name(self.layout.dtype)}"

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
        return self.layout.context_limit

    @property
    def weight_bytes(self) -> int:
        """Memory held by the weights."""
        return self.weights.nbytes

    @property
    def kv_bytes_per_token(self) -> int:
        """Memory that one more token costs."""
        return self.layout.bytes_per_token

    def new_cache(self) -> KVCache:
        """An empty cache."""
        return KVCache(self.layout)

    def restore_cache(self, tensors: Mapping[str, Tensor]) -> KVCache:
        """The cache whose `export` these tensors are; they are copied.

        Raises:
            BadModelFile: They are no cache of this model and format.
        """
        return KVCache.restore(self.layout, tensors)

    @torch.inference_mode()
    def prefill(self, ids: Sequence[int], cache: KVCache, keep: int = 1) -> Tensor:
        """Read `ids` in parallel, append them to `cache`.

        Returns:
            Logits of the last `keep` positions (0 computes none), float32 on the CPU, shape [keep, vocab_size].

        Raises:
            BadRequest: There is nothing to read, or an id is not in the vocabulary.
            ContextFull: The context limit would be passed; the cache is unchanged.
        """
        tokens = self._begin(ids, cache)
        hidden = self._decoder.prefill(tokens, cache, min(keep, len(ids)))
        cache.advance(len(ids))
        return self._decoder.logits(hidden).cpu()

    @torch.inference_mode()
    def decode(self, token_id: int, cache: KVCache) -> Tensor:
        """Read one token, append it to `cache`; its logits, float32 on the CPU, shape [vocab_size].

        Raises:
            BadRequest: The id is not in the vocabulary.
            ContextFull: The cache is full; it is unchanged.
        """
        tokens = self._begin((token_id,), cache)
        logits = self._decoding.logits(tokens, cache)
        cache.advance(1)
        return logits[0].cpu()

    def _begin(self, ids: Sequence[int], cache: KVCache) -> Tensor:
        if not ids:
            raise BadRequest("There is no text to read.")
        # Checked here: on a GPU an id outside the embedding ends the whole process.
        if min(ids) < 0 or max(ids) >= self.config.vocab_size:
            raise BadRequest("The text holds tokens that this model does not know.", f"vocabulary {self.vocab_size}")
        cache.reserve(len(ids))
        return torch.tensor(ids, dtype=torch.int64, device=self.weights.device)


def _name(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


def load_decoder(
    folder: Path,
    *,
    dtype: torch.dtype = torch.float32,
    device: torch.device | str = "cpu",
    factory: LinearFactory | None = None,
    kv_dtype: torch.dtype | None = None,
    max_context: int | None = None,
    poll: Callable[[], None] = lambda: None,
) -> DecoderRunner:
    """The runner of a model folder (config.json and safetensors), with the adapters that are switched on merged in.

    Args:
        folder: In the Hugging Face layout.
        dtype: Of activations, embedding and head, and of the linears if no factory is given.
        device: Where weights and caches are.
        factory: Gives the linears another format.
        kv_dtype: Of cached keys and values, int8 among them; None takes `dtype`.
        max_context: Limits the context in tokens.
        poll: Called before each tensor that is read; what it raises ends the load.

    Raises:
        UnsupportedModel: The architecture is not one of FAMILIES, or a variant not computed here.
        BadModelFile: config.json or the weights are missing, damaged, or do not fit together.
    """
    config = DecoderConfig.from_json(read_json(folder / "config.json"))
    place = torch.device(device)
    with torch.inference_mode():
        checkpoint = Checkpoint(folder, poll, Merge.of(folder))
        weights = load_weights(checkpoint, config, factory or DenseFactory(dtype, place), dtype=dtype, device=place)
    return DecoderRunner(config, weights, kv_dtype=kv_dtype, max_context=max_context)
