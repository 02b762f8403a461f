"""Measures what packing a model's weights cost in quality: two passes over some English, a few rows of it at a time.

No weight is held: each is unpacked when it is multiplied with, so a model that takes all of the memory in floats can be
measured too. The kernels round activations besides, which is not in these figures; `loquat bench formats` has them.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Protocol, cast

import torch
import torch.nn.functional as F
from torch import Tensor

from engine.bench.text import prose
from engine.chat import RequestHandle
from engine.decoder import DecoderConfig, DecoderRunner
from engine.decoder.checkpoint import Checkpoint, read_json
from engine.decoder.weights import DecoderWeights, LayerWeights
from engine.events import LoadStage
from engine.kernels.formats import TILE, Kind, QuantizedMatrix, padded
from engine.kernels.packing import pack
from engine.kernels.sources import Floats, Shape
from engine.kernels.store import load_packed, packed_path
from engine.kernels.weights import NORMS, KernelLayer, KernelWeights, PackedLinear
from engine.models.model_folder import CONFIG
from engine.models.progress import Step, stop_if_cancelled
from engine.models.quality import Quality, write_quality
from engine.tokenizer import load_tokenizer

_log = logging.getLogger(__name__)

LARGEST: Final = 3_000_000_000  # parameters; beyond that it would take minutes
_MOST_TOKENS: Final = 256
_FEWEST_TOKENS: Final = 64
_WORK: Final = 128_000_000_000  # parameters times tokens: some seconds
_AT_ONCE: Final = 1 << 20  # numbers


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
    floats = mean_nll(config, _decoder(pack(config, _StoredSource(Checkpoint(folder)))), ids)
    stop_if_cancelled(handle)
    yield _step(1, label)
    packed = mean_nll(config, _decoder(load_packed(path, config)), ids)
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


class _Lazy(Protocol):
    """A matrix whose rows are read when they are asked for."""

    @property
    def rows(self) -> int: ...

    @property
    def columns(self) -> int: ...

    def read(self, start: int, stop: int) -> Tensor:
        """Rows from the first of a tile on, float32 [stop - start, columns]."""
        ...


@dataclass(frozen=True, slots=True)
class _Unpacked:
    """A packed matrix."""

    matrix: QuantizedMatrix

    @property
    def rows(self) -> int:
        return self.matrix.rows

    @property
    def columns(self) -> int:
        return self.matrix.columns

    def read(self, start: int, stop: int) -> Tensor:
        tiles = self.matrix.data[start // TILE : -(-stop // TILE)]
        part = QuantizedMatrix(self.matrix.kind, stop - start, self.matrix.columns, tiles)
        return torch.from_numpy(part.dequantize())


@dataclass(frozen=True, slots=True)
class _Stored:
    """Matrices of a checkpoint, stacked; each is mapped into memory for as long as some rows of it are read."""

    parts: Sequence[tuple[str, Shape]]
    open: Callable[[str, Shape], Tensor]

    @property
    def rows(self) -> int:
        return sum(shape[0] for _, shape in self.parts)

    @property
    def columns(self) -> int:
        return self.parts[0][1][1]

    @property
    def padded_rows(self) -> int:
        return padded(self.rows, TILE)

    def read(self, start: int, stop: int) -> Tensor:
        found, first = [], 0
        for name, shape in self.parts:
            low, high = max(0, start - first), min(shape[0], stop - first)
            if low < high:
                found.append(self.open(name, shape)[low:high].float())
            first += shape[0]
        return torch.cat(found)


class _StoredSource:
    """A checkpoint as a `Source` that packs nothing: its matrices are `_Stored`."""

    def __init__(self, checkpoint: Checkpoint) -> None:
        self._checkpoint = checkpoint

    def matrix(self, parts: Sequence[tuple[str, Shape]], kind: Kind) -> QuantizedMatrix:
        return cast("QuantizedMatrix", _Stored(parts, self._open))  # it is only asked for its sizes, and by `_lazy`

    def vector(self, name: str, shape: Shape) -> Floats:
        values: Floats = self._open(name, shape).to(torch.float32).numpy()
        return values

    def _open(self, name: str, shape: Shape) -> Tensor:
        return self._checkpoint.head(shape) if name == "lm_head.weight" else self._checkpoint.decoder(name, shape)


def _lazy(matrix: QuantizedMatrix | _Stored) -> _Lazy:
    return matrix if isinstance(matrix, _Stored) else _Unpacked(matrix)


@dataclass(frozen=True, slots=True)
class _Streamed:
    """A `Linear` of which some rows are there at a time.

    Attributes:
        matrix: [out_features, in_features].
        bias: float32 [out_features] or None.
        nbytes: None are held.
    """

    matrix: _Lazy
    bias: Tensor | None
    nbytes: int = 0

    @property
    def in_features(self) -> int:
        """Length of an input row."""
        return self.matrix.columns

    @property
    def out_features(self) -> int:
        """Length of an output row."""
        return self.matrix.rows

    def __call__(self, x: Tensor) -> Tensor:
        """Rows [n, in_features] to rows [n, out_features]."""
        step = max(1, _AT_ONCE // self.in_features // TILE) * TILE
        spans = ((start, min(start + step, self.out_features)) for start in range(0, self.out_features, step))
        made = torch.cat([F.linear(x, self.matrix.read(*span)) for span in spans], dim=-1)
        return made if self.bias is None else made + self.bias


@dataclass(frozen=True, slots=True)
class _Vectors:
    """An `Embedding` of which a few tokens' vectors are there at a time."""

    matrix: _Lazy
    nbytes: int = 0

    def __call__(self, ids: Tensor) -> Tensor:
        """Ids [n] to vectors [n, hidden_size]."""
        tiles = [(token - token % TILE, token % TILE) for token in ids.tolist()]
        ends = [min(start + TILE, self.matrix.rows) for start, _ in tiles]
        return torch.stack([self.matrix.read(start, end)[row] for (start, row), end in zip(tiles, ends, strict=True)])


def _decoder(weights: KernelWeights) -> DecoderWeights:
    """Weights in kernel layout, or in a layout of `_Stored`, for the decoder in torch operations."""
    return DecoderWeights(
        embedding=_Vectors(_lazy(weights.embedding)),
        layers=tuple(_layer(layer) for layer in weights.layers),
        norm=torch.from_numpy(weights.norm),
        head=_streamed(weights.head),
        dtype=torch.float32,
        device=torch.device("cpu"),
    )


def _layer(layer: KernelLayer) -> LayerWeights:
    qkv, output, gate_up, down = (_streamed(linear) for linear in layer.linears)
    norms: dict[str, Any] = {name: _tensor(getattr(layer, name)) for name in NORMS}
    return LayerWeights(qkv=qkv, output=output, gate_up=gate_up, down=down, **norms)


def _streamed(linear: PackedLinear) -> _Streamed:
    bias = None if linear.bias is None else torch.from_numpy(linear.bias[: linear.matrix.rows])
    return _Streamed(_lazy(linear.matrix), bias)


def _tensor(held: Floats | None) -> Tensor | None:
    return None if held is None else torch.from_numpy(held)
