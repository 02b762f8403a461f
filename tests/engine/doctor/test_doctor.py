"""`loquat doctor` as a person runs it: on a machine that is well, and on machines on which something is wrong."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections import namedtuple
from pathlib import Path
from typing import Any

import pytest
import shiboken6

from engine.cli_doctor import _models as models_part_of
from engine.cli_doctor import examine
from engine.doctor import children, libraries
from engine.doctor.libraries import libraries_part
from engine.doctor.places import look_at_places, places_part
from engine.doctor.program import Installation
from engine.doctor.report import Finding
from engine.models.model_folder import FORMAT, MANIFEST
from engine.paths import Paths
from engine.system_libraries import CORE

Room = namedtuple("Room", "free")
CHECKOUT = Installation("checkout", Path("/src/loquat"))
linux = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere Qt brings all its libraries, and has other files")
QT = Path(shiboken6.__file__).parent.parent / "PySide6"


def doctor(*arguments: str, before: tuple[str, ...] = (), **environ: str) -> subprocess.CompletedProcess[str]:
    command = [*before, sys.executable, "-P", "-m", "app", "doctor", *arguments]
    return subprocess.run(
        command, env={**os.environ, **environ}, capture_output=True, text=True, check=False, timeout=120
    )


def as_json(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    assert done.returncode in (0, 1), done.stderr
    assert done.stderr == ""
    report: dict[str, Any] = json.loads(done.stdout)
    assert done.returncode == (0 if report["well"] else 1)
    return report


def look_at(what: str, before: tuple[str, ...] = (), **environ: str) -> dict[str, Any]:
    """One look of the doctor, in a child as the doctor itself does it."""
    done = doctor("--look-at", what, before=before, **environ)
    assert (done.returncode, done.stderr) == (0, "")
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def wrong_libraries(**environ: str) -> list[Finding]:
    return list(libraries_part(look_at("libraries", **environ), CHECKOUT, "ID=debian\n").findings)


def test_a_machine_that_is_well_is_told_of_without_anything_private(home_with_model: Paths, tmp_path: Path) -> None:
    secret = "a chat that is nobody's business"
    home_with_model.database.write_text(secret)
    done = doctor("--json", HOME=str(tmp_path))
    report = as_json(done)
    wrong = [finding for finding in report["findings"] if finding["wrong"]]
    assert wrong == []
    assert report["program"]["versions"].keys() >= {"Loquat", "Python", "Qt", "torch", "transformers", "numba"}
    assert report["device"]["device"] in ("cpu", "cuda", "mps") and report["device"]["reason"]
    assert report["folders"]["data"]["folder"] == f"~{os.sep}loquat-home{os.sep}data"
    assert report["folders"]["data"]["writable"] and report["folders"]["data"]["bytes"] >= len(secret)
    assert report["models"]["count"] == 1
    assert str(tmp_path) not in done.stdout
    assert "smollm" not in done.stdout.lower() and secret not in done.stdout
    assert not home_with_model.config.exists(), "nothing is made by looking"


@pytest.fixture
def own_qt(tmp_path: Path) -> Path:
    """A copy of Qt that is found in place of the installed one; its files are links until a test breaks one."""
    folder = tmp_path / "site" / "PySide6"
    left_out = shutil.ignore_patterns("*.pyi", "qml", "translations", "typesystems", "include", "metatypes")
    for source in (QT, QT.parent / "shiboken6"):
        shutil.copytree(source, folder.parent / source.name, copy_function=os.link, ignore=left_out)
    return folder


@linux
@pytest.mark.parametrize("damage", ["gone", "cut off"])
def test_a_file_of_qt_that_is_missing_or_damaged_is_named_with_the_command(own_qt: Path, damage: str) -> None:
    assert wrong_libraries(PYTHONPATH=str(own_qt.parent)) == []
    lost = own_qt / "Qt" / "lib" / "libQt6Widgets.so.6"
    head = lost.read_bytes()[:1000]
    lost.unlink()
    if damage == "cut off":
        lost.write_bytes(head)
    (finding,) = wrong_libraries(PYTHONPATH=str(own_qt.parent))
    assert "libQt6Widgets.so.6" in finding.sentence
    assert "-m pip install --force-reinstall --no-deps PySide6-Essentials==" in finding.command


@linux
def test_a_damaged_library_beside_qt_is_told_without_a_language(own_qt: Path, tmp_path: Path) -> None:
    """As in an installed program, whose folder has a name that the C locale cannot spell."""
    inside = tmp_path / "\u00e9 \u4e2d" / "_internal"
    inside.parent.mkdir()
    own_qt.parent.rename(inside)
    (inside / "libxcb-cursor.so.0").touch()
    spoken = {"LC_ALL": "C", "PYTHONUTF8": "1"}  # as PyInstaller starts Python without a language
    found = look_at("libraries", PYTHONPATH=str(inside), QT_QPA_PLATFORM="xcb", LD_LIBRARY_PATH=str(inside), **spoken)
    assert found["refused"] == [["libqxcb.so", f"{inside / 'libxcb-cursor.so.0'}: file too short"]]
    (finding,) = libraries_part(found, CHECKOUT, "ID=debian\n").findings
    assert finding.sentence.startswith("Files that came with Loquat are missing or damaged: libxcb-cursor.so.0;")


@pytest.fixture
def other_system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package of Qt as other systems have it, whose files are no ELF."""
    folder = tmp_path / "PySide6"
    for place in (folder, tmp_path / "shiboken6"):
        place.mkdir()
    (folder / "QtCore.abi3.so").write_bytes(b"\xcf\xfa\xed\xfe" + bytes(100))
    monkeypatch.setattr(libraries, "_folder", lambda package: tmp_path / package)
    return folder


def test_libraries_of_macos_are_not_taken_for_damaged_ones_of_linux(
    other_system: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    assert not [why for _, why in libraries.look_at_libraries()["refused"] if why == "cut off"]


def test_the_loader_of_windows_is_told_where_qts_libraries_lie(
    other_system: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[str] = []
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setattr(os, "add_dll_directory", told.append, raising=False)
    libraries.look_at_libraries()
    assert told == [str(other_system), str(other_system.parent / "shiboken6")]


@pytest.fixture
def without_qt(tmp_path: Path) -> str:
    """A folder from which Python learns to find no package of that name, as if it had never been installed."""
    hook = "import sys\nclass Hide:\n    def find_spec(self, name, path=None, target=None):\n"
    hook += "        if name == 'PySide6': raise ModuleNotFoundError(name)\n"
    (tmp_path / "sitecustomize.py").write_text(f"{hook}sys.meta_path.insert(0, Hide())\n")
    return str(tmp_path)


def test_a_qt_that_is_not_there_at_all_is_told(without_qt: str) -> None:
    (finding,) = wrong_libraries(PYTHONPATH=without_qt)
    assert finding.sentence == "Qt (PySide6) is not installed, so no window can open."
    assert "-m pip install --force-reinstall --no-deps PySide6-Essentials" in finding.command


@pytest.mark.slow
def test_the_doctor_comes_to_an_end_without_qt(without_qt: str) -> None:
    done = doctor(PYTHONPATH=without_qt)
    assert (done.returncode, done.stderr) == (1, "")
    assert "Wrong: Qt (PySide6) is not installed, so no window can open.\n    " in done.stdout
    assert done.stdout.startswith("program     Loquat ")


@linux
@pytest.mark.parametrize("library", ["libxcb-cursor.so.0", "libEGL.so.1"])
def test_a_library_of_the_system_that_is_removed_is_named_with_the_command(tmp_path: Path, library: str) -> None:
    """Something else lies over the library, in a mount namespace of the child's own: the loader refuses it."""
    done = subprocess.run(["/sbin/ldconfig", "-p"], capture_output=True, text=True, check=False)
    lines = [line.split() for line in done.stdout.splitlines() if line.startswith("\t")]
    blank = tmp_path / "blank"
    blank.touch()
    covered = [f"mount --bind {blank} {words[-1]}" for words in lines if words[0] == library]
    before = ("unshare", "-m", "sh", "-c", " && ".join([*covered, 'exec "$0" "$@"']))
    if not covered or subprocess.run([*before, "true"], check=False, capture_output=True).returncode:
        pytest.skip("this user cannot hide a library of the system")
    found = look_at("libraries", before=before, QT_QPA_PLATFORM="xcb")
    assert found["system"] == [library]
    (finding,) = libraries_part(found, CHECKOUT, "ID=debian\n").findings
    assert library in finding.sentence
    assert finding.command.endswith(f"apt install {CORE.get(library, ('libxcb-cursor0',))[0]}")


def test_folders_that_cannot_be_written_are_named(loquat_home: Paths) -> None:
    loquat_home.data.parent.mkdir(parents=True)
    loquat_home.data.write_text("a file in the way")
    loquat_home.cache.mkdir()
    part = places_part(look_at_places(loquat_home))
    (finding,) = part.findings
    assert "cannot be written" in finding.sentence and "chats cannot be kept" in finding.sentence
    assert not part.values["data"]["writable"] and part.values["cache"]["writable"]
    assert list(loquat_home.cache.iterdir()) == []


def test_a_folder_into_which_one_may_not_look_is_a_finding(loquat_home: Paths, monkeypatch: pytest.MonkeyPatch) -> None:
    """For root no folder is closed, so that the system is told to refuse."""
    exists = Path.exists

    def refused(path: Path) -> bool:
        if path == loquat_home.data:
            raise PermissionError(13, "Permission denied")
        return exists(path)

    monkeypatch.setattr(Path, "exists", refused)
    part = places_part(look_at_places(loquat_home))
    (finding,) = part.findings
    assert f"{loquat_home.data} cannot be written (Permission denied)" in finding.sentence
    assert part.values["data"] == {"folder": str(loquat_home.data), "bytes": 0, "writable": False, "free": None}
    assert not any("free on the disk" in line for line in part.lines)


def test_a_file_that_goes_away_meanwhile_does_not_matter(loquat_home: Paths, monkeypatch: pytest.MonkeyPatch) -> None:
    """An open window saves caches, whose files come and go."""
    loquat_home.cache.mkdir(parents=True)
    for name in ("kept", "gone"):
        (loquat_home.cache / name).write_bytes(b"1234567")
    is_file = Path.is_file

    def gone_after_a_look(path: Path) -> bool:
        there = is_file(path)
        if path.name == "gone":
            path.unlink(missing_ok=True)
        return there

    monkeypatch.setattr(Path, "is_file", gone_after_a_look)
    assert places_part(look_at_places(loquat_home)).values["cache"]["bytes"] == 7


@pytest.mark.parametrize("there", [True, False])
def test_a_first_model_wants_room_only_where_there_is_none(
    there: bool, loquat_home: Paths, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = request.getfixturevalue("home_with_model") if there else loquat_home
    monkeypatch.setattr(children, "look", lambda names: {name: {"failed": "not asked"} for name in names})
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: Room(300_000_000))
    (folders,) = (part for part in examine(home) if part.name == "folders")
    assert [finding.sentence[:24] for finding in folders.findings] == ([] if there else ["Only 300 MB are free on "])


def test_a_drive_that_is_gone_is_a_finding(loquat_home: Paths, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of Windows: of a path there nothing may exist, not even its beginning."""
    monkeypatch.setattr(Path, "exists", lambda path: not path.is_relative_to(loquat_home.data.anchor))
    findings = places_part(look_at_places(loquat_home)).findings
    assert all(f"(there is no {loquat_home.data.anchor})" in finding.sentence for finding in findings)
    assert len(findings) == 4


def test_a_model_of_a_newer_version_is_counted_and_its_name_not_told(loquat_home: Paths) -> None:
    folder = loquat_home.models / "my-secret-model"
    folder.mkdir(parents=True)
    (folder / MANIFEST).write_text(json.dumps({"format": FORMAT + 1, "new": True}))
    part = models_part_of(loquat_home)
    assert part.values == {"count": 0, "bytes": 0, "newer": 1, "bundled": False}
    assert any("newer version" in finding.sentence for finding in part.findings)
    assert "secret" not in repr(part)
