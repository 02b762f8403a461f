"""What stands in the list of the model dialog: sections and rows, from everything that is known. Values alone."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from app.engine_sentences import translated
from app.i18n import translate
from app.model_offers import Fit, ModelOffer, Shelf, Task
from app.views import words
from app.views.models import model_words
from engine.events import InstalledModel

INSTALLED: Final = "installed:"
TASK: Final = "task:"
OFFER: Final = "offer:"
FOUND: Final = "found:"
SEARCH: Final = "search:"
LOOK_UP: Final = "look:"
MOST_FOUND: Final = 50


@dataclass(frozen=True, slots=True)
class Row:
    """One row.

    Attributes:
        id: Which thing it stands for; empty for a heading or a sentence, which cannot be chosen.
        label: The first line.
        detail: The second line, quietly; a heading has none.
        hint: At the right end of the first line, quietly.
        dot: The token of a small dot before the hint; empty for none.
        share: Of a thin bar below; None where there is none.
        sentence: Whether it is a quiet sentence over some lines, and no heading.
    """

    id: str
    label: str
    detail: str = ""
    hint: str = ""
    dot: str = ""
    share: float | None = None
    sentence: bool = False


def rows_of(shelf: Shelf, wanted: str) -> tuple[Row, ...]:
    """All rows that answer to what is typed, under their headings."""
    sought = wanted.casefold().split()
    installed = [model for model in shelf.installed if _matches(_words_of(model), sought)]
    tasks = [task for task in shelf.tasks if _matches((task.label, task.reference), sought)]
    here = [_installed(model, shelf) for model in installed if not model.server]
    elsewhere = [_installed(model, shelf) for model in installed if model.server]
    loading = [_task(task) for task in tasks if task.state != "failed" and task.kind == "get"]
    adding = [_task(task) for task in tasks if task.state != "failed" and task.kind != "get"]
    failed = [_task(task) for task in tasks if task.state == "failed"]
    return (
        *_section(translate("model_rows", "On this machine"), here),
        *_section(translate("model_rows", "On servers"), elsewhere),
        *_section(translate("model_rows", "Downloading"), loading),
        *_section(translate("model_rows", "Being added"), adding),
        *_section(translate("model_rows", "Could not be added"), failed),
        *_section(translate("model_rows", "Catalogue"), _catalogue(shelf, sought)),
        *_section(translate("model_rows", "On the hub"), _hub(shelf, wanted.strip())),
    )


def is_repository(text: str) -> bool:
    """Whether a text names a repository: "owner/name", with what may follow."""
    owner, slash, name = text.strip().partition("/")
    return bool(owner and slash and name) and " " not in text.strip()


def _section(heading: str, rows: Sequence[Row]) -> Iterable[Row]:
    return (Row("", heading), *rows) if rows else ()


def _words_of(model: InstalledModel) -> tuple[str, ...]:
    return (model.label, model.name, model.architecture, model.origin, model.server)


def _matches(texts: Iterable[str], sought: Sequence[str]) -> bool:
    text = " ".join(texts).casefold()
    return all(word in text for word in sought)


def _installed(model: InstalledModel, shelf: Shelf) -> Row:
    if model.server:
        detail = translate("model_rows", "on {server}").format(server=model.server)
    else:
        held = model_words.format_name(model.weights) if model.weights else ""
        parts = (model_words.parameters(model.parameters), words.size(model.nbytes), held)
        detail = " · ".join(part for part in parts if part)
    loaded = model.name == shelf.loaded
    marks = (
        translate("model_rows", "Loaded") if loaded else "",
        translate("model_rows", "Default") if model.default else "",
    )
    hint = " · ".join(mark for mark in marks if mark)
    return Row(INSTALLED + model.name, model.label, detail, hint, "accent" if loaded else "")


def _task(task: Task) -> Row:
    dot = {"failed": "warning", "running": "accent"}.get(task.state, "")
    hint = model_words.format_name(task.weights) if task.weights else ""
    return Row(TASK + task.id, task.label, model_words.task_line(task), hint, dot, model_words.share(task))


def _catalogue(shelf: Shelf, sought: Sequence[str]) -> list[Row]:
    if shelf.trouble is not None and "catalogue" in shelf.trouble:
        return [Row("", model_words.failure(shelf.trouble["catalogue"]), sentence=True)]
    if shelf.catalogue is None:
        return [Row("", translate("model_rows", "Looks what fits on this machine…"), sentence=True)]
    here = {model.name for model in shelf.installed} | {task.reference for task in shelf.tasks}
    offered = [offer for offer in shelf.catalogue if offer.name not in here]
    return [_offer(OFFER + offer.name, offer) for offer in offered if _matches(_words_of_offer(offer), sought)]


def _words_of_offer(offer: ModelOffer) -> tuple[str, ...]:
    spoken = model_words.languages(offer.languages)
    return (offer.label, offer.name, offer.repo, offer.family, offer.good_at, translated(offer.good_at), spoken)


def _offer(row_id: str, offer: ModelOffer) -> Row:
    best = offer.best.fit if offer.best is not None else Fit()
    dot = {"fits": "good", "smaller": "computed", "no": "warning"}.get(best.kind, "")
    return Row(row_id, offer.label, model_words.offer_line(offer), model_words.short_fit(best), dot)


def _hub(shelf: Shelf, wanted: str) -> list[Row]:
    """What the hub answered; before that, the way to ask it, which is the only thing here that uses the network."""
    if not wanted:
        return [Row("", translate("model_rows", "Type what you look for, or a repository: OWNER/NAME."), sentence=True)]
    if shelf.searching:
        said = translate("model_rows", "Asks Hugging Face for “{words}”…").format(words=shelf.searching)
        return [Row("", said, sentence=True)]
    if shelf.searched != wanted:
        return [_way(wanted)]
    if shelf.trouble is not None and "hub" in shelf.trouble:
        return [Row("", model_words.failure(shelf.trouble["hub"]), sentence=True), _way(wanted)]
    if not shelf.found:
        said = translate("model_rows", "Hugging Face has nothing for “{words}” that Loquat could use.")
        return [Row("", said.format(words=wanted), sentence=True)]
    return [_offer(FOUND + offer.repo, offer) for offer in shelf.found[:MOST_FOUND]]


def _way(wanted: str) -> Row:
    note = translate("model_rows", "Goes over the network")
    if is_repository(wanted):
        return Row(LOOK_UP + wanted, translate("model_rows", "Look up {repository}").format(repository=wanted), note)
    return Row(SEARCH + wanted, translate("model_rows", "Search Hugging Face for “{words}”").format(words=wanted), note)
