"""What must happen before a model can be loaded: mostly nothing, once in a lifetime an import or a download."""

from __future__ import annotations

import shutil
from collections.abc import Generator
from pathlib import Path
from typing import Final

from engine.chat import RequestHandle
from engine.errors import BadModelFile, ModelNotFound
from engine.models.bundled import bundled_file, whole
from engine.models.catalogue import DEFAULT_MODEL, CatalogueModel
from engine.models.fetch import fetch
from engine.models.files import flush_to_disk, os_errors
from engine.models.model_folder import unfinished_folder
from engine.models.names import NameTaken
from engine.models.progress import Step
from engine.models.registry import ModelEntry, Registry

# Verified files wait here, hidden from the registry, until they are imported.
_DOWNLOADS: Final = ".downloads"


def prepare(
    registry: Registry, name: str | None, handle: RequestHandle, offered: CatalogueModel = DEFAULT_MODEL
) -> Generator[Step, None, ModelEntry]:
    """Make sure that a model is there: if it is the offered one and missing, get it, verify and import it.

    It is taken from what came with the program, and else downloaded.

    Args:
        registry: Where models live.
        name: Which model; None for the default. If what came with the program is damaged, only a model that is named
            is downloaded in its place.
        handle: Cancels; nothing half-done stays.
        offered: The model that can be fetched.

    Raises:
        ModelNotFound: Another model, and it is not there.
        BadModelFile: What came with the program is damaged.
        FetchFailed, DiskFull, BadModelFile, Cancelled, EngineError: See `fetch` and `Registry.add`.
    """
    try:
        return registry.find(name, registry.elsewhere)
    except ModelNotFound:
        if name not in (None, offered.name):
            raise
    file = yield from _bundled(offered, handle, named=name is not None)
    if file is None:
        file = yield from _fetched(registry.models_dir, offered, handle)
    try:
        entry = yield from registry.add(file, handle, offered.name, offered.label, keep_source=True)
    except NameTaken:  # another process was faster
        entry = registry.find(offered.name)
    shutil.rmtree(registry.models_dir / _DOWNLOADS / offered.sha256, ignore_errors=True)
    return entry


def _bundled(model: CatalogueModel, handle: RequestHandle, *, named: bool) -> Generator[Step, None, Path | None]:
    """The verified file that came with the program; None where none did, or where a damaged one is not wanted."""
    file = bundled_file(model)
    if file is None:
        return None
    with os_errors(f"read {model.label}", file.parent):
        if (yield from whole(file, model, handle)):
            return file
    if not named:
        raise BadModelFile(f"{model.label}, which came with Loquat, is damaged; download it, or install Loquat again.")
    return None


def _fetched(models_dir: Path, model: CatalogueModel, handle: RequestHandle) -> Generator[Step, None, Path]:
    """The verified file; kept from an earlier start if its import did not end."""
    target = models_dir / _DOWNLOADS / model.sha256 / Path(model.member).name
    if target.is_file() and target.stat().st_size == model.nbytes:
        return target
    with os_errors(f"download {model.label}", models_dir), unfinished_folder(models_dir) as folder:
        file = yield from fetch(model, folder, handle)
        flush_to_disk(file)
        target.parent.mkdir(parents=True, exist_ok=True)
        file.replace(target)
    return target
