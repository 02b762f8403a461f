"""The forward pass: prefill reads many tokens at once, decode reads one."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Final

import torch
import torch.nn.functional as F
from torch import Tensor

from engine.decoder.attention import CausalMasks, Scores, attend_many, attend_one, first_key
from engine.decoder.cache import KVCache
from engine.decoder.config import Activation, DecoderConfig
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
    y, size = x.float(), x.shape[-1]
    if y.device.type != "cpu":
        return (F.rms_norm(y, (size,), None, eps) * weight).to(x.dtype)
    if y.numel() == size:  # decode: half the time of torch's own, which is six operations on a CPU
        row = y.view(-1)
        return (y * weight).mul_(1.0 / math.sqrt(torch.dot(row, row).item() / size + eps)).to(x.dtype)
    norm = torch.linalg.vector_norm(y, dim=-1, keepdim=True)
    return (y * weight).mul_(norm.square_().div_(size).add_(eps).rsqrt_()).to(x.dtype)


class Decoder:
    """Weights and what is derived from the configuration once; holds no state of any sequence."""

    def __init__(self, config: DecoderConfig, weights: DecoderWeights) -> None:
        self.config = config
        self.weights = weights
        self._activation = _ACTIVATIONS[config.activation]
        self._scores = Scores(config.attention_scale, config.attention_softcap)
        # Rounded to the dtype of the token vectors, as the models were trained.
        self._embedding_scale = torch.tensor(config.embedding_scale, dtype=weights.dtype).item()
        # On a CPU the products of one query are many times faster in float32 than in 16 bits.
        self._decode_dtype = torch.float32 if weights.device.type == "cpu" else weights.dtype
        self._ropes = tuple(
            RopeTable(rope, config.head_dim, dtype=weights.dtype, device=weights.device) for rope in config.ropes
        )

    def prefill(self, ids: Tensor, cache: KVCache, keep: int) -> Tensor:
        """Hidden states of the last `keep` of the tokens [n], which are written to the cache; [keep, hidden_size]."""
        start, end = cache.length, cache.length + ids.shape[0]
        rows = self.rope_rows(start, end)
        x = self._embed(ids)
        masks = CausalMasks(x)
        last = len(self.config.layers) - 1
        for index, (layer, weights) in enumerate(zip(self.config.layers, self.weights.layers, strict=True)):
            q, k, v = self._heads(x, index, rows)
            cache.write(index, k, v)
            first = start
            if index == last:  # of which nobody needs more than the rows kept
                first = end - keep
                x, q = x[first - start :], q[first - start :]
            if first == end:
                break
            keys, values = cache.read(index, first_key(first, layer.window), end, x.dtype)
            attended = attend_many(
                q.transpose(0, 1), keys, values, window=layer.window, scores=self._scores, masks=masks
            )
            x = self._finish_layer(x, attended.transpose(0, 1).flatten(1), weights)
        return x

    def decode(self, ids: Tensor, cache: KVCache) -> Tensor:
        """The hidden state [1, hidden_size] of one token [1], which is written to the cache."""
        start = cache.length
        rows = self.rope_rows(start, start + 1)
        x = self._embed(ids)
        for index, (layer, weights) in enumerate(zip(self.config.layers, self.weights.layers, strict=True)):
            q, k, v = self._heads(x, index, rows)
            cache.write(index, k, v)
            held = cache.read(index, first_key(start, layer.window), start + 1, self._decode_dtype)
            x = self._finish_layer(x, self._attend_one(q, held, None), weights)
        return x

    def decode_at(self, ids: Tensor, position: Tensor, tables: Sequence[Rows], cache: KVCache) -> Tensor:
        """The same in operations whose shapes and addresses do not depend on how many tokens the cache holds.

        Attention is over all the room that there is, which therefore must be finite: see `KVCache.blank_spare`.

        Args:
            ids: The token, int64 [1].
            position: Where it goes, int64 [1] on the device.
            tables: `rope_rows` of all positions there is room for.
            cache: With room for it; the caller counts it as held.
        """
        rows = tuple((cos.index_select(0, position), sin.index_select(0, position)) for cos, sin in tables)
        masks = self._masks_at(position, cache.capacity)
        x = self._embed(ids)
        for index, (layer, weights) in enumerate(zip(self.config.layers, self.weights.layers, strict=True)):
            q, k, v = self._heads(x, index, rows)
            cache.write_at(index, position, k, v)
            held = cache.read(index, 0, cache.capacity, self._decode_dtype)
            x = self._finish_layer(x, self._attend_one(q, held, masks[layer.window]), weights)
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

    def rope_rows(self, start: int, end: int) -> tuple[Rows, ...]:
        """Cosines and sines of positions start to end - 1 of each rotary embedding, [end - start, 1, head_dim]."""
        return tuple(table.rows(start, end) for table in self._ropes)

    def _heads(self, x: Tensor, index: int, rows: tuple[Rows, ...]) -> tuple[Tensor, Tensor, Tensor]:
        """Rotated queries [n, heads, head_dim], keys and values [kv_heads, n, head_dim] of rows [n, hidden_size]."""
        config, weights, rope = self.config, self.weights.layers[index], self.config.layers[index].rope
        normed = rms_norm(x, weights.attention_norm, config.norm_eps)
        qkv = weights.qkv(normed).view(x.shape[0], -1, config.head_dim)
        qk, v = qkv[:, : config.heads + config.kv_heads], qkv[:, config.heads + config.kv_heads :]
        if weights.qk_norm is not None:
            qk = rms_norm(qk, weights.qk_norm, config.norm_eps)
        if rope is not None:
            qk = self._ropes[rope].rotate(qk, rows[rope])
        return qk[:, : config.heads], qk[:, config.heads :].transpose(0, 1), v.transpose(0, 1)

    def _attend_one(self, q: Tensor, held: Rows, mask: Tensor | None) -> Tensor:
        """Heads [1, heads * head_dim] that a query [1, heads, head_dim] attends to among keys and values."""
        grouped = q.view(self.config.kv_heads, self.config.groups, self.config.head_dim)
        attended = attend_one(grouped.to(self._decode_dtype), *held, self._scores, mask)
        return attended.view(1, -1).to(q.dtype)

    def _masks_at(self, position: Tensor, capacity: int) -> dict[int | None, Tensor]:
        """0 or -inf for each place of a cache, [capacity], by window, for the query at a position."""
        key = torch.arange(capacity, device=position.device)
        masks = {}
        for window in {layer.window for layer in self.config.layers}:
            hidden = key > position if window is None else (key > position) | (key <= position - window)
            mask = torch.zeros(capacity, dtype=self._decode_dtype, device=position.device)
            masks[window] = mask.masked_fill_(hidden, -math.inf)
        return masks

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
