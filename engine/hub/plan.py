"""Downloads that have begun: what is wanted lies beside what is here of it, and survives any end of the program."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from filelock import FileLock, Timeout

from engine.atomic import write_atomically
from engine.hub.partial import SUFFIX
from engine.hub.selection import Selection
from engine.hub.values import HubFailure, HubFile, Reference, Repository
from engine.models.model_folder import discard, sweep
from engine.models.names import slug

DOWNLOADS: Final = ".downloads"  # beside the models, hidden from the registry
_PLAN: Final = "download.json"
_FORMAT: Final = 1


@dataclass(frozen=True, slots=True)
class Plan:
    """One download, as it was decided on when it began.

    Attributes:
        reference: What was asked for.
        revision: The commit that its files belong to; it stays, whatever happens to the repository.
        kind: What the files make: "gguf", "safetensors" or "adapter".
        variant: The quantisation of a GGUF file.
        files: To be had, in this order.
        label: For people.
        licence: Its identifier; empty where it is not known.
        name: In the registry; empty for one made from the model's.
        weights: How they are to be held, as `Registry.add` takes it.
        parameters: Number of weights; 0 where that is not known.
    """

    reference: Reference
    revision: str
    kind: str
    variant: str
    files: tuple[HubFile, ...]
    label: str
    licence: str = ""
    name: str = ""
    weights: str = ""
    parameters: int = 0

    @property
    def nbytes(self) -> int:
        """Of all files."""
        return sum(file.nbytes for file in self.files)

    @property
    def source(self) -> Reference:
        """What the hub is asked for: the repository at that commit."""
        return Reference(self.reference.repository, "", self.revision)

    @property
    def origin(self) -> str:
        """As a manifest has it: "owner/name@commit", with the variant of a GGUF file."""
        variant = f":{self.variant}" if self.variant else ""
        return f"{self.reference.repository}{variant}@{self.revision}"


@dataclass(frozen=True, slots=True)
class Unfinished:
    """A download that has begun, and its place on the disk."""

    plan: Plan
    folder: Path

    @property
    def files(self) -> Path:
        """Where whole, verified files lie; named as the model, since an import calls it so."""
        return self.folder / slug(self.plan.reference.repository.partition("/")[2])

    @property
    def done(self) -> int:
        """Bytes that are here."""
        return sum(map(self.have, self.plan.files))

    def have(self, file: HubFile) -> int:
        """Bytes of one file that are here."""
        for path in (self.files / file.name, self.folder / (file.name + SUFFIX)):
            with suppress(OSError):
                return min(path.stat().st_size, file.nbytes)
        return 0

    def is_whole(self, file: HubFile) -> bool:
        """Whether a file is here and was verified; only then it has its name."""
        return (self.files / file.name).is_file()


class Downloads:
    """All downloads of one installation that have begun. Holds no state: the disk is read each time."""

    def __init__(self, models_dir: Path) -> None:
        self._models_dir = models_dir
        self._root = models_dir / DOWNLOADS

    def entries(self) -> list[Unfinished]:
        """All of them, by name; what cannot be read is left out."""
        found = ((path.parent, read_plan(path.parent)) for path in sorted(self._root.glob(f"*/{_PLAN}")))
        return [Unfinished(plan, folder) for folder, plan in found if plan is not None]

    def find(self, wanted: Reference) -> Unfinished | None:
        """The download of what is asked for, if it has begun."""
        folder = self._folder(wanted)
        plan = read_plan(folder)
        return None if plan is None else Unfinished(plan, folder)

    def matching(self, text: str) -> list[Unfinished]:
        """All downloads that a name, a repository or a reference can mean."""
        return [
            each
            for each in self.entries()
            if text and text in (each.plan.name, each.plan.reference.repository, str(each.plan.reference))
        ]

    def begin(self, plan: Plan) -> Unfinished:
        """Note what is wanted, before anything of it is fetched.

        Raises:
            OSError: The disk failed.
        """
        begun = Unfinished(plan, self._folder(plan.reference))
        if begun.folder.exists():  # of an older version, or without a plan that can be read
            self.drop(begun.folder)
        begun.files.mkdir(parents=True)
        self.note(begun)
        return begun

    def note(self, begun: Unfinished) -> None:
        """Write its plan down.

        Raises:
            OSError: The disk failed.
        """
        value = {"format": _FORMAT, **dataclasses.asdict(begun.plan)}
        write_atomically(begun.folder / _PLAN, json.dumps(value, indent=1) + "\n")

    def drop(self, folder: Path) -> None:
        """Remove a download with all that is here of it.

        Raises:
            OSError: The disk failed.
        """
        discard(folder, self._models_dir)
        with suppress(OSError):
            self._root.rmdir()  # if it was the last one

    @contextmanager
    def alone(self, wanted: Reference) -> Iterator[None]:
        """Keep other processes from the same download; a killed one holds nothing back.

        Raises:
            HubFailure: Another process is at it.
            OSError: The disk failed.
        """
        self._root.mkdir(parents=True, exist_ok=True)
        sweep(self._models_dir)
        path = self._folder(wanted).with_suffix(".lock")
        lock = FileLock(path)
        try:
            lock.acquire(timeout=0)
        except Timeout as error:
            raise HubFailure(
                "other", f"{wanted} is being downloaded already; wait until that ends, or end it first."
            ) from error
        try:
            yield
        finally:
            with suppress(OSError):  # while it is held: nobody else waits for this very file. Windows keeps it
                path.unlink(missing_ok=True)
            lock.release()
            with suppress(OSError):
                self._root.rmdir()

    def _folder(self, wanted: Reference) -> Path:
        words = json.dumps([wanted.repository, wanted.wish.lower(), wanted.revision])
        return self._root / f"{slug(str(wanted))[:40]}-{hashlib.sha256(words.encode()).hexdigest()[:12]}"


def plan_of(
    wanted: Reference, repository: Repository, selection: Selection, *, name: str, label: str, weights: str
) -> Plan:
    """The plan for what was chosen of a repository."""
    return Plan(
        reference=wanted,
        revision=repository.revision,
        kind=selection.kind,
        variant=selection.variant,
        files=selection.files,
        label=label,
        licence=repository.licence,
        name=name,
        weights=weights,
        parameters=repository.parameters,
    )


def read_plan(folder: Path) -> Plan | None:
    """The plan in a folder; None where there is none that this version understands."""
    try:
        value = json.loads((folder / _PLAN).read_text(encoding="utf-8"))
        return _plan(value) if value.pop("format") == _FORMAT else None
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None


def _plan(value: dict[str, Any]) -> Plan:
    files = tuple(HubFile(**file) for file in value.pop("files"))
    return Plan(reference=Reference(**value.pop("reference")), files=files, **value)
