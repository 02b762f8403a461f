"""The safetensors header: written so that the library reads it, read without believing it."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from safetensors.numpy import load_file, save_file

from engine.errors import BadModelFile, UnsupportedModel
from engine.models.safetensors_file import TensorEntry, read_entries, write_header


def write(path: Path, header: Any, data: bytes) -> Path:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)
    return path


def entry(begin: int, end: int, dtype: str = "F32", shape: tuple[int, ...] = (2,)) -> dict[str, Any]:
    return {"dtype": dtype, "shape": list(shape), "data_offsets": [begin, end]}


def test_the_library_reads_what_is_written(tmp_path: Path) -> None:
    arrays = {"b": np.arange(6, dtype=np.float32).reshape(2, 3), "a": np.arange(5, dtype=np.float16)}
    entries = [TensorEntry("b", "F32", (2, 3)), TensorEntry("a", "F16", (5,))]
    with (tmp_path / "x.safetensors").open("wb") as file:
        write_header(file, entries)
        for array in arrays.values():
            file.write(array.tobytes())
    back = load_file(tmp_path / "x.safetensors")
    assert back.keys() == arrays.keys()
    for name, array in arrays.items():
        np.testing.assert_array_equal(back[name], array)
    assert read_entries(tmp_path / "x.safetensors") == entries


def test_what_the_library_writes_is_read(tmp_path: Path) -> None:
    save_file({"w": np.zeros((3, 4), np.float32), "n": np.zeros((), np.int64)}, tmp_path / "x.safetensors")
    assert {item.name: item.shape for item in read_entries(tmp_path / "x.safetensors")} == {"w": (3, 4), "n": ()}


LIES: dict[str, tuple[Any, bytes]] = {
    "a hole": ({"a": entry(0, 8), "b": entry(12, 20)}, bytes(20)),
    "an overlap": ({"a": entry(0, 8), "b": entry(4, 12)}, bytes(12)),
    "a tail": ({"a": entry(0, 8)}, bytes(9)),
    "too little data": ({"a": entry(0, 8)}, bytes(7)),
    "another size": ({"a": entry(0, 12)}, bytes(12)),
    "a list as type": ({"a": entry(0, 8) | {"dtype": ["F32"]}}, bytes(8)),
    "a negative size": ({"a": entry(0, 8, shape=(-2,))}, bytes(8)),
    "a broken entry": ({"a": {"dtype": "F32"}}, b""),
    "an entry that is a number": ({"a": 5}, b""),
    "a list": ([1, 2], b""),
    "no JSON": (b"{", b""),
    "deep JSON": (b"[" * 200_000, b""),
}


@pytest.mark.parametrize("lie", LIES)
def test_a_lie_gets_a_sentence(lie: str, tmp_path: Path) -> None:
    path = write(tmp_path / "x.safetensors", *LIES[lie])
    with pytest.raises(BadModelFile, match=r"The file x\.safetensors is damaged or incomplete"):
        read_entries(path)


def test_an_unknown_type_is_named(tmp_path: Path) -> None:
    path = write(tmp_path / "x.safetensors", {"a": entry(0, 8, dtype="F33")}, bytes(8))
    with pytest.raises(UnsupportedModel, match=r"of a kind that Loquat does not know \(F33\)"):
        read_entries(path)


@pytest.mark.parametrize("length", [100, 2**32, 2**64 - 1])
def test_a_header_longer_than_the_file_is_not_read(length: int, tmp_path: Path) -> None:
    path = tmp_path / "x.safetensors"
    path.write_bytes(struct.pack("<Q", length) + b"{}")
    with pytest.raises(BadModelFile, match="header is longer"):
        read_entries(path)


@given(st.binary(max_size=200))
def test_noise_never_crashes(tmp_path_factory: pytest.TempPathFactory, noise: bytes) -> None:
    path = tmp_path_factory.getbasetemp() / "noise.safetensors"
    path.write_bytes(noise)
    try:
        assert read_entries(path) == [] or noise
    except BadModelFile as error:
        assert error.sentence.endswith(".")
