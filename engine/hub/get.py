"""Gets a model from a hub into the registry: described, its licence accepted, downloaded, verified, imported.

At any moment the process can be killed: what is here of a download lies in its own folder, a model appears in the
registry whole or not at all, and the next run goes on from there.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Generator
from dataclasses import replace

from engine.chat import RequestHandle
from engine.errors import BadModelFile, UnsupportedModel
from engine.events import LoadStage
from engine.hub.client import Hub
from engine.hub.download import download
from engine.hub.failures import gated
from engine.hub.plan import Downloads, Plan, Unfinished, plan_of
from engine.hub.room import import_bytes
from engine.hub.selection import Selection, choose
from engine.hub.values import HubFailure, Repository
from engine.hub.wanted import Candidate, Wanted, candidates
from engine.models.adapters import add_adapter
from engine.models.files import need_room, os_errors
from engine.models.gguf_config import ARCHITECTURES
from engine.models.progress import Step, megabytes
from engine.models.registry import ModelEntry, Registry

# Where a model can come from several places, these failures of one do not speak against the next.
_ELSEWHERE = ("not_found", "gated", "token")
# Licences with terms of their own, that their owners want accepted; by the beginnings of their identifiers.
_TERMS = ("llama", "gemma", "qwen-research", "health-ai")


def get(
    registry: Registry, connect: Callable[[], Hub], wanted: Wanted, handle: RequestHandle
) -> Generator[Step, None, ModelEntry]:
    """Download a model, or go on with it, and import it.

    Args:
        registry: Where models live.
        connect: Makes the client of a hub; called only if something has to be fetched.
        wanted: Which model, and what the person says to it.
        handle: Cancels; what was downloaded stays for a later time.

    Returns:
        The model; the one that is here already, if it is the same.

    Raises:
        HubFailure: The model is not to be had; its kind and sentence tell why.
        DiskFull: There is too little room.
        BadModelFile, UnsupportedModel: What came is no model that Loquat can read; it is deleted.
        Cancelled: `handle` was cancelled.
        EngineError: The name is taken, or the disk refused.
    """
    downloads = Downloads(registry.models_dir)
    failure: HubFailure | None = None
    for candidate in candidates(wanted, downloads):
        try:
            with os_errors(f"download {candidate.label}", registry.models_dir), downloads.alone(candidate.reference):
                return (yield from _Getting(registry, downloads, connect, wanted, handle).run(candidate))
        except HubFailure as error:
            if error.kind not in _ELSEWHERE:
                raise
            failure = failure or error
    assert failure is not None  # noqa: S101 - there is a candidate, or `candidates` says why not
    raise failure


def needs_acceptance(repository_licence: str, is_gated: bool) -> bool:
    """Whether a licence has terms that want a yes: by its name, or because the hub asks for one."""
    return is_gated or repository_licence.lower().startswith(_TERMS)


class _Getting:
    """One model on its way from one repository."""

    def __init__(
        self,
        registry: Registry,
        downloads: Downloads,
        connect: Callable[[], Hub],
        wanted: Wanted,
        handle: RequestHandle,
    ) -> None:
        self._registry = registry
        self._downloads = downloads
        self._connect = connect
        self._wanted = wanted
        self._handle = handle

    def run(self, candidate: Candidate) -> Generator[Step, None, ModelEntry]:
        begun = self._downloads.find(candidate.reference)
        if begun is not None:
            self._see_kind(begun.plan.kind, begun.plan.reference.repository)
            begun = self._with_new_wishes(begun)
        with self._connect() as hub:
            if begun is None:
                plan = yield from self._planned(hub, candidate)
                here = self._here(plan)
                if here is not None:
                    return here
                if plan.kind != "adapter":
                    self._registry.check_free(plan.name or None)
                self._see_room(plan, 0)
                begun = self._downloads.begin(plan)
                yield _beginning(plan)
            here = self._here(begun.plan)
            if here is None:
                self._see_room(begun.plan, begun.done)
                yield from download(hub, begun, self._handle)
        entry = here or (yield from self._imported(begun))
        self._downloads.drop(begun.folder)
        return entry

    def _with_new_wishes(self, begun: Unfinished) -> Unfinished:
        """A download that goes on can be given another name, or other weights."""
        plan = replace(
            begun.plan, name=self._wanted.name or begun.plan.name, weights=self._wanted.weights or begun.plan.weights
        )
        begun = Unfinished(plan, begun.folder)
        self._downloads.note(begun)
        return begun

    def _planned(self, hub: Hub, candidate: Candidate) -> Generator[Step, None, Plan]:
        repository = yield from hub.repository(candidate.reference, self._handle)
        if repository.gated and not hub.may_enter():
            raise gated(hub.endpoint, candidate.reference, with_token=False)
        selection = choose(repository, candidate.reference.wish)
        self._see_kind(selection.kind, repository.id, repository.base)
        _see_architecture(repository, selection)
        _agree(selection, candidate)
        if not self._wanted.accepted:
            _see_licence(hub, repository, candidate)
        licence = candidate.licence.id if candidate.licence else repository.licence
        return plan_of(
            candidate.reference,
            replace(repository, licence=licence),
            selection,
            name=candidate.name,
            label=candidate.label,
            weights=self._wanted.weights,
        )

    def _see_kind(self, kind: str, name: str, made_for: str = "") -> None:
        """An adapter needs a model that is here, and only an adapter can be added to one."""
        base = self._wanted.base
        if kind == "adapter" and not base:
            suits = f" for {made_for}" if made_for else ""
            raise HubFailure(
                "unsupported",
                f"{name} is no model, but an adapter{suits}; say which of your models it is added to, with --for.",
            )
        if base and kind != "adapter":
            raise HubFailure("unsupported", f"{name} is no adapter; get it without --for {base}.")
        if base:
            self._registry.find(base)

    def _see_room(self, plan: Plan, done: int) -> None:
        need_room(self._registry.models_dir, plan.nbytes - done + import_bytes(plan), f"get {plan.label}")

    def _here(self, plan: Plan) -> ModelEntry | None:
        """The same model, downloaded before: a killed process may have come as far as that."""
        # A repository can hold two models in one quantisation: then their origins are equal, but not their files.
        file = plan.files[0].sha256 if plan.kind == "gguf" and len(plan.files) == 1 else ""
        for entry in self._registry.entries():
            same = entry.origin == plan.origin and plan.weights in ("", entry.weights)
            same = same and file in ("", entry.source_sha256)
            if same and plan.name in ("", entry.name):
                return entry
        return None

    def _imported(self, begun: Unfinished) -> Generator[Step, None, ModelEntry]:
        try:
            if begun.plan.kind == "adapter":
                return self._added(begun)
            return (yield from self._imported_model(begun))
        except (BadModelFile, UnsupportedModel):
            self._downloads.drop(begun.folder)  # what the hub has is so, and would be so again
            raise

    def _imported_model(self, begun: Unfinished) -> Generator[Step, None, ModelEntry]:
        plan = begun.plan
        return (
            yield from self._registry.add(
                begun.files,
                self._handle,
                plan.name or None,
                plan.label,
                weights=plan.weights,
                origin=plan.origin,
                licence=plan.licence,
            )
        )

    def _added(self, begun: Unfinished) -> ModelEntry:
        """An adapter goes to the model that it is for, whatever happened to that meanwhile."""
        entry = self._registry.find(self._wanted.base)
        add_adapter(entry.folder, begun.files, begun.plan.name or None)
        return self._registry.find(entry.name)


def _beginning(plan: Plan) -> Step:
    said = beginning(plan.label, plan.nbytes, plan.nbytes + import_bytes(plan), plan.licence)
    return Step(LoadStage.DOWNLOAD, 0, plan.nbytes, said, lasting=True)


def beginning(label: str, nbytes: int, disk: int, licence: str) -> str:
    """What is said of a download before it begins.

    Args:
        label: Of the model.
        nbytes: That are downloaded.
        disk: Bytes of disk that it takes at most, import and all.
        licence: Its identifier; empty where it is not known.
    """
    download, disk_ = megabytes(nbytes), megabytes(disk)
    if not licence:
        return f"{label} is a download of {download} and takes up to {disk_} of disk; its page tells no licence"
    return f"{label} is a download of {download} and takes up to {disk_} of disk, under the licence {licence}"


def _see_architecture(repository: Repository, selection: Selection) -> None:
    """Refuse what the import would refuse, before gigabytes come, as far as the hub tells it."""
    known: Container[str] = ()
    named = repository.gguf_architecture if selection.kind == "gguf" else repository.architecture
    if named and selection.kind == "gguf":
        known = ARCHITECTURES
    elif named and selection.kind == "safetensors":
        # Imported here: it takes seconds; the import after the download needs it anyway.
        from transformers.models.auto.modeling_auto import MODEL_FOR_CAUSAL_LM_MAPPING_NAMES  # noqa: PLC0415

        known = MODEL_FOR_CAUSAL_LM_MAPPING_NAMES
    else:
        return
    if named not in known:
        raise HubFailure(
            "unsupported",
            f"The model {repository.id} is of the architecture {named}, which is not supported; get another model.",
        )


def _agree(selection: Selection, candidate: Candidate) -> None:
    """See that the hub speaks of the files that the catalogue knows."""
    for file in selection.files:
        known = candidate.sha256.get(file.path, file.sha256)
        if known != file.sha256:
            raise HubFailure(
                "checksum",
                f"The hub has another file in the place of {file.name} than Loquat's catalogue knows; "
                "check HF_ENDPOINT, or get the model from another repository.",
                f"{file.sha256} != {known}",
            )


def _see_licence(hub: Hub, repository: Repository, candidate: Candidate) -> None:
    """Ask for a yes where the licence wants one."""
    known = candidate.licence
    if not (known.accept if known else needs_acceptance(repository.licence, repository.gated)):
        return
    name = known.label if known else (repository.licence or "terms of its own")
    where = (known.url if known else repository.licence_link) or hub.page(repository.id)
    raise HubFailure(
        "licence",
        f"{candidate.label} comes under {name}; read it at {where}, and if you accept it, "
        "get the model once more with --accept-licence.",
        where,
    )
