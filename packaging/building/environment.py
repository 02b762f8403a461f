"""Clean virtual environments for a build, from a lock and nothing else."""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
import venv
from pathlib import Path

from building.lock import lock_file
from building.project import BUILD, run


def python_of(environment: Path) -> Path:
    """The Python of a virtual environment."""
    return environment / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def make(name: str, *, fresh: bool) -> Path:
    """The environment of one lock, made if it is not there as this lock wants it; returns its Python.

    Every file that pip takes must have a hash of the lock; nothing is compiled here and no dependency is looked up.

    Args:
        name: Of the lock.
        fresh: Make it anew in any case.
    """
    lock = lock_file(name)
    folder = BUILD / f"env-{name}"
    mark = folder / "made-from"
    digest = f"{hashlib.sha256(lock.read_bytes()).hexdigest()} {sys.version}"
    if fresh or not mark.is_file() or mark.read_text(encoding="utf-8") != digest:
        shutil.rmtree(folder, ignore_errors=True)
        print(f"Making the environment {folder.name}", flush=True)
        venv.create(folder, with_pip=True, symlinks=os.name != "nt")
        pip = [str(python_of(folder)), "-m", "pip", "install", "--quiet", "--no-input", "--disable-pip-version-check"]
        run([*pip, "--require-hashes", "--no-deps", "--only-binary", ":all:", "--requirement", str(lock)])
        mark.write_text(digest, encoding="utf-8")
    return python_of(folder)
