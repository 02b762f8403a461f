"""The GGUF reader: all of a sound file, and one sentence for every unsound one."""

from __future__ import annotations

import struct
from collections.abc import Callable
from pathlib import Path

import gguf
import numpy as np
import pytest
from gguf.constants import GGMLQuantizationType
from gguf.quants import quantize
from hypothesis import given
from hypothesis import strategies as st

from engine.errors import BadModelFile, EngineError, UnsupportedModel
from engine.models.gguf_parts import open_gguf

VECTOR = np.arange(32, dtype=np.float32)
MATRIX = np.linspace(-1, 1, 64 * 3, dtype=np.float32).reshape(3, 64)


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file with a value of every kind and two tensors."""
    path = tmp_path_factory.mktemp("gguf") / "small.gguf"
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_uint8("a.u8", 200)
    writer.add_int8("a.i8", -5)
    writer.add_uint16("a.u16", 65_000)
    writer.add_int16("a.i16", -30_000)
    writer.add_uint32("a.u32", 4_000_000_000)
    writer.add_int32("a.i32", -2_000_000_000)
    writer.add_uint64("a.u64", 2**63)
    writer.add_int64("a.i64", -(2**62))
    writer.add_float32("a.f32", 0.5)
    writer.add_float64("a.f64", 0.1)
    writer.add_bool("a.bool", True)
    writer.add_string("a.string", "naïve 你好 🎉")
    writer.add_array("a.strings", ["", "ab", "→"])
    writer.add_array("a.numbers", [3, -1, 2])
    writer.add_tensor("v", VECTOR)
    writer.add_tensor("m", quantize(MATRIX, GGMLQuantizationType.Q4_1), raw_dtype=GGMLQuantizationType.Q4_1)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def read(path: Path) -> None:
    with open_gguf(path) as file:
        for tensor in file.tensors.values():
            tensor.blocks.sum()


def test_every_value_and_tensor_arrives(small: Path) -> None:
    with open_gguf(small) as file:
        values = {key.removeprefix("a."): file.metadata.values[key] for key in file.metadata.values}
        assert list(values.pop("numbers")) == [3, -1, 2]
        assert values == {
            **{"general.architecture": "llama", "u8": 200, "i8": -5, "u16": 65_000, "i16": -30_000},
            **{"u32": 4_000_000_000, "i32": -2_000_000_000, "u64": 2**63, "i64": -(2**62), "f32": 0.5, "f64": 0.1},
            **{"bool": True, "string": "naïve 你好 🎉", "strings": ["", "ab", "→"]},
        }
        vector, matrix = file.tensors["v"], file.tensors["m"]
        np.testing.assert_array_equal(vector.blocks.view(np.float32)[0], VECTOR)
        assert (matrix.shape, matrix.ggml_type) == ((3, 64), GGMLQuantizationType.Q4_1)
        np.testing.assert_array_equal(matrix.blocks, quantize(MATRIX, GGMLQuantizationType.Q4_1))


def test_a_file_cut_anywhere_is_refused(small: Path, tmp_path: Path) -> None:
    data = small.read_bytes()
    cut = tmp_path / "cut.gguf"
    for length in range(len(data)):
        # The padding behind the last tensor may be missing; nothing else may.
        if length >= len(data) - 8:
            continue
        cut.write_bytes(data[:length])
        with pytest.raises(BadModelFile):
            read(cut)


@given(st.integers(0, 10_000), st.integers(0, 2**64 - 1), st.sampled_from("BHIQ"))
def test_a_changed_number_never_crashes(small: Path, place: int, number: int, size: str) -> None:
    data = bytearray(small.read_bytes())
    width = struct.calcsize(size)
    place %= len(data) - width
    data[place : place + width] = struct.pack(f"<{size}", number % 2 ** (8 * width))
    changed = small.with_name("changed.gguf")
    changed.write_bytes(data)
    try:
        read(changed)
    except EngineError as error:
        assert error.sentence.endswith(".")


@given(st.binary(max_size=300))
def test_any_bytes_behind_the_magic_never_crash(small: Path, tail: bytes) -> None:
    path = small.with_name("noise.gguf")
    path.write_bytes(b"GGUF\x03\0\0\0" + tail)
    with pytest.raises(EngineError):
        read(path)


Change = Callable[[bytearray], None]


def _at(offset: int, form: str, value: int) -> Change:
    def change(data: bytearray) -> None:
        struct.pack_into(f"<{form}", data, offset, value)

    return change


def _tensor(name: str, field: str, value: int) -> Change:
    """Change a field of a tensor's description: it lies behind the name, which is there once, with its length."""

    def change(data: bytearray) -> None:
        start = data.index(struct.pack("<Q", len(name)) + name.encode()) + 8 + len(name)
        (dims,) = struct.unpack_from("<I", data, start)
        offsets = {"dims": 0, "size": 4, "type": 4 + 8 * dims, "offset": 8 + 8 * dims}
        struct.pack_into("<Q" if field in ("size", "offset") else "<I", data, start + offsets[field], value)

    return change


LIES: dict[str, tuple[Change, str]] = {
    "no magic": (_at(0, "I", 0x46554746), "is no GGUF model"),
    "a million tensors": (_at(8, "Q", 10**6), "ends too early"),
    "2**63 tensors": (_at(8, "Q", 2**63), "ends too early"),
    "2**62 pairs": (_at(16, "Q", 2**62), "ends too early"),
    "a key as long as memory": (_at(24, "Q", 2**63), "middle of a text"),
    "no dimensions": (_tensor("v", "dims", 0), "0 dimensions"),
    "a billion dimensions": (_tensor("v", "dims", 10**9), "1000000000 dimensions"),
    "an empty tensor": (_tensor("v", "size", 0), "is empty"),
    "a tensor larger than the file": (_tensor("v", "size", 2**40), "reaches beyond its end|overlaps"),
    "a size that overflows 64 bits": (_tensor("m", "size", 2**63), "reaches beyond its end|overlaps"),
    "a broken row": (_tensor("m", "size", 63), "whole number of Q4_1 blocks"),
    "an offset beyond the end": (_tensor("m", "offset", 2**40), "reaches beyond its end"),
    "an offset off the grid": (_tensor("m", "offset", 129), "not aligned"),
    "two tensors in one place": (_tensor("m", "offset", 0), "overlaps another"),
}


@pytest.mark.parametrize("lie", LIES)
def test_a_lie_gets_a_sentence(lie: str, small: Path, tmp_path: Path) -> None:
    change, sentence = LIES[lie]
    data = bytearray(small.read_bytes())
    change(data)
    path = tmp_path / "lie.gguf"
    path.write_bytes(data)
    with pytest.raises(BadModelFile, match=sentence):
        read(path)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (_at(4, "I", 1), "GGUF version 1"),
        (_at(4, "I", 0x03000000), "big-endian"),
        (_tensor("v", "type", 4), "type 4"),
    ],
)
def test_other_kinds_of_gguf_are_named(change: Change, sentence: str, small: Path, tmp_path: Path) -> None:
    data = bytearray(small.read_bytes())
    change(data)
    path = tmp_path / "other.gguf"
    path.write_bytes(data)
    with pytest.raises(UnsupportedModel, match=sentence):
        read(path)


def test_an_array_of_a_billion_strings_takes_no_memory(tmp_path: Path) -> None:
    key = struct.pack("<Q", 1) + b"k"
    array = struct.pack("<IIQ", 9, 8, 10**9)
    path = tmp_path / "strings.gguf"
    path.write_bytes(struct.pack("<4sIQQ", b"GGUF", 3, 0, 1) + key + array + bytes(1000))
    with pytest.raises(BadModelFile, match="ends too early"):
        read(path)


def test_a_key_given_twice_is_refused(tmp_path: Path) -> None:
    pair = struct.pack("<Q", 1) + b"k" + struct.pack("<IB", 0, 7)
    path = tmp_path / "twice.gguf"
    path.write_bytes(struct.pack("<4sIQQ", b"GGUF", 3, 0, 2) + 2 * pair)
    with pytest.raises(BadModelFile, match="holds k twice"):
        read(path)


def test_version_2_is_read_and_an_empty_file_is_not(small: Path, tmp_path: Path) -> None:
    data = bytearray(small.read_bytes())
    struct.pack_into("<I", data, 4, 2)
    (tmp_path / "v2.gguf").write_bytes(data)
    read(tmp_path / "v2.gguf")
    (tmp_path / "empty.gguf").write_bytes(b"")
    with pytest.raises(BadModelFile, match="is no GGUF model"):
        read(tmp_path / "empty.gguf")
