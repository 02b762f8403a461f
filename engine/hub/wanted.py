"""From what a person asks for to the repositories that have it: the catalogue's models by name, others by id."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final

from engine.hub.plan import Downloads
from engine.hub.reference import is_reference, reference
from engine.hub.values import HubFailure, Reference
from engine.models.catalogue import CatalogueEntry, HubSource, Licence, find

_NONE: Final[Mapping[str, str]] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is to be got.

    Attributes:
        text: A name in the catalogue or of a download that has begun, or a repository's id.
        name: In the registry; empty leaves it to Loquat.
        revision: Of a repository; empty for its main branch.
        weights: How they are to be held, as `Registry.add` takes it.
        accepted: Whether the person accepts the licence.
        base: The model on this machine that an adapter is added to; empty for a model.
    """

    text: str
    name: str = ""
    revision: str = ""
    weights: str = ""
    accepted: bool = False
    base: str = ""


@dataclass(frozen=True, slots=True)
class Candidate:
    """One place that it can come from.

    Attributes:
        reference: The repository, and which of its files.
        name: In the registry; empty leaves it to Loquat.
        label: For people.
        licence: As the catalogue knows it; None for others.
        sha256: Checksums that the catalogue knows, by the files' paths; the hub cannot tell others.
    """

    reference: Reference
    name: str
    label: str
    licence: Licence | None = None
    sha256: Mapping[str, str] = field(default_factory=lambda: _NONE)


def candidates(wanted: Wanted, downloads: Downloads) -> list[Candidate]:
    """Where it can come from, the best first; a download that has begun comes before all.

    Raises:
        HubFailure: Nothing is known of that name.
    """
    if is_reference(wanted.text):
        return [_plain(_continued(reference(wanted.text, wanted.revision), downloads), wanted)]
    if not wanted.text.strip():
        raise HubFailure(
            "not_found",
            "Say which model is wanted: a name from `loquat models catalogue`, or OWNER/NAME for another on the hub.",
        )
    entry = find(wanted.text)
    if entry is not None:
        found = [_offered(entry, source, wanted) for source in _ordered(entry, wanted.weights)]
        return sorted(found, key=lambda one: downloads.find(one.reference) is None)
    begun = downloads.matching(wanted.text)
    if not begun:
        raise HubFailure(
            "not_found",
            f"There is no model {wanted.text} in the catalogue; `loquat models catalogue` lists it, and OWNER/NAME "
            "gets any other from the hub.",
        )
    return [_plain(each.plan.reference, wanted, each.plan.label) for each in begun[:1]]


def _continued(asked: Reference, downloads: Downloads) -> Reference:
    """With no revision named, the one of a download that has begun."""
    same = [
        each.plan.reference
        for each in downloads.matching(asked.repository)
        if each.plan.reference.wish.lower() == asked.wish.lower()
    ]
    return same[0] if not asked.revision and len(same) == 1 else asked


def _plain(asked: Reference, wanted: Wanted, label: str = "") -> Candidate:
    plain = re.sub(r"[-_.]gguf$", "", asked.repository.partition("/")[2], flags=re.IGNORECASE)
    return Candidate(asked, wanted.name, label or plain)


def _offered(entry: CatalogueEntry, source: HubSource, wanted: Wanted) -> Candidate:
    wish = source.files[0].path if source.format == "gguf" else ""
    asked = Reference(source.repo, wish, wanted.revision or source.revision or "")
    pinned = asked.revision == source.revision and source.revision is not None
    known = {file.path: file.sha256 for file in source.files if file.sha256 and pinned}
    return Candidate(asked, wanted.name or entry.name, entry.label, entry.licence, known)


def _ordered(entry: CatalogueEntry, weights: str) -> Sequence[HubSource]:
    """The sources; if more than 4 bits are asked for, those alone that have more, where there are any."""
    floats = [source for source in entry.sources if source.format == "safetensors"]
    return floats if floats and weights in ("int8", "none") else entry.sources
