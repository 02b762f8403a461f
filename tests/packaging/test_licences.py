"""That what is shipped comes with the texts of its licences, tried on what is installed here."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterable
from importlib import metadata
from pathlib import Path

import pytest
from building import deb, licences, sizes, system_licences, trim
from building.lock import LOCKS, plain_name, read_lock
from building.project import PACKAGING
from building.sbom import BUILD_ONLY


def distribution(folder: Path, name: str, files: Iterable[str]) -> metadata.Distribution:
    """A distribution as pip installs it, each file with its own path in it."""
    info = folder / f"{name}-1.0.dist-info"
    for file in files:
        path = Path(os.path.normpath(folder / file))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(file, encoding="utf-8")
    info.mkdir(parents=True, exist_ok=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n", encoding="utf-8")
    (info / "RECORD").write_text("".join(f"{file},,\n" for file in files), encoding="utf-8")
    return metadata.PathDistribution(info)


def test_every_distribution_of_the_locks_has_a_text() -> None:
    locks = [read_lock(file.read_text(encoding="utf-8")) for file in LOCKS.glob("*-cp*.txt")]
    locked = {pin.name for pins in locks for pin in pins}
    here = [one for one in metadata.distributions() if plain_name(one.name) in locked - BUILD_ONLY]
    assert len(here) > 50
    found = licences.texts(licences.shipped(here))
    assert {place.rpartition("-")[0] for place in (name.partition("/")[0] for name in found)} == {
        plain_name(one.name) for one in here
    }
    assert all(source.stat().st_size for source in found.values())
    qt = next(one.version for one in here if plain_name(one.name) == "pyside6-essentials")
    assert {f"pyside6-essentials-{qt}/{name}-3.0-only.txt" for name in ("GPL", "LGPL")} <= found.keys()
    assert set(licences.ADDED) <= locked, "a text for a distribution that is shipped no more"


def test_a_distribution_without_a_text_stops_the_build_and_is_named(tmp_path: Path) -> None:
    bare = distribution(
        tmp_path, "Bare_Thing", ["bare/license.py", "bare/_vendor/b/LICENSE", "Bare_Thing-1.0.dist-info/AUTHORS"]
    )
    told = distribution(tmp_path, "told", ["told-1.0.dist-info/licenses/LICENSE"])
    with pytest.raises(SystemExit, match="No licence text is there for bare-thing: put it into packaging/licences"):
        licences.texts([told, bare])


def test_texts_keep_their_places_and_none_leaves_the_folder(tmp_path: Path) -> None:
    files = [
        "a/LICENSE",
        "a/_vendor/b/COPYING.txt",
        "a/licence.py",
        "../../share/doc/NOTICE",
        "a-1.0.dist-info/AUTHORS",
        "a-1.0.dist-info/licenses/a/LICENSE",
        "a-1.0.dist-info/licenses/third_party/c/test/word.txt",
    ]
    found = licences.texts([distribution(tmp_path / "lib" / "python", "a", files)])
    folder = tmp_path / "out"
    licences.copy(folder, found)
    copied = {path.relative_to(folder).as_posix(): path.read_text() for path in folder.rglob("*") if path.is_file()}
    assert copied == {
        "a-1.0/a/_vendor/b/COPYING.txt": files[1],
        "a-1.0/share/doc/NOTICE": files[3],
        "a-1.0/AUTHORS": files[4],
        "a-1.0/a/LICENSE": files[5],
        "a-1.0/third_party/c/test/word.txt": files[6],
    }


def test_python_comes_with_its_own() -> None:
    assert "PYTHON SOFTWARE FOUNDATION LICENSE" in licences.python_licence().read_text(encoding="utf-8")


needs_dpkg = pytest.mark.skipif(
    shutil.which("dpkg-query") is None, reason="needs Debian, whose packages have the texts"
)


@needs_dpkg
def test_libraries_of_the_system_come_with_their_packages_text(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    program, folder = tmp_path / "program", tmp_path / "out"
    program.mkdir()
    for name in ("libz.so.1", "libuuid.so.1", "libpython3.11.so.1.0", "libnobody.so.7"):
        (program / name).touch()
    (program / "libtorch.so").symlink_to("torch/lib/libtorch.so")
    system_licences.add(folder, program)
    places = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    packages = {place.partition("-")[0] for place in places if place.endswith("/copyright")}
    assert packages == {"zlib1g", "libuuid1"}
    assert "common-licenses/LGPL-2.1.txt" in places, "uuid's text only says where Debian has that of its licence"
    assert "No package of this system has libnobody.so.7" in capsys.readouterr().out


def test_no_library_under_the_gpl_is_brought_along_for_a_debugger_that_does_without() -> None:
    assert "readline" in trim.MODULES
    code = "import sys; sys.modules['readline'] = None; import pdb, code; pdb.Pdb()"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_package_says_where_they_lie() -> None:
    said = (PACKAGING / "linux" / "copyright").read_text(encoding="utf-8")
    assert f"{deb.PLACE}/_internal/{licences.FOLDER}, a folder" in said


def test_the_texts_are_a_part_of_what_is_weighed() -> None:
    assert sizes.component_of("_internal/licences/torch-2.13.0/third_party/x/test/LICENSE") == "licences"
