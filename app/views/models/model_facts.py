"""What the model dialog tells of a model, a download or an offer: names and values in order. Values alone."""

from __future__ import annotations

from dataclasses import dataclass

from app.engine_sentences import translated
from app.i18n import as_one_text, translate
from app.model_offers import Fit, HubQuestion, ModelOffer, Shelf, Source, Task
from app.views import words
from app.views.models import model_words
from engine.events import InstalledModel

Thing = InstalledModel | Task | ModelOffer | HubQuestion


@dataclass(frozen=True, slots=True)
class Fact:
    """One line of the table."""

    name: str
    value: str
    tone: str = "text"


def offer_of(thing: Thing, shelf: Shelf) -> ModelOffer | None:
    """What the catalogue or the hub tells of it."""
    if isinstance(thing, ModelOffer | HubQuestion):
        return thing if isinstance(thing, ModelOffer) else None
    known = (*(shelf.catalogue or ()), *shelf.found)
    if isinstance(thing, Task):
        wanted = {thing.reference, thing.reference.partition(":")[0]}
    else:
        wanted = {thing.name, thing.origin.partition("@")[0]} - {""}
    return next((offer for offer in known if offer.name in wanted or offer.repo in wanted), None)


def title(thing: Thing) -> str:
    """What it is called."""
    if not isinstance(thing, HubQuestion):
        return thing.label
    if thing.repository:
        return thing.text
    return translate("model_facts", "Search Hugging Face for “{words}”").format(words=thing.text)


def origin(thing: Thing) -> str:
    """Where it comes from, in one line."""
    match thing:
        case InstalledModel():
            if thing.server:
                return translate("model_facts", "Runs on {server}; what you write goes there.").format(
                    server=thing.server
                )
            return " · ".join(part for part in (thing.name, thing.origin.partition("@")[0]) if part)
        case Task():
            return thing.reference
        case HubQuestion():
            return ""
    return thing.repo


def good_at(thing: Thing, shelf: Shelf) -> str:
    """What it is good at, where that is known."""
    if isinstance(thing, HubQuestion):
        return translate("model_facts", "This goes over the network: what is typed goes to the hub, and nothing else.")
    if isinstance(thing, ModelOffer) and thing.adapter:
        return _of_adapter(shelf)
    offer = offer_of(thing, shelf)
    return translated(offer.good_at) if offer is not None else ""


def base_for_adapter(shelf: Shelf) -> InstalledModel | None:
    """The model to which an adapter of the hub is added: the one that answers, if it is on this machine."""
    return next((each for each in shelf.installed if each.name == shelf.loaded and not each.server), None)


def _of_adapter(shelf: Shelf) -> str:
    base = base_for_adapter(shelf)
    if base is None:
        return translate("model_facts", "This is an adapter (LoRA) for a model. Please load the model it is for first.")
    said = translate("model_facts", "This is an adapter (LoRA). It is added to the model that is loaded, {model}.")
    return said.format(model=base.label)


def facts_of(thing: Thing, shelf: Shelf, source_id: str) -> tuple[Fact, ...]:
    """The table of a thing; of an offer, in the form that is chosen."""
    match thing:
        case InstalledModel():
            return () if thing.server else _of_installed(thing, offer_of(thing, shelf))
        case Task():
            return _of_task(thing, offer_of(thing, shelf))
        case HubQuestion():
            return ()
    return _of_offer(thing, thing.source(source_id) or thing.best)


def _of_installed(model: InstalledModel, offer: ModelOffer | None) -> tuple[Fact, ...]:
    held = model_words.format_name(model.weights) if model.weights else ""
    plain = translate("model_facts", "Loquat's plain one; this is a base model without one of its own")
    rows = (
        (translate("model_facts", "Size"), _parameters(model.parameters)),
        (translate("model_facts", "On the disk"), words.size(model.nbytes)),
        (translate("model_facts", "Format"), held),
        (translate("model_facts", "Family"), offer.family if offer is not None else ""),
        (translate("model_facts", "Context"), _tokens(model.context)),
        (translate("model_facts", "Licence"), model.licence or (offer.licence if offer is not None else "")),
        (translate("model_facts", "Languages"), model_words.languages(offer.languages) if offer is not None else ""),
        (translate("model_facts", "Chat template"), plain if model.plain_template else ""),
    )
    return tuple(Fact(name, value) for name, value in rows if value)


def _of_task(task: Task, offer: ModelOffer | None) -> tuple[Fact, ...]:
    if offer is None or task.failure is not None:
        return ()
    return _of_offer(offer, offer.source(task.weights or task.reference.partition(":")[2]) or offer.best)


def _of_offer(offer: ModelOffer, source: Source | None) -> tuple[Fact, ...]:
    fit = source.fit if source is not None else Fit()
    downloaded = translate("model_facts", "{count} times in the last month").format(count=words.count(offer.downloads))
    rows = (
        Fact(translate("model_facts", "On this machine"), _verdict(fit), "warning" if fit.kind == "no" else "text"),
        Fact(translate("model_facts", "Speed"), _speed(fit) if offer.complete and fit.kind != "no" else ""),
        Fact(translate("model_facts", "Disk"), _disk(source)),
        Fact(translate("model_facts", "Size"), _parameters(offer.parameters)),
        Fact(translate("model_facts", "Family"), offer.family),
        Fact(translate("model_facts", "Context"), _tokens(offer.context)),
        Fact(translate("model_facts", "Languages"), _languages(offer)),
        Fact(translate("model_facts", "Downloaded"), downloaded if offer.downloads else ""),
    )
    return tuple(fact for fact in rows if fact.value)


def _verdict(fit: Fit) -> str:
    said = model_words.fit(fit)
    return _with_reason(said, fit) if fit.kind == "no" else said


def _speed(fit: Fit) -> str:
    return _with_reason(model_words.speed(fit), fit)


def _with_reason(said: str, fit: Fit) -> str:
    if not (said and fit.reason):
        return said or translated(fit.reason)
    sentence = translate("model_facts", "{sentence}.").format(sentence=said)
    return as_one_text((sentence, translated(fit.reason)))


def _languages(offer: ModelOffer) -> str:
    named = model_words.languages(offer.languages)
    if offer.more_languages <= len(offer.languages):
        return named
    more = translate("model_facts", "{languages} and others, {count} in all")
    return more.format(languages=named, count=offer.more_languages)


def _parameters(count: int) -> str:
    size = model_words.parameters(count)
    return translate("model_facts", "{size} parameters").format(size=size) if size else ""


def _tokens(context: int) -> str:
    return translate("model_facts", "{count} tokens").format(count=words.count(context)) if context else ""


def _disk(source: Source | None) -> str:
    if source is None or not source.disk:
        return ""
    if not source.nbytes:
        return words.size(source.disk)
    said = translate("model_facts", "{disk}, of which {size} are downloaded")
    return said.format(disk=words.size(source.disk), size=words.size(source.nbytes))
