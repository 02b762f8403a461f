"""Attention over the cache, a span of 128 keys at a time (online softmax, Milakov and Gimelshein 2018).

A span gives each query a partial result: the largest score, the sum of exponentials, the weighted sum of values.
Partials are merged in the order of the spans, whoever computed them, so the split among threads and the number of
queries computed together do not change a bit of the result.
"""

from __future__ import annotations

from typing import Any

from numba import float32

from engine.kernels.heads import mix_product, score_product
from engine.kernels.jit import kernel
from engine.kernels.mathematics import vexp, vtanh
from engine.kernels.plan import ROW_GROUP, SPAN
from engine.kernels.sync import fetch_add
from engine.kernels.vector import fill, fma, get_f32, keep_between, largest, load_f32, put_f32, store_f32, total, vmax

_score_1, _score_2, _score_3, _score_4, _score_8 = (score_product(queries) for queries in (1, 2, 3, 4, 8))
_mix_1, _mix_2, _mix_3, _mix_4, _mix_8 = (mix_product(queries, 1) for queries in (1, 2, 3, 4, 8))
_mix_1_2, _mix_2_2, _mix_3_2, _mix_4_2 = (mix_product(queries, 2) for queries in (1, 2, 3, 4))
MOST = 8  # queries taken together
LOWEST = -1e30
HEAD = 64  # bytes in front of a partial's values: largest score, sum of exponentials, padding
SCORES = MOST * SPAN * 4  # bytes of the scores of that many queries


@kernel
def _scores(queries: int, query: int, keys: int, head_dim: int, pairs: int, out: int) -> None:
    """Scores of 32 * pairs keys for 1, 2, 3, 4 or 8 queries."""
    for pair in range(pairs):
        at = keys + pair * head_dim * 64
        if queries == 8:
            _score_8(query, head_dim * 4, at, head_dim, out + 128 * pair, SPAN * 4)
        elif queries == 4:
            _score_4(query, head_dim * 4, at, head_dim, out + 128 * pair, SPAN * 4)
        elif queries == 3:
            _score_3(query, head_dim * 4, at, head_dim, out + 128 * pair, SPAN * 4)
        elif queries == 2:
            _score_2(query, head_dim * 4, at, head_dim, out + 128 * pair, SPAN * 4)
        else:
            _score_1(query, head_dim * 4, at, head_dim, out + 128 * pair, SPAN * 4)


@kernel
def _mix_pair(queries: int, weights: int, values: int, stride: int, count: int, out: int, out_stride: int) -> None:
    if queries == 4:
        _mix_4_2(weights, SPAN * 4, values, stride, count, out, out_stride)
    elif queries == 3:
        _mix_3_2(weights, SPAN * 4, values, stride, count, out, out_stride)
    elif queries == 2:
        _mix_2_2(weights, SPAN * 4, values, stride, count, out, out_stride)
    else:
        _mix_1_2(weights, SPAN * 4, values, stride, count, out, out_stride)


@kernel
def _mix_single(queries: int, weights: int, values: int, stride: int, count: int, out: int, out_stride: int) -> None:
    if queries == 8:
        _mix_8(weights, SPAN * 4, values, stride, count, out, out_stride)
    elif queries == 4:
        _mix_4(weights, SPAN * 4, values, stride, count, out, out_stride)
    elif queries == 3:
        _mix_3(weights, SPAN * 4, values, stride, count, out, out_stride)
    elif queries == 2:
        _mix_2(weights, SPAN * 4, values, stride, count, out, out_stride)
    else:
        _mix_1(weights, SPAN * 4, values, stride, count, out, out_stride)


@kernel
def _mix(queries: int, weights: int, values: int, head_dim: int, count: int, out: int, out_stride: int) -> None:
    """Weighted sums of `count` values for 1, 2, 3, 4 or 8 queries."""
    vectors = head_dim // 16
    done = 0
    while queries < 8 and vectors - done >= 2:
        _mix_pair(queries, weights, values + 32 * done, head_dim * 2, count, out + 64 * done, out_stride)
        done += 2
    while vectors > done:
        _mix_single(queries, weights, values + 32 * done, head_dim * 2, count, out + 64 * done, out_stride)
        done += 1


@kernel
def _softmax(scores: int, low: int, high: int, vectors: int, softcap: float, partial: int) -> None:
    """Scores in place to exponentials, 0 outside low..high - 1; largest and sum into the partial."""
    top = fill(LOWEST)
    for i in range(vectors):
        score = load_f32(scores + 64 * i)
        if softcap != float32(0.0):
            score = fill(softcap) * vtanh(score / fill(softcap))
        score = keep_between(score, low - 16 * i, high - 16 * i, LOWEST)
        store_f32(scores + 64 * i, score)
        top = vmax(score, top)
    largest_score = largest(top)
    sums = fill(0.0)
    for i in range(vectors):
        value = vexp(load_f32(scores + 64 * i) - fill(largest_score))
        value = keep_between(value, low - 16 * i, high - 16 * i, 0.0)
        store_f32(scores + 64 * i, value)
        sums = sums + value
    put_f32(partial, largest_score)
    put_f32(partial + 4, total(sums))


@kernel
def _clip(value: int, high: int) -> int:
    return max(0, min(value, high))


@kernel
def _partials(
    model: Any, layer: Any, head: int, first: int, queries: int, start: int, span: int, scratch: int, out: int
) -> None:
    """Partials of one span for queries first .. first + queries - 1 (see _batch) of a key/value head.

    Query row r belongs to the token at position start + r // groups; partials are HEAD + 4 * head_dim bytes apart.
    """
    groups, head_dim = model.heads // model.kv_heads, model.head_dim
    base = span * SPAN
    count = _clip(start + (first + queries - 1) // groups + 1 - base, SPAN)
    pairs = (count + 31) // 32
    at = head * model.capacity + base
    query = model.queries + 4 * head_dim * (head * model.tokens * groups + first)
    stride = HEAD + 4 * head_dim
    _scores(queries, query, layer.keys + 2 * head_dim * at, head_dim, pairs, scratch)
    for i in range(queries):
        high = start + (first + i) // groups + 1
        low = high - layer.window if layer.window > 0 else 0
        _softmax(
            scratch + i * SPAN * 4,
            _clip(low - base, SPAN),
            _clip(high - base, SPAN),
            2 * pairs,
            model.attention_softcap,
            out + i * stride,
        )
    _mix(queries, scratch, layer.values + 2 * head_dim * at, head_dim, count, out + HEAD, stride)


@kernel
def clear_state(state: int, head_dim: int) -> None:
    """A partial over no keys."""
    put_f32(state, LOWEST)
    put_f32(state + 4, 0.0)
    for i in range(head_dim // 16):
        store_f32(state + HEAD + 64 * i, fill(0.0))


@kernel
def merge(state: int, partial: int, head_dim: int) -> None:
    """Add a partial over further keys to a state."""
    old, new = get_f32(state), get_f32(partial)
    top = max(old, new)
    keep, take = vexp(fill(old - top)), vexp(fill(new - top))
    put_f32(state, top)
    sums = fma(fill(get_f32(state + 4)), keep, fill(get_f32(partial + 4)) * take)
    put_f32(state + 4, largest(sums))
    for i in range(head_dim // 16):
        at = HEAD + 64 * i
        store_f32(state + at, fma(load_f32(state + at), keep, load_f32(partial + at) * take))


@kernel
def finish(state: int, out: int, head_dim: int) -> None:
    """A state over all keys to the attended value."""
    factor = fill(float32(1.0) / get_f32(state + 4))
    for i in range(head_dim // 16):
        store_f32(out + 64 * i, load_f32(state + HEAD + 64 * i) * factor)


@kernel
def first_span(layer: Any, position: int) -> int:
    """The first span that a query at a position sees."""
    if layer.window > 0:
        return max(0, position + 1 - layer.window) // SPAN
    return 0


@kernel
def _batch(left: int) -> int:
    """How many queries to take together."""
    if left >= MOST:
        return MOST
    return min(left, 4)


@kernel
def _reaches(start: int, row: int, groups: int, span: int) -> bool:
    """Whether a query row sees any key of a span or of one after it."""
    return start + row // groups >= span * SPAN


@kernel
def attend_group(model: Any, layer: Any, head: int, first: int, count: int, start: int, scratch: int) -> None:
    """Queries first .. first + count - 1 of a head over all their spans, into `attended`."""
    groups, head_dim = model.heads // model.kv_heads, model.head_dim
    stride = HEAD + 4 * head_dim
    partial = scratch + SCORES
    states = partial + MOST * stride
    for i in range(count):
        clear_state(states + i * stride, head_dim)
    for span in range(first_span(layer, start + first // groups), (start + (first + count - 1) // groups) // SPAN + 1):
        done = 0
        while done < count:
            queries = _batch(count - done)
            if _reaches(start, first + done + queries - 1, groups, span):
                _partials(model, layer, head, first + done, queries, start, span, scratch, partial)
                for i in range(queries):
                    merge(states + (done + i) * stride, partial + i * stride, head_dim)
            done += queries
    for i in range(count):
        token, group = divmod(first + i, groups)
        place = token * model.heads + head * groups + group
        finish(states + i * stride, model.attended + 4 * head_dim * place, head_dim)


@kernel
def attend(model: Any, layer: Any, start: int, scratch: int, counter: int) -> None:
    """This thread's share of attention: groups of queries, each over all spans."""
    rows = model.tokens * (model.heads // model.kv_heads)
    per_head = (rows + ROW_GROUP - 1) // ROW_GROUP
    unit = fetch_add(counter, 1)
    while unit < per_head * model.kv_heads:
        # The last queries see most keys: they come first, so that no thread is left with a large share at the end.
        head, group = unit % model.kv_heads, per_head - 1 - unit // model.kv_heads
        first = group * ROW_GROUP
        attend_group(model, layer, head, first, min(ROW_GROUP, rows - first), start, scratch)
        unit = fetch_add(counter, 1)


@kernel
def _slot(model: Any, head: int, span: int, row: int) -> int:
    rows = model.tokens * (model.heads // model.kv_heads)
    return model.slots + ((head * model.slot_spans + span) * rows + row) * (HEAD + 4 * model.head_dim)


@kernel
def attend_spans(model: Any, layer: Any, start: int, scratch: int, counter: int) -> None:
    """This thread's share of attention for a few tokens: spans of all their queries, as partials in the slots."""
    rows = model.tokens * (model.heads // model.kv_heads)
    lowest = first_span(layer, start)
    spans = (start + model.tokens - 1) // SPAN + 1 - lowest
    groups = model.heads // model.kv_heads
    unit = fetch_add(counter, 1)
    while unit < spans * model.kv_heads:
        head, span = unit % model.kv_heads, lowest + unit // model.kv_heads
        done = 0
        while done < rows:
            queries = _batch(rows - done)
            if _reaches(start, done + queries - 1, groups, span):
                slot = _slot(model, head, span, done)
                _partials(model, layer, head, done, queries, start, span, scratch, slot)
            done += queries
        unit = fetch_add(counter, 1)


@kernel
def merge_spans(model: Any, layer: Any, start: int, token: int, scratch: int) -> None:
    """The slots of one token's queries, in order, into `attended`."""
    groups, head_dim = model.heads // model.kv_heads, model.head_dim
    for head in range(model.heads):
        row = token * groups + head % groups
        clear_state(scratch, head_dim)
        for span in range(first_span(layer, start + token), (start + token) // SPAN + 1):
            merge(scratch, _slot(model, head // groups, span, row), head_dim)
        finish(scratch, model.attended + 4 * head_dim * (token * model.heads + head), head_dim)
