"""Random packed weights of a decoder: for measuring speed and memory, not for words."""

from __future__ import annotations

from typing import Final

import numpy as np

from engine.decoder.config import DecoderConfig
from engine.kernels.formats import HEADER_BYTES, Kind, QuantizedMatrix, packed_shape
from engine.kernels.weights import Floats, KernelLayer, KernelWeights, PackedLinear

# A scale and an offset with which numbers stay small through all layers, and never become denormal.
_SCALE: Final = 0.004
_OFFSET: Final = -0.03


def random_weights(config: DecoderConfig, kind: Kind = Kind.Q4A) -> KernelWeights:
    """Weights of a decoder.

    Args:
        config: Its sizes.
        kind: The format of the layers' matrices; embedding and head are held in 8 bits.
    """
    random = np.random.default_rng(1)
    embedding = _matrix(Kind.Q8, config.vocab_size, config.hidden_size, random)
    head = embedding if config.tied else _matrix(Kind.Q8, config.vocab_size, config.hidden_size, random)
    layers = tuple(_layer(config, kind, random) for _ in config.layers)
    return KernelWeights(layers, _ones(config.hidden_size), PackedLinear(head), embedding)


def _layer(config: DecoderConfig, kind: Kind, random: np.random.Generator) -> KernelLayer:
    hidden, inner, attended = config.hidden_size, config.intermediate_size, config.heads * config.head_dim

    def linear(rows: int, columns: int, bias: bool = False) -> PackedLinear:
        matrix = _matrix(kind, rows, columns, random)
        return PackedLinear(matrix, np.zeros(matrix.padded_rows, np.float32) if bias else None)

    post = _ones(hidden) if config.post_norms else None
    heads = config.heads + config.kv_heads
    return KernelLayer(
        qkv=linear(sum(config.qkv_sizes), hidden, config.qkv_bias),
        output=linear(hidden, attended, config.output_bias),
        gate_up=linear(2 * inner, hidden, config.mlp_bias),
        down=linear(hidden, inner, config.mlp_bias),
        attention_norm=_ones(hidden),
        mlp_norm=_ones(hidden),
        attention_post_norm=post,
        mlp_post_norm=post,
        qk_norm=np.ones((heads, config.head_dim), np.float32) if config.qk_norm else None,
    )


def _matrix(kind: Kind, rows: int, columns: int, random: np.random.Generator) -> QuantizedMatrix:
    data = random.integers(0, 256, packed_shape(kind, rows, columns), np.uint8)
    header = data[..., : HEADER_BYTES[kind]].view(np.float16)
    header[..., :16] = _SCALE
    header[..., 16:] = _OFFSET
    return QuantizedMatrix(kind, rows, columns, data)


def _ones(size: int) -> Floats:
    return np.ones(size, np.float32)
