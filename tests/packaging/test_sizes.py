from __future__ import annotations

import hashlib
import json
from pathlib import Path

from building import report, sizes


def test_files_are_summed_by_what_they_belong_to(fake_program: Path) -> None:
    measured = sizes.measure(fake_program)
    of = {part.name: part.nbytes for part in measured.components}
    link = len("torch/lib/libtorch.so")
    assert of == {
        "program file with Loquat's and all libraries' Python code": (fake_program / "loquat").stat().st_size,
        "torch": 5_000,
        "models": 3_000,
        "libraries of the system and of Python": link,
    }
    assert measured.nbytes == sum(of.values())
    assert json.loads(measured.json())["components"][1]["name"] == "torch"
    assert "torch" in measured.table()


def test_parts_are_told_by_their_folder() -> None:
    assert sizes.component_of("_internal/numpy.libs/libx.so") == "numpy"
    assert sizes.component_of("_internal/torch-2.13.0.dist-info/METADATA") == "versions of libraries"
    assert sizes.component_of("Contents/Frameworks/_internal/torch/a") == "torch"
    assert sizes.component_of("_internal/libssl.so.3") == "libraries of the system and of Python"


def test_more_than_was_promised_is_said() -> None:
    assert report.oversized(1_200_000_000, {"loquat.deb": 400_000_000}) == ""
    assert "1601 MB" in report.oversized(1_601_000_000, {})
    assert "loquat.deb weighs 521 MB" in report.oversized(1, {"loquat.deb": 521_000_000})


def test_checksums_are_those_of_the_files(tmp_path: Path) -> None:
    (tmp_path / "b.deb").write_bytes(b"b")
    (tmp_path / "a.txt").write_bytes(b"a")
    (tmp_path / "folder").mkdir()
    report.checksums(tmp_path)
    report.checksums(tmp_path)  # its own file is not in it
    lines = (tmp_path / "SHA256SUMS").read_text().splitlines()
    assert lines == [f"{hashlib.sha256(name[:1].encode()).hexdigest()}  {name}" for name in ("a.txt", "b.deb")]
