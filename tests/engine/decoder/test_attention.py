"""Attention against its definition, over windows, prefixes, block borders and every path there is."""

from __future__ import annotations

import math

import pytest
import torch

from engine.decoder.attention import CausalMasks, Scores, attend_many, attend_one, first_key

HEADS, KV_HEADS, HEAD_DIM = 4, 2, 16
PLAIN, CAPPED = Scores(0.3, None), Scores(0.3, 2.0)


def random(*shape: int) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(sum(shape)))


def by_definition(q, k, v, window: int | None, scores: Scores) -> torch.Tensor:
    """One query and one head at a time, in float64."""
    n, m = q.shape[1], k.shape[1]
    out = torch.empty(q.shape, dtype=torch.float64)
    for head in range(q.shape[0]):
        key, value = (t[head * k.shape[0] // q.shape[0]].double() for t in (k, v))
        for i in range(n):
            position = m - n + i
            seen = slice(0 if window is None else max(0, position - window + 1), position + 1)
            products = key[seen] @ q[head, i].double() * scores.scale
            if scores.softcap is not None:
                products = torch.tanh(products / scores.softcap) * scores.softcap
            out[head, i] = torch.softmax(products, 0) @ value[seen]
    return out


@pytest.mark.parametrize("scores", [PLAIN, CAPPED], ids=["plain", "capped"])
@pytest.mark.parametrize("window", [None, 1, 7, 128, 200, 1000])
@pytest.mark.parametrize(("queries", "prefix"), [(1, 0), (1, 300), (5, 3), (128, 0), (129, 0), (128, 200), (300, 77)])
def test_many_queries(queries, prefix, window, scores):
    q = random(queries, HEADS, HEAD_DIM).transpose(0, 1)
    k, v = random(KV_HEADS, prefix + queries, HEAD_DIM), random(KV_HEADS, prefix + queries, HEAD_DIM) + 1
    got = attend_many(q, k, v, window=window, scores=scores, masks=CausalMasks(q))
    assert (got - by_definition(q, k, v, window, scores)).abs().max() < 1e-5


@pytest.mark.parametrize("scores", [PLAIN, CAPPED], ids=["plain", "capped"])
@pytest.mark.parametrize("keys", [1, 2, 300])
def test_one_query(keys, scores):
    q, k, v = (random(KV_HEADS, n, HEAD_DIM) for n in (HEADS // KV_HEADS, keys, keys))
    got = attend_one(q, k, v, scores).view(HEADS, 1, HEAD_DIM)
    assert (got - by_definition(q.view(HEADS, 1, HEAD_DIM), k, v, None, scores)).abs().max() < 1e-5


def test_scores_far_apart_do_not_overflow():
    q, k = torch.full((KV_HEADS, 2, HEAD_DIM), 1e3), torch.full((KV_HEADS, 9, HEAD_DIM), 1e3)
    assert attend_one(q, k, k, Scores(1.0, None)).isfinite().all()


@pytest.mark.parametrize(("query", "window", "expected"), [(9, None, 0), (9, 4, 6), (3, 4, 0), (4, 4, 1), (0, 1, 0)])
def test_the_first_key_in_view(query, window, expected):
    assert first_key(query, window) == expected


def test_a_mask_is_made_once_a_pass():
    masks = CausalMasks(torch.zeros(1))
    assert masks.get(2, 4, 2) is masks.get(2, 4, 2)
    assert masks.get(2, 4, 2).tolist() == [[-math.inf, 0, 0, -math.inf], [-math.inf, -math.inf, 0, 0]]
    assert masks.get(4, 4, None) is None
    assert masks.get(4, 4, 4) is None
    assert masks.get(4, 4, 3) is not None
