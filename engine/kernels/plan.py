"""What a compiled step is told: sizes, addresses and constants in NumPy records.

Numba reads a record's fields by name at no cost; the records own nothing, the runner keeps the arrays alive.
"""

from __future__ import annotations

from typing import Final

import numpy as np

SPAN: Final = 128  # keys that are attended to at a time
SPLIT_TOKENS: Final = 4  # up to so many tokens, threads share out the spans instead of the queries
ROW_GROUP: Final = 32  # queries of a key/value head that one thread takes at a time in prefill

SILU: Final = 0
GELU_TANH: Final = 1

MATRIX: Final = np.dtype(
    [(name, "i8") for name in ("weights", "kind", "tiles", "blocks", "tile_bytes", "bias")],
)
"""A packed matrix: addresses of weights and bias (float32, 0 for none), format, and its size in tiles and blocks."""

LAYER: Final = np.dtype(
    [
        (name, "i8")
        for name in (
            "window",  # tokens a query sees, 0 for all
            "cosines",  # address of float32 [positions, head_dim], 0 for no rotation; sines alike
            "sines",
            "half",  # elements that are rotated, halved
            "qk_norm",  # address of [heads + kv_heads, head_dim] float32, 0 for none; so for the other norms
            "attention_norm",
            "attention_post_norm",
            "mlp_norm",
            "mlp_post_norm",
            "keys",  # address of float16 [kv_heads, capacity / 16, head_dim, 16]
            "values",  # address of float16 [kv_heads, capacity, head_dim]
        )
    ],
)
"""One layer; its four matrices are 4 * index and on: qkv, output, gate_up, down. After the last layer's come head and
embedding."""

MODEL: Final = np.dtype(
    [
        *(
            (name, "i8")
            for name in (
                "layers",
                "tokens",  # of this pass
                "hidden",
                "intermediate",
                "heads",
                "kv_heads",
                "head_dim",
                "activation",
                "capacity",  # tokens the cache has room for
                "final_norm",
                "counters",  # address of the counters of sync.py
                "ids",  # address of the pass's tokens, int64
                "x",  # residual stream, float32 [tokens, hidden]
                "xq",  # its quantised rows, normed
                "qkv",  # float32 [tokens, padded rows of qkv]
                "queries",  # float32 [kv_heads, tokens * groups, head_dim]
                "slots",  # partial attention [kv_heads, spans, SPLIT_TOKENS * groups, 16 + head_dim] float32
                "slot_spans",
                "attended",  # float32 [tokens, heads * head_dim]
                "aq",  # its quantised rows
                "added",  # what a half layer adds, float32 [tokens, padded hidden]
                "hq",  # quantised rows of the MLP's middle
                "logits",  # float32 [keep, padded vocabulary]
                "scratch",  # each thread's own
                "scratch_bytes",
            )
        ),
        *(
            (name, "f4")
            for name in (
                "embedding_scale",
                "norm_eps",
                "attention_scale",
                "attention_softcap",  # 0 for none; so for the logits'
                "logit_softcap",
                "residual_scale",
                "logit_scale",
            )
        ),
    ],
)
