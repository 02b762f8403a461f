"""Packed tiny models, and a torch reference that computes what the kernels compute, in floats."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor

from engine.decoder.checkpoint import Checkpoint, read_json
from engine.decoder.config import DecoderConfig
from engine.decoder.linear import DenseEmbedding
from engine.decoder.runner import DecoderRunner
from engine.decoder.weights import DecoderWeights, LayerWeights
from engine.kernels.formats import Kind
from engine.kernels.packing import pack
from engine.kernels.runner import KernelRunner
from engine.kernels.sources import FolderSource
from engine.kernels.weights import NORMS, KernelLayer, KernelWeights, PackedLinear


def fake_quantize(x: Tensor) -> Tensor:
    """Activations as the kernels see them: two int8 halves with a scale per 32."""
    blocks = x.reshape(*x.shape[:-1], -1, 32)
    top = blocks.abs().amax(-1, keepdim=True)
    scaled = blocks * torch.where(top > 1e-30, 127 / top, 0)
    high = torch.round(scaled)
    codes = 128 * high + torch.round(128 * scaled - 128 * high)
    return (codes * (top / (127 * 128))).reshape(x.shape)


@dataclass(frozen=True)
class ReferenceLinear:
    """A dense linear over dequantised weights and quantised activations."""

    weight: Tensor
    bias: Tensor | None

    @classmethod
    def of(cls, packed: PackedLinear) -> ReferenceLinear:
        bias = None if packed.bias is None else torch.from_numpy(packed.bias[: packed.matrix.rows])
        return cls(torch.from_numpy(packed.matrix.dequantize()), bias)

    @property
    def in_features(self) -> int:
        return self.weight.shape[1]

    @property
    def out_features(self) -> int:
        return self.weight.shape[0]

    @property
    def nbytes(self) -> int:
        return self.weight.nbytes

    def __call__(self, x: Tensor) -> Tensor:
        return torch.nn.functional.linear(fake_quantize(x), self.weight, self.bias)


def _layer(layer: KernelLayer) -> LayerWeights:
    norms = {name: getattr(layer, name) for name in NORMS}
    return LayerWeights(
        *(ReferenceLinear.of(linear) for linear in layer.linears),
        **{name: None if norm is None else torch.from_numpy(norm) for name, norm in norms.items()},
    )


def reference_runner(config: DecoderConfig, weights: KernelWeights) -> DecoderRunner:
    """The torch decoder over the kernels' own weights; keys and values in float16, as theirs."""
    vectors = torch.from_numpy(weights.embedding.dequantize())
    dense = DecoderWeights(
        embedding=DenseEmbedding(vectors, shared=False),
        layers=tuple(_layer(layer) for layer in weights.layers),
        norm=torch.from_numpy(weights.norm),
        head=ReferenceLinear.of(weights.head),
        dtype=torch.float32,
        device=torch.device("cpu"),
    )
    return DecoderRunner(config, dense, kv_dtype=torch.float16)


@dataclass(frozen=True)
class Pair:
    """The same weights behind the kernels and behind torch."""

    config: DecoderConfig
    weights: KernelWeights
    reference: DecoderRunner
    ids: list[int]

    def kernels(self, threads: int = 2, max_context: int | None = None) -> KernelRunner:
        """A runner of its own for a test: its threads end with it."""
        return KernelRunner(self.config, self.weights, threads=threads, max_context=max_context)


@pytest.fixture(scope="session")
def pair(tiny_model: Callable[..., Path]) -> Callable[..., Pair]:
    """`pair("llama", kind, **config)`: a packed tiny model, made once."""
    made: dict[str, Pair] = {}

    def make(family: str, kind: Kind = Kind.Q4A, **values: object) -> Pair:
        key = repr((family, kind, sorted(values.items())))
        if key not in made:
            folder = tiny_model(family, **values)
            config = DecoderConfig.from_json(read_json(folder / "config.json"))
            weights = pack(config, FolderSource(Checkpoint(folder)), kind)
            ids = np.random.default_rng(3).integers(0, config.vocab_size, 300).tolist()
            made[key] = Pair(config, weights, reference_runner(config, weights), ids)
        return made[key]

    return make
