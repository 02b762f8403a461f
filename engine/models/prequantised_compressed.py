"""compressed-tensors (vLLM's format): integers of 4 and 8 bits, packed into 32-bit words or as they are.

A linear of `columns` inputs and `rows` outputs (compressed_tensors, `pack_quantized` and `int_quantized`):

    weight_packed      int32  [rows, columns * bits / 32]   codes, the lowest bits first; the middle code is zero
    weight_shape       int64  [2]                           rows and columns
    or weight          int8   [rows, columns]               codes as they are
    weight_scale       float  [rows, groups], or one for all
    weight_zero_point  absent, int32 [rows * bits / 32, groups] packed like the codes, or int8 like the scales
    weight_g_idx       absent, or int32 [columns]           the group of each input
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import numpy as np
import torch
from numpy.typing import NDArray

from engine.errors import BadModelFile, UnsupportedModel
from engine.models.names import shown
from engine.models.prequantised import (
    FLOATS,
    Codes,
    Floats,
    Grouped,
    Prequantised,
    StoredTensors,
    even_groups,
    unpacked,
)

_PACKED: Final = "pack-quantized"
_PLAIN: Final = ("int-quantized", "naive-quantized")
_BITS: Final = (4, 8)


def read_compressed(tensors: StoredTensors, config: Mapping[str, Any]) -> list[Prequantised]:
    """The quantised weights of a compressed-tensors checkpoint; see `read_gptq`.

    Raises:
        UnsupportedModel: It is stored in a variant that is not supported, or in another number of bits.
        BadModelFile: A part is missing, or they do not fit each other.
    """
    variant = str(config.get("format"))
    sparse = (config.get("sparsity_config") or {}).get("format", "dense")
    if variant not in (_PACKED, *_PLAIN) or sparse != "dense":
        raise UnsupportedModel(
            f"The model {tensors.label} is stored as compressed-tensors {shown(variant)} ({shown(str(sparse))}), "
            "which is not supported; get it as GPTQ, AWQ or bitsandbytes, unquantised, or as a GGUF."
        )
    if variant == _PACKED:
        return [_weight(tensors, prefix, packed=True) for prefix in tensors.named(".weight_packed")]
    return [_weight(tensors, prefix, packed=False) for prefix in tensors.named(".weight_scale")]


@dataclass(frozen=True, slots=True)
class _Layout:
    """Where the parts of a matrix are, and their sizes.

    Attributes:
        shape: [rows, columns].
        bits: Of a code.
        packed: Whether codes come in 32-bit words.
        codes, scale, zeros, order: Names of tensors; `zeros` and `order` are "" where there are none.
        groups: Scales in a row.
    """

    shape: tuple[int, int]
    bits: int
    packed: bool
    codes: str
    scale: str
    zeros: str
    order: str
    groups: int


def _weight(tensors: StoredTensors, prefix: str, *, packed: bool) -> Prequantised:
    codes, scale = f"{prefix}.weight_packed" if packed else f"{prefix}.weight", f"{prefix}.weight_scale"
    parts = {codes, scale}
    if packed:
        parts.add(f"{prefix}.weight_shape")
        shape, bits = _packed_shape(tensors, prefix, codes)
    else:
        rows, columns = tensors.entry(codes, ("I8",), (None, None)).shape
        shape, bits = (rows, columns), 8
    zeros, order = (
        name if (name := f"{prefix}.{part}") in tensors else "" for part in ("weight_zero_point", "weight_g_idx")
    )
    groups = _group_count(tensors, scale, shape)
    if zeros:
        _check_zeros(tensors, zeros, (shape[0], groups), bits)
    if order:
        tensors.entry(order, ("I32", "I64"), (shape[1],))
    layout = _Layout(shape, bits, packed, codes, scale, zeros, order, groups)
    parts |= {part for part in (zeros, order) if part}
    return Prequantised(f"{prefix}.weight", shape, bits, frozenset(parts), partial(_load, tensors, layout))


def _check_zeros(tensors: StoredTensors, name: str, shape: tuple[int, int], bits: int) -> None:
    stored = tensors.entries[name]
    if stored.dtype == "I32":
        tensors.entry(name, ("I32",), (-(-shape[0] * bits // 32), shape[1]))
    elif stored.dtype != "I8" or stored.elements not in (shape[1], shape[0] * shape[1]):
        raise tensors.misfit(name, f"{stored} != {shape}")


def _packed_shape(tensors: StoredTensors, prefix: str, codes: str) -> tuple[tuple[int, int], int]:
    name = f"{prefix}.weight_shape"
    tensors.entry(name, ("I64", "I32"), (2,))
    rows, columns = (int(size) for size in tensors.tensor(name).tolist())
    words = tensors.entry(codes, ("I32",), (rows, None)).shape[1]
    bits = next((bits for bits in _BITS if words == -(-columns * bits // 32)), 0)
    if not bits or columns < 1:
        raise tensors.misfit(codes, f"{words} != {columns} / 8, {columns} / 4")
    return (rows, columns), bits


def _group_count(tensors: StoredTensors, name: str, shape: tuple[int, int]) -> int:
    stored = tensors.entry(name, tuple(FLOATS), (None,) * len(tensors.entries[name].shape if name in tensors else ()))
    groups = 1 if stored.elements == 1 else stored.elements // shape[0]
    if stored.elements not in (1, shape[0] * groups) or not groups:
        raise tensors.misfit(name, f"{stored} != {shape}")
    if shape[1] % groups:
        raise BadModelFile(
            f"The model {tensors.label} has {groups} groups in rows of {shape[1]} ({shown(name)}), which do not fit; "
            "get the model again."
        )
    return groups


def _load(tensors: StoredTensors, layout: _Layout) -> Grouped:
    rows, columns = layout.shape
    scales = np.broadcast_to(tensors.floats(layout.scale).reshape(-1, layout.groups), (rows, layout.groups))
    zeros = np.ascontiguousarray(np.broadcast_to(_zeros(tensors, layout), scales.shape), np.int16)
    groups = even_groups(columns, columns // layout.groups)
    if layout.order:
        groups = tensors.tensor(layout.order).numpy().astype(np.intp)
        if groups.min() < 0 or groups.max() >= layout.groups:
            raise BadModelFile(
                f"The quantised weights in {tensors.label} name groups that are not there ({shown(layout.order)}); "
                "get the model again."
            )
    codes = _packed_codes(tensors, layout) if layout.packed else _plain_codes(tensors, layout)
    held: Floats = np.ascontiguousarray(scales)
    return Grouped(layout.bits, layout.shape, codes, held, zeros, groups)


def _zeros(tensors: StoredTensors, layout: _Layout) -> NDArray[np.int16]:
    """The codes of zero, [rows or 1, groups or 1]: packed codes are counted from 0, others from the middle."""
    middle = np.int16(1 << (layout.bits - 1) if layout.packed else 0)
    if not layout.zeros:
        return np.full((1, 1), middle)
    stored = tensors.tensor(layout.zeros)
    if stored.dtype == torch.int8:
        return stored.numpy().reshape(-1, layout.groups).astype(np.int16) + middle
    words = tensors.words(layout.zeros)
    return unpacked(words, layout.bits, 0)[: layout.shape[0]].astype(np.int16)


def _packed_codes(tensors: StoredTensors, layout: _Layout) -> Callable[[int, int], Codes]:
    words, columns = tensors.words(layout.codes), layout.shape[1]
    return lambda start, stop: np.ascontiguousarray(unpacked(words[start:stop], layout.bits, 1)[:, :columns])


def _plain_codes(tensors: StoredTensors, layout: _Layout) -> Callable[[int, int], Codes]:
    codes: NDArray[np.int8] = tensors.tensor(layout.codes).numpy()
    return lambda start, stop: codes[start:stop]
