"""What can be had, as `loquat models catalogue|search|show` tell it: JSON objects of one shape, and rows of a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from engine.cli_models.shown import count
from engine.hub.client import Hub
from engine.hub.get import needs_acceptance
from engine.hub.plan import Unfinished
from engine.hub.selection import Selection, Variant
from engine.hub.values import Found, Repository
from engine.models.progress import megabytes

Offer = Mapping[str, Any]


def found_offer(hit: Found, page: str) -> Offer:
    """A hit of a search."""
    return {
        "repo": hit.id,
        "label": hit.id,
        "parameters": hit.parameters,
        "licence": hit.licence,
        "licence_url": page,
        "accept": needs_acceptance(hit.licence, hit.gated),
        "gated": hit.gated,
        "downloads": hit.downloads,
        "likes": hit.likes,
        "updated": hit.updated,
        "gguf": hit.gguf,
    }


def repository_offer(repository: Repository, hub: Hub, chosen: Selection | None, found: Sequence[Variant]) -> Offer:
    """A repository, with what would be downloaded of it, and what else could be."""
    return {
        "repo": repository.id,
        "label": repository.id,
        "revision": repository.revision,
        "parameters": repository.parameters,
        "architecture": repository.architecture,
        "context": repository.context,
        "licence": repository.licence,
        "licence_url": repository.licence_link or hub.page(repository.id),
        "accept": needs_acceptance(repository.licence, repository.gated),
        "gated": repository.gated,
        "downloads": repository.downloads,
        "likes": repository.likes,
        "updated": repository.updated,
        "chosen": _chosen(chosen),
        "variants": [{"name": one.name, "file": one.files[0].path, "nbytes": one.nbytes} for one in found],
    }


def download_object(begun: Unfinished, reference: str) -> dict[str, Any]:
    """A download that has begun."""
    plan = begun.plan
    return {
        "name": reference,
        "label": plan.label,
        "repo": plan.reference.repository,
        "revision": plan.revision,
        "weights": plan.weights,
        "done": begun.done,
        "total": plan.nbytes,
    }


def table(rows: Sequence[Sequence[str]]) -> str:
    """Rows in columns, as wide as what stands in them."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows)
    return "\n".join(line.rstrip() for line in lines)


def found_rows(hits: Sequence[Found]) -> list[Sequence[str]]:
    """Hits for people."""
    head = ("REPOSITORY", "PARAMETERS", "LICENCE", "DOWNLOADS", "UPDATED")
    rows = ((hit.id, _parameters(hit.parameters), _licence(hit), str(hit.downloads), hit.updated) for hit in hits)
    return [head, *rows]


def repository_text(repository: Repository, hub: Hub, chosen: Selection, found: Sequence[Variant]) -> str:
    """A repository for people."""
    lines = [
        f"{repository.id} at {repository.revision[:12]}, {hub.page(repository.id)}",
        f"Licence: {repository.licence or 'not told'}{', asks to be accepted on its page' if repository.gated else ''}",
        f"Parameters: {_parameters(repository.parameters)}",
        f"Would be downloaded: {len(chosen.files)} files, {megabytes(chosen.nbytes)}"
        f"{f' ({chosen.variant})' if chosen.variant else ''}",
    ]
    if found:
        lines.append("GGUF variants, each to be had as OWNER/NAME:VARIANT:")
        lines += [f"  {one.name:<12} {megabytes(one.nbytes):>9}  {one.files[0].name}" for one in found]
    return "\n".join(lines)


def _chosen(selection: Selection | None) -> dict[str, Any] | None:
    if selection is None:
        return None
    files = [{"path": file.path, "nbytes": file.nbytes} for file in selection.files]
    return {"kind": selection.kind, "variant": selection.variant, "nbytes": selection.nbytes, "files": files}


def _parameters(number: int) -> str:
    return count(number) if number else "-"


def _licence(hit: Found) -> str:
    return f"{hit.licence or '-'}{' (gated)' if hit.gated else ''}"
