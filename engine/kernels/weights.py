"""A decoder's weights in kernel layout."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from engine.decoder.config import DecoderConfig
from engine.errors import UnsupportedModel
from engine.kernels.formats import BLOCK, TILE, QuantizedMatrix

Floats = NDArray[np.float32]
NORMS: Final = ("attention_norm", "mlp_norm", "attention_post_norm", "mlp_post_norm", "qk_norm")


@dataclass(frozen=True, slots=True)
class PackedLinear:
    """A packed matrix with its bias; also a `Linear` for the torch decoder.

    Attributes:
        matrix: The packed weights.
        bias: float32 [rows padded to 16] or None.
    """

    matrix: QuantizedMatrix
    bias: Floats | None = None

    @property
    def in_features(self) -> int:
        """Length of an input row."""
        return self.matrix.columns

    @property
    def out_features(self) -> int:
        """Length of an output row."""
        return self.matrix.rows

    @property
    def nbytes(self) -> int:
        """Memory held, in bytes."""
        return self.matrix.nbytes + (0 if self.bias is None else self.bias.nbytes)

    def __call__(self, x: Tensor) -> Tensor:
        """Rows [n, in_features] to rows [n, out_features], in floats: slow, and exact up to rounding."""
        weight = torch.from_numpy(self.matrix.dequantize()).to(x.dtype)
        bias = None if self.bias is None else torch.from_numpy(self.bias[: self.matrix.rows]).to(x.dtype)
        return torch.nn.functional.linear(x, weight, bias)


def padded_bias(parts: Sequence[Floats], matrix: QuantizedMatrix) -> Floats | None:
    """Biases one after the other, padded to whole tiles; None if there are none."""
    if not parts:
        return None
    bias = np.zeros(matrix.padded_rows, np.float32)
    bias[: matrix.rows] = np.concatenate(parts)
    return bias


@dataclass(frozen=True, slots=True)
class KernelLayer:
    """One layer; the names and norms are those of decoder.weights.LayerWeights, in NumPy."""

    qkv: PackedLinear
    output: PackedLinear
    gate_up: PackedLinear
    down: PackedLinear
    attention_norm: Floats
    mlp_norm: Floats
    attention_post_norm: Floats | None = None
    mlp_post_norm: Floats | None = None
    qk_norm: Floats | None = None

    @property
    def linears(self) -> tuple[PackedLinear, PackedLinear, PackedLinear, PackedLinear]:
        """In the order in which they are read."""
        return self.qkv, self.output, self.gate_up, self.down


@dataclass(frozen=True, slots=True)
class KernelWeights:
    """A whole decoder.

    Attributes:
        layers: In order.
        norm: Before the head, float32 [hidden_size].
        head: hidden_size to vocab_size.
        embedding: Token vectors, [vocab_size, hidden_size]; often the very object that `head` has.
    """

    layers: tuple[KernelLayer, ...]
    norm: Floats
    head: PackedLinear
    embedding: QuantizedMatrix

    @property
    def nbytes(self) -> int:
        """Memory held, in bytes; memory-mapped weights count as held."""
        rest = 0 if self.embedding is self.head.matrix else self.embedding.nbytes
        return rest + self.norm.nbytes + self.bytes_per_token

    @property
    def bytes_per_token(self) -> int:
        """Bytes of matrices that a decode step reads."""
        return self.head.nbytes + sum(linear.nbytes for layer in self.layers for linear in layer.linears)


def check_sizes(config: DecoderConfig) -> None:
    """See that the kernels can compute a decoder.

    Raises:
        UnsupportedModel: They cannot, with the reason.
    """
    sizes = {
        "hidden size": (config.hidden_size, BLOCK),
        "MLP size": (config.intermediate_size, BLOCK),
        "head size": (config.head_dim, TILE),
        "attention size": (config.heads * config.head_dim, BLOCK),
    }
    for name, (size, unit) in sizes.items():
        if size % unit:
            raise UnsupportedModel(f"The CPU kernels need a {name} that {unit} divides, and this model has {size}.")
    if config.activation == "gelu":
        raise UnsupportedModel("The CPU kernels do not compute this model's activation, the exact GELU.")
