"""Files that are damaged, cut, foreign or lie: none is believed, each is logged once."""

from __future__ import annotations

import json
import os
import struct

import pytest

from tests.engine.kv_support import DAMAGED, UNFIT, files, never, read_back, snapshot


def damaged_copies(whole: bytes) -> dict[str, bytes]:
    """The file cut at many lengths, and with one byte changed at many places: header, padding, ids and tensors."""
    size = 8 + struct.unpack("<Q", whole[:8])[0]
    places = sorted({0, 1, 7, 8, 9, size - 1, size, size + 1, len(whole) - 1, *range(0, len(whole), 41)})
    cut = {f"cut at {n}": whole[:n] for n in places}
    flipped = {f"byte {n}": whole[:n] + bytes([whole[n] ^ 0x10]) + whole[n + 1 :] for n in places}
    return {**cut, **flipped, "grown": whole + b"\0" * 64, "other": os.urandom(len(whole)), "empty": b""}


@pytest.mark.expects_log(UNFIT, DAMAGED)
def test_damage_before_the_start_is_noticed_wherever_it_is(disks, root, caplog):
    disks().write("c", snapshot(4), never)
    (path,) = root.glob("*/*.safetensors")
    for what, content in damaged_copies(path.read_bytes()).items():
        caplog.clear()
        path.write_bytes(content)
        assert read_back(disks()) is None, what
        assert files(root) == [], what
        assert len(caplog.records) == 1, (what, caplog.messages)


@pytest.mark.expects_log(DAMAGED)
def test_damage_after_the_start_is_noticed_wherever_it_is(disks, root, caplog):
    disk = disks()
    disk.write("c", snapshot(4), never)
    (path,) = root.glob("*/*.safetensors")
    for what, content in damaged_copies(path.read_bytes()).items():
        caplog.clear()
        disk.write("c", snapshot(4), never)
        path.write_bytes(content)
        assert disk.read(disk.saved[0], None) is None, what
        assert (disk.saved, files(root)) == ((), []), what
        assert len(caplog.records) == 1, (what, caplog.messages)


def rewritten(whole: bytes, change) -> bytes:
    """The file with another header in front of the same data; the checksum is left as it was."""
    size = struct.unpack("<Q", whole[:8])[0]
    header = json.loads(whole[8 : 8 + size])
    change(header)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + whole[8 + size :]


def swap_layers(header) -> None:
    header["0.keys"], header["1.keys"] = header["1.keys"], header["0.keys"]


def rename_conversation(header) -> None:
    header["__metadata__"]["conversation"] = '"another"'


def narrower(header) -> None:
    header["0.keys"]["shape"] = [4, 4, 4]


def drop_checksum(header) -> None:
    del header["__metadata__"]["crc32"]


def drop_ids(header) -> None:
    header["other"] = header.pop("ids")


def drop_all_metadata(header) -> None:
    del header["__metadata__"]


@pytest.mark.expects_log(f"{UNFIT}|{DAMAGED}")
@pytest.mark.parametrize(
    "lie", [swap_layers, rename_conversation, narrower, drop_checksum, drop_ids, drop_all_metadata]
)
def test_a_header_that_lies_is_not_believed(disks, root, caplog, lie):
    disks().write("c", snapshot(4), never)
    (path,) = root.glob("*/*.safetensors")
    path.write_bytes(rewritten(path.read_bytes(), lie))
    disk = disks()
    assert read_back(disk) is None
    assert read_back(disk, "another") is None
    assert files(root) == []
    assert len(caplog.records) == 1


@pytest.mark.expects_log(UNFIT)
def test_a_header_of_absurd_length_is_not_read(disks, root, caplog):
    disks().write("c", snapshot(4), never)
    (path,) = root.glob("*/*.safetensors")
    path.write_bytes(struct.pack("<Q", 1 << 62) + path.read_bytes()[8:])
    assert disks().saved == ()
    assert len(caplog.records) == 1
