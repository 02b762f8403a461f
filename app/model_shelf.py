"""Everything that is known of models: those here, those on their way, the catalogue, and what the hub was asked for."""

from __future__ import annotations

import threading
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Final

from PySide6.QtCore import QObject, Signal

from app.chats import Chats
from app.i18n import translate
from app.live import ModelState, Notice
from app.model_jobs import FOUND_EXIT, ModelJob, ModelJobs
from app.model_offers import Failure, ModelOffer, Shelf, Task, offers
from app.model_queue import ModelQueue
from engine.errors import EngineError
from engine.keys import Keys
from engine.templates.plain import TemplateKind

HUB_KEY: Final = "hub"  # the name under which the commands look a token up in the keyring


class ModelShelf(QObject):
    """Stays when the window is made anew, and does what a dialog over it wants. Nothing goes online unasked.

    Args:
        chats: Knows the models of this machine, and loads them.
        keys: Keep the access token of the hub.

    Attributes:
        jobs: The commands.
        queue: Downloads and imports.
        shown: Whether a dialog shows the shelf: what comes of a download is said there, and else in a notice.
    """

    changed = Signal(object)  # Shelf
    said = Signal(str, str, bool)  # a row's id, a sentence about it, whether it is a warning
    checked = Signal(str, str, str)  # a row's id, what is wrong with it, what else was found
    arrived = Signal(str)  # name of a model that is here now
    show_requested = Signal(str)  # id of a row: a notice offers to look at it
    _token_kept = Signal(str, str, str)  # the token if no keyring keeps it, a warning, the task that waits for it

    def __init__(self, chats: Chats, keys: Keys, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._chats = chats
        self._keys = keys
        self._shelf = Shelf()
        self._search: ModelJob | None = None
        self._reads_catalogue = False
        self.shown = False
        self.jobs = ModelJobs(self)
        self.queue = ModelQueue(self.jobs, self)
        self.queue.changed.connect(lambda tasks: self._set(tasks=tasks))
        self.queue.done.connect(self._task_done)
        self.queue.failed.connect(self._task_failed)
        chats.models.changed.connect(lambda models: self._set(installed=models))
        chats.model_changed.connect(self._model_changed)
        self._token_kept.connect(self._go_on_with_token)

    @property
    def shelf(self) -> Shelf:
        """All of it as it is now."""
        return self._shelf

    def open(self) -> None:
        """Look again at what there is on this machine; none of this goes online."""
        self._chats.models.refresh()
        self._set(loaded=self._loaded, installed=self._chats.models.models)
        self.queue.read()
        self.read_catalogue()

    def read_catalogue(self) -> None:
        """Ask what could be had, and how it would go here."""
        if self._reads_catalogue:
            return
        self._reads_catalogue = True
        info = self._chats.model.info
        freed = ("--freed", str(info.weight_bytes)) if info is not None and info.weight_bytes else ()
        self.jobs.run(("models", "catalogue", *freed, "--json"), self._catalogue_read, self._catalogue_failed)

    def close(self) -> None:
        """End the commands: downloads are paused. At the end of the program."""
        self.jobs.close()

    # -- the hub -----------------------------------------------------------------------------------------------

    def search(self, text: str) -> None:
        """Ask the hub for models. This goes online."""
        self._ask(text, ("models", "search", "--json", "--", text), complete=False)

    def look_up(self, repository: str) -> None:
        """Ask the hub for one repository. This goes online."""
        kept = self._shelf.searched if any(offer.repo == repository for offer in self._shelf.found) else repository
        self._ask(kept, ("models", "show", "--json", "--", repository), complete=True)

    def _ask(self, text: str, arguments: tuple[str, ...], complete: bool) -> None:
        if self._search is not None:
            self._search.pause()
        self._set(searching=text)
        job = self.jobs.run(
            arguments,
            lambda value: self._answered(job, text, offers(value, complete)),
            lambda failure: self._refused(job, text, failure),
        )
        self._search = job

    def _answered(self, job: ModelJob, text: str, found: tuple[ModelOffer, ...]) -> None:
        if job is not self._search:
            return
        self._search = None
        known = {offer.repo: offer for offer in self._shelf.found} if text == self._shelf.searched else {}
        self._set(searching="", searched=text, trouble=self._trouble("hub", None))
        self._set(found=tuple((known | {offer.repo: offer for offer in found}).values()))

    def _refused(self, job: ModelJob, text: str, failure: Failure) -> None:
        if job is self._search:
            self._search = None
            trouble = self._trouble("hub", failure if failure.kind != "cancelled" else None)
            self._set(searching="", searched=text, trouble=trouble)

    # -- what is done with a model -----------------------------------------------------------------------------

    def add(self, path: Path) -> None:
        """Import a model file or folder of the person's own, then load it."""
        self.queue.add(Task(str(path), path.name, str(path), kind="add", loads=True))

    def resume(self, task_id: str, accepted: bool = False) -> None:
        """Go on with a task, its licence accepted if that is said."""
        task = self.queue.get(task_id)
        if task is not None:
            self.queue.add(replace(task, accepted=task.accepted or accepted, failure=None))

    def check(self, name: str) -> None:
        """Say whether a model's chat template and tokenizer are sound."""
        self._run(name, ("models", "check", name, "--json"), translate("model_shelf", "Checks the model…"))

    def use_template(self, name: str, plain: bool) -> None:
        """Write a model's chats in Loquat's plain form from now on, or with its own template again; and load it so."""
        flag = "--use-plain-template" if plain else "--use-own-template"
        self.jobs.run(
            ("models", "check", name, flag, "--json"),
            partial(self._template_chosen, name, plain),
            partial(self._did_not, f"installed:{name}"),
        )

    def _template_chosen(self, name: str, plain: bool, value: dict[str, Any]) -> None:
        self._set(bare=self._shelf.bare - {name} if plain else self._shelf.bare)
        self._did(f"installed:{name}", value)
        if name == self._loaded:
            self._chats.reload_model()

    def adapter(self, name: str, what: str, adapter: str) -> None:
        """Switch an adapter on or off, remove it, or add one; `adapter` is its name, or its folder to be added."""
        self._run(name, ("models", "adapter", what, name, adapter), "")

    def draft(self, name: str, draft: str) -> None:
        """Choose the draft model of a model; "" for none."""
        self._run(name, ("models", "draft", name, draft or "none"), "")

    def keep_token(self, token: str, task_id: str) -> None:
        """Keep the access token of the hub, and try again what it was asked for."""
        # A keyring may ask the person to unlock it: that holds up no window, and the end of the program neither.
        threading.Thread(target=self._keep, args=(token, task_id), name="hub-token", daemon=True).start()

    def _keep(self, token: str, task_id: str) -> None:
        try:
            warning = self._keys.keep(HUB_KEY, token)
        except EngineError as error:
            warning = error.sentence
        self._token_kept.emit(token if warning else "", warning, task_id)

    def _go_on_with_token(self, token: str, warning: str, task_id: str) -> None:
        self.jobs.token = token
        if warning:
            self.said.emit(f"task:{task_id}", warning, False)
        self.resume(task_id)

    def _run(self, name: str, arguments: tuple[str, ...], meanwhile: str) -> None:
        row = f"installed:{name}"
        if meanwhile:
            self.said.emit(row, meanwhile, False)
        self.jobs.run(arguments, partial(self._did, row), partial(self._did_not, row))

    def _did(self, row: str, value: dict[str, Any]) -> None:
        self._chats.models.refresh()
        if value.get("template") == TemplateKind.NONE:
            self._set(bare=self._shelf.bare | {row.removeprefix("installed:")})
        sentences = value.get("sentences")
        said = "\n".join(map(str, sentences)) if isinstance(sentences, list) else str(value.get("sentence", ""))
        if self._chats.model.info is not None and row == f"installed:{self._chats.model.info.name}" and not said:
            said = _at_next_load()
        if isinstance(sentences, list) and isinstance(value.get("findings"), list):
            found = [each for each in value["findings"] if isinstance(each, dict)]
            wrong = [str(each.get("sentence")) for each in found if each.get("serious") is True]
            self.checked.emit(row, "\n".join(wrong), "\n".join(str(each) for each in sentences if each not in wrong))
        else:
            self.said.emit(row, said, value.get("exit_code") == FOUND_EXIT)

    def _did_not(self, row: str, failure: Failure) -> None:
        self._chats.models.refresh()
        self.said.emit(row, failure.sentence, True)

    # -- what comes of it --------------------------------------------------------------------------------------

    def _task_done(self, task: Task, name: str, already: str) -> None:
        self._chats.models.refresh()
        if already:
            self._say_already(name, already)
        if task.base:
            self.said.emit(f"installed:{task.base}", _at_next_load(), False)
        elif (task.loads or self._chats.model.phase in ("none", "failed")) and not (already and name == self._loaded):
            self._chats.load_model(name)
        elif not (self.shown or already):
            said = translate("model_shelf", "{name} is on this machine now.").format(name=task.label)
            load = translate("model_shelf", "Load it")
            self._chats.notice.emit(Notice(said, "", load, partial(self._chats.load_model, name), lapses=True))
        self.arrived.emit(name)

    def _say_already(self, name: str, label: str) -> None:
        """Say that a file of the person's own is a model of this machine, whatever the file is called."""
        sentence = translate("model_shelf", "This is {model}, which is here already.").format(model=label)
        if self.shown:
            self.said.emit(f"installed:{name}", sentence, False)
        else:
            self._chats.notice.emit(Notice(sentence, lapses=True))

    def _task_failed(self, task: Task) -> None:
        if not self.shown and task.failure is not None:
            look = partial(self.show_requested.emit, f"task:{task.id}")
            show = translate("model_shelf", "Show it")
            self._chats.notice.emit(Notice(task.failure.sentence, task.failure.detail, show, look))

    def _catalogue_read(self, value: dict[str, Any]) -> None:
        self._reads_catalogue = False
        self._set(catalogue=offers(value), trouble=self._trouble("catalogue", None))

    def _catalogue_failed(self, failure: Failure) -> None:
        self._reads_catalogue = False
        self._set(trouble=self._trouble("catalogue", failure))

    def _model_changed(self, state: ModelState) -> None:
        """Know which model answers; where it has no chat template, offer Loquat's plain one."""
        info, before = state.info, self._shelf.loaded
        self._set(loaded=self._loaded)
        if state.phase != "ready" or info is None or info.template is not TemplateKind.NONE or info.name == before:
            return
        self._set(bare=self._shelf.bare | {info.name})
        sentence = translate(
            "model_shelf", "{model} is a base model without a chat template. Its chats can be written in a plain form."
        )
        use = translate("model_shelf", "Use the plain form")
        do = partial(self.use_template, info.name, plain=True)
        self._chats.notice.emit(Notice(sentence.format(model=info.label), "", use, do, of_model=info.name))

    def _trouble(self, of: str, failure: Failure | None) -> dict[str, Failure]:
        others = {name: known for name, known in (self._shelf.trouble or {}).items() if name != of}
        return others if failure is None else {**others, of: failure}

    @property
    def _loaded(self) -> str:
        return self._chats.model.info.name if self._chats.model.info is not None else ""

    def _set(self, **values: Any) -> None:  # noqa: ANN401 - the fields of Shelf
        shelf = replace(self._shelf, **values)
        if shelf != self._shelf:
            self._shelf = shelf
            self.changed.emit(shelf)


def _at_next_load() -> str:
    return translate("model_shelf", "This takes effect when the model is loaded again.")
