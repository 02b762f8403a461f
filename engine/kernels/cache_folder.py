"""Where compiled kernels are kept on disk. Imports neither Numba nor the kernels: it must run before them."""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Final

VARIABLE: Final = "NUMBA_CACHE_DIR"
PREFIX: Final = "kernels-"
SHARED: Final = "LOQUAT_KERNELS"
"""Names a folder for compiled kernels in place of the one in the cache folder, to share it between homes."""


def fingerprint() -> str:
    """Changes with any source file of the kernels: Numba itself looks at the file of the entry function only."""
    digest = hashlib.sha256(f"{sys.version_info[:2]} {version('numba')} {version('numpy')}".encode())
    for path in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def kernels_root(cache_folder: Path) -> Path:
    """Where compiled kernels of all versions lie."""
    return Path(os.environ.get(SHARED) or cache_folder / "kernels")


def kept(root: Path) -> bool:
    """Whether this version's kernels have been compiled and kept below `root`."""
    return any((root / f"{PREFIX}{fingerprint()}").rglob("*.nbc"))


def use_cache(root: Path) -> str:
    """Keep compiled kernels in a folder of their own below `root`; older ones there are removed.

    Must be called before engine.kernels.jit is imported; later calls have no effect on it.

    Returns:
        Why compiled kernels are not kept, as a phrase; empty if they are.
    """
    folder = root / f"{PREFIX}{fingerprint()}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "in-use").touch()
    except OSError as error:
        os.environ.pop(VARIABLE, None)
        return f"compiled anew at each start, the cache folder cannot be written: {error.strerror}"
    for old in root.glob(f"{PREFIX}*"):
        if old != folder:
            shutil.rmtree(old, ignore_errors=True)
    os.environ[VARIABLE] = str(folder)
    return ""
