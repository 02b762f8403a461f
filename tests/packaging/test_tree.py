from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from building import archive, tree

EPOCH = 1_700_000_000


def test_settling_gives_everything_one_time_and_plain_modes(fake_program: Path) -> None:
    tree.settle(fake_program, EPOCH)
    paths = [fake_program, *fake_program.rglob("*")]
    assert {path.lstat().st_mtime for path in paths} == {EPOCH}
    assert (fake_program / "loquat").stat().st_mode & 0o777 == 0o755
    assert (fake_program / "_internal" / "models" / "tiny.gguf").stat().st_mode & 0o777 == 0o644
    assert (fake_program / "_internal").stat().st_mode & 0o777 == 0o755


def test_copies_are_the_same_whenever_they_were_made(fake_program: Path, tmp_path: Path) -> None:
    shutil.copytree(fake_program, tmp_path / "copy", symlinks=True, copy_function=shutil.copy)
    assert tree.differences(tree.listing(fake_program), tree.listing(tmp_path / "copy")) == []


def test_differences_are_named(fake_program: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    shutil.copytree(fake_program, other, symlinks=True)
    (other / "_internal" / "models" / "tiny.gguf").write_bytes(b"n" * 3_000)
    (other / "_internal" / "libtorch.so").unlink()
    (other / "new").touch()
    (other / "loquat").chmod(0o644)
    assert tree.differences(tree.listing(fake_program), tree.listing(other)) == [
        "differs: _internal/models/tiny.gguf",
        "differs: loquat",
        "only in the first: _internal/libtorch.so",
        "only in the second: new",
    ]


def test_two_folders_are_compared_from_the_command_line(
    fake_program: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(fake_program, tmp_path / "copy", symlinks=True)
    assert tree.main([str(fake_program), str(tmp_path / "copy")]) == 0
    (tmp_path / "copy" / "loquat").write_text("other")
    assert tree.main([str(fake_program), str(tmp_path / "copy")]) == 1
    assert "differs: loquat" in capsys.readouterr().out


@pytest.mark.skipif(shutil.which("zstd") is None, reason="zstd packs the archive, and is not installed here")
def test_the_archive_is_the_same_bytes_each_time(fake_program: Path, tmp_path: Path) -> None:
    for name in ("first", "second"):
        archive.pack(fake_program, "loquat-1", tmp_path / name, EPOCH)
        (fake_program / "loquat").touch()
    assert (tmp_path / "first").read_bytes() == (tmp_path / "second").read_bytes()
