"""One forward pass over a few tokens as one compiled call: prefill with many, decode with one.

Every thread runs `_pass` from start to end. Phases that share rows of a matrix, heads or tokens among the threads take
their shares from a counter, so a thread that is slowed down holds up nobody; a barrier ends each phase.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from numba.np.numpy_support import carray

from engine.kernels.activations import record_of
from engine.kernels.attention import attend, attend_spans, merge_spans
from engine.kernels.embed import embed
from engine.kernels.formats import TILE
from engine.kernels.jit import entry, kernel
from engine.kernels.mathematics import vtanh
from engine.kernels.matmul import SHARES, batch_product, batch_size, matmul
from engine.kernels.plan import LAYER, MATRIX, MODEL, SPLIT_TOKENS
from engine.kernels.rows import (
    add_bias,
    add_scaled,
    gated_block,
    normalize,
    quantize_row,
    rotate,
)
from engine.kernels.sync import LINE, barrier, fetch_add
from engine.kernels.vector import as_pointer, fill, get_f32, get_i64, load_f32, put_f16, store_f16, store_f32

PHASES: Final = 9  # a layer's, each with a counter of its own
EXTRA: Final = 4  # phases after the last layer, and the barrier's counter


@kernel
def counter_of(model: Any, phase: int) -> int:
    """The counter of a phase; number 0 is the barrier's."""
    return model.counters + LINE * (phase + 1)


@kernel
def _embed_rows(model: Any, embedding: Any, weight: int, scratch: int, counter: int) -> None:
    """Each token's vector, its norm, quantised: the input of the first matrix."""
    hidden = model.hidden
    token = fetch_add(counter, 1)
    while token < model.tokens:
        embed(embedding, get_i64(model.ids + 8 * token), model.embedding_scale, model.x + 4 * hidden * token)
        normalize(model.x + 4 * hidden * token, weight, scratch, hidden, model.norm_eps)
        quantize_row(scratch, hidden, model.xq, token)
        token = fetch_add(counter, 1)


@kernel
def _add_rows(model: Any, matrix: Any, post_norm: int, norm: int, scratch: int, counter: int) -> None:
    """What a half layer made onto the residual stream, then norm and quantise for the next."""
    hidden = model.hidden
    token = fetch_add(counter, 1)
    while token < model.tokens:
        row, added = model.x + 4 * hidden * token, model.added + matrix.tiles * 64 * token
        add_bias(added, matrix.bias, hidden)
        if post_norm != 0:
            normalize(added, post_norm, added, hidden, model.norm_eps)
        add_scaled(row, added, hidden, model.residual_scale)
        normalize(row, norm, scratch, hidden, model.norm_eps)
        quantize_row(scratch, hidden, model.xq, token)
        token = fetch_add(counter, 1)


@kernel
def _head(model: Any, layer: Any, source: int, norm: int, position: int, target: int) -> None:
    """Norm and rotation of one query or key head; `source` is changed."""
    head_dim = model.head_dim
    if norm != 0:
        normalize(source, norm, source, head_dim, model.norm_eps)
    if layer.cosines != 0:
        at = 4 * head_dim * position
        rotate(source, layer.cosines + at, layer.sines + at, target, head_dim, layer.half)
    else:
        for i in range(head_dim // 16):
            store_f32(target + 64 * i, load_f32(source + 64 * i))


@kernel
def _write_key(model: Any, layer: Any, head: int, position: int, key: int) -> None:
    """One key into the cache: its elements lie 16 keys apart."""
    head_dim = model.head_dim
    block = layer.keys + 2 * head_dim * (head * model.capacity + position // 16 * 16)
    for i in range(head_dim):
        put_f16(block + 32 * i + 2 * (position % 16), get_f32(key + 4 * i))


@kernel
def _write_value(model: Any, layer: Any, head: int, position: int, value: int) -> None:
    at = layer.values + 2 * model.head_dim * (head * model.capacity + position)
    for i in range(model.head_dim // 16):
        store_f16(at + 32 * i, load_f32(value + 64 * i))


@kernel
def spread_token(model: Any, layer: Any, matrix: Any, start: int, token: int, scratch: int) -> None:
    """One token's queries to their place by head, its keys and values into the cache."""
    heads, kv_heads, head_dim = model.heads, model.kv_heads, model.head_dim
    groups = heads // kv_heads
    row = model.qkv + matrix.tiles * 64 * token
    add_bias(row, matrix.bias, (heads + 2 * kv_heads) * head_dim)
    for head in range(heads):
        norm = layer.qk_norm + 4 * head_dim * head if layer.qk_norm != 0 else 0
        place = (head // groups * model.tokens + token) * groups + head % groups
        target = model.queries + 4 * head_dim * place
        _head(model, layer, row + 4 * head_dim * head, norm, start + token, target)
        for i in range(head_dim // 16):
            store_f32(target + 64 * i, load_f32(target + 64 * i) * fill(model.attention_scale))
    for head in range(kv_heads):
        norm = layer.qk_norm + 4 * head_dim * (heads + head) if layer.qk_norm != 0 else 0
        _head(model, layer, row + 4 * head_dim * (heads + head), norm, start + token, scratch)
        _write_key(model, layer, head, start + token, scratch)
        _write_value(model, layer, head, start + token, row + 4 * head_dim * (heads + kv_heads + head))


@kernel
def _spread_rows(model: Any, layer: Any, matrix: Any, start: int, scratch: int, counter: int) -> None:
    """Blocks of 16 positions, so that two threads do not write to one block of keys."""
    block = start // 16 + fetch_add(counter, 1)
    while block * 16 < start + model.tokens:
        for position in range(max(start, block * 16), min(start + model.tokens, block * 16 + 16)):
            spread_token(model, layer, matrix, start, position - start, scratch)
        block = start // 16 + fetch_add(counter, 1)


@kernel
def _attended_rows(model: Any, layer: Any, start: int, scratch: int, counter: int) -> None:
    """Merge what was split, and quantise for the output matrix."""
    columns = model.heads * model.head_dim
    token = fetch_add(counter, 1)
    while token < model.tokens:
        if model.tokens <= SPLIT_TOKENS:
            merge_spans(model, layer, start, token, scratch)
        quantize_row(model.attended + 4 * columns * token, columns, model.aq, token)
        token = fetch_add(counter, 1)


@kernel
def _gated_batch(model: Any, matrix: Any, block: int, token: int, batch: int, scratch: int) -> None:
    """32 columns of the MLP's middle for a few tokens: gate, up, activation, quantised for the next matrix."""
    columns, stride = model.intermediate, 256
    batch_product(matrix, 2 * block, 2, token, batch, model.xq, scratch, stride)
    batch_product(matrix, 2 * block + columns // TILE, 2, token, batch, model.xq, scratch + 128, stride)
    for i in range(batch):
        gate = scratch + stride * i
        if matrix.bias != 0:
            add_bias(gate, matrix.bias + 128 * block, 32)
            add_bias(gate + 128, matrix.bias + 4 * columns + 128 * block, 32)
        gated_block(gate, gate + 128, record_of(model.hq, columns // 32, token + i, block), model.activation)


@kernel
def _gated(model: Any, matrix: Any, scratch: int, counter: int, threads: int) -> None:
    """This thread's share of the MLP's middle."""
    blocks = model.intermediate // 32
    share = max(1, blocks // (threads * SHARES))
    begin = fetch_add(counter, share)
    while begin < blocks:
        for block in range(begin, min(begin + share, blocks)):
            done = 0
            while done < model.tokens:
                batch = batch_size(done, model.tokens - done)
                _gated_batch(model, matrix, block, done, batch, scratch)
                done += batch
        begin = fetch_add(counter, share)


@kernel
def _attention_half(
    model: Any, layer: Any, matrices: Any, index: int, start: int, scratch: int, threads: int, arrivals: int
) -> int:
    """Queries, keys and values, attention, output matrix; the barriers passed so far."""
    phase = PHASES * index + 1
    qkv, output = matrices[4 * index], matrices[4 * index + 1]
    matmul(qkv, 0, model.tokens, model.xq, model.qkv, counter_of(model, phase), threads)
    barrier(model.counters, arrivals + threads)
    _spread_rows(model, layer, qkv, start, scratch, counter_of(model, phase + 1))
    barrier(model.counters, arrivals + 2 * threads)
    if model.tokens <= SPLIT_TOKENS:
        attend_spans(model, layer, start, scratch, counter_of(model, phase + 2))
    else:
        attend(model, layer, start, scratch, counter_of(model, phase + 2))
    barrier(model.counters, arrivals + 3 * threads)
    _attended_rows(model, layer, start, scratch, counter_of(model, phase + 3))
    barrier(model.counters, arrivals + 4 * threads)
    matmul(output, 0, model.tokens, model.aq, model.added, counter_of(model, phase + 4), threads)
    barrier(model.counters, arrivals + 5 * threads)
    return arrivals + 5 * threads


@kernel
def _mlp_half(model: Any, matrices: Any, index: int, scratch: int, threads: int, arrivals: int) -> int:
    """Gate and up, activation, down; the barriers passed so far."""
    phase = PHASES * index + 7
    _gated(model, matrices[4 * index + 2], scratch, counter_of(model, phase), threads)
    barrier(model.counters, arrivals + threads)
    matmul(matrices[4 * index + 3], 0, model.tokens, model.hq, model.added, counter_of(model, phase + 1), threads)
    barrier(model.counters, arrivals + 2 * threads)
    return arrivals + 2 * threads


@kernel
def _finish_logits(model: Any, matrix: Any, first: int, count: int) -> None:
    """Scale and soft cap of `count` vectors of logits."""
    for i in range(count):
        at = model.logits + 64 * (first + i)
        value = load_f32(at) * fill(model.logit_scale)
        if model.logit_softcap != 0.0:
            value = fill(model.logit_softcap) * vtanh(value / fill(model.logit_softcap))
        store_f32(at, value)


@kernel
def _logits(model: Any, matrix: Any, keep: int, phase: int, threads: int, arrivals: int) -> None:
    """The head over the last `keep` tokens."""
    matmul(matrix, model.tokens - keep, keep, model.xq, model.logits, counter_of(model, phase), threads)
    if model.logit_scale != 1.0 or model.logit_softcap != 0.0:
        barrier(model.counters, arrivals + threads)
        share = fetch_add(counter_of(model, phase + 1), 1)
        while share < keep * matrix.tiles // 64 + 1:
            _finish_logits(model, matrix, share * 64, min(64, keep * matrix.tiles - share * 64))
            share = fetch_add(counter_of(model, phase + 1), 1)


def pass_with(attention_half: Callable[..., Any]) -> Callable[..., Any]:
    """The whole forward pass, as one of `threads` threads runs it, with one kind of attention half.

    Args:
        attention_half: As `_attention_half`; told `where` the tokens of the pass stand.
    """

    @kernel
    def whole(models: Any, layers: Any, matrices: Any, where: Any, keep: int, thread: int, threads: int) -> None:
        model = models[0]
        scratch = model.scratch + model.scratch_bytes * thread
        arrivals = threads
        _embed_rows(model, matrices[4 * model.layers + 1], layers[0].attention_norm, scratch, counter_of(model, 0))
        barrier(model.counters, arrivals)
        for index in range(model.layers):
            layer = layers[index]
            arrivals = attention_half(model, layer, matrices, index, where, scratch, threads, arrivals)
            output = matrices[4 * index + 1]
            counter = counter_of(model, PHASES * index + 6)
            _add_rows(model, output, layer.attention_post_norm, layer.mlp_norm, scratch, counter)
            arrivals += threads
            barrier(model.counters, arrivals)
            arrivals = _mlp_half(model, matrices, index, scratch, threads, arrivals)
            down = matrices[4 * index + 3]
            norm = layers[index + 1].attention_norm if index + 1 < model.layers else model.final_norm
            counter = counter_of(model, PHASES * index + 9)
            _add_rows(model, down, layer.mlp_post_norm, norm, scratch, counter)
            arrivals += threads
            barrier(model.counters, arrivals)
        if keep > 0:
            phase = PHASES * model.layers + 1
            _logits(model, matrices[4 * model.layers], keep, phase, threads, arrivals)

    return whole


_pass = pass_with(_attention_half)


@entry("void(int64, int64, int64, int64, int64, int64, int64)")
def forward(model: int, layers: int, matrices: int, start: int, keep: int, thread: int, threads: int) -> None:
    """Run one pass, as one of several threads that all call this with the same arguments but `thread`.

    Args:
        model: Address of a plan.MODEL record; its `ids` hold the tokens, its counters are zero.
        layers: Address of plan.LAYER records.
        matrices: Address of plan.MATRIX records, four a layer, then head and embedding.
        start: Tokens in the cache before this pass.
        keep: Logits of how many last tokens are wanted.
        thread: Which thread this is.
        threads: How many threads take part.
    """
    models = carray(as_pointer(model), 1, MODEL)
    count = models[0].layers
    layer_records = carray(as_pointer(layers), count, LAYER)
    matrix_records = carray(as_pointer(matrices), 4 * count + 2, MATRIX)
    _pass(models, layer_records, matrix_records, start, keep, thread, threads)
