"""What can be had, as `loquat models catalogue|search|show` tell it: JSON objects of one shape, and rows of a table."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, Final

from engine.cli_models.shown import count
from engine.errors import BadModelFile
from engine.formats import WEIGHTS
from engine.hub.get import needs_acceptance
from engine.hub.guessed import guessed_weights, named_weights
from engine.hub.plan import Unfinished
from engine.hub.selection import Selection, Variant
from engine.hub.values import Found, Repository
from engine.models.fit import Fit, Here, disk_bytes, fit_size
from engine.models.foretold import file_type
from engine.models.progress import megabytes

Offer = Mapping[str, Any]
_FLOATS: Final = "BF16"


def found_offer(hit: Found, page: str, here: Here) -> Offer:
    """A hit of a search, with what is foretold of it from its size."""
    fit = foretold(here, hit.parameters or named_weights(hit.id))
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
        "sources": [{"weights": "", "fit": dataclasses.asdict(fit)}],
    }


def foretold(here: Here, parameters: int, architecture: str = "", context: int = 0, file: str = "") -> Fit:
    """What is foretold of a model of which the hub tells little; `file` is a GGUF file's name, or empty."""
    try:
        return fit_size(parameters, here, architecture=architecture, context=context, stored=file_type(file))
    except BadModelFile:  # a format that nothing is known of
        return Fit()


def repository_offer(
    repository: Repository, page: str, chosen: Selection | None, found: Sequence[Variant], here: Here
) -> Offer:
    """A repository, with what would be downloaded of it, and what else could be."""
    formed = {"sources": _sources(repository, chosen, here)} if chosen and chosen.kind == "safetensors" else {}
    return {
        "repo": repository.id,
        "label": repository.id,
        "revision": repository.revision,
        "parameters": repository.parameters,
        "architecture": repository.architecture,
        "context": repository.context,
        "licence": repository.licence,
        "licence_url": repository.licence_link or page,
        "accept": needs_acceptance(repository.licence, repository.gated),
        "gated": repository.gated,
        "downloads": repository.downloads,
        "likes": repository.likes,
        "updated": repository.updated,
        "chosen": _chosen(chosen),
        "variants": [_variant(repository, one, here) for one in found],
        **formed,
    }


def _variant(repository: Repository, variant: Variant, here: Here) -> Offer:
    file = variant.files[0].path
    about = {"name": variant.name, "file": file, "nbytes": variant.nbytes}
    weights = repository.parameters or guessed_weights("gguf", variant.name, variant.nbytes)
    fit = dataclasses.asdict(_fit(repository, here, weights, file))
    return {**about, "disk": disk_bytes(weights, variant.nbytes, ""), "fit": fit}


def _sources(repository: Repository, chosen: Selection, here: Here) -> list[Offer]:
    """What the weights of a folder can be turned into."""
    fit, disk = dataclasses.asdict(_fit_chosen(repository, chosen, here)), _disk(repository, chosen)
    return [{"weights": weights, "nbytes": chosen.nbytes, "disk": disk, "fit": fit} for weights in WEIGHTS]


def _fit_chosen(repository: Repository, chosen: Selection, here: Here) -> Fit:
    file = chosen.files[0].path if chosen.kind == "gguf" else ""
    return _fit(repository, here, _weights(repository, chosen), file)


def _fit(repository: Repository, here: Here, weights: int, file: str = "") -> Fit:
    return foretold(here, weights, repository.architecture, repository.context, file)


def _disk(repository: Repository, chosen: Selection) -> int:
    """Bytes of disk that it takes at most, import and all."""
    return disk_bytes(_weights(repository, chosen), chosen.nbytes, "" if chosen.kind == "gguf" else _FLOATS)


def _weights(repository: Repository, chosen: Selection) -> int:
    """How many there are; from the size of the files where the hub has not counted them."""
    if chosen.kind == "adapter":
        return 0
    return repository.parameters or guessed_weights(chosen.kind, chosen.variant, chosen.nbytes)


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


def fitted(rows: Sequence[Sequence[str]], width: int, dispensable: Sequence[str]) -> Sequence[Sequence[str]]:
    """Rows, the first of them the heads, with as few columns left out as it takes to be no wider than a terminal.

    Args:
        rows: As for `table`.
        width: In characters.
        dispensable: Heads of columns that may be left out, the least needed first.
    """
    for head in dispensable:
        if max(map(len, table(rows).splitlines())) <= width:
            break
        left_out = rows[0].index(head)
        rows = [(*row[:left_out], *row[left_out + 1 :]) for row in rows]
    return rows


def verdict(fit: Fit) -> str:
    """Whether a model has room, for people."""
    if fit.kind in ("no", "unknown"):
        return f"does not fit: {fit.reason.rstrip('.')}" if fit.kind == "no" else "not known"
    return f"{'fits' if fit.kind == 'fits' else 'smaller context'}, {fit.context:,} tokens"


def speed(fit: Fit) -> str:
    """How fast it would be, for people; with a question mark where this machine was never measured."""
    if fit.tokens_per_s is None or fit.kind == "no":
        return "-"
    return f"{'' if fit.measured else '? '}{fit.tokens_per_s:.0f} tok/s, {fit.ttft_s or 0:.1f} s"


def found_rows(hits: Sequence[Found], here: Here) -> list[Sequence[str]]:
    """Hits for people."""
    head = ("REPOSITORY", "PARAMETERS", "ON THIS MACHINE", "SPEED", "LICENCE", "DOWNLOADS")
    return [head, *(_found_row(hit, here) for hit in hits)]


def _found_row(hit: Found, here: Here) -> tuple[str, ...]:
    weights = hit.parameters or named_weights(hit.id)
    fit, counted = foretold(here, weights), _parameters(hit.parameters, weights)
    return hit.id, counted, verdict(fit), speed(fit), _licence(hit), str(hit.downloads)


def repository_text(repository: Repository, page: str, chosen: Selection, found: Sequence[Variant], here: Here) -> str:
    """A repository for people."""
    files = f"{len(chosen.files)} file{'s' if len(chosen.files) > 1 else ''}"
    lines = [
        f"{repository.id} at {repository.revision[:12]}, {page}",
        f"Licence: {repository.licence or 'not told'}{', asks to be accepted on its page' if repository.gated else ''}",
        f"Parameters: {_parameters(repository.parameters, _weights(repository, chosen))}",
        f"Would be downloaded: {files}, {megabytes(chosen.nbytes)}{f' ({chosen.variant})' if chosen.variant else ''}",
        f"Takes on disk: up to {megabytes(_disk(repository, chosen))}",
        f"On this machine: {_outlook(_fit_chosen(repository, chosen, here))}",
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


def _outlook(fit: Fit) -> str:
    """All that is foretold, in one line."""
    if fit.kind in ("no", "unknown"):
        return verdict(fit)
    return f"{verdict(fit)}; {speed(fit)}{f'. {fit.reason}' if fit.reason else ''}"


def _parameters(counted: int, guessed: int) -> str:
    if counted:
        return count(counted)
    return f"about {count(guessed)}" if guessed else "-"


def _licence(hit: Found) -> str:
    return f"{hit.licence or '-'}{' (gated)' if hit.gated else ''}"
