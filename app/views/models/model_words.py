"""What the model dialog says of a model, a fit and a download, in the language in force."""

from __future__ import annotations

from typing import Final

from app.engine_sentences import translated
from app.i18n import translate
from app.model_offers import Failure, Fit, ModelOffer, Source, Task
from app.views import words

BILLION: Final = 1e9
THOUSANDS_TO: Final = 999.5e3  # from here on it is rounded to a million


def parameters(count: int) -> str:
    """How large a model is: "130 k", "135 M", "1.5 B"; empty where that is not known."""
    if not count:
        return ""
    if count < THOUSANDS_TO:
        return f"{count / 1e3:.0f} k"
    return f"{count / BILLION:.1f} B" if count >= BILLION else f"{count / 1e6:.0f} M"


def fit(value: Fit) -> str:
    """Whether a model has room on this machine; empty where that is not known."""
    match value.kind:
        case "fits":
            return translate("model_words", "Fits")
        case "smaller":
            return translate("model_words", "Fits with a context of {count}").format(count=words.count(value.context))
        case "no":
            if not value.needs:
                return translate("model_words", "Does not fit")
            said = translate("model_words", "Does not fit: needs {needs}, {free} are free")
            return said.format(needs=words.size(value.needs), free=words.size(value.free))
    return ""


def short_fit(value: Fit) -> str:
    """The same in a word or two, for the end of a row."""
    match value.kind:
        case "fits":
            return translate("model_words", "Fits")
        case "smaller":
            return translate("model_words", "Smaller context")
        case "no":
            return translate("model_words", "Does not fit")
    return ""


def speed(value: Fit) -> str:
    """How fast it would be here."""
    if value.tokens_per_s is None:
        return translate("model_words", "not known before this machine was measured with a model")
    rate = _about(value.tokens_per_s)
    if value.ttft_s is None:
        return rate
    first = translate("model_words", "first token after about {time}").format(time=words.seconds(value.ttft_s))
    return f"{rate} · {first}"


def _about(tokens_per_s: float) -> str:
    return translate("model_words", "about {rate} tok/s").format(rate=words.rate(tokens_per_s))


def format_name(weights: str) -> str:
    """How weights are held."""
    match weights:
        case "int4":
            return translate("model_words", "4-bit")
        case "int8":
            return translate("model_words", "8-bit")
        case "none":
            return translate("model_words", "As published, not quantised")
    return translate("model_words", "What suits this machine")


def source_name(value: Source, recommended: bool) -> str:
    """What a form is called in which a model can be had."""
    name = value.variant or format_name(value.weights)
    return translate("model_words", "{format} (recommended)").format(format=name) if recommended else name


def source_line(value: Source) -> str:
    """What a form takes, and how it goes here."""
    size = translate("model_words", "{size} to download").format(size=words.size(value.nbytes)) if value.nbytes else ""
    rate = ""
    if value.fit.kind != "no" and value.fit.tokens_per_s is not None:
        rate = _about(value.fit.tokens_per_s)
    return " · ".join(part for part in (size, short_fit(value.fit), rate) if part)


def offer_line(offer: ModelOffer) -> str:
    """One line about a model that can be had."""
    best = offer.best
    size = words.size(best.nbytes) if best is not None and best.nbytes else ""
    rate = ""
    if best is not None and best.fit.tokens_per_s is not None and best.fit.kind != "no":
        rate = words.per_second(best.fit.tokens_per_s)
    owner = offer.repo.partition("/")[0] if not offer.name else ""
    return " · ".join(part for part in (owner, parameters(offer.parameters), size, rate, offer.licence) if part)


def languages(codes: tuple[str, ...]) -> str:
    """Names of languages, by their codes; one that is not known stays a code."""
    return ", ".join(map(_language, codes))


def _language(code: str) -> str:
    names = {
        "en": translate("model_words", "English"),
        "zh": translate("model_words", "Chinese"),
        "de": translate("model_words", "German"),
        "fr": translate("model_words", "French"),
        "es": translate("model_words", "Spanish"),
        "it": translate("model_words", "Italian"),
        "pt": translate("model_words", "Portuguese"),
        "ja": translate("model_words", "Japanese"),
        "ko": translate("model_words", "Korean"),
        "ru": translate("model_words", "Russian"),
        "ar": translate("model_words", "Arabic"),
        "hi": translate("model_words", "Hindi"),
        "cs": translate("model_words", "Czech"),
        "da": translate("model_words", "Danish"),
        "fi": translate("model_words", "Finnish"),
        "he": translate("model_words", "Hebrew"),
        "hu": translate("model_words", "Hungarian"),
        "nl": translate("model_words", "Dutch"),
        "no": translate("model_words", "Norwegian"),
        "pl": translate("model_words", "Polish"),
        "sv": translate("model_words", "Swedish"),
        "th": translate("model_words", "Thai"),
        "tr": translate("model_words", "Turkish"),
        "uk": translate("model_words", "Ukrainian"),
        "vi": translate("model_words", "Vietnamese"),
    }
    return names.get(code, code)


def task_title(task: Task) -> str:
    """What is done, in one line."""
    if task.kind == "get" and task.progress.stage in ("", "download"):
        return translate("model_words", "Downloading {model}").format(model=task.label)
    return translate("model_words", "Importing {model}").format(model=task.label)


def task_state(task: Task) -> str:
    """What a task is doing, in a word or two."""
    match task.state:
        case "waiting":
            return translate("model_words", "Waits for its turn")
        case "paused":
            return translate("model_words", "Paused")
        case "failed":
            return translate("model_words", "Did not work")
    return translated(task.progress.sentence) or translate("model_words", "Begins")


def task_line(task: Task) -> str:
    """What a task is doing, and how far it has come; what a sentence says with figures is said once."""
    far = task_progress(task)
    if task.state == "running" and task.progress.stage == "download" and far:
        return far
    state = task_state(task)
    return " · ".join(part for part in (state, "" if far and far in state else far) if part)


def task_progress(task: Task) -> str:
    """How far a task has come: bytes, rate and the time left."""
    far = task.progress
    if not far.total:
        return words.size(far.done) if far.done else ""
    if far.stage != "download":
        return f"{100 * far.done // far.total} %"
    of = translate("model_words", "{done} of {total}").format(done=words.size(far.done), total=words.size(far.total))
    if task.state != "running":
        return of
    rate = f"{words.size(far.rate)}/s" if far.rate else ""
    left = translate("model_words", "{time} left").format(time=words.seconds_left(far.left_s)) if far.left_s else ""
    return " · ".join(part for part in (of, rate, left) if part)


def share(task: Task) -> float | None:
    """Between 0 and 1; None where the end is not known."""
    return task.progress.done / task.progress.total if task.progress.total else None


def failure(value: Failure) -> str:
    """Why something did not work, and what to do about it."""
    return translated(value.sentence) or translate("model_words", "This did not work; please try again.")
