"""Where files are kept: the platform's folders, one folder that is named, or `loquat-data` beside the program."""

from __future__ import annotations

import sys
from pathlib import Path

import keyring
import pytest

from engine.keys import PORTABLE, Keys
from engine.paths import OVERRIDE, Paths, default_paths, portable_folder
from tests.memory_keyring import MemoryKeyring


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An installed program in a folder of its own."""
    file = tmp_path / "ein Stick" / "Loquat 枇杷" / "loquat"
    file.parent.mkdir(parents=True)
    file.touch()
    monkeypatch.delenv(OVERRIDE)
    monkeypatch.delenv("APPIMAGE", raising=False)
    monkeypatch.delenv("APPDIR", raising=False)
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    monkeypatch.setattr(sys, "executable", str(file))
    return file


def below(home: Path) -> Paths:
    return Paths(home / "data", home / "config", home / "cache", home / "logs")


def test_a_folder_beside_the_program_holds_everything(program: Path) -> None:
    assert portable_folder() is None
    assert program.parent not in default_paths().data.parents
    home = program.parent / "loquat-data"
    home.mkdir()
    assert default_paths() == below(home)


def test_a_link_on_the_path_leads_to_the_folder_beside_the_program(
    program: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (program.parent / "loquat-data").mkdir()
    link = tmp_path / "bin" / "loquat"
    link.parent.mkdir()
    link.symlink_to(program)
    monkeypatch.setattr(sys, "executable", str(link))
    assert default_paths() == below(program.parent / "loquat-data")


@pytest.mark.parametrize("kind", ["appimage", "mac"])
def test_it_is_beside_what_a_person_sees_of_the_program(
    program: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (program.parent / "loquat-data").mkdir()
    if kind == "appimage":
        monkeypatch.setenv("APPIMAGE", str(program.parent / "Loquat.AppImage"))
        monkeypatch.setenv("APPDIR", "/run/mount_Loquat")
        monkeypatch.setattr(sys, "executable", "/run/mount_Loquat/usr/bin/loquat")
    else:
        inside = program.parent / "Loquat.app" / "Contents" / "MacOS" / "loquat"
        monkeypatch.setattr(sys, "executable", str(inside))
    assert default_paths() == below(program.parent / "loquat-data")


@pytest.mark.parametrize("mounted", ["/run/mount_Other", None])
def test_the_appimage_of_another_program_does_not_matter(
    program: Path, mounted: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a terminal that came as one, from which Loquat was started."""
    (program.parent / "loquat-data").mkdir()
    monkeypatch.setenv("APPIMAGE", str(tmp_path / "Terminal.AppImage"))
    if mounted:
        monkeypatch.setenv("APPDIR", mounted)
    assert default_paths() == below(program.parent / "loquat-data")


def test_a_home_that_is_named_comes_first(program: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (program.parent / "loquat-data").mkdir()
    monkeypatch.setenv(OVERRIDE, str(tmp_path / "named"))
    assert default_paths() == below(tmp_path / "named")
    assert portable_folder() is None


def test_a_checkout_is_never_portable(program: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (program.parent / "loquat-data").mkdir()
    monkeypatch.setattr(sys, "frozen", False)
    assert portable_folder() is None


def test_in_portable_mode_no_key_goes_into_the_keyring_or_the_folder(
    program: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home, backend = program.parent / "loquat-data", MemoryKeyring()
    home.mkdir()
    monkeypatch.setattr(keyring, "get_keyring", lambda: backend)
    keys = Keys()
    assert keys.keep("box", "sk-1") == PORTABLE
    assert keys.get("box") == "sk-1"
    assert backend.held == {}
    assert list(home.rglob("*")) == []
    assert Keys().get("box") == ""
