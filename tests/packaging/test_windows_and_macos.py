"""What can be tried of the installers for Windows and macOS where neither system is."""

from __future__ import annotations

import plistlib
import re
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest
from building.job import Job
from building.project import Project
from macos import dmg
from windows import inno, inno_cuda, version

from engine.cuda_pack import pack_folder
from engine.paths import PORTABLE, Paths


@pytest.fixture
def job(tmp_path: Path) -> Job:
    project = Project("loquat-chat", "1.2.3", "A chat", "Apache-2.0", ())
    return Job(tmp_path / "a folder" / "loquat", project, 0, tmp_path / "icons", tmp_path / "python")


def test_the_compiler_is_told_all_that_the_script_asks_for(job: Job) -> None:
    given = {match[1] for argument in inno.arguments(job) if (match := re.match(r"/D(\w+)=", argument))}
    script = inno.SCRIPT.read_text(encoding="utf-8")
    own = set(re.findall(r"#define (\w+)", script))
    asked = set(re.findall(r"\{#(\w+)\}", script)) - own
    assert asked <= given
    assert f"/DProgram={job.program}" in inno.arguments(job), "a path with a space is one argument"


def test_the_setup_program_needs_no_administrator_and_leaves_chats(job: Job) -> None:
    script = inno.SCRIPT.read_text(encoding="utf-8")
    assert "PrivilegesRequired=lowest" in script
    assert "MB_DEFBUTTON2" in script
    assert "UninstallSilent or" in script
    assert re.search(r"AppId=\{\{[0-9A-F-]{36}\}", script), "the same for every version"
    sections = re.findall(r"^\[(\w+)\]", script, re.MULTILINE)
    assert len(sections) == len(set(sections))


def test_the_setup_program_takes_back_what_the_program_fetched_of_itself(tmp_path: Path) -> None:
    script = inno.SCRIPT.read_text(encoding="utf-8")
    folder = pack_folder(Paths(tmp_path, tmp_path, tmp_path, tmp_path)).name
    deleted = set(re.findall(r'^Type: filesandordirs; Name: "(\{\w+\}\\loquat.*)"$', script, re.MULTILINE))
    homes = (r"{localappdata}\loquat", rf"{{app}}\{PORTABLE}\data")
    names = (folder, f"{folder}-downloads", f"{folder}-unfinished")
    assert deleted == {rf"{home}\{name}" for home in homes for name in names}
    for home in homes:
        assert f'"{home}"' not in script, "chats stay"


def test_without_inno_setup_the_sentence_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr(inno, "_PLACES", ())
    with pytest.raises(SystemExit, match="winget install"):
        inno.find_compiler()


def test_nothing_is_signed_without_a_certificate_and_that_is_said(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.delenv(inno.CERTIFICATE, raising=False)
    monkeypatch.delenv(dmg.PROFILE, raising=False)
    inno.sign(tmp_path / "loquat.exe")
    dmg.notarise(tmp_path / "loquat.dmg")
    said = capsys.readouterr().out
    assert "loquat.exe is not signed" in said
    assert "loquat.dmg is not notarised" in said


def test_the_app_says_what_it_is(tmp_path: Path) -> None:
    file = tmp_path / "Info.plist"
    file.write_bytes(plistlib.dumps({"CFBundleIdentifier": "io.github.loquat_chat.Loquat"}))
    dmg.describe(file, "1.2.3")
    about = plistlib.loads(file.read_bytes())
    assert about["CFBundleIdentifier"] == "io.github.loquat_chat.Loquat"
    assert about["CFBundleShortVersionString"] == about["CFBundleVersion"] == "1.2.3"
    assert about["LSMinimumSystemVersion"] == "14.0"
    assert "CFBundleDocumentTypes" not in about, "the program opens no file that the Finder hands it"


def test_the_entitlements_are_a_property_list_of_what_compiling_needs() -> None:
    entitled = plistlib.loads(dmg.ENTITLEMENTS.read_bytes())
    assert set(entitled.values()) == {True}
    assert "com.apple.security.cs.allow-jit" in entitled
    assert "com.apple.security.cs.debugger" not in entitled


def test_libraries_are_signed_before_what_holds_them(tmp_path: Path) -> None:
    app = tmp_path / "Loquat.app"
    deep, shallow = app / "Contents/Frameworks/a/b/deep.so", app / "Contents/Frameworks/shallow.dylib"
    own, text = app / "Contents/MacOS/loquat", app / "Contents/Resources/note.txt"
    for path in (deep, shallow, own, text):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"hello" if path == text else b"\xcf\xfa\xed\xfe" + b"\0" * 28)
    (app / "Contents/Frameworks/link.dylib").symlink_to("shallow.dylib")
    assert list(dmg.binaries(app)) == [deep, shallow]


def item(name: str, version: str, address: str) -> dict[str, Any]:
    """As pip's report describes what it would install."""
    info = {"url": address, "archive_info": {"hashes": {"sha256": name * 4}}}
    return {"metadata": {"name": name, "version": version}, "download_info": info}


def test_the_wheels_for_gpus_are_noted_as_pip_would_take_them() -> None:
    torch = {"install": [item("torch", "2.13.0+cu130", "https://a/torch.whl")]}
    other = {"install": [item("bitsandbytes", "0.50.2", "https://b/bnb.whl")]}
    found = inno_cuda.source([torch, other], len)
    assert found["torch"] == "2.13.0+cu130"
    assert found["wheels"][0] == {"address": "https://a/torch.whl", "sha256": "torch" * 4, "nbytes": 19}
    assert [wheel["address"] for wheel in found["wheels"]] == ["https://a/torch.whl", "https://b/bnb.whl"]


def test_pip_is_asked_without_a_download(tmp_path: Path) -> None:
    """A wheel in a folder stands for an index."""
    name = "nothing_at_all-1.0-py3-none-any.whl"
    with zipfile.ZipFile(tmp_path / name, "w") as wheel:
        wheel.writestr(
            "nothing_at_all-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: nothing-at-all\nVersion: 1.0\n"
        )
        wheel.writestr(
            "nothing_at_all-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        wheel.writestr("nothing_at_all-1.0.dist-info/RECORD", "")
    options = ["--no-index", "--find-links", str(tmp_path)]
    report = inno_cuda.ask(Path(sys.executable), "nothing-at-all==1.0", options)
    assert report["install"][0]["download_info"]["url"].endswith(name)
    with pytest.raises(SystemExit, match="pip finds no other==1"):
        inno_cuda.ask(Path(sys.executable), "other==1", options)


def test_without_an_index_the_setup_program_for_gpus_is_not_made(job: Job, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(inno_cuda.INDEX, raising=False)
    with pytest.raises(SystemExit, match="LOQUAT_CUDA_INDEX is not set"):
        inno_cuda.make(job)


def test_the_version_of_the_windows_program_is_what_pyinstaller_reads(job: Job, tmp_path: Path) -> None:
    text = version.write(job.project, tmp_path / "version.txt").read_text(encoding="utf-8")
    names = (
        "VSVersionInfo",
        "FixedFileInfo",
        "StringFileInfo",
        "StringTable",
        "StringStruct",
        "VarFileInfo",
        "VarStruct",
    )
    read = eval(text, {name: lambda *given, **named: (given, named) for name in names})  # noqa: S307 - as PyInstaller does
    assert read[1]["ffi"][1]["filevers"] == (1, 2, 3, 0)
    assert "'ProductVersion', '1.2.3'" in repr(read).replace('"', "'")
    assert version.numbers("0.2.0rc1") == (0, 2, 0, 0)
    assert version.numbers("7") == (7, 0, 0, 0)
