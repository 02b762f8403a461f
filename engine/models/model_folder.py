"""Loquat's own model folder: how one comes to be, all at once or not at all, and its manifest."""

from __future__ import annotations

import json
import os
import secrets
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, Final

import psutil

from engine.errors import BadModelFile
from engine.models.files import UNFINISHED, flush_to_disk
from engine.models.names import NameTaken

MANIFEST: Final = "loquat.json"
FORMAT: Final = 1
CONFIG: Final = "config.json"
GENERATION: Final = "generation_config.json"
TOKENIZER: Final = "tokenizer.json"
TOKENIZER_CONFIG: Final = "tokenizer_config.json"
TEMPLATE: Final = "chat_template.jinja"
WEIGHTS: Final = "model.safetensors"
WEIGHTS_INDEX: Final = "model.safetensors.index.json"
# The file that a fetched model was made from: a later version can import it again without a network.
SOURCE: Final = "source.gguf"
_JSON_MAX: Final = 20_000_000  # the largest, of tokenizer settings and of indices of weights, have one or two million


@dataclass(frozen=True, slots=True)
class Imported:
    """What an import found out about a model.

    Attributes:
        architecture: `model_type` of its config.json.
        parameters: Number of weights; tied ones count once.
        title: The model's own name for itself, may be empty.
        weights: How its weights are best held, one of `engine.formats.WEIGHTS`; "" where it came as floats.
    """

    architecture: str
    parameters: int
    title: str
    weights: str = ""


@dataclass(frozen=True, slots=True)
class Manifest:
    """What Loquat notes about a model, in `loquat.json`; written last, so a folder without it is no model.

    Attributes:
        format: Version of the folder's layout.
        name: Its name in the registry, which is also the folder's.
        label: For people.
        architecture: `model_type` of config.json.
        parameters: Number of weights.
        nbytes: Size of the folder without this file.
        source: Name of the file or folder it was made from.
        source_sha256: Of that file; empty for a folder.
        created: UTC, ISO 8601.
        origin: Where it was downloaded from, e.g. "owner/name@revision"; empty for a file of the person's own.
        licence: Its licence's identifier where it is known, e.g. "apache-2.0".
        weights: How its weights are to be held, one of `engine.formats.WEIGHTS`; "" for what suits the device.
    """

    format: int
    name: str
    label: str
    architecture: str
    parameters: int
    nbytes: int
    source: str
    source_sha256: str
    created: str
    origin: str = ""
    licence: str = ""
    weights: str = ""


def write_json(path: Path, value: Mapping[str, Any]) -> None:
    """Write a JSON object for people and programs to read."""
    path.write_text(json.dumps(value, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def read_object(folder: Path, name: str) -> dict[str, Any]:
    """A JSON object from a model folder.

    Raises:
        BadModelFile: There is none, or it cannot be read as one.
    """
    path = folder / name
    if not path.is_file():
        raise BadModelFile(f"The folder {folder.name} holds no {name}, so it is no model that Loquat can read.")
    try:
        text = path.read_text(encoding="utf-8") if path.stat().st_size < _JSON_MAX else "null"
        value = json.loads(text)
        if "\\ud" in text.lower():
            json.dumps(value, ensure_ascii=False).encode()  # half a surrogate pair is no text, and cannot be written
    except (ValueError, RecursionError) as error:
        raise BadModelFile(f"The file {name} in {folder.name} cannot be read; get it again.", str(error)) from error
    if not isinstance(value, dict):
        raise BadModelFile(f"The file {name} in {folder.name} cannot be read; get it again.")
    return value


def read_manifest(folder: Path) -> Manifest | None:
    """The manifest of a model folder; None where there is none that this version understands.

    What a newer version added to the same layout is passed over.
    """
    value = _manifest_values(folder)
    if value.get("format") != FORMAT:
        return None
    known = {field.name for field in fields(Manifest)}
    try:
        return Manifest(**{name: part for name, part in value.items() if name in known})
    except TypeError:
        return None  # something is missing in it


def is_newer(folder: Path) -> bool:
    """Whether a newer version of Loquat made this model folder, in a layout that this one does not know."""
    layout = _manifest_values(folder).get("format")
    return isinstance(layout, int) and layout > FORMAT


def _manifest_values(folder: Path) -> dict[str, Any]:
    try:
        value = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


@contextmanager
def unfinished_folder(models_dir: Path) -> Iterator[Path]:
    """An empty folder beside the models, on the same disk; gone when the block ends, unless it was published."""
    models_dir.mkdir(parents=True, exist_ok=True)
    sweep(models_dir)
    folder = models_dir / f"{UNFINISHED}{os.getpid()}-{secrets.token_hex(4)}"
    folder.mkdir()
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def sweep(models_dir: Path) -> None:
    """Remove what a killed process left behind."""
    for folder in models_dir.glob(f"{UNFINISHED}*"):
        owner = folder.name.removeprefix(UNFINISHED).partition("-")[0]
        if owner.isdigit() and not psutil.pid_exists(int(owner)):
            shutil.rmtree(folder, ignore_errors=True)


def publish(folder: Path, manifest: Manifest) -> Path:
    """Turn an unfinished folder into a model: everything on the disk first, the manifest last, then one rename.

    Raises:
        NameTaken: There is a folder of that name.
    """
    for path in folder.iterdir():
        flush_to_disk(path)
    write_json(folder / MANIFEST, asdict(manifest))
    flush_to_disk(folder / MANIFEST)
    flush_to_disk(folder)
    target = folder.parent / manifest.name
    try:
        folder.rename(target)  # every system refuses to rename onto a folder with files in it
    except OSError as error:
        if target.exists():
            raise NameTaken(manifest.name) from error
        raise
    flush_to_disk(target.parent)
    return target


def discard(folder: Path, models_dir: Path | None = None) -> None:
    """Remove a folder: out of sight in one step, then file by file; what a kill leaves of it is swept later.

    Args:
        folder: Of a model, or one on the same disk.
        models_dir: Where the models lie; None for a model's own folder.
    """
    grave = (models_dir or folder.parent) / f"{UNFINISHED}{os.getpid()}-{secrets.token_hex(4)}"
    folder.rename(grave)
    shutil.rmtree(grave)
