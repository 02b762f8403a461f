"""Small files are written whole or not at all."""

from __future__ import annotations

import os

import pytest

from engine.atomic import write_atomically


def test_writing_replaces_the_whole_file(tmp_path):
    target = tmp_path / "a" / "file.json"
    write_atomically(target, "long old content")
    write_atomically(target, "new")
    assert target.read_text() == "new"
    assert list(target.parent.iterdir()) == [target]


def test_a_full_disk_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch):
    target = tmp_path / "file.json"
    write_atomically(target, "old")

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        write_atomically(target, "new")
    assert target.read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]
