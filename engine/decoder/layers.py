"""The forward pass: prefill reads many tokens at once, decode reads one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

import torch
import torch.nn.functional as F
from torch import Tensor

from engine.decoder.attention import Scores, attend_many, attend_one, causal_mask, first_key
from engine.decoder.cache import KVCache
from engine.decoder.config import Activation, DecoderConfig, LayerConfig
from engine.decoder.rope import RopeTable
from engine.decoder.weights import DecoderWeights, LayerWeights

Rows = tuple[Tensor, Tensor]

_ACTIVATIONS: Final[Mapping[Activation, Callable[[Tensor], Tensor]]] = {
    "silu": F.silu,
    "gelu": F.gelu,
    "gelu_tanh": lambda x: F.gelu(x, approximate="tanh"),
}


def rms_norm(x: Tensor, weight: Tensor, eps: float) -> Tensor:
    """Divide by the root mean square over the last dimension, in float32 whatever the dtype of `x`.

    Args:
        x: [..., n].
        weight: Multiplies the result; float32, broadcast against x.
        eps: Added to the mean square.
    """
    normed = F.rms_norm(x.float(), x.shape[-1:], None, eps) * weight
    return normed.to(x.dtype)


class Decoder:
    """Weights and what is derived from the configuration once; holds no state of any sequence."""

    def __init__(self, config: DecoderConfig, weights: DecoderWeights) -> None:
        self.config = config
        self.weights = weights
        self._activation = _ACTIVATIONS[config.activation]
        self._scores = Scores(config.attention_scale, config.attention_softcap)
        # Rounded to the dtype of the token vectors, as the models were trained.
        self._embedding_scale = torch.tensor(config.embedding_scale, dtype=weights.dtype).item()
        self._query_rows, self._kv_rows, _ = config.qkv_sizes
        self._ropes = tuple(
            RopeTable(rope, config.head_dim, dtype=weights.dtype, device=weights.device) for rope in config.ropes
        )

    def prefill(self, ids: Tensor, cache: KVCache, keep: int) -> Tensor:
        """Hidden states of the last `keep` of the tokens [n], which are written to the cache; [keep, hidden_size]."""
        start, count = cache.length, ids.shape[0]
        rows = self._rope_rows(start, start + count)
        x = self._embed(ids)
        masks = {
            window: causal_mask(start, count, window, x) for window in {layer.window for layer in self.config.layers}
        }
        for index, (layer, weights) in enumerate(zip(self.config.layers, self.weights.layers, strict=True)):
            q, k, v = self._heads(x, weights, layer, rows)
            cache.keys[index].write(start, k.transpose(0, 1))
            cache.values[index].write(start, v.transpose(0, 1))
            keys, values = self._read(cache, index, first_key(start, layer.window), start + count)
            attended = attend_many(q.transpose(0, 1), keys, values, masks[layer.window], self._scores)
            x = self._finish_layer(x, attended.transpose(0, 1).reshape(count, -1), weights)
        return x[count - keep :]

    def decode(self, ids: Tensor, cache: KVCache) -> Tensor:
        """The hidden state [1, hidden_size] of one token [1], which is written to the cache."""
        start = cache.length
        rows = self._rope_rows(start, start + 1)
        x = self._embed(ids)
        shape = (self.config.kv_heads, self.config.groups, self.config.head_dim)
        for index, (layer, weights) in enumerate(zip(self.config.layers, self.weights.layers, strict=True)):
            q, k, v = self._heads(x, weights, layer, rows)
            cache.keys[index].write(start, k.transpose(0, 1))
            cache.values[index].write(start, v.transpose(0, 1))
            keys, values = self._read(cache, index, first_key(start, layer.window), start + 1)
            attended = attend_one(q.view(shape), keys, values, self._scores)
            x = self._finish_layer(x, attended.view(1, -1), weights)
        return x

    def logits(self, x: Tensor) -> Tensor:
        """float32 [n, vocab_size] of hidden states [n, hidden_size]."""
        config = self.config
        logits = self.weights.head(rms_norm(x, self.weights.norm, config.norm_eps)).float()
        if config.logit_scale != 1.0:
            logits = logits * config.logit_scale
        if config.logit_softcap is not None:
            logits = torch.tanh(logits / config.logit_softcap) * config.logit_softcap
        return logits

    def _embed(self, ids: Tensor) -> Tensor:
        x = self.weights.embedding(ids)
        return x if self._embedding_scale == 1.0 else x * self._embedding_scale

    def _rope_rows(self, start: int, end: int) -> tuple[Rows, ...]:
        return tuple(table.rows(start, end) for table in self._ropes)

    def _heads(
        self, x: Tensor, weights: LayerWeights, layer: LayerConfig, rows: tuple[Rows, ...]
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Queries [n, heads, head_dim] and keys and values [n, kv_heads, head_dim], rotated."""
        config, count = self.config, x.shape[0]
        qkv = weights.qkv(rms_norm(x, weights.attention_norm, config.norm_eps)).view(count, -1, config.head_dim)
        qk, v = qkv[:, : config.heads + config.kv_heads], qkv[:, config.heads + config.kv_heads :]
        if weights.qk_norm is not None:
            qk = rms_norm(qk, weights.qk_norm, config.norm_eps)
        if layer.rope is not None:
            qk = self._ropes[layer.rope].rotate(qk, rows[layer.rope])
        return qk[:, : config.heads], qk[:, config.heads :], v

    @staticmethod
    def _read(cache: KVCache, index: int, start: int, end: int) -> Rows:
        return cache.keys[index].read(start, end), cache.values[index].read(start, end)

    def _finish_layer(self, x: Tensor, attended: Tensor, weights: LayerWeights) -> Tensor:
        """What follows attention: the output projection and the MLP, each added to `x`."""
        eps = self.config.norm_eps
        x = self._add(x, weights.output(attended), weights.attention_post_norm)
        gate, up = weights.gate_up(rms_norm(x, weights.mlp_norm, eps)).chunk(2, -1)
        return self._add(x, weights.down(self._activation(gate) * up), weights.mlp_post_norm)

    def _add(self, x: Tensor, change: Tensor, post_norm: Tensor | None) -> Tensor:
        if post_norm is not None:
            change = rms_norm(change, post_norm, self.config.norm_eps)
        return torch.add(x, change, alpha=self.config.residual_scale)
