"""Small text files, written whole or not at all. Torch-free."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path


def write_atomically(path: Path, text: str) -> None:
    """Replace a file so that at any moment either the old or the new one is there, whole.

    Args:
        path: Its folder is made if it is missing.
        text: Written as UTF-8.

    Raises:
        OSError: It could not be written; the old file is untouched.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_name(f"{path.name}.{os.getpid()}.new")  # another process may write the same file now
    try:
        with fresh.open("w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            fresh.unlink(missing_ok=True)
        raise
