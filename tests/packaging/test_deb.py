"""A Debian package of a small program, made by the real nfpm and read by Debian's own tools."""

from __future__ import annotations

import gzip
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from building import appdir, deb, icons, system_packages, tree
from building.job import Job
from building.project import APP_ID, Project, read_project, source_date

from app.desktop import DESKTOP_FILE

EPOCH = 1_700_000_000
NEEDED = ("dpkg-deb", "desktop-file-validate", "appstreamcli", "objdump", "ar")

pytestmark = pytest.mark.skipif(
    any(shutil.which(name) is None for name in NEEDED), reason=f"needs Debian's {', '.join(NEEDED)}"
)


@pytest.fixture
def job(fake_program: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Job:
    for module in (deb, appdir):
        monkeypatch.setattr(module, "DIST", tmp_path / "dist")
    monkeypatch.setattr(deb, "BUILD", tmp_path / "build")
    (tmp_path / "dist").mkdir()
    icons.main([str(tmp_path / "icons")])
    project = Project("loquat-chat", "9.8.7", "A chat application", "Apache-2.0", ())
    return Job(fake_program, project, EPOCH, tmp_path / "icons", Path(sys.executable))


def said(*command: str) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_the_package_holds_the_program_and_what_the_desktop_reads(job: Job, tmp_path: Path) -> None:
    package = str(deb.make(job))
    fields = {
        line.partition(": ")[0]: line.partition(": ")[2] for line in said("dpkg-deb", "--field", package).splitlines()
    }
    assert (fields["Package"], fields["Version"], fields["Architecture"]) == ("loquat", "9.8.7", "amd64")
    assert fields["Depends"].startswith("libc6 (>= 2.")
    said("dpkg-deb", "--extract", package, str(tmp_path / "out"))
    out = tmp_path / "out"
    assert (out / "usr" / "bin" / "loquat").readlink() == Path("/opt/loquat/loquat")
    assert (out / "opt" / "loquat" / "_internal" / "libtorch.so").readlink() == Path("torch/lib/libtorch.so")
    assert (out / "opt" / "loquat" / "_internal" / "models" / "tiny.gguf").stat().st_size == 3_000
    share = out / "usr" / "share"
    sizes = {path.parent.parent.name for path in (share / "icons" / "hicolor").glob(f"*/apps/{APP_ID}.*")}
    assert sizes >= {"16x16", "48x48", "256x256", "512x512", "scalable"}
    assert "9.8.7" in gzip.decompress((share / "man" / "man1" / "loquat.1.gz").read_bytes()).decode()
    owners = {line.split()[1] for line in said("dpkg-deb", "--contents", package).splitlines()}
    assert owners == {"root/root"}
    members = said("ar", "t", package).split()
    assert members[0] == "debian-binary"
    assert members[-1] == "data.tar.zst"


def test_desktop_entry_and_appstream_data_are_valid(job: Job, tmp_path: Path) -> None:
    deb.write_tree(tmp_path / "staging", job)
    share = tmp_path / "staging" / "usr" / "share"
    said("desktop-file-validate", str(share / "applications" / f"{APP_ID}.desktop"))
    said("appstreamcli", "validate", "--no-net", str(share / "metainfo" / f"{APP_ID}.metainfo.xml"))
    assert 'version="9.8.7" date="2023-11-14"' in (share / "metainfo" / f"{APP_ID}.metainfo.xml").read_text()


def test_the_window_names_the_installed_desktop_entry() -> None:
    assert DESKTOP_FILE == APP_ID


def test_two_packages_of_one_program_are_the_same_bytes(job: Job) -> None:
    packages = []
    for _ in range(2):
        (job.program / "_internal" / "models" / "tiny.gguf").touch()  # built at another time
        tree.settle(job.program, EPOCH)
        packages.append(deb.make(job).read_bytes())
    assert packages[0] == packages[1]


def test_the_appdir_runs_from_wherever_it_lies(job: Job, tmp_path: Path) -> None:
    folder = appdir.make(job)
    moved = tmp_path / "else where"
    folder.rename(moved)
    assert subprocess.run([moved / "AppRun"], check=False).returncode == 0
    assert (moved / f"{APP_ID}.desktop").is_file()
    assert (moved / ".DirIcon").read_bytes().startswith(b"\x89PNG")


def test_dependencies_are_read_off_the_program(fake_program: Path) -> None:
    assert [name.split()[0] for name in system_packages.debian_packages(fake_program)] == ["libc6"]
    assert system_packages.packages_of(["libEGL.so.1", "libm.so.6", "libxcb.so.1", "libstdc++.so.6"], (2, 34)) == (
        "libc6 (>= 2.34)",
        "libegl1",
        "libstdc++6",
        "libxcb1",
    )


def test_a_library_that_no_package_is_known_for_is_told() -> None:
    with pytest.raises(system_packages.Unknown, match=r"libodd\.so\.1"):
        system_packages.packages_of(["libodd.so.1"], (2, 34))


def test_the_version_and_the_date_come_from_one_place(monkeypatch: pytest.MonkeyPatch) -> None:
    assert read_project().version.count(".") == 2
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "12345")
    assert source_date() == 12345
    monkeypatch.delenv("SOURCE_DATE_EPOCH")
    assert source_date() > 1_700_000_000
