"""Makes packaging/lock/*.txt anew, for every system on any: `python3 -m building.make_locks` in packaging/.

The resolver is uv, at a pinned version. It takes package indexes from its own configuration (UV_INDEX and the like);
none is written into a lock. torch for Linux is the build without CUDA, which the package index lacks: set UV_INDEX to
the index of CPU builds that PyTorch publishes, or UV_FIND_LINKS to a folder with its wheel.
"""

from __future__ import annotations

import sys
import tempfile
import venv
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from building.environment import python_of
from building.lock import LOCKS, read_lock
from building.project import read_project, run

UV: Final = "uv==0.13.9"
PYTHON: Final = "3.11"
HEADER: Final = "# Made by `python3 -m building.make_locks` in packaging/; {}.\n"


@dataclass(frozen=True, slots=True)
class Target:
    """One lock.

    Attributes:
        name: Of the file.
        platform: As uv calls it.
        overrides: Pins in place of pyproject's.
        about: In the first line of the lock.
    """

    name: str
    platform: str
    overrides: tuple[str, ...]
    about: str


TARGETS: Final = (
    Target("linux-x86_64-cp311", "x86_64-manylinux_2_34", ("torch==2.13.0+cpu",), "torch is PyTorch's build for CPUs"),
    Target("windows-x86_64-cp311", "windows", (), "torch for CPUs is what the package index has"),
    Target("macos-arm64-cp311", "aarch64-apple-darwin", (), "for macOS 14 and later, as torch"),
)


def main() -> int:
    """Make all locks; returns the exit code."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        venv.create(folder / "env", with_pip=True)
        python = python_of(folder / "env")
        run([str(python), "-m", "pip", "install", "--quiet", UV])
        uv = str(python.with_name("uv"))
        wanted = folder / "wanted.in"
        build = (LOCKS / "build.in").read_text(encoding="utf-8")
        wanted.write_text("\n".join([*read_project().dependencies, build]), encoding="utf-8")
        for target in TARGETS:
            _lock(uv, wanted, target, folder)
        tools = Target("tools", "", (), "what makes packages and lists of parts, in an environment of its own")
        _lock(uv, LOCKS / "tools.in", tools, folder)
    return 0


def _lock(uv: str, wanted: Path, target: Target, folder: Path) -> None:
    """Make one lock; what it pins already stays where it still fits, so that nothing changes unasked."""
    lock = LOCKS / f"{target.name}.txt"
    overrides = folder / "overrides.txt"
    overrides.write_text("\n".join(target.overrides), encoding="utf-8")
    options = ["--python-platform", target.platform] if target.platform else ["--universal"]
    command = [uv, "pip", "compile", "--quiet", "--generate-hashes", "--no-header", "--no-annotate", *options]
    command += ["--python-version", PYTHON, "--override", str(overrides), "--output-file", str(lock), str(wanted)]
    run(command, MACOSX_DEPLOYMENT_TARGET="14.0")
    text = lock.read_text(encoding="utf-8")
    lock.write_text(HEADER.format(target.about) + text, encoding="utf-8")
    print(f"{target.name}: {len(read_lock(text))} packages")


if __name__ == "__main__":
    sys.exit(main())
