"""The installers that there are: on which system each is made, and by which module."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from building.job import Job

TARGETS: Final[Mapping[str, tuple[str, str]]] = {
    "deb": ("linux", "building.deb"),
    "tar": ("linux", "building.archive"),
    "appdir": ("linux", "building.appdir"),
    "inno": ("win32", "windows.inno"),
    "inno-cuda": ("win32", "windows.inno_cuda"),
    "dmg": ("darwin", "macos.dmg"),
}
"""Each module has a function `make(job)` that returns what it made in dist/."""


_ASKED_FOR: Final[Mapping[str, str]] = {"inno-cuda": "LOQUAT_CUDA_INDEX"}
"""Those that are made by themselves only where a variable says what they need."""


def of_this_system() -> list[str]:
    """The names of all that can be made here."""
    here = [name for name, (system, _) in TARGETS.items() if system == sys.platform]
    return [name for name in here if name not in _ASKED_FOR or os.environ.get(_ASKED_FOR[name])]


def make(name: str, job: Job) -> Path:
    """Make one installer; returns its file or folder.

    Raises:
        SystemExit: It cannot be made on this system.
    """
    system, module = TARGETS[name]
    if system != sys.platform:
        raise SystemExit(f"{name} is made on {system} only; here there are {', '.join(of_this_system()) or 'none'}.")
    print(f"Making {name}", flush=True)
    made: Path = importlib.import_module(module).make(job)
    return made
