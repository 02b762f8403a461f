"""The AppDir: the program as one folder that runs from anywhere, and of which an AppImage is made in one more step."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Final

from building import desktop_files, tree
from building.job import Job
from building.project import APP_ID, DIST

NAME: Final = "Loquat.AppDir"
_RUN: Final = """#!/bin/sh
# Starts Loquat from wherever this folder, or the AppImage made of it, lies.
here=$(dirname "$(readlink -f "$0")")
exec "$here/usr/lib/loquat/loquat" "$@"
"""


def make(job: Job) -> Path:
    """Make the folder in dist/; returns it."""
    folder = DIST / NAME
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(job.program, folder / "usr" / "lib" / "loquat", symlinks=True)
    desktop_files.write(folder / "usr" / "share", job)
    (folder / "usr" / "bin").mkdir()
    (folder / "usr" / "bin" / "loquat").symlink_to("../lib/loquat/loquat")
    run = folder / "AppRun"
    run.write_text(_RUN, encoding="utf-8")
    run.chmod(0o755)
    (folder / f"{APP_ID}.desktop").symlink_to(f"usr/share/applications/{APP_ID}.desktop")
    (folder / f"{APP_ID}.svg").symlink_to(f"usr/share/icons/hicolor/scalable/apps/{APP_ID}.svg")
    (folder / ".DirIcon").symlink_to(f"usr/share/icons/hicolor/256x256/apps/{APP_ID}.png")
    tree.settle(folder, job.epoch)
    return folder
