"""Causal attention over a cache: many queries at once for prefill, one for decode."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor


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


def causal_mask(first_query: int, queries: int, window: int | None, like: Tensor) -> Tensor | None:
    """What to add to the scores of queries that follow a prefix; None where plain causality does.

    Returns:
        [queries, keys] in the dtype and on the device of `like`, 0 or -inf, for keys from
        `first_key(first_query, window)` to the last query's own position.
    """
    if first_query == 0 and (window is None or queries <= window):
        return None
    start, end = first_key(first_query, window), first_query + queries
    key = torch.arange(start, end, device=like.device)
    query = torch.arange(first_query, end, device=like.device)[:, None]
    hidden = key > query
    if window is not None:
        hidden |= key <= query - window
    return torch.zeros(hidden.shape, dtype=like.dtype, device=like.device).masked_fill_(hidden, -math.inf)


def attend_many(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, scores: Scores) -> Tensor:
    """Attention of many queries over keys that end with their own.

    Args:
        q: [heads, n, head_dim].
        k: [kv_heads, m, head_dim].
        v: The same shape.
        mask: As `causal_mask` gives it; with None, n equals m.
        scores: How products become scores.

    Returns:
        [heads, n, head_dim].
    """
    if scores.softcap is not None:
        return _attend_capped(q, k, v, mask, scores)
    out = F.scaled_dot_product_attention(
        q[None], k[None], v[None], attn_mask=mask, is_causal=mask is None, scale=scores.scale, enable_gqa=True
    )
    return out[0]


def _attend_capped(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, scores: Scores) -> Tensor:
    """The same with a soft cap, which the fused kernels do not compute."""
    heads, n, head_dim = q.shape
    kv_heads, m, _ = k.shape
    if mask is None:
        mask = torch.full((n, n), -math.inf, dtype=q.dtype, device=q.device).triu_(1)
    grouped = q.reshape(kv_heads, heads // kv_heads * n, head_dim)
    products = _cap(torch.bmm(grouped, k.transpose(1, 2)) * scores.scale, scores.softcap)
    weights = torch.softmax(products.view(heads, n, m) + mask, -1, dtype=torch.float32).to(q.dtype)
    return torch.bmm(weights.view_as(products), v).view(heads, n, head_dim)


def attend_one(q: Tensor, k: Tensor, v: Tensor, scores: Scores) -> Tensor:
    """Attention of one query over all keys given: two small products instead of a fused kernel's fixed cost.

    Args:
        q: [kv_heads, groups, head_dim].
        k: [kv_heads, m, head_dim].
        v: The same shape.
        scores: How products become scores.

    Returns:
        [kv_heads, groups, head_dim].
    """
    products = torch.baddbmm(q.new_empty(1), q, k.transpose(1, 2), beta=0, alpha=scores.scale)
    weights = torch.softmax(_cap(products, scores.softcap), -1, dtype=torch.float32).to(q.dtype)
    return torch.bmm(weights, v)


def _cap(x: Tensor, cap: float | None) -> Tensor:
    return x if cap is None else torch.tanh(x / cap) * cap
