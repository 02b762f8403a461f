"""PyInstaller, run so that two builds of one commit give the same files; their times are set by `tree.settle`."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from building.project import BUILD, PACKAGING, run


def freeze(python: Path, epoch: int) -> Path:
    """Freeze the program; returns its folder, or on macOS the `.app`.

    Args:
        python: Of the build environment.
        epoch: Seconds since 1970 that every file carries.
    """
    out = BUILD / "program"
    shutil.rmtree(out, ignore_errors=True)
    command = [str(python), "-m", "PyInstaller", "--noconfirm", "--clean", "--log-level", "WARN"]
    command += ["--distpath", str(out), "--workpath", str(BUILD / "work"), str(PACKAGING / "loquat.spec")]
    run(
        command,
        PYTHONHASHSEED="0",
        SOURCE_DATE_EPOCH=str(epoch),
        OMP_WAIT_POLICY="PASSIVE",
        QT_QPA_PLATFORM="offscreen",
    )
    folder = out / ("Loquat.app" if sys.platform == "darwin" else "loquat")
    return folder


def program_file(folder: Path) -> Path:
    """The file to start in a frozen program's folder."""
    if folder.suffix == ".app":
        return folder / "Contents" / "MacOS" / "loquat"
    return folder / ("loquat-cli.exe" if sys.platform == "win32" else "loquat")


def data_folder(folder: Path) -> Path:
    """Where in a frozen program files lie that are not code."""
    return folder / "Contents" / "Resources" if folder.suffix == ".app" else folder / "_internal"
