"""The folders that Loquat writes to, the disk under them, the models in them, and the keyring."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from engine.doctor.report import Finding, Part
from engine.models.files import folder_bytes
from engine.models.progress import megabytes
from engine.paths import Paths

FIRST_MODEL: Final = 740_000_000
"""Disk that the import of the default model asks for (`engine.models.import_gguf`), in bytes."""
CHAT: Final = 100_000_000
"""Disk that chats want where a model is there: their texts, the compiled kernels, some saved caches; in bytes."""
_NOT_WRITABLE: Final = {
    "data": "so chats cannot be kept and Loquat does not start",
    "config": "so settings are not kept",
    "cache": "so the kernels are compiled anew at each start, and caches of chats are not kept",
    "logs": "so there is no log",
}


@dataclass(frozen=True, slots=True)
class Place:
    """One folder.

    Attributes:
        name: As `Paths` has it.
        folder: Where.
        nbytes: Of the files in it; 0 where there is none yet.
        free: Bytes free on its disk; None where that cannot be found out.
        refused: Why nothing can be written there; empty if something can.
    """

    name: str
    folder: Path
    nbytes: int
    free: int | None
    refused: str


def look_at_places(paths: Paths) -> tuple[Place, ...]:
    """All folders; none is made."""
    folders = {"data": paths.data, "config": paths.config, "cache": paths.cache, "logs": paths.logs}
    return tuple(_look_at(name, folder) for name, folder in folders.items())


def places_part(places: Sequence[Place], *, has_model: bool = False) -> Part:
    """The folders, their sizes, and whether they can be written.

    Args:
        places: As `look_at_places` found them.
        has_model: Whether a model is there that can be loaded.
    """
    lines = [f"{place.name:<8}{place.folder}, {megabytes(place.nbytes)}{_said(place)}" for place in places]
    if places[0].free is not None:
        lines.append(f"free on the disk of {places[0].name}: {megabytes(places[0].free)}")
    values = {
        place.name: {
            "folder": str(place.folder),
            "bytes": place.nbytes,
            "writable": not place.refused,
            "free": place.free,
        }
        for place in places
    }
    return Part("folders", tuple(lines), values, tuple(_findings(places, has_model)))


def models_part(count: int, nbytes: int, newer: Sequence[str], bundled: bool) -> Part:
    """How many models there are; what they are called is nobody's business.

    Args:
        count: Models that this version can load.
        nbytes: Disk that they take.
        newer: Folders that a newer version made.
        bundled: Whether one came with the program.
    """
    line = f"{count}, {megabytes(nbytes)}" + (", and one that came with Loquat" if bundled else "")
    findings = []
    if not count and not bundled:
        findings.append(Finding("There is no model yet; the window offers one to download.", wrong=False))
    if newer:
        sentence = f"{len(newer)} of the models were made by a newer version of Loquat; update Loquat to use them."
        findings.append(Finding(sentence, wrong=False))
    values = {"count": count, "bytes": nbytes, "newer": len(newer), "bundled": bundled}
    return Part("models", (line,), values, tuple(findings))


def look_at_keyring() -> dict[str, Any]:
    """In a child process: it may talk to a service that does not answer."""
    import keyring

    backend = keyring.get_keyring()
    return {"backend": f"{type(backend).__module__}.{type(backend).__name__}"}


def keyring_part(found: Mapping[str, Any], portable: bool) -> Part:
    """Where keys of servers are kept."""
    backend = str(found.get("backend", ""))
    none = not backend or backend.startswith(("keyring.backends.fail.", "keyring.backends.null."))
    if portable:
        line = "not used: in portable mode keys are kept until Loquat is closed"
        return Part("keyring", (line,), {"backend": backend, "used": False})
    if "failed" in found:
        sentence = f"The system keyring does not answer ({found['failed']}); keys are kept until Loquat is closed."
        return Part("keyring", ("does not answer",), {"backend": "", "used": False}, (Finding(sentence, wrong=False),))
    if none:
        sentence = "There is no system keyring, so keys of servers are kept until Loquat is closed."
        findings = (Finding(sentence, wrong=False),)
        return Part("keyring", ("none",), {"backend": backend, "used": False}, findings)
    return Part("keyring", (backend,), {"backend": backend, "used": True})


def _look_at(name: str, folder: Path) -> Place:
    try:
        there = next((parent for parent in (folder, *folder.parents) if parent.exists()), None)
        if there is None:  # a drive of Windows that is gone
            return Place(name, folder, 0, None, f"there is no {folder.anchor}")
        size = folder_bytes(folder) if folder.is_dir() else 0
        return Place(name, folder, size, shutil.disk_usage(there).free, _refusal(folder, there))
    except OSError as error:  # somebody else's folder, into which one may not even look
        return Place(name, folder, 0, None, error.strerror or type(error).__name__)


def _refusal(folder: Path, there: Path) -> str:
    """Why nothing can be written to a folder, or to the nearest one in which it would be made."""
    if not there.is_dir():
        return f"{there} is a file"
    try:
        with tempfile.TemporaryFile(dir=there) as file:
            file.write(b"loquat")
    except OSError as error:
        return error.strerror or type(error).__name__
    return ""


def _said(place: Place) -> str:
    return f", cannot be written: {place.refused}" if place.refused else ""


def _findings(places: Sequence[Place], has_model: bool) -> Iterator[Finding]:
    for place in places:
        if place.refused:
            sentence = f"The folder {place.folder} cannot be written ({place.refused}), {_NOT_WRITABLE[place.name]}."
            yield Finding(sentence)
    little: dict[int, Place] = {}
    for place in places:
        if place.free is not None and place.free < _wanted(place, has_model) and not place.refused:
            little.setdefault(place.free, place)  # each disk once, by what matters most on it
    for free, place in little.items():
        wanted = _wanted(place, has_model)
        sentence = (
            f"Only {megabytes(free)} are free on the disk of {place.folder}; "
            f"{'a first model needs' if wanted == FIRST_MODEL else 'chats and their caches need'} about "
            f"{megabytes(wanted)}, so make room."
        )
        yield Finding(sentence)


def _wanted(place: Place, has_model: bool) -> int:
    """Bytes that should be free on the disk of a folder; models lie with the data."""
    return FIRST_MODEL if place.name == "data" and not has_model else CHAT
