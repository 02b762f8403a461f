"""What can be done with a model, a download or an offer in the model dialog: one entry a button. Values alone."""

from __future__ import annotations

from dataclasses import dataclass, replace

from app.i18n import translate
from app.model_offers import HubQuestion, ModelOffer, Shelf, Source, Task
from app.views import words
from app.views.models.model_facts import Thing, base_for_adapter
from engine.events import InstalledModel


@dataclass(frozen=True, slots=True)
class ActionEntry:
    """One button.

    Attributes:
        primary: Whether it does what one most likely wants; drawn in the accent.
    """

    id: str
    label: str
    primary: bool = False
    enabled: bool = True


def all_actions() -> tuple[ActionEntry, ...]:
    """Every one there is, in the order of its button."""
    return (
        ActionEntry("load", translate("model_actions", "Load"), primary=True),
        ActionEntry("get", translate("model_actions", "Download"), primary=True),
        ActionEntry("look_up", translate("model_actions", "Look up its files"), primary=True),
        ActionEntry("ask", translate("model_actions", "Search"), primary=True),
        ActionEntry("reload", translate("model_actions", "Load again")),
        ActionEntry("resume", translate("model_actions", "Resume"), primary=True),
        ActionEntry("pause", translate("model_actions", "Pause")),
        ActionEntry("cancel", translate("model_actions", "Cancel")),
        ActionEntry("default", translate("model_actions", "Make default")),
        ActionEntry("rename", translate("model_actions", "Rename…")),
        ActionEntry("check", translate("model_actions", "Check")),
        ActionEntry("plain", translate("model_actions", "Use the plain chat template")),
        ActionEntry("own", translate("model_actions", "Use its own chat template")),
        ActionEntry("reveal", translate("model_actions", "Show in file manager")),
        ActionEntry("page", translate("model_actions", "Its page on the hub…")),
        ActionEntry("delete", translate("model_actions", "Delete…")),
    )


def actions_for(thing: Thing | None, shelf: Shelf, source: Source | None) -> tuple[ActionEntry, ...]:
    """Those that make sense for a thing, in the form that is chosen of it."""
    known = {entry.id: entry for entry in all_actions()}
    match thing:
        case InstalledModel():
            return tuple(known[name] for name in _of_installed(thing, shelf))
        case Task():
            return tuple(_named(known[name], thing) for name in _of_task(thing))
        case ModelOffer():
            usable = not thing.adapter or base_for_adapter(shelf) is not None
            named = (_sized(known[name], source or thing.best) for name in _of_offer(thing))
            return tuple(replace(entry, enabled=usable or entry.id != "get") for entry in named)
        case HubQuestion():
            look_up = replace(known["ask"], label=translate("model_actions", "Look it up"))
            return (look_up if thing.repository else known["ask"],)
    return ()


def _of_installed(model: InstalledModel, shelf: Shelf) -> tuple[str, ...]:
    load = ("load",) if model.name != shelf.loaded else ("reload",)
    if model.server:
        return load
    default = () if model.default else ("default",)
    template = ("own",) if model.plain_template else ("plain",) if model.name in shelf.bare else ()
    return (*load, *default, "rename", "check", *template, "reveal", "delete")


def _of_task(task: Task) -> tuple[str, ...]:
    return ("pause", "cancel") if task.state in ("running", "waiting") else ("resume", "cancel")


def _of_offer(offer: ModelOffer) -> tuple[str, ...]:
    page = ("page",) if offer.repo else ()
    if offer.problem:
        return page
    return (("get",) if offer.complete else ("look_up",)) + page


def _named(entry: ActionEntry, task: Task) -> ActionEntry:
    if entry.id == "resume" and task.state == "failed":
        return replace(entry, label=translate("model_actions", "Try again"))
    return entry


def _sized(entry: ActionEntry, source: Source | None) -> ActionEntry:
    if entry.id == "get" and source is not None and source.nbytes:
        label = translate("model_actions", "Download, {size}").format(size=words.size(source.nbytes))
        return replace(entry, label=label)
    return entry
