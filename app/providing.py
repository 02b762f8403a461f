"""The model dialog over the window: opened, fed from the shelf, and what the person wants there carried out."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Qt, QUrl, Signal
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QFileDialog, QWidget

from app.attachments import MODEL_SUFFIX, AdapterFolder, AttachmentReader, ModelFolder, Outcome, Refused
from app.chats import Chats
from app.i18n import as_one_text, translate
from app.live import Notice
from app.model_offers import Shelf, Task
from app.model_shelf import ModelShelf
from app.theme import Theme
from app.views import words
from app.views.dialogs import ConfirmDialog
from app.views.main_window import MainWindow
from app.views.models.model_rows import INSTALLED, TASK
from app.views.models.models_dialog import ModelsDialog
from app.views.models.rename_dialog import RenameDialog
from engine.events import InstalledModel


class Providing(QObject):
    """Opens at most one dialog; what was begun in it goes on when it is closed.

    Args:
        window: Shows how far a download has come.
        shelf: Stays when the window is made anew.
    """

    link_activated = Signal(str)

    def __init__(self, window: MainWindow, chats: Chats, shelf: ModelShelf, *, theme: Theme, parent: QObject) -> None:
        super().__init__(parent)
        self._window = window
        self._chats = chats
        self._shelf = shelf
        self._theme = theme
        self._dialog: ModelsDialog | None = None
        self._reader = AttachmentReader(self)
        self._reading: dict[int, str] = {}
        self._reader.done.connect(self._read)
        shelf.changed.connect(self._show)
        shelf.said.connect(self._say)
        shelf.checked.connect(self._say_found)
        shelf.arrived.connect(self._arrived)
        shelf.show_requested.connect(self.show_dialog)
        window.fetching.cancel_requested.connect(self._pause)
        shelf.shown = False  # a dialog over an earlier window is gone with it
        self._show_running(shelf.shelf)

    @property
    def dialog(self) -> ModelsDialog | None:
        """The dialog that is open."""
        return self._dialog

    def show_dialog(self, row_id: str = "") -> None:
        """Open the dialog, at a thing if one is named."""
        if self._dialog is None:
            self._open()
        if self._dialog is not None and row_id:
            self._dialog.pick(row_id)

    def choose_file(self) -> None:
        """Ask for a model file, import and load it."""
        kinds = translate("providing", "Models (*.gguf);;All files (*)")
        path, _ = QFileDialog.getOpenFileName(self._above, translate("providing", "Use a model file"), "", kinds)
        if path:
            self.add(Path(path))

    def choose_folder(self) -> None:
        """Ask for a model folder, import and load it."""
        path = QFileDialog.getExistingDirectory(self._above, translate("providing", "Use a model folder"))
        if path:
            self.add(Path(path))

    def add(self, path: Path) -> None:
        """Import a model of the person's own, then load it."""
        self._shelf.add(path)
        if self._dialog is not None:
            self._dialog.pick(TASK + str(path))

    def add_adapter(self, folder: Path, model: str = "") -> None:
        """Add an adapter to a model, or to the one that is loaded."""
        name = model or self._shelf.shelf.loaded
        if name:
            self._shelf.adapter(name, "add", str(folder))
            self.show_dialog(INSTALLED + name)
        else:
            self._refuse(translate("providing", "An adapter goes with a model; please load one first."))

    def confirm_removal(self, model: InstalledModel) -> None:
        """Ask before a model is deleted from the disk."""
        loaded = translate("providing", "It is loaded; its memory is given back first.")
        said = translate("providing", "Up to {size} of disk are freed. To use the model again, get or add it again.")
        sentences = (
            loaded if model.name == self._shelf.shelf.loaded else "",
            said.format(size=words.size(model.nbytes)),
        )
        title = translate("providing", "Delete {model}?").format(model=model.label)
        button = translate("providing", "Delete")
        dialog = ConfirmDialog(self._theme, title, as_one_text(sentences), button, self._above)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.accepted.connect(partial(self._chats.models.remove, model.name))
        dialog.open()

    @property
    def _above(self) -> QWidget:
        """What a further dialog opens over."""
        return self._dialog or self._window

    # -- the dialog --------------------------------------------------------------------------------------------

    def _open(self) -> None:
        self._shelf.open()
        dialog = self._dialog = ModelsDialog(self._theme, self._shelf.shelf, self._window)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        queue, models = self._shelf.queue, self._chats.models
        dialog.get_requested.connect(self._get)
        dialog.resume_requested.connect(self._shelf.resume)
        dialog.pause_requested.connect(queue.pause)
        dialog.cancel_requested.connect(queue.cancel)
        dialog.search_requested.connect(self._shelf.search)
        dialog.look_up_requested.connect(self._shelf.look_up)
        dialog.load_requested.connect(self._load)
        dialog.reload_requested.connect(self._chats.reload_model)
        dialog.default_requested.connect(models.set_default)
        dialog.rename_requested.connect(self._rename)
        dialog.remove_requested.connect(self.confirm_removal)
        dialog.check_requested.connect(self._shelf.check)
        dialog.template_requested.connect(self._shelf.use_template)
        dialog.reveal_requested.connect(self._reveal)
        dialog.adapter_requested.connect(self._shelf.adapter)
        dialog.adapter_folder_requested.connect(self._choose_adapter)
        dialog.draft_requested.connect(self._shelf.draft)
        dialog.token_given.connect(self._shelf.keep_token)
        dialog.link_activated.connect(self.link_activated)
        dialog.file_requested.connect(self.choose_file)
        dialog.folder_requested.connect(self.choose_folder)
        dialog.paths_dropped.connect(self._take)
        models.failed.connect(self._models_failed)
        dialog.finished.connect(self._closed)
        self._shelf.shown = True
        dialog.open()

    def _closed(self) -> None:
        self._chats.models.failed.disconnect(self._models_failed)
        self._dialog = None
        self._shelf.shown = False

    def _get(self, task: Task) -> None:
        self._shelf.queue.add(task)
        if self._dialog is not None:
            self._dialog.pick(TASK + task.id)

    def _load(self, name: str) -> None:
        self._chats.load_model(name)
        if self._dialog is not None:
            self._dialog.accept()

    def _reveal(self, folder: str) -> None:
        if not QDesktopServices.openUrl(QUrl.fromLocalFile(folder)):
            sentence = translate("providing", "No file manager could be opened. The model lies here: {folder}")
            self._refuse(sentence.format(folder=folder))

    def _rename(self, model: InstalledModel) -> None:
        dialog = RenameDialog(self._theme, model.label, self._above)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.named.connect(partial(self._chats.models.rename, model.name))
        dialog.open()

    def _choose_adapter(self, model: str) -> None:
        path = QFileDialog.getExistingDirectory(self._above, translate("providing", "Add an adapter"))
        if path:
            self.add_adapter(Path(path), model)

    # -- what was dropped --------------------------------------------------------------------------------------

    def _take(self, paths: tuple[Path, ...], model: str) -> None:
        """Import model files at once; what a folder is, only a look at the disk tells, which may be slow."""
        for path in paths:
            if path.suffix.lower() == MODEL_SUFFIX:
                self.add(path)
            else:
                self._reading[self._reader.start(path)] = model

    def _read(self, number: int, outcome: Outcome) -> None:
        model = self._reading.pop(number)
        match outcome:
            case ModelFolder():
                self.add(outcome.path)
            case AdapterFolder():
                self.add_adapter(outcome.path, model)
            case Refused():
                self._refuse(outcome.sentence)
            case _:
                sentence = translate("providing", "{name} is no model. Please drop a GGUF file or a model's folder.")
                self._refuse(sentence.format(name=outcome.name))

    def _refuse(self, sentence: str) -> None:
        """Say something where the person looks."""
        if self._dialog is not None:
            self._dialog.say(self._dialog.list.current_id, sentence, True)
        else:
            self._chats.notice.emit(Notice(sentence, lapses=True))

    # -- what the shelf says -----------------------------------------------------------------------------------

    def _show(self, shelf: Shelf) -> None:
        self._show_running(shelf)
        if self._dialog is not None:
            self._dialog.show_shelf(shelf)

    def _show_running(self, shelf: Shelf) -> None:
        running = self._shelf.queue.running
        waiting = sum(task.state == "waiting" for task in shelf.tasks)
        self._window.fetching.show_task(running, waiting)

    def _say(self, row_id: str, sentence: str, warning: bool) -> None:
        if self._dialog is not None:
            self._dialog.say(row_id, sentence, warning)
        elif sentence and warning:
            self._chats.notice.emit(Notice(sentence))

    def _say_found(self, row_id: str, wrong: str, rest: str) -> None:
        if self._dialog is not None:
            self._dialog.say(row_id, wrong or rest, bool(wrong), rest if wrong else "", lasting=True)
        elif wrong:
            self._chats.notice.emit(Notice(wrong))

    def _models_failed(self, sentence: str, _detail: str) -> None:
        if self._dialog is not None:
            self._dialog.say(self._dialog.list.current_id, sentence, True)

    def _arrived(self, name: str) -> None:
        if self._dialog is not None:
            self._dialog.pick(INSTALLED + name)

    def _pause(self) -> None:
        task = self._shelf.queue.running
        if task is not None and task.kind == "get":
            self._shelf.queue.pause(task.id)
        elif task is not None:
            self._shelf.queue.cancel(task.id)
