"""The imported models: one folder each, and a small file that says which one is the default."""

from __future__ import annotations

import json
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from engine.atomic import write_atomically
from engine.chat import RequestHandle
from engine.errors import BadModelFile, BadRequest, EngineError, ModelNotFound, UnsupportedModel
from engine.events import LoadStage
from engine.formats import WEIGHTS
from engine.models.adapter_file import is_adapter
from engine.models.catalogue import DEFAULT_MODEL
from engine.models.choices import ModelChoices, read_choices, write_choices
from engine.models.files import folder_bytes, link_or_copy, os_errors, sha256_steps
from engine.models.gguf_parts import first_file, parts_of, stem_of
from engine.models.gguf_reader import is_gguf, not_gguf
from engine.models.model_folder import (
    CONFIG,
    FORMAT,
    SOURCE,
    Imported,
    Manifest,
    discard,
    is_newer,
    publish,
    read_manifest,
    unfinished_folder,
)
from engine.models.names import NameTaken, check_name, free_name, shown
from engine.models.progress import Step, stop_if_cancelled
from engine.models.safetensors_file import PICKLES, pickle_refused, pickles_in

_DEFAULT_FILE: Final = "default.json"
_LONGEST_LABEL: Final = 80


@dataclass(frozen=True, slots=True)
class ModelEntry:
    """One imported model.

    Attributes:
        name: What `--model` takes.
        label: For people.
        folder: Its model folder; transformers reads it as it is.
        architecture: As in config.json, e.g. "llama".
        parameters: Number of weights.
        nbytes: Disk it takes.
        source: Name of the file or folder it was made from.
        source_sha256: Of that file, or of all its parts one after the other; empty for a folder of safetensors.
        default: Whether it is loaded when none is named.
        origin, licence, weights: As its manifest says.
        choices: What the person chose for it.
    """

    name: str
    label: str
    folder: Path
    architecture: str
    parameters: int
    nbytes: int
    source: str
    source_sha256: str
    default: bool
    origin: str = ""
    licence: str = ""
    weights: str = ""
    choices: ModelChoices = field(default_factory=ModelChoices)


class Registry:
    """All models below one folder. Holds no state of its own: the disk is read each time.

    Args:
        models_dir: The folder; need not be there.
        elsewhere: The names of models that can be loaded, but are not on this machine.
    """

    def __init__(self, models_dir: Path, elsewhere: Callable[[], Sequence[str]] = tuple) -> None:
        self.models_dir = models_dir
        self.elsewhere = elsewhere

    def entries(self) -> list[ModelEntry]:
        """All models, by name; unfinished and foreign folders are left out."""
        found = [(folder, read_manifest(folder)) for folder in sorted(self.models_dir.glob("[!.]*"))]
        models = [(folder, manifest) for folder, manifest in found if manifest is not None]
        default = self._default_name([folder.name for folder, _ in models])
        return [_entry(folder, manifest, default) for folder, manifest in models]

    def newer(self) -> list[str]:
        """The names of models that a newer version of Loquat made, in a way that this one does not know."""
        return [folder.name for folder in sorted(self.models_dir.glob("[!.]*")) if is_newer(folder)]

    def find(self, name: str | None, others: Callable[[], Sequence[str]] = tuple) -> ModelEntry:
        """The model of that name; None finds the default.

        Args:
            name: Which one.
            others: What else could be meant, for the sentence if it is not there.

        Raises:
            ModelNotFound: There is none.
            UnsupportedModel: A newer version of Loquat made it.
        """
        entries = self.entries()
        for entry in entries:
            if entry.name == name or (name is None and entry.default):
                return entry
        wanted = DEFAULT_MODEL.name if name is None else name
        if wanted in self.newer():
            raise UnsupportedModel(f"The model {wanted} comes from a newer version of Loquat; update Loquat to use it.")
        known = ", ".join((*(entry.name for entry in entries), *others()))
        hint = f"there are: {known}" if known else "none is there yet; add one with: loquat models add FILE_OR_FOLDER"
        raise ModelNotFound(f"There is no model named {wanted}; {hint}.")

    def set_default(self, name: str) -> None:
        """Load this model when none is named.

        Raises:
            ModelNotFound: There is no such model.
        """
        self.find(name)
        with os_errors("set the default model", self.models_dir):
            write_atomically(self.models_dir / _DEFAULT_FILE, json.dumps({"default": name}) + "\n")

    def rename(self, name: str, label: str) -> None:
        """Call a model something else for people; its name in the registry stays.

        Args:
            name: Which model.
            label: What people read; "" goes back to what it is called by itself.

        Raises:
            ModelNotFound: There is no such model.
            EngineError: It is too long, or the disk refused.
        """
        entry, shown = self.find(name), " ".join(label.split())
        if len(shown) > _LONGEST_LABEL:
            raise EngineError(f"That is too long for a model's name; use at most {_LONGEST_LABEL} characters.")
        with os_errors(f"rename {name}", self.models_dir):
            write_choices(entry.folder, replace(entry.choices, label=shown))

    def remove(self, name: str) -> int:
        """Delete a model.

        Returns:
            Bytes freed; files that the disk also holds elsewhere do not count.

        Raises:
            ModelNotFound: There is no such model.
        """
        entry = self.find(name)
        freed = folder_bytes(entry.folder, shared=False)
        with os_errors(f"remove {name}", self.models_dir):
            discard(entry.folder)
        return freed

    def add(
        self,
        source: Path,
        handle: RequestHandle,
        name: str | None = None,
        label: str | None = None,
        *,
        keep_source: bool = False,
        weights: str = "",
        origin: str = "",
        licence: str = "",
    ) -> Generator[Step, None, ModelEntry]:
        """Import a GGUF file, any part of a GGUF model in several, the folder of one, or a Hugging Face folder.

        A file that was imported before is not imported again, unless it gets a new name.

        Args:
            source: File or folder.
            handle: Cancels.
            name: In the registry; None makes one from the source's name.
            label: For people; None takes what the model calls itself.
            keep_source: Keep the file in the model folder.
            weights: How they are to be held, one of `engine.formats.WEIGHTS`; "" takes what suits the device.
            origin: Where it was downloaded from, for its manifest.
            licence: Under which licence, for its manifest.

        Raises:
            ModelNotFound: There is no such file or folder.
            BadModelFile, UnsupportedModel, DiskFull, Cancelled: See `import_gguf` and `import_folder`.
            EngineError: The name cannot be used, or the disk refused.
        """
        self.check_free(name)
        _check_weights(weights)
        with os_errors("import the model", self.models_dir):
            source = _entrance(source.expanduser())
            sha256 = yield from _checksum(source, label or source.name, handle)
            known = self._by_checksum(sha256, weights) if name is None else None
            if known is not None:
                return known
            chosen = name or free_name(self.models_dir, _title(source))
            with unfinished_folder(self.models_dir) as folder:
                imported = yield from _import(source, folder, label or source.name, handle, weights)
                yield from _look_over(folder, label or source.name, handle)
                if keep_source:
                    yield from _keep(source, folder, handle)
                title = label or shown(imported.title.strip() or _title(source))
                imported = replace(imported, weights=weights or imported.weights)
                manifest = _manifest(imported, folder, name=chosen, label=title, source=source.name, sha256=sha256)
                publish(folder, replace(manifest, origin=origin, licence=licence))
        return self.find(chosen)

    def check_free(self, name: str | None) -> None:
        """Refuse a name that cannot be used, or is taken; None is free.

        Raises:
            EngineError: It cannot be used.
            NameTaken: A model has it.
        """
        if name is not None:
            check_name(name)
            if (self.models_dir / name).exists():
                raise NameTaken(name)

    def _by_checksum(self, sha256: str, weights: str) -> ModelEntry | None:
        same = (entry for entry in self.entries() if sha256 and entry.source_sha256 == sha256)
        return next((entry for entry in same if weights in ("", entry.weights)), None)

    def _default_name(self, names: Sequence[str]) -> str:
        """The one that was chosen, else Loquat's own, else whichever there is."""
        try:
            chosen = json.loads((self.models_dir / _DEFAULT_FILE).read_text(encoding="utf-8"))["default"]
        except (OSError, ValueError, TypeError, KeyError):
            chosen = None  # nothing was chosen yet, or the file is damaged: then it counts as not chosen
        for name in (chosen, DEFAULT_MODEL.name, *names):
            if name in names:
                return str(name)
        return DEFAULT_MODEL.name


def _entry(folder: Path, manifest: Manifest, default: str) -> ModelEntry:
    choices = read_choices(folder)
    return ModelEntry(
        name=folder.name,
        label=choices.label or manifest.label,
        folder=folder,
        architecture=manifest.architecture,
        parameters=manifest.parameters,
        nbytes=manifest.nbytes,
        source=manifest.source,
        source_sha256=manifest.source_sha256,
        default=folder.name == default,
        origin=manifest.origin,
        licence=manifest.licence,
        weights=manifest.weights,
        choices=choices,
    )


def _check_weights(weights: str) -> None:
    if weights not in ("", *WEIGHTS):
        known = ", ".join(WEIGHTS)
        raise BadRequest(f"Weights cannot be held as {weights!r}; choose one of {known}.")


def _import(
    source: Path, folder: Path, label: str, handle: RequestHandle, weights: str
) -> Generator[Step, None, Imported]:
    # Imported here: packing needs torch, which takes seconds, and a list of models does not need it.
    from engine.models.import_folder import import_folder
    from engine.models.import_gguf import import_gguf

    importer = import_folder if source.is_dir() else import_gguf
    return (yield from importer(source, folder, label, handle, weights=weights))


def _look_over(folder: Path, label: str, handle: RequestHandle) -> Generator[Step, None, None]:
    """Check the chat template and the tokenizer, and keep what is found.

    Raises:
        BadModelFile: The tokenizer does not belong to the weights.
        Cancelled: `handle` was cancelled.
    """
    from engine.templates.check import check_model  # it needs torch
    from engine.templates.checked import write_check

    stop_if_cancelled(handle)
    yield Step(LoadStage.IMPORT, 0, 0, f"Trying the chat template of {label}")
    stop_if_cancelled(handle)
    write_check(folder, check_model(folder))


def _title(source: Path) -> str:
    return source.name if source.is_dir() else stem_of(source)


def _entrance(source: Path) -> Path:
    """What an importer takes: a folder of safetensors, or the first file of a GGUF model."""
    if source.is_dir():
        return _in_folder(source.resolve())
    # Its own name, not that of what a link leads to: caches keep files under their checksums.
    file = source.parent.resolve() / source.name
    if not file.is_file():
        raise ModelNotFound(f"There is no file or folder {file}.")
    return parts_of(file)[0]


def _in_folder(folder: Path) -> Path:
    if (folder / CONFIG).is_file() and any(folder.glob("*.safetensors")):
        return folder  # also where a GGUF file lies beside them
    file = first_file(folder)
    if file is None and is_adapter(folder):
        raise BadModelFile(
            f"The folder {folder.name} holds no model, but an adapter; add it to the model that it is for, "
            "with: loquat models adapter add MODEL FOLDER."
        )
    if file is None and (pickles := pickles_in(folder)):
        raise pickle_refused(pickles[0])
    return file or folder


def _checksum(source: Path, label: str, handle: RequestHandle) -> Generator[Step, None, str]:
    """SHA-256 of a GGUF model, whatever number of files it lies in; empty for a folder.

    Raises:
        BadModelFile, UnsupportedModel: Plainly another kind of file.
    """
    if source.is_dir():
        return ""
    if not is_gguf(source):
        raise pickle_refused(source.name) if source.suffix.lower() in PICKLES else not_gguf(source.name)
    parts = parts_of(source)
    steps, total = sha256_steps(*parts), sum(part.stat().st_size for part in parts)
    while True:
        stop_if_cancelled(handle)
        try:
            done = next(steps)
        except StopIteration as stop:
            return str(stop.value)
        yield Step(LoadStage.IMPORT, done, total, f"Checking {label}: {100 * done // total} %")


def _keep(source: Path, folder: Path, handle: RequestHandle) -> Generator[Step, None, None]:
    """Every part of the source beside the model, under names by which they find each other."""
    for part in parts_of(source):
        kept = SOURCE.replace(".", part.stem.removeprefix(stem_of(source)) + ".")
        for done in link_or_copy(part, folder / kept):
            stop_if_cancelled(handle)
            yield Step(LoadStage.IMPORT, done, part.stat().st_size, "Keeping the file")


def _manifest(imported: Imported, folder: Path, *, name: str, label: str, source: str, sha256: str) -> Manifest:
    return Manifest(
        format=FORMAT,
        name=name,
        label=label,
        architecture=imported.architecture,
        parameters=imported.parameters,
        nbytes=folder_bytes(folder),
        source=source,
        source_sha256=sha256,
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        weights=imported.weights,
    )
