"""The catalogue as a person sees it: each model with what its forms take here, and how fast they would be. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from engine.formats import WEIGHTS
from engine.models.catalogue import CatalogueEntry, HubSource
from engine.models.fit import Fit, Here, disk_bytes, fit_config
from engine.models.foretold import file_type

_FLOATS = "BF16"
_FLOAT_BYTES = 2


@dataclass(frozen=True, slots=True)
class SourceRow:
    """One form in which a model can be had.

    Attributes:
        weights: How they are held then, one of `engine.formats.WEIGHTS`.
        repo: Where it comes from.
        file: Name of its file; "" where there are several.
        nbytes: That are downloaded; of safetensors about.
        disk: Bytes of disk that it takes at most, import and all.
        fit: What is foretold of it.
    """

    weights: str
    repo: str
    file: str
    nbytes: int
    disk: int
    fit: Fit


@dataclass(frozen=True, slots=True)
class CatalogueRow:
    """One model with everything that a row says.

    Attributes:
        name, label, family, parameters, languages, more_languages, context, good_at, draft: As in the catalogue.
        repo: Of the preferred source.
        licence, licence_label, licence_url, accept: Its identifier, name and text, and whether it must be accepted.
        gated: Whether the preferred source asks for an account that was let in.
        installed: Whether it is in the registry under its name.
        sources: Its forms, the preferred one first.
    """

    name: str
    label: str
    family: str
    parameters: int
    repo: str
    licence: str
    licence_label: str
    licence_url: str
    accept: bool
    gated: bool
    languages: tuple[str, ...]
    more_languages: int
    context: int
    good_at: str
    draft: str
    installed: bool
    sources: tuple[SourceRow, ...]


def rows(entries: Iterable[CatalogueEntry], here: Here, installed: Iterable[str] = ()) -> tuple[CatalogueRow, ...]:
    """All rows.

    Args:
        entries: Of the catalogue.
        here: The machine.
        installed: Names in the registry.
    """
    known = frozenset(installed)
    return tuple(_row(entry, here, entry.name in known) for entry in entries)


def _row(entry: CatalogueEntry, here: Here, installed: bool) -> CatalogueRow:
    licence = entry.licence
    return CatalogueRow(
        name=entry.name,
        label=entry.label,
        family=entry.family,
        parameters=entry.parameters,
        repo=entry.sources[0].repo,
        licence=licence.id,
        licence_label=licence.label,
        licence_url=licence.url,
        accept=licence.accept,
        gated=entry.wheel is None and entry.sources[0].gated,
        languages=entry.languages,
        more_languages=entry.more_languages,
        context=entry.context,
        good_at=entry.good_at,
        draft=entry.draft,
        installed=installed,
        sources=tuple(_sources(entry, here)),
    )


def _sources(entry: CatalogueEntry, here: Here) -> Iterator[SourceRow]:
    floats = next((source for source in entry.sources if source.format == "safetensors"), None)
    for weights in WEIGHTS:
        source = entry.sources[0] if weights == "int4" or floats is None else floats
        yield _source(entry, source, weights, here)


def _source(entry: CatalogueEntry, source: HubSource, weights: str, here: Here) -> SourceRow:
    file = source.files[0].path.rpartition("/")[2] if source.files else ""
    stored = file_type(file) or _FLOATS
    nbytes = source.nbytes or _FLOAT_BYTES * entry.parameters
    found = fit_config(entry.config, stored, weights, here, entry.label)
    return SourceRow(weights, source.repo, file, nbytes, disk_bytes(entry.parameters, nbytes, stored), found)
