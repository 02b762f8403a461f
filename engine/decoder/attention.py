"""Causal attention over a cache: many queries at once for prefill, one for decode."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import torch
import torch.nn.functional as F
from torch import Tensor

# On a CPU, queries are taken in blocks, which leave out keys that none of them sees: 0.7 of the time at 512 tokens.
# With a soft cap they also bound the memory of the scores.
QUERY_BLOCK: Final = 128


@dataclass(frozen=True, slots=True)
class Scores:
    """How query-key products become scores.

    Attributes:
        scale: Multiplies the products.
        softcap: cap * tanh(x / cap) after that (Gemma 2), or None.
    """

    scale: float
    softcap: float | None


def first_key(query: int, window: int | None) -> int:
    """Position of the first key that the query at this position sees."""
    return 0 if window is None else max(0, query + 1 - window)


class CausalMasks:
    """What is added to scores so that a query sees no later key and none before its window; kept for one pass."""

    def __init__(self, like: Tensor) -> None:
        self._like = like
        self._made: dict[tuple[int, int, int | None], Tensor] = {}

    def get(self, queries: int, keys: int, window: int | None) -> Tensor | None:
        """0 or -inf, [queries, keys], for queries at the positions of the last keys; None where causality is all."""
        if queries == keys and (window is None or queries <= window):
            return None
        shape = (queries, keys, window)
        if shape not in self._made:
            self._made[shape] = self._make(*shape)
        return self._made[shape]

    def _make(self, queries: int, keys: int, window: int | None) -> Tensor:
        key = torch.arange(keys, device=self._like.device)
        query = torch.arange(keys - queries, keys, device=self._like.device)[:, None]
        hidden = key > query
        if window is not None:
            hidden |= key <= query - window
        mask = torch.zeros(queries, keys, dtype=self._like.dtype, device=self._like.device)
        return mask.masked_fill_(hidden, -math.inf)


def attend_many(q: Tensor, k: Tensor, v: Tensor, *, window: int | None, scores: Scores, masks: CausalMasks) -> Tensor:
    """Attention of queries over keys of which the last are at the queries' own positions.

    Args:
        q: [heads, n, head_dim].
        k: [kv_heads, m, head_dim], m >= n.
        v: The same shape.
        window: Tokens that a query sees, its own included; None sees all.
        scores: How products become scores.
        masks: Of this pass.

    Returns:
        [heads, n, head_dim].
    """
    n, m = q.shape[1], k.shape[1]
    step = QUERY_BLOCK if q.device.type == "cpu" or scores.softcap is not None else n
    attend = _attend_fused if scores.softcap is None else _attend_capped
    blocks = []
    for start in range(0, n, step):
        end = min(start + step, n)
        keys = slice(first_key(m - n + start, window), m - n + end)
        mask = masks.get(end - start, keys.stop - keys.start, window)
        blocks.append(attend(q[:, start:end], k[:, keys], v[:, keys], mask, scores))
    return blocks[0] if len(blocks) == 1 else torch.cat(blocks, 1)


def _attend_fused(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, scores: Scores) -> Tensor:
    """Queries [heads, n, head_dim] over keys [kv_heads, m, head_dim] under a mask [n, m], or causal with n = m."""
    return F.scaled_dot_product_attention(
        q[None], k[None], v[None], attn_mask=mask, is_causal=mask is None, scale=scores.scale, enable_gqa=True
    )[0]


def _attend_capped(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, scores: Scores) -> Tensor:
    """The same with a soft cap, which torch's fused kernels do not compute."""
    heads, n, head_dim = q.shape
    kv_heads, m, _ = k.shape
    if mask is None:
        mask = torch.full((n, m), -math.inf, dtype=q.dtype, device=q.device).triu_(1)
    grouped = q.reshape(kv_heads, heads // kv_heads * n, head_dim)
    products = _cap(torch.bmm(grouped, k.transpose(1, 2)) * scores.scale, scores.softcap)
    weights = torch.softmax(products.view(heads, n, m) + mask, -1, dtype=torch.float32).to(q.dtype)
    return torch.bmm(weights.view_as(products), v).view(heads, n, head_dim)


def attend_one(q: Tensor, k: Tensor, v: Tensor, scores: Scores, mask: Tensor | None = None) -> Tensor:
    """Attention of one query over the keys given: two small products instead of a fused kernel's fixed cost.

    Args:
        q: [kv_heads, groups, head_dim].
        k: [kv_heads, m, head_dim].
        v: The same shape.
        scores: How products become scores.
        mask: 0 or -inf for each key, [m]; None sees all.

    Returns:
        [kv_heads, groups, head_dim].
    """
    products = torch.baddbmm(q.new_empty(1), q, k.transpose(1, 2), beta=0, alpha=scores.scale)
    capped = _cap(products, scores.softcap)
    weights = torch.softmax(capped if mask is None else capped + mask, -1, dtype=torch.float32).to(q.dtype)
    return torch.bmm(weights, v)


def _cap(x: Tensor, cap: float | None) -> Tensor:
    return x if cap is None else torch.tanh(x / cap) * cap
