"""What each look of the doctor comes to: pure, on machines that are not here."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections import namedtuple
from pathlib import Path
from typing import Any

import pytest

from engine.doctor import children
from engine.doctor.children import look
from engine.doctor.compute import device_part, memory_part
from engine.doctor.libraries import libraries_part
from engine.doctor.places import FIRST_MODEL, Place, keyring_part, places_part
from engine.doctor.program import Installation, installation
from engine.doctor.report import Finding, Part, as_text, is_well, without_home
from engine.errors import DiskFull
from engine.models.catalogue import DEFAULT_MODEL, catalogue
from engine.models.files import need_room
from engine.models.progress import megabytes
from engine.nvidia import nvidia_cards

Room = namedtuple("Room", "free")
DEBIAN = 'PRETTY_NAME="Debian GNU/Linux 12 (bookworm)"\nID=debian\n'
CHECKOUT = Installation("checkout", Path("/src/loquat"))
CPU: dict[str, Any] = {
    "device": "cpu",
    "reason": "2 threads",
    "format": "4-bit weights",
    "cuda_build": "",
    "cuda": False,
    "instructions": "AVX2, FMA, F16C",
    "missing": [],
}


def test_system_libraries_come_by_the_distributions_command() -> None:
    found = {"qt": "/x/PySide6", "system": ["libEGL.so.1"], "refused": [["libqxcb.so", _absent("libxcb-cursor.so.0")]]}
    (finding,) = libraries_part(found, CHECKOUT, DEBIAN).findings
    assert "libEGL.so.1, libxcb-cursor.so.0" in finding.sentence
    assert finding.command.endswith("apt install libegl1 libxcb-cursor0")
    (fedora,) = libraries_part(found, CHECKOUT, "ID=fedora\n").findings
    assert fedora.command.endswith("dnf install libglvnd-egl xcb-util-cursor")


@pytest.mark.parametrize(
    ("how", "command"),
    [
        (CHECKOUT, "-m pip install --force-reinstall --no-deps PySide6-Essentials=="),
        (Installation("deb", Path("/opt/loquat")), "apt install --reinstall loquat"),
        (Installation("folder", Path("/home/a/loquat")), ""),
    ],
)
def test_files_of_the_programs_own_qt_come_with_the_program(how: Installation, command: str) -> None:
    refused = [["QtGui.abi3.so", _absent("libQt6Gui.so.6")], ["QtSvg.abi3.so", "/x/QtSvg.abi3.so: file too short"]]
    (finding,) = libraries_part({"qt": "/x", "system": [], "refused": refused}, how, DEBIAN).findings
    assert "QtSvg.abi3.so, libQt6Gui.so.6" in finding.sentence
    assert command in finding.command
    assert bool(finding.command) == bool(command)


def test_a_library_that_came_with_the_program_and_is_damaged_is_no_fault_of_the_plugin_or_the_system() -> None:
    """The installed program brings the system's libraries along: its own lies where the loader looks first."""
    inside = "/home/a/Mes programmes \u00e9/loquat/_internal"
    error = f"{inside}/libxcb-cursor.so.0: file too short"
    found = {"qt": f"{inside}/PySide6", "system": ["libxcb-cursor.so.0"], "refused": [["libqxcb.so", error]]}
    (finding,) = libraries_part(found, Installation("deb", Path(inside).parent), DEBIAN).findings
    assert finding.sentence.startswith("Files that came with Loquat are missing or damaged: libxcb-cursor.so.0;")
    assert finding.command.endswith("apt install --reinstall loquat")
    elsewhere = found | {"refused": [["libqxcb.so", error.replace(inside, "/opt/my libraries")]]}
    (finding,) = libraries_part(elsewhere, CHECKOUT, DEBIAN).findings
    assert finding.sentence.startswith("Qt needs system libraries that are missing or damaged: libxcb-cursor.so.0;")


def _absent(name: str) -> str:
    return f"{name}: cannot open shared object file: No such file or directory"


def test_a_system_that_is_too_old_is_told() -> None:
    error = "/lib/x86_64-linux-gnu/libc.so.6: version `GLIBC_2.34' not found (required by /x/libQt6Core.so.6)"
    (finding,) = libraries_part({"qt": "/x", "system": [], "refused": [["QtCore.so", error]]}, CHECKOUT, "").findings
    assert "too old" in finding.sentence and "GLIBC_2.34" in finding.sentence


def test_a_look_that_crashed_is_a_finding() -> None:
    part = libraries_part({"failed": "crashed with signal 11"}, CHECKOUT, DEBIAN)
    assert "crashed with signal 11" in part.findings[0].sentence and not is_well((part,))
    part = device_part({"failed": "ImportError: libtorch_cpu.so"}, 0, driver=False, compiled=False)
    assert "libtorch_cpu.so" in part.findings[0].sentence and not is_well((part,))
    late = device_part({"failed": "no answer", "late": True}, 0, driver=False, compiled=False).findings[0].sentence
    assert "look once more" in late and "look once more" not in part.findings[0].sentence


@pytest.mark.parametrize(
    ("found", "cards", "driver", "said", "wrong"),
    [
        (CPU, 0, False, "", False),
        (CPU, 1, True, "this build of Loquat computes on the processor", False),
        (CPU | {"fetchable": True}, 0, True, "the window offers to fetch what uses it", False),
        (CPU | {"fetchable": True}, 0, False, "", False),
        (CPU | {"cuda_build": "12.8"}, 0, False, "there is none here", False),
        (CPU | {"cuda_build": "12.8"}, 1, False, "its driver is not installed", True),
        (CPU | {"cuda_build": "12.8"}, 1, True, "may be too old", True),
        (CPU | {"cuda_build": "12.8", "cuda": True, "device": "cuda"}, 1, True, "", False),
        (CPU | {"missing": ["AVX2"]}, 0, False, "lacks AVX2", False),
    ],
)
def test_why_the_processor_answers_is_said(
    found: dict[str, Any], cards: int, driver: bool, said: str, wrong: bool
) -> None:
    fetchable = bool(found.get("fetchable"))
    findings = device_part(found, cards, driver, compiled=True, fetchable=fetchable).findings
    assert [said in finding.sentence for finding in findings] == ([True] if said else [])
    assert any(finding.wrong for finding in findings) is wrong


def test_graphics_cards_are_counted_without_a_driver(tmp_path: Path) -> None:
    devices = {"a": ("0x10de", "0x030000"), "b": ("0x10de", "0x040300"), "c": ("0x8086", "0x030000")}
    for name, (vendor, kind) in devices.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "vendor").write_text(f"{vendor}\n")
        (tmp_path / name / "class").write_text(f"{kind}\n")
    (tmp_path / "d").mkdir()
    assert nvidia_cards(tmp_path) == 1
    assert nvidia_cards(tmp_path / "nowhere") == 0


def test_a_disk_that_is_nearly_full_and_little_memory_are_told_once() -> None:
    places = [Place(name, Path("/home/a") / name, 0, 50_000_000, "") for name in ("data", "config", "cache", "logs")]
    (finding,) = places_part(places).findings
    assert finding.sentence == (
        f"Only 50 MB are free on the disk of {Path('/home/a/data')}; a first model needs about 740 MB, so make room."
    )
    assert finding.wrong
    (finding,) = places_part(places, has_model=True).findings
    assert "; chats and their caches need about 100 MB, so make room." in finding.sentence
    assert memory_part(8_000_000_000, 300_000_000).findings[0].wrong
    assert memory_part(8_000_000_000, 3_000_000_000).findings == ()


def test_where_a_model_is_there_already_only_a_chat_wants_room() -> None:
    places = [Place(name, Path("/home/a") / name, 0, 300_000_000, "") for name in ("data", "config", "cache", "logs")]
    assert places_part(places, has_model=True).findings == ()
    assert places_part(places).findings[0].wrong


def test_the_room_for_a_first_model_is_what_its_import_asks_for(tmp_path: Path) -> None:
    (first,) = (entry for entry in catalogue() if entry.name == DEFAULT_MODEL.name)
    with (
        pytest.raises(DiskFull, match=f"needs {megabytes(FIRST_MODEL)} in ") as full,
        pytest.MonkeyPatch.context() as it,
    ):
        it.setattr(shutil, "disk_usage", lambda folder: Room(0))
        need_room(tmp_path, 5 * first.parameters, "import it")
    assert full.value.sentence.startswith("The disk is too full to import it:")


def test_where_keys_are_kept_is_said() -> None:
    assert keyring_part({"backend": "keyring.backends.SecretService.Keyring"}, portable=False).findings == ()
    assert not keyring_part({"backend": "keyring.backends.fail.Keyring"}, portable=False).values["used"]
    assert "portable" in keyring_part({"backend": "keyring.backends.SecretService.Keyring"}, portable=True).lines[0]
    (note,) = keyring_part({"failed": "no answer within 60 seconds"}, portable=False).findings
    assert not note.wrong


def test_findings_end_the_report_and_what_is_wrong_comes_last() -> None:
    parts = (
        Part("program", ("Loquat 1",), {}, (Finding("Bad.", "mend it"), Finding("Worth knowing.", wrong=False))),
        Part("memory", ("8 GB", "2 GB free"), {}),
    )
    assert as_text(parts) == (
        "program     Loquat 1\nmemory      8 GB\n            2 GB free\n\n"
        "Note: Worth knowing.\nWrong: Bad.\n    mend it"
    )
    assert as_text(parts[1:]).endswith("\n\nNothing is wrong.")


def test_the_persons_folder_has_no_name() -> None:
    assert without_home('{"folder": "/home/ann/x"} /home/ann', Path("/home/ann")) == '{"folder": "~/x"} ~'
    assert without_home("/usr/bin", Path("/")) == "/usr/bin"


def test_an_installed_program_knows_how_it_came(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert installation().kind == "checkout"
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    monkeypatch.setattr(sys, "executable", str(tmp_path / "loquat"))
    listed = tmp_path / "loquat.list"
    assert installation(listed).kind == "folder"
    listed.write_text(f"/.\n/opt\n{tmp_path / 'loquat'}\n")
    assert installation(listed).kind == "deb"
    monkeypatch.setenv("APPIMAGE", str(tmp_path / "home" / "Loquat.AppImage"))
    monkeypatch.setenv("APPDIR", str(tmp_path / "mounted by another"))
    assert installation(listed).kind == "deb"
    monkeypatch.setenv("APPDIR", str(tmp_path))
    assert installation(listed) == Installation("appimage", (tmp_path / "home").resolve())


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("print('chatter'); print('{\"a\": 1}')", {"a": 1}),
        ("import os; os.kill(os.getpid(), 11)", {"failed": "crashed with signal 11"}),
        ("raise ImportError('libgone.so')", {"failed": "ImportError: libgone.so"}),
        ("import time; time.sleep(60)", {"failed": "no answer within 2 seconds", "late": True}),
        ("raise SystemExit(3)", {"failed": "ended with 3 and said nothing"}),
    ],
)
@pytest.mark.skipif(sys.platform == "win32", reason="signals are POSIX")
def test_a_child_that_fails_in_any_way_is_reported(
    code: str, found: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(children, "own_command", lambda: [sys.executable, "-c", code])
    assert look(("it",), patience_s=2.0) == {"it": found}


def test_the_doctor_and_the_version_are_quick_because_they_import_no_torch_and_no_qt() -> None:
    code = "import sys, engine.cli_doctor; print(*{'torch', 'numba', 'PySide6', 'keyring'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""
