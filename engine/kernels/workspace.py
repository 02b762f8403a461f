"""The records and buffers of a compiled step, made once for a model and bound to a cache for each pass."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from engine.decoder.config import DecoderConfig
from engine.decoder.rope import RopeTable
from engine.kernels.activations import activation_bytes
from engine.kernels.attention import HEAD, MOST, SCORES
from engine.kernels.cache import KernelCache
from engine.kernels.formats import QuantizedMatrix
from engine.kernels.plan import (
    GELU_TANH,
    LAYER,
    MATRIX,
    MODEL,
    ROW_GROUP,
    SILU,
    SPAN,
    SPLIT_TOKENS,
)
from engine.kernels.step import EXTRA, PHASES
from engine.kernels.sync import LINE
from engine.kernels.weights import NORMS, Floats, KernelLayer, KernelWeights

CHUNK: Final = 128  # most tokens of one pass
Bytes = NDArray[np.uint8]


def aligned(nbytes: int, alignment: int = 64) -> Bytes:
    """Zeroed bytes whose address is a multiple of `alignment`."""
    raw = np.zeros(nbytes + alignment, np.uint8)
    first = -raw.ctypes.data % alignment
    return raw[first : first + nbytes]


def _address(array: NDArray[Any] | None) -> int:
    return 0 if array is None else array.ctypes.data


@dataclass(frozen=True, slots=True)
class Many:
    """The records of a pass over several sequences, alive as long as it runs.

    Attributes:
        models: A plan.MODEL record each.
        layers: Their plan.LAYER records, [sequences, layers].
        starts: int64: tokens in each cache.
    """

    models: NDArray[Any]
    layers: NDArray[Any]
    starts: NDArray[np.int64]

    @property
    def addresses(self) -> tuple[int, int, int]:
        """Of the three."""
        return self.models.ctypes.data, self.layers.ctypes.data, self.starts.ctypes.data


class Workspace:
    """Everything a pass reads and writes besides weights and cache.

    Attributes:
        models: One plan.MODEL record.
        layers: plan.LAYER records.
        matrices: plan.MATRIX records: four a layer, the head, the embedding.
        ids: int64 [CHUNK]: the tokens of a pass.
    """

    def __init__(
        self, config: DecoderConfig, weights: KernelWeights, tables: tuple[RopeTable, ...], threads: int
    ) -> None:
        self._config, self._weights, self._tables = config, weights, tables
        self._buffers: dict[str, Bytes] = {}
        self._rope_rows: list[tuple[Floats, Floats]] = []
        self._positions = 0
        self.ids = np.zeros(CHUNK, np.int64)
        self.matrices = _matrices(weights)
        self.layers = np.zeros(len(config.layers), LAYER)
        self.models = np.zeros(1, MODEL)
        self._fill_layers()
        self._fill_model(threads)

    @property
    def nbytes(self) -> int:
        """Memory held, in bytes."""
        return sum(buffer.nbytes for buffer in self._buffers.values())

    @property
    def addresses(self) -> tuple[int, int, int]:
        """Of the records: models, layers, matrices."""
        return self.models.ctypes.data, self.layers.ctypes.data, self.matrices.ctypes.data

    def logits(self, rows: int) -> Floats:
        """The buffer of logits with room for `rows` rows, float32 [rows, padded vocabulary]."""
        width = self._weights.head.matrix.padded_rows
        if self._room("logits") < rows * width * 4:
            self._set_buffer("logits", rows * width * 4)
        return self._buffers["logits"][: rows * width * 4].view(np.float32).reshape(rows, width)

    def bind(self, cache: KernelCache, tokens: int) -> None:
        """Point the records at a cache and get ready for a pass of `tokens` tokens."""
        if cache.capacity > self._positions:
            self._make_room(cache.capacity)
        self.layers["keys"], self.layers["values"] = cache.addresses
        self.models["capacity"] = cache.capacity
        self.models["tokens"] = tokens
        self._buffers["counters"][...] = 0

    def bind_many(self, caches: Sequence[KernelCache]) -> Many:
        """Point records at one cache each, and get ready for a pass of one token of each."""
        count = len(caches)
        self.bind(max(caches, key=lambda cache: cache.capacity), count)
        models, layers = np.repeat(self.models, count), np.tile(self.layers, (count, 1))
        models["tokens"] = 1
        models["capacity"] = [cache.capacity for cache in caches]
        attended = 4 * self._config.heads * self._config.head_dim
        rows = np.arange(count)
        models["qkv"] += rows * int(self.matrices["tiles"][0]) * 64
        models["queries"] += rows * attended
        models["attended"] += rows * attended
        layers["keys"] = [cache.addresses[0] for cache in caches]
        layers["values"] = [cache.addresses[1] for cache in caches]
        return Many(models, layers, np.array([cache.length for cache in caches], np.int64))

    def _make_room(self, positions: int) -> None:
        """For caches of so many positions: cosines and sines, and slots for partial attention."""
        spans = positions // SPAN
        self._set_buffer("slots", self._config.heads * spans * SPLIT_TOKENS * (HEAD + 4 * self._config.head_dim))
        self.models["slot_spans"] = spans
        self._set_ropes(positions)
        self._positions = positions

    def _set_ropes(self, positions: int) -> None:
        self._rope_rows = [_rope_rows(table, positions) for table in self._tables]
        for index, layer in enumerate(self._config.layers):
            if layer.rope is not None:
                cosines, sines = self._rope_rows[layer.rope]
                self.layers[index]["cosines"], self.layers[index]["sines"] = _address(cosines), _address(sines)

    def _room(self, name: str) -> int:
        return self._buffers[name].nbytes if name in self._buffers else 0

    def _set_buffer(self, name: str, nbytes: int) -> None:
        self._buffers[name] = aligned(nbytes)
        self.models[name] = _address(self._buffers[name])

    def _fill_layers(self) -> None:
        for record, layer, weights in zip(self.layers, self._config.layers, self._weights.layers, strict=True):
            record["window"] = layer.window or 0
            record["half"] = 0 if layer.rope is None else self._config.ropes[layer.rope].rotary_dim // 2
            for name in NORMS:
                record[name] = _address(getattr(weights, name))

    def _fill_model(self, threads: int) -> None:
        config, record = self._config, self.models[0]
        for name in ("heads", "kv_heads", "head_dim", "norm_eps", "attention_scale", "residual_scale", "logit_scale"):
            record[name] = getattr(config, name)
        record["layers"] = len(config.layers)
        record["hidden"], record["intermediate"] = config.hidden_size, config.intermediate_size
        record["activation"] = GELU_TANH if config.activation == "gelu_tanh" else SILU
        record["attention_softcap"] = config.attention_softcap or 0.0
        record["logit_softcap"] = config.logit_softcap or 0.0
        record["embedding_scale"] = config.embedding_scale
        record["final_norm"] = _address(self._weights.norm)
        record["ids"] = _address(self.ids)
        record["scratch_bytes"] = _scratch_bytes(config)
        for name, nbytes in _buffer_bytes(config, self._weights.layers[0]).items():
            self._set_buffer(name, nbytes)
        self._set_buffer("scratch", threads * _scratch_bytes(config))


def _matrices(weights: KernelWeights) -> NDArray[Any]:
    linears = [linear for layer in weights.layers for linear in layer.linears]
    pairs = [(linear.matrix, linear.bias) for linear in (*linears, weights.head)] + [(weights.embedding, None)]
    return np.array([_matrix(*pair) for pair in pairs], MATRIX)


def _matrix(matrix: QuantizedMatrix, bias: Floats | None) -> tuple[int, ...]:
    tiles, blocks, _ = matrix.data.shape
    return _address(matrix.data), int(matrix.kind), tiles, blocks, matrix.data[0].nbytes, _address(bias)


def _rope_rows(table: RopeTable, positions: int) -> tuple[Floats, Floats]:
    """Cosines and sines [positions, head_dim]."""
    cosines, sines = (part.squeeze(1).contiguous().numpy() for part in table.rows(0, positions))
    return cosines, sines


def _buffer_bytes(config: DecoderConfig, layer: KernelLayer) -> dict[str, int]:
    """Sizes of the buffers that do not depend on the cache."""
    attended = config.heads * config.head_dim
    return {
        "counters": LINE * (PHASES * len(config.layers) + EXTRA),
        "x": 4 * CHUNK * config.hidden_size,
        "xq": activation_bytes(CHUNK, config.hidden_size),
        "qkv": 4 * CHUNK * layer.qkv.matrix.padded_rows,
        "queries": 4 * CHUNK * attended,
        "attended": 4 * CHUNK * attended,
        "aq": activation_bytes(CHUNK, attended),
        "added": 4 * CHUNK * layer.output.matrix.padded_rows,
        "hq": activation_bytes(CHUNK, config.intermediate_size),
    }


def _scratch_bytes(config: DecoderConfig) -> int:
    """A normed row, or the scores, partials and states of a group of queries."""
    partial = HEAD + 4 * config.head_dim
    wanted = max(4 * config.hidden_size, SCORES + (MOST + ROW_GROUP) * partial)
    return -(-wanted // 4096) * 4096
