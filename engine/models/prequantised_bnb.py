"""bitsandbytes: NF4 and FP4 (Dettmers et al. 2023), also doubly quantised, and int8 (Dettmers et al. 2022).

4 bits (`bitsandbytes.functional.QuantState`): the matrix is read as one row of numbers, two codes to a byte, the first
in the high half. A code is a place in `quant_map`; every block of numbers has its largest absolute value in `absmax`,
which may be quantised itself. 8 bits: int8 codes, and in `SCB` the largest absolute value of every row.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import numpy as np
import torch
from numpy.typing import NDArray

from engine.errors import UnsupportedModel
from engine.kernels.formats import Kind, QuantizedMatrix
from engine.models.names import shown
from engine.models.prequantised import Floats, Grouped, Prequantised, StoredTensors

_STATE: Final = ".quant_state.bitsandbytes__"
_LARGEST: Final = 127.0
_STATE_MAX: Final = 10_000
_STORAGE: Final = ("U8", "I8", "F16", "BF16", "F32")  # the bytes of codes may be declared as any of these
_ROW_ORDER: Final = 0


def read_bnb(tensors: StoredTensors, config: Mapping[str, Any]) -> list[Prequantised]:
    """The quantised weights of a bitsandbytes checkpoint; see `read_gptq`.

    Raises:
        UnsupportedModel: The codes lie in the order of some GPU.
        BadModelFile: A part is missing, or they do not fit each other.
    """
    four = [name for kind in ("nf4", "fp4") for name in tensors.named(f"{_STATE}{kind}")]
    return [
        *(_in_4_bits(tensors, name) for name in four),
        *(_in_8_bits(tensors, name) for name in tensors.named(".SCB")),
    ]


@dataclass(frozen=True, slots=True)
class _State:
    """What the JSON beside a matrix of 4 bits says."""

    shape: tuple[int, int]
    block: int
    nested_block: int
    nested_offset: float


@dataclass(frozen=True, slots=True)
class _Mapped:
    """A matrix whose codes are places in a table.

    Attributes:
        shape: [rows, columns].
        raw: Two codes a byte, uint8 [rows * columns / 2].
        table: float32 [16].
        largest: Of each block, float32.
        block: Numbers in a block.
    """

    shape: tuple[int, int]
    raw: NDArray[np.uint8]
    table: Floats
    largest: Floats
    block: int

    def rows(self, start: int, stop: int) -> Floats:
        """The numbers of some rows; see Matrix."""
        first, last = start * self.shape[1], stop * self.shape[1]
        raw = self.raw[first // 2 : -(-last // 2)]
        codes = np.stack((raw >> 4, raw & 15), axis=-1).reshape(-1)[first % 2 :][: last - first]
        values = self.table[codes] * self.largest[np.arange(first, last) // self.block]
        return values.reshape(stop - start, self.shape[1])

    def exact(self, kind: Kind) -> QuantizedMatrix | None:
        """None: the kernels have no tables."""


def _in_4_bits(tensors: StoredTensors, name: str) -> Prequantised:
    kind = next(kind for kind in ("nf4", "fp4") if f"{name}{_STATE}{kind}" in tensors)
    state_name = f"{name}{_STATE}{kind}"
    state = _read_state(tensors, state_name)
    count = state.shape[0] * state.shape[1]
    stored = tensors.entry(name, _STORAGE, (None,) * len(tensors.entries[name].shape if name in tensors else ()))
    blocks = -(-count // state.block)
    if stored.nbytes != -(-count // 2):
        raise tensors.misfit(name, f"{stored} != {count} / 2")
    tensors.entry(f"{name}.quant_map", ("F32",), (16,))
    parts = [name, state_name, f"{name}.quant_map", f"{name}.absmax"]
    if tensors.entry(f"{name}.absmax", ("F32", "U8"), (blocks,)).dtype == "U8":
        if state.nested_block < 1:
            raise tensors.misfit(state_name, repr(state))
        tensors.entry(f"{name}.nested_absmax", ("F32",), (-(-blocks // state.nested_block),))
        tensors.entry(f"{name}.nested_quant_map", ("F32",), (256,))
        parts += [f"{name}.nested_absmax", f"{name}.nested_quant_map"]
    return Prequantised(name, state.shape, 4, frozenset(parts), partial(_load_4_bits, tensors, name, state))


def _read_state(tensors: StoredTensors, name: str) -> _State:
    size = tensors.entry(name, ("U8",), (None,)).nbytes
    try:
        said: Any = json.loads(bytes(tensors.tensor(name).numpy())) if size < _STATE_MAX else None
        rows, columns = (int(size) for size in said["shape"])
        block, nested = int(said["blocksize"]), int(said.get("nested_blocksize", 0))
        state = _State((rows, columns), block, nested, float(said.get("nested_offset", 0)))
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError, OverflowError) as error:
        raise tensors.misfit(name, repr(error)) from error
    if min(rows, columns, block) < 1 or nested < 0 or not np.isfinite(state.nested_offset):
        raise tensors.misfit(name, repr(state))
    return state


def _load_4_bits(tensors: StoredTensors, name: str, state: _State) -> _Mapped:
    raw = tensors.tensor(name).contiguous().view(torch.uint8).numpy().reshape(-1)
    largest = tensors.tensor(f"{name}.absmax").numpy()
    if largest.dtype == np.uint8:
        scale = tensors.floats(f"{name}.nested_absmax").repeat(state.nested_block)[: len(largest)]
        largest = tensors.floats(f"{name}.nested_quant_map")[largest] * scale + np.float32(state.nested_offset)
    return _Mapped(state.shape, raw, tensors.floats(f"{name}.quant_map"), largest, state.block)


def _in_8_bits(tensors: StoredTensors, prefix: str) -> Prequantised:
    name, scales = f"{prefix}.weight", f"{prefix}.SCB"
    rows, columns = tensors.entry(name, ("I8",), (None, None)).shape
    tensors.entry(scales, ("F32",), (rows,))
    parts, order = [name, scales], f"{prefix}.weight_format"
    if order in tensors:
        parts.append(order)
        if tensors.tensor(order).to(torch.int64).ne(_ROW_ORDER).any():
            raise UnsupportedModel(
                f"The model {tensors.label} is stored in the order of one kind of GPU ({shown(order)}), which is not "
                "supported; get it unquantised, or as a GGUF."
            )
    return Prequantised(name, (rows, columns), 8, frozenset(parts), partial(_load_8_bits, tensors, name, scales))


def _load_8_bits(tensors: StoredTensors, name: str, scales: str) -> Grouped:
    codes = tensors.tensor(name).numpy()
    largest = tensors.floats(scales)[:, None]

    def of(start: int, stop: int) -> NDArray[np.int8]:
        rows: NDArray[np.int8] = codes[start:stop]
        return rows

    zeros, groups = np.zeros(largest.shape, np.int16), np.zeros(codes.shape[1], np.intp)
    return Grouped(8, codes.shape, of, largest / np.float32(_LARGEST), zeros, groups)
