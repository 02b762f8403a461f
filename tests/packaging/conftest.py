"""The steps of the build lie beside packaging/build.py, which finds them there, as these tests do."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

PACKAGING = Path(__file__).parents[2] / "packaging"
sys.path.append(str(PACKAGING))


@pytest.fixture
def fake_program(tmp_path: Path) -> Path:
    """A folder as PyInstaller would make it, with a program of the system's, a library, a model and a link."""
    if sys.platform == "win32":
        pytest.skip("modes and links are POSIX")
    folder = tmp_path / "build" / "loquat"
    inside = folder / "_internal"
    (inside / "models").mkdir(parents=True)
    (inside / "torch" / "lib").mkdir(parents=True)
    (folder / "loquat").write_bytes(Path(shutil.which("true") or "/bin/true").read_bytes())
    (folder / "loquat").chmod(0o775)
    (inside / "models" / "tiny.gguf").write_bytes(b"m" * 3_000)
    (inside / "torch" / "lib" / "libtorch.so").write_bytes(b"t" * 5_000)
    (inside / "libtorch.so").symlink_to("torch/lib/libtorch.so")
    return folder
