"""One token of each of several sequences in one compiled pass: the weights are read once for all of them.

Everything but attention is as in a pass over so many tokens of one sequence; each token attends to its own cache, by
the same steps in the same order as alone, so it gets the same bits.
"""

from __future__ import annotations

from typing import Any

from numba.np.numpy_support import carray

from engine.kernels.attention import attend_group
from engine.kernels.jit import entry, kernel
from engine.kernels.matmul import matmul
from engine.kernels.plan import LAYER, MATRIX, MODEL
from engine.kernels.rows import quantize_row
from engine.kernels.step import PHASES, counter_of, pass_with, spread_token
from engine.kernels.sync import barrier, fetch_add
from engine.kernels.vector import as_pointer, get_i64


@kernel
def _spread(model: Any, where: Any, matrix: Any, index: int, scratch: int, counter: int) -> None:
    """Each sequence's queries to their place by head, its key and value into its cache."""
    models, layers, starts = where
    number = fetch_add(counter, 1)
    while number < model.tokens:
        layer = layers[number * model.layers + index]
        spread_token(models[number], layer, matrix, get_i64(starts + 8 * number), 0, scratch)
        number = fetch_add(counter, 1)


@kernel
def _attend(model: Any, where: Any, index: int, scratch: int, counter: int) -> None:
    """This thread's share of attention: a key/value head of a sequence at a time."""
    models, layers, starts = where
    groups = model.heads // model.kv_heads
    unit = fetch_add(counter, 1)
    while unit < model.tokens * model.kv_heads:
        number, head = unit // model.kv_heads, unit % model.kv_heads
        layer = layers[number * model.layers + index]
        attend_group(models[number], layer, head, 0, groups, get_i64(starts + 8 * number), scratch)
        unit = fetch_add(counter, 1)


@kernel
def _quantize(model: Any, counter: int) -> None:
    columns = model.heads * model.head_dim
    number = fetch_add(counter, 1)
    while number < model.tokens:
        quantize_row(model.attended + 4 * columns * number, columns, model.aq, number)
        number = fetch_add(counter, 1)


@kernel
def _attention_half(
    model: Any, layer: Any, matrices: Any, index: int, where: Any, scratch: int, threads: int, arrivals: int
) -> int:
    """Queries, keys and values, attention, output matrix; the barriers passed so far."""
    phase = PHASES * index + 1
    qkv, output = matrices[4 * index], matrices[4 * index + 1]
    matmul(qkv, 0, model.tokens, model.xq, model.qkv, counter_of(model, phase), threads)
    barrier(model.counters, arrivals + threads)
    _spread(model, where, qkv, index, scratch, counter_of(model, phase + 1))
    barrier(model.counters, arrivals + 2 * threads)
    _attend(model, where, index, scratch, counter_of(model, phase + 2))
    barrier(model.counters, arrivals + 3 * threads)
    _quantize(model, counter_of(model, phase + 3))
    barrier(model.counters, arrivals + 4 * threads)
    matmul(output, 0, model.tokens, model.aq, model.added, counter_of(model, phase + 4), threads)
    barrier(model.counters, arrivals + 5 * threads)
    return arrivals + 5 * threads


_pass = pass_with(_attention_half)


@entry("void(int64, int64, int64, int64, int64, int64, int64, int64)")
def forward_many(
    model: int, layers: int, matrices: int, models: int, own_layers: int, starts: int, thread: int, threads: int
) -> None:
    """Run one pass, as one of several threads that all call this with the same arguments but `thread`.

    Args:
        model: Address of a plan.MODEL record: as many tokens as there are sequences, their tokens in `ids`.
        layers: Address of plan.LAYER records.
        matrices: Address of plan.MATRIX records, four a layer, then head and embedding.
        models: Address of a plan.MODEL record for each sequence, of one token, with its own rows and capacity.
        own_layers: Address of the plan.LAYER records of each sequence in turn, with its own keys and values.
        starts: Address of int64: the tokens in each sequence's cache before this pass.
        thread: Which thread this is.
        threads: How many threads take part.
    """
    records = carray(as_pointer(model), 1, MODEL)
    count, sequences = records[0].layers, records[0].tokens
    layer_records = carray(as_pointer(layers), count, LAYER)
    matrix_records = carray(as_pointer(matrices), 4 * count + 2, MATRIX)
    where = (
        carray(as_pointer(models), sequences, MODEL),
        carray(as_pointer(own_layers), sequences * count, LAYER),
        starts,
    )
    _pass(records, layer_records, matrix_records, where, sequences, thread, threads)
