"""Writes the weights of a model folder, a few rows at a time: safetensors, in as many files as they need."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from itertools import count
from pathlib import Path
from typing import Final, Protocol

import numpy as np
import numpy.typing as npt

from engine.chat import RequestHandle
from engine.events import LoadStage
from engine.models.model_folder import WEIGHTS, WEIGHTS_INDEX, write_json
from engine.models.progress import Step, stop_if_cancelled
from engine.models.safetensors_file import TensorEntry, write_header

SHARD_BYTES: Final = 4_000_000_000
FILE_DTYPES: Final = {"float32": "F32", "float16": "F16", "bfloat16": "BF16"}


class Rows(Protocol):
    """A weight that comes a few rows at a time."""

    @property
    def name(self) -> str:
        """Its name in transformers."""
        ...

    @property
    def shape(self) -> tuple[int, ...]:
        """Rows first."""
        ...

    def chunks(self) -> Iterator[npt.NDArray[np.float32]]:
        """Its numbers in order, each of some rows.

        Raises:
            BadModelFile: One is no number.
        """
        ...


def write_weights(
    weights: Sequence[tuple[Rows, str]], folder: Path, label: str, handle: RequestHandle
) -> Generator[Step, None, None]:
    """Write weights into a model folder.

    Args:
        weights: Each with the dtype that it is stored in: "float32", "float16" or "bfloat16".
        folder: The model's.
        label: The model's name in progress sentences.
        handle: Cancels.

    Raises:
        BadModelFile: A weight holds what is no number.
        Cancelled: `handle` was cancelled.
        OSError: The disk failed.
    """
    entries = [TensorEntry(rows.name, FILE_DTYPES[dtype], rows.shape) for rows, dtype in weights]
    total, done = sum(entry.nbytes for entry in entries), 0
    for written in _write(weights, entries, folder):
        stop_if_cancelled(handle)
        done += written
        yield Step(LoadStage.IMPORT, done, total, f"Importing {label}: {100 * done // total} %")


def _write(weights: Sequence[tuple[Rows, str]], entries: Sequence[TensorEntry], folder: Path) -> Iterator[int]:
    """Yields the bytes of each chunk that was written."""
    shards = _shards(entries)
    places: dict[str, str] = {}
    queue = iter(weights)
    for number, shard in zip(count(1), shards, strict=False):
        name = WEIGHTS if len(shards) == 1 else f"model-{number:05}-of-{len(shards):05}.safetensors"
        places |= dict.fromkeys((entry.name for entry in shard), name)
        with (folder / name).open("wb") as file:
            write_header(file, shard)
            for entry in shard:
                for values in next(queue)[0].chunks():
                    yield file.write(packed(values, entry.dtype))
    if len(shards) > 1:
        total = sum(entry.nbytes for entry in entries)
        write_json(folder / WEIGHTS_INDEX, {"metadata": {"total_size": total}, "weight_map": places})


def _shards(entries: Sequence[TensorEntry]) -> list[list[TensorEntry]]:
    """The tensors in order, cut into files of at most SHARD_BYTES (a single larger tensor has its own)."""
    shards: list[list[TensorEntry]] = [[]]
    room = SHARD_BYTES
    for entry in entries:
        if entry.nbytes > room and shards[-1]:
            shards.append([])
            room = SHARD_BYTES
        shards[-1].append(entry)
        room -= entry.nbytes
    return shards


def packed(values: npt.NDArray[np.float32], dtype: str) -> memoryview:
    """float32 numbers in the bytes of another type, named as in a safetensors header."""
    if dtype == "BF16":
        return _bfloat16(values).data.cast("B")
    return np.ascontiguousarray(values, np.float16 if dtype == "F16" else np.float32).data.cast("B")


def _bfloat16(values: npt.NDArray[np.float32]) -> npt.NDArray[np.uint16]:
    """The upper half of each float32, rounded to nearest, ties to even; not a number stays so."""
    bits = np.ascontiguousarray(values, np.float32).view(np.uint32)
    rounded = (bits + (((bits >> 16) & 1) + np.uint32(0x7FFF))) >> 16
    return np.where(np.isnan(values), (bits >> 16) | 0x40, rounded).astype(np.uint16)
