"""Measures what packing a model's weights cost in quality: two passes over some English, a few rows of it at a time.

No weight is held: each is unpacked when it is multiplied with, so a model that takes all of the memory in floats can be
measured too. The kernels round activations besides, which is not in these figures; `loquat bench formats` has them.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import torch
import torch.nn.functional as F
from torch import Tensor

from engine.bench.text import prose
from engine.chat import RequestHandle
from engine.decoder import DecoderConfig, DecoderRunner
from engine.decoder.checkpoint import Checkpoint, read_json
from engine.decoder.weights import DecoderWeights, LayerWeights, load_weights
from engine.events import LoadStage
from engine.kernels.formats import TILE, QuantizedMatrix
from engine.kernels.store import load_packed, packed_path
from engine.kernels.weights import NORMS, Floats, KernelLayer, KernelWeights, PackedLinear
from engine.models.model_folder import CONFIG
from engine.models.progress import Step, stop_if_cancelled
from engine.models.quality import Quality, write_quality
from engine.tokenizer import load_tokenizer

_log = logging.getLogger(__name__)

LARGEST: Final = 3_000_000_000  # parameters; beyond that it would take minutes
_MOST_TOKENS: Final = 512
_FEWEST_TOKENS: Final = 64
_WORK: Final = 128_000_000_000  # parameters times tokens: some seconds
_AT_ONCE: Final = 4 * 1024 * 1024  # numbers


def note_quality(
    folder: Path, weights: str, parameters: int, label: str, handle: RequestHandle
) -> Generator[Step, None, None]:
    """Write what packing cost into a model's folder; nothing for a model that was not packed, or that is large.

    Args:
        folder: The model's, with its floats and its packed weights.
        weights: What those are held in.
        parameters: Number of weights.
        label: The model's name in progress sentences.
        handle: Cancels.

    Raises:
        BadModelFile: The weights cannot be read.
        Cancelled: `handle` was cancelled.
        OSError: The disk refused.
    """
    path = packed_path(folder, weights)
    ids = load_tokenizer(folder).encode(prose())
    ids = ids[: max(_FEWEST_TOKENS, min(_MOST_TOKENS, _WORK // max(1, parameters)))]
    if not path.is_file() or parameters > LARGEST or len(ids) < _FEWEST_TOKENS:
        return
    config = DecoderConfig.from_json(read_json(folder / CONFIG))
    yield _step(0, label)
    floats = mean_nll(config, _floats(Checkpoint(folder), config), ids)
    stop_if_cancelled(handle)
    yield _step(1, label)
    packed = mean_nll(config, _packed(load_packed(path, config)), ids)
    stop_if_cancelled(handle)
    write_quality(folder, Quality(len(ids), floats, packed, weights))
    _log.info("Mean NLL of %d tokens: %.4f as floats, %.4f in %s", len(ids), floats, packed, weights)


def _step(done: int, label: str) -> Step:
    return Step(LoadStage.IMPORT, done, 2, f"Measuring what {label} says of a text")


def mean_nll(config: DecoderConfig, weights: DecoderWeights, ids: Sequence[int]) -> float:
    """Mean negative log likelihood in nats of each token but the first, given those before it; one pass."""
    runner = DecoderRunner(config, weights, max_context=len(ids))
    logits = runner.prefill(ids[:-1], runner.new_cache(), keep=len(ids) - 1)
    return float(F.cross_entropy(logits, torch.tensor(ids[1:])))


@dataclass(frozen=True, slots=True)
class _Streamed:
    """A matrix of which some rows are there at a time.

    Attributes:
        in_features, out_features: Its sizes.
        rows: Rows start to stop, float32.
        bias: float32 [out_features] or None.
        nbytes: None are held.
    """

    in_features: int
    out_features: int
    rows: Callable[[int, int], Tensor]
    bias: Tensor | None = None
    nbytes: int = 0

    def __call__(self, x: Tensor) -> Tensor:
        """Rows [n, in_features] to rows [n, out_features]."""
        step = max(1, _AT_ONCE // self.in_features // TILE) * TILE
        starts = range(0, self.out_features, step)
        made = torch.cat(
            [F.linear(x, self.rows(start, min(start + step, self.out_features))) for start in starts], dim=-1
        )
        return made if self.bias is None else made + self.bias


@dataclass(frozen=True, slots=True)
class _Vectors:
    """Token vectors, each unpacked when it is asked for."""

    row: Callable[[int], Tensor]
    nbytes: int = 0

    def __call__(self, ids: Tensor) -> Tensor:
        """Ids [n] to vectors [n, hidden_size]."""
        return torch.stack([self.row(int(token)) for token in ids])


def _floats(checkpoint: Checkpoint, config: DecoderConfig) -> DecoderWeights:
    """A decoder over the floats of a model folder."""
    shape = (config.vocab_size, config.hidden_size)
    vectors = checkpoint.decoder("embed_tokens.weight", shape)
    head = vectors if config.tied else checkpoint.head(shape)
    # In the dtype that they are stored in, so that embedding and head are not copied; both are replaced.
    loaded = load_weights(checkpoint, config, _stacked, dtype=vectors.dtype, device=torch.device("cpu"))
    return replace(
        loaded, embedding=_Vectors(lambda token: vectors[token].float()), head=_stacked([head], []), dtype=torch.float32
    )


def _stacked(weights: Sequence[Tensor], biases: Sequence[Tensor]) -> _Streamed:
    """Matrices stacked by their rows; a `LinearFactory`."""

    def rows(start: int, stop: int) -> Tensor:
        parts, first = [], 0
        for weight in weights:
            parts.append(weight[max(0, start - first) : max(0, stop - first)].float())
            first += len(weight)
        return torch.cat(parts)

    bias = torch.cat([part.float() for part in biases]) if biases else None
    return _Streamed(weights[0].shape[1], sum(len(weight) for weight in weights), rows, bias)


def _packed(weights: KernelWeights) -> DecoderWeights:
    """A decoder over weights in kernel layout."""
    return DecoderWeights(
        embedding=_Vectors(lambda token: _rows(weights.embedding, token - token % TILE, TILE)[token % TILE]),
        layers=tuple(_layer(layer) for layer in weights.layers),
        norm=torch.from_numpy(weights.norm),
        head=_unpacked(weights.head),
        dtype=torch.float32,
        device=torch.device("cpu"),
    )


def _layer(layer: KernelLayer) -> LayerWeights:
    qkv, output, gate_up, down = (_unpacked(linear) for linear in layer.linears)
    norms: dict[str, Any] = {name: _tensor(getattr(layer, name)) for name in NORMS}
    return LayerWeights(qkv=qkv, output=output, gate_up=gate_up, down=down, **norms)


def _tensor(held: Floats | None) -> Tensor | None:
    return None if held is None else torch.from_numpy(held)


def _unpacked(linear: PackedLinear) -> _Streamed:
    matrix = linear.matrix
    bias = None if linear.bias is None else torch.from_numpy(linear.bias[: matrix.rows])
    return _Streamed(matrix.columns, matrix.rows, lambda start, stop: _rows(matrix, start, stop - start), bias)


def _rows(matrix: QuantizedMatrix, start: int, count: int) -> Tensor:
    """Rows of a packed matrix from the first of a tile on, float32 [count, columns]."""
    tiles = matrix.data[start // TILE : -(-(start + count) // TILE)]
    return torch.from_numpy(QuantizedMatrix(matrix.kind, count, matrix.columns, tiles).dequantize())
