"""Models that can be had, as the model commands tell of them: frozen values, read from JSON without trust. No Qt."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from app.transfer.values import listing, number

FitKind = Literal["fits", "smaller", "no", "unknown"]
JobKind = Literal["get", "add", "adapter", "check"]
WEIGHTS: Final = ("int4", "int8", "none")
_FITS: Final[tuple[FitKind, ...]] = ("fits", "smaller", "no")


@dataclass(frozen=True, slots=True)
class Fit:
    """Whether a model has room on this machine, and how fast it would be.

    Attributes:
        context: Tokens of the longest conversation that has room; 0 where that is not known.
        needs, free: Bytes of memory that it takes, and that it may take; 0 where that is not known.
        tokens_per_s: Decode rate to be expected; None where the machine was not measured.
        ttft_s: Seconds to the first token of a short question, to be expected.
        reason: In words, where there is more to say; may be empty.
    """

    kind: FitKind = "unknown"
    context: int = 0
    needs: int = 0
    free: int = 0
    tokens_per_s: float | None = None
    ttft_s: float | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Source:
    """One form in which a model can be had.

    Attributes:
        weights: How they are held then, one of WEIGHTS; empty where what suits this machine is taken.
        variant: Which of a repository's GGUF files, "Q4_K_M" for example; empty where there is no choice.
        nbytes: That are downloaded.
        disk: Bytes of disk that it takes at most; 0 where that is not known.
        preferred: Whether it is the one that is taken where nothing is said.
    """

    weights: str
    variant: str = ""
    nbytes: int = 0
    disk: int = 0
    fit: Fit = Fit()
    preferred: bool = False

    @property
    def id(self) -> str:
        """Which it is, among those of its model."""
        return self.variant or self.weights


@dataclass(frozen=True, slots=True)
class ModelOffer:
    """A model of the catalogue or of the hub.

    Attributes:
        name: In the catalogue; empty for one of the hub alone.
        repo: "owner/name" on the hub.
        parameters: Number of weights; 0 where that is not known, as with all that follows.
        accept: Whether its licence asks to be accepted.
        gated: Whether the hub gives it only to those who asked its makers.
        good_at: One line.
        licence_label: The licence's name for people; empty where only its identifier is known.
        more_languages: How many its makers name in all; 0 where those are all.
        downloads: How often it was fetched from the hub lately.
        adapter: Whether it is a LoRA adapter, which is added to a model.
        problem: Why nothing of it can be used here; empty where it can.
        complete: Whether all is known; of what a search found only the first lines are.
    """

    label: str
    name: str = ""
    repo: str = ""
    family: str = ""
    parameters: int = 0
    licence: str = ""
    licence_label: str = ""
    licence_url: str = ""
    accept: bool = False
    gated: bool = False
    languages: tuple[str, ...] = ()
    more_languages: int = 0
    context: int = 0
    good_at: str = ""
    downloads: int = 0
    sources: tuple[Source, ...] = ()
    adapter: bool = False
    problem: str = ""
    complete: bool = True

    @property
    def reference(self) -> str:
        """What `loquat models get` takes."""
        return self.name or self.repo

    def source(self, source_id: str) -> Source | None:
        """One of its forms."""
        return next((source for source in self.sources if source.id == source_id), None)

    @property
    def best(self) -> Source | None:
        """The form that is recommended: the preferred one, or in the order of WEIGHTS the first that has room."""
        preferred = next((source for source in self.sources if source.preferred), None)
        roomy = (source for source in self.sources if source.fit.kind != "no")
        return preferred or next(roomy, next(iter(self.sources), None))


@dataclass(frozen=True, slots=True)
class HubQuestion:
    """Something that the hub can be asked, and has not been.

    Attributes:
        text: What is looked for, or a repository.
        repository: Which of the two.
    """

    text: str
    repository: bool = False


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a download or import has come.

    Attributes:
        stage: "download", "verify" or "import".
        done, total: Bytes; `total` is 0 where it is not known.
        rate: Bytes a second; None where that is not known.
        left_s: Seconds that it still takes.
        sentence: What goes on, for people.
    """

    stage: str = ""
    done: int = 0
    total: int = 0
    rate: float | None = None
    left_s: float | None = None
    sentence: str = ""


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a command did not do what it should.

    Attributes:
        kind: "gated", "token", "licence", "network", "disk", "checksum", "not_found", "unsupported", "damaged",
            "cancelled" or "other".
        sentence: For the person.
        detail: Technical text; may be empty.
    """

    kind: str
    sentence: str
    detail: str = ""


TaskState = Literal["waiting", "running", "paused", "failed"]


@dataclass(frozen=True, slots=True)
class Task:
    """A download or an import: waiting for its turn, under way, paused or failed.

    Attributes:
        id: One task for one thing to get.
        label: Of the model, for people.
        reference: What is got: a name, a repository, or a path.
        weights: How they shall be held; empty for what suits.
        kind: "get" for a download, "add" for something of the person's own.
        accepted: Whether the person accepted the licence.
        base: The model to which an adapter is added; empty for a model.
        loads: Whether the model is loaded when it is there.
    """

    id: str
    label: str
    reference: str
    weights: str = ""
    kind: JobKind = "get"
    state: TaskState = "waiting"
    progress: Progress = Progress()
    failure: Failure | None = None
    accepted: bool = False
    base: str = ""
    loads: bool = False

    @property
    def arguments(self) -> tuple[str, ...]:
        """Of the command that does it."""
        held = ("--weights", self.weights) if self.weights else ()
        accepts = ("--accept-licence",) if self.accepted else ()
        base = ("--for", self.base) if self.base else ()
        return ("models", self.kind, self.reference, *held, *base, *accepts, "--json")


@dataclass(frozen=True, slots=True)
class Shelf:
    """Everything that the model dialog shows.

    Attributes:
        installed: `InstalledModel`s, those on servers among them.
        loaded: The name of the one that answers; empty for none.
        tasks: In the order in which they are done.
        catalogue: None until it was read.
        found: What the hub answered to the latest search.
        searching: What is being looked for on the hub; empty for nothing.
        trouble: Why a list could not be had, by "catalogue" and "hub".
        bare: Names of models that turned out to have no chat template, and with which no chat is possible yet.
    """

    installed: tuple[Any, ...] = ()
    loaded: str = ""
    tasks: tuple[Task, ...] = ()
    catalogue: tuple[ModelOffer, ...] | None = None
    found: tuple[ModelOffer, ...] = ()
    searched: str = ""
    searching: str = ""
    trouble: Mapping[str, Failure] | None = None
    bare: frozenset[str] = frozenset()


def offers(value: Mapping[str, Any], complete: bool = True) -> tuple[ModelOffer, ...]:
    """The models in what a command told; what is none is left out."""
    models = value.get("models")
    return tuple(_offer(model, complete) for model in _objects(models))


def paused(value: Mapping[str, Any]) -> tuple[Task, ...]:
    """The downloads that did not end, in what `loquat models downloads` told."""
    return tuple(_paused(each) for each in _objects(value.get("downloads")) if _text(each, "name"))


def progress(value: Mapping[str, Any]) -> Progress:
    """A line of progress."""
    return Progress(
        stage=_text(value, "stage"),
        done=_whole(value, "done"),
        total=_whole(value, "total"),
        rate=_number(value, "rate"),
        left_s=_number(value, "left_s"),
        sentence=_text(value, "sentence"),
    )


def failure(value: Mapping[str, Any]) -> Failure:
    """A line of failure."""
    return Failure(_text(value, "kind") or "other", _text(value, "sentence"), _text(value, "detail"))


def _offer(value: Mapping[str, Any], complete: bool) -> ModelOffer:
    repo, name = _text(value, "repo"), _text(value, "name")
    return ModelOffer(
        label=_label(_text(value, "label"), repo) or name,
        name=name,
        repo=repo,
        family=_text(value, "family"),
        parameters=_whole(value, "parameters"),
        licence=_text(value, "licence"),
        licence_label=_text(value, "licence_label"),
        licence_url=_text(value, "licence_url"),
        accept=value.get("accept") is True,
        gated=value.get("gated") is True,
        languages=tuple(map(str, listing(value.get("languages")))),
        more_languages=_whole(value, "more_languages"),
        context=_whole(value, "context"),
        good_at=_text(value, "good_at"),
        downloads=_whole(value, "downloads"),
        sources=tuple(sorted(_sources(value), key=_place)),
        adapter=_is_adapter(value),
        problem=_text(value, "problem"),
        complete=complete,
    )


def _label(label: str, repo: str) -> str:
    """What a model is called; of a repository the name alone, its owner stands beside it."""
    return (repo.partition("/")[2] or repo) if label in ("", repo) else label


def _is_adapter(value: Mapping[str, Any]) -> bool:
    chosen = value.get("chosen")
    return isinstance(chosen, Mapping) and chosen.get("kind") == "adapter"


def _place(source: Source) -> int:
    return WEIGHTS.index(source.weights) if source.weights in WEIGHTS else len(WEIGHTS)


def _sources(value: Mapping[str, Any]) -> Iterable[Source]:
    """The forms; of a repository its GGUF files, or else what its weights can be turned into."""
    told, chosen, variants = value.get("sources"), value.get("chosen"), list(_objects(value.get("variants")))
    if isinstance(told, list) or not isinstance(chosen, Mapping):
        return map(_source, _objects(told))
    taken = _text(chosen, "variant")
    if _is_adapter(value):
        return (Source("", nbytes=_whole(chosen, "nbytes")),)
    if variants:
        return (_variant(each, _text(each, "name") == taken) for each in variants)
    return (Source(weights, nbytes=_whole(chosen, "nbytes")) for weights in WEIGHTS)


def _variant(value: Mapping[str, Any], preferred: bool) -> Source:
    fit = value.get("fit")
    found = _fit(fit) if isinstance(fit, Mapping) else Fit()
    return Source("", _text(value, "name"), _whole(value, "nbytes"), _whole(value, "disk"), found, preferred)


def _source(value: Mapping[str, Any]) -> Source:
    fit = value.get("fit")
    return Source(
        weights=_text(value, "weights"),
        nbytes=_whole(value, "nbytes"),
        disk=_whole(value, "disk"),
        fit=_fit(fit) if isinstance(fit, Mapping) else Fit(),
    )


def _fit(value: Mapping[str, Any]) -> Fit:
    kind = value.get("kind")
    return Fit(
        kind=next((known for known in _FITS if known == kind), "unknown"),
        context=_whole(value, "context"),
        needs=_whole(value, "needs"),
        free=_whole(value, "free"),
        tokens_per_s=_number(value, "tokens_per_s"),
        ttft_s=_number(value, "ttft_s"),
        reason=_text(value, "reason"),
    )


def _paused(value: Mapping[str, Any]) -> Task:
    name = _text(value, "name")
    far = Progress("download", _whole(value, "done"), _whole(value, "total"))
    return Task(name, _text(value, "label") or name, name, _text(value, "weights"), state="paused", progress=far)


def _objects(value: object) -> Iterable[Mapping[str, Any]]:
    return [each for each in listing(value) if isinstance(each, Mapping)]


def _text(value: Mapping[str, Any], name: str) -> str:
    found = value.get(name)
    return found if isinstance(found, str) else ""


def _number(value: Mapping[str, Any], name: str) -> float | None:
    return number(value.get(name))


def _whole(value: Mapping[str, Any], name: str) -> int:
    return max(0, int(_number(value, name) or 0))
