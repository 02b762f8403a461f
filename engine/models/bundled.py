"""The model that an installed program brings with it: where it lies, and whether it arrived whole. Torch-free."""

from __future__ import annotations

import os
import sys
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Final

from engine.chat import RequestHandle
from engine.events import LoadStage
from engine.models.catalogue import CatalogueModel
from engine.models.files import sha256_steps
from engine.models.progress import Step, stop_if_cancelled

OVERRIDE: Final = "LOQUAT_BUNDLED_MODELS"
"""Names the folder in a checkout, and for tests."""
FOLDER: Final = "models"


def bundled_file(model: CatalogueModel) -> Path | None:
    """The file of a catalogue model that came with the program; None where none of the right size did.

    Cheap enough for a window's thread: its contents are not read (`whole` does that).
    """
    for folder in _folders():
        file = folder / Path(model.member).name
        if file.is_file() and file.stat().st_size == model.nbytes:
            return file
    return None


def whole(file: Path, model: CatalogueModel, handle: RequestHandle) -> Generator[Step, None, bool]:
    """Whether the file is the one that the catalogue knows, by its SHA-256.

    Raises:
        Cancelled: `handle` was cancelled.
        OSError: It cannot be read.
    """
    steps = sha256_steps(file)
    while True:
        stop_if_cancelled(handle)
        try:
            done = next(steps)
        except StopIteration as end:
            return bool(end.value == model.sha256)
        yield Step(LoadStage.IMPORT, done, model.nbytes, f"Verifying {model.label}: {100 * done // model.nbytes} %")


def _folders() -> Iterator[Path]:
    """Where a bundle may have its models: PyInstaller's folder of data, and beside the program."""
    override = os.environ.get(OVERRIDE)
    if override:
        yield Path(override)
    data = getattr(sys, "_MEIPASS", None)  # set by PyInstaller alone
    if data:
        yield Path(data) / FOLDER
        yield Path(sys.executable).resolve().parent / FOLDER
