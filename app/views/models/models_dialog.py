"""The models: at the left those of this machine, downloads, the catalogue and the hub; at the right the chosen one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent, QDragEnterEvent, QDropEvent, QKeyEvent
from PySide6.QtWidgets import QDialog, QHBoxLayout, QVBoxLayout, QWidget

from app.attachments import local_paths
from app.i18n import translate
from app.model_offers import HubQuestion, ModelOffer, Shelf, Task
from app.theme import Theme
from app.views.controls import Label
from app.views.dialogs import fit, make_button
from app.views.line_edit import LineEdit
from app.views.models import model_rows
from app.views.models.model_details import ModelDetails, Said
from app.views.models.model_facts import Thing, base_for_adapter
from app.views.models.row_view import ModelRows
from engine.events import InstalledModel

_SIZE: Final = QSize(1000, 720)
_LIST_WIDTH: Final = 380
_NARROWEST: Final = 200
_CHANGES_NOTHING: Final = ("rename", "default", "reveal")  # in what was found out about a model
_PASSED_ON: Final = {Qt.Key.Key_Up: -1, Qt.Key.Key_Down: 1, Qt.Key.Key_PageUp: -6, Qt.Key.Key_PageDown: 6}


class _Search(LineEdit):
    """Up and Down go through the list while one types; Enter does what the chosen row offers."""

    stepped = Signal(int)
    entered = Signal()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        step = _PASSED_ON.get(Qt.Key(event.key()), 0)
        if step and not self.composing:
            self.stepped.emit(step)
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and not self.composing:
            self.entered.emit()
        elif event.key() == Qt.Key.Key_Escape and self.text() and not self.composing:
            self.clear()
        else:
            super().keyPressEvent(event)


class ModelsDialog(QDialog):
    """Shows a `Shelf`, and emits what the person wants; what becomes of it comes back by `show_shelf` and `say`."""

    get_requested = Signal(object)  # Task
    resume_requested = Signal(str, bool)  # task's id; whether its licence was accepted
    pause_requested = Signal(str)
    cancel_requested = Signal(str)
    search_requested = Signal(str)
    look_up_requested = Signal(str)  # repository
    load_requested = Signal(str)
    reload_requested = Signal()
    default_requested = Signal(str)
    rename_requested = Signal(object)  # InstalledModel
    remove_requested = Signal(object)  # InstalledModel
    check_requested = Signal(str)
    template_requested = Signal(str, bool)  # model, whether it is Loquat's plain one
    reveal_requested = Signal(str)  # folder
    adapter_requested = Signal(str, str, str)  # model, "on"/"off"/"remove", adapter
    adapter_folder_requested = Signal(str)  # model
    draft_requested = Signal(str, str)  # model, draft
    token_given = Signal(str, str)  # token, id of the task that wants it
    link_activated = Signal(str)
    file_requested = Signal()
    folder_requested = Signal()
    paths_dropped = Signal(object, str)  # tuple of Path; the model that is chosen, or empty

    def __init__(self, theme: Theme, shelf: Shelf, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("sheet")
        self.setWindowTitle(translate("models_dialog", "Models"))
        self.setAcceptDrops(True)
        self._theme = theme
        self._shelf = shelf
        self._said: Said | None = None
        self._awaited = ""  # the id of a row that is to be chosen as soon as it is there
        self.search_field = _Search(self)
        self.list = ModelRows(theme, self)
        self.details = ModelDetails(theme, self)
        self.file_button = make_button(theme, translate("models_dialog", "Use a model file…"), self)
        self.folder_button = make_button(theme, translate("models_dialog", "Use a model folder…"), self)
        self.close_button = make_button(theme, translate("models_dialog", "Close"), self)
        self._lay_out()
        fit(self, QSize(theme.wide(_SIZE.width()), theme.wide(_SIZE.height())))
        self._connect()
        self.show_shelf(shelf)
        self.list.pick(model_rows.INSTALLED + shelf.loaded)
        self.search_field.setFocus()

    @property
    def said(self) -> str:
        """What was said last of the thing that is chosen."""
        return self.details.said

    def show_shelf(self, shelf: Shelf) -> None:
        """Show what there is now; what is chosen stays chosen, also where a download becomes a model."""
        self._shelf = shelf
        self.list.show_rows(model_rows.rows_of(shelf, self.search_field.text()))
        if self._awaited:
            self.pick(self._awaited)
        self._show_chosen()

    def pick(self, row_id: str) -> None:
        """Choose something, now or as soon as it is there; what is typed goes where it would hide that."""
        self._awaited = ""
        if self.list.pick(row_id):
            return
        if row_id in [row.id for row in model_rows.rows_of(self._shelf, "")]:
            self.search_field.clear()
            self.list.pick(row_id)
        else:
            self._awaited = row_id

    def say(self, row_id: str, sentence: str, warning: bool = False, rest: str = "", *, lasting: bool = False) -> None:
        """Say something of a thing in the list, where it stands; a screen reader is told of it at once."""
        self._said = Said(row_id, sentence, warning, rest, lasting)
        self._show_chosen()
        QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self, f"{sentence}\n{rest}".strip()))

    # -- what is chosen ----------------------------------------------------------------------------------------

    def _thing(self, row_id: str) -> Thing | None:
        kind, _, name = row_id.partition(":")
        shelf = self._shelf
        places: dict[str, Callable[[], Thing | None]] = {
            "installed": lambda: next((each for each in shelf.installed if each.name == name), None),
            "task": lambda: next((each for each in shelf.tasks if each.id == name), None),
            "offer": lambda: next((each for each in shelf.catalogue or () if each.name == name), None),
            "search": lambda: HubQuestion(name),
            "look": lambda: HubQuestion(name, repository=True),
            "found": lambda: next((each for each in shelf.found if each.repo == name), None),
        }
        return places[kind]() if kind in places else None

    def _show_chosen(self) -> None:
        row_id = self.list.current_id
        said = self._said if self._said is not None and self._said.row_id == row_id else None
        self.details.show_thing(row_id, self._thing(row_id), self._shelf, said)

    def _typed(self) -> None:
        self._awaited = ""
        self.list.show_rows(model_rows.rows_of(self._shelf, self.search_field.text()))
        self._show_chosen()

    def _enter(self) -> None:
        """Ask the hub where the row offers that; else bring the keyboard to what can be done."""
        if isinstance(self.details.thing, HubQuestion):
            self._ask(self.details.thing)
        elif (button := self.details.primary) is not None and button.isEnabled():
            button.setFocus(Qt.FocusReason.TabFocusReason)

    # -- what the person wants ---------------------------------------------------------------------------------

    def _want(self, action: str) -> None:
        if not (self._said is not None and self._said.lasting and action in _CHANGES_NOTHING):
            self._said = None
        thing = self.details.thing
        match thing:
            case InstalledModel():
                self._want_of_installed(action, thing)
            case Task():
                self._want_of_task(action, thing)
            case ModelOffer():
                self._want_of_offer(action, thing)
            case HubQuestion():
                self._ask(thing)

    def _ask(self, question: HubQuestion) -> None:
        wish = self.look_up_requested if question.repository else self.search_requested
        wish.emit(question.text)

    def _want_of_installed(self, action: str, model: InstalledModel) -> None:
        match action:
            case "load":
                self.load_requested.emit(model.name)
            case "reload":
                self.reload_requested.emit()
            case "default":
                self.default_requested.emit(model.name)
            case "rename":
                self.rename_requested.emit(model)
            case "check":
                self.check_requested.emit(model.name)
            case "plain" | "own":
                self.template_requested.emit(model.name, action == "plain")
            case "reveal":
                self.reveal_requested.emit(model.folder)
            case "delete":
                self.remove_requested.emit(model)

    def _want_of_task(self, action: str, task: Task) -> None:
        match action:
            case "resume":
                self.resume_requested.emit(task.id, self.details.terms.accepts)
            case "pause":
                self.pause_requested.emit(task.id)
            case "cancel":
                self.cancel_requested.emit(task.id)

    def _want_of_offer(self, action: str, offer: ModelOffer) -> None:
        match action:
            case "get":
                self.get_requested.emit(self._task_of(offer))
            case "look_up":
                self.look_up_requested.emit(offer.repo)
            case "page":
                self.link_activated.emit(self.details.terms.page)

    def _task_of(self, offer: ModelOffer) -> Task:
        source = self.details.formats.source
        reference, weights = offer.reference, source.weights if source is not None else ""
        if source is not None and source.variant:
            reference = f"{offer.repo}:{source.variant}"
        base = base_for_adapter(self._shelf) if offer.adapter else None
        return Task(
            reference,
            offer.label,
            reference,
            weights,
            accepted=self.details.terms.accepts,
            base=base.name if base is not None else "",
        )

    def _want_of_adapter(self, action: str, adapter: str) -> None:
        self._said = None
        self.adapter_requested.emit(self._chosen_model, action, adapter)

    def _give_token(self, token: str) -> None:
        if isinstance(self.details.thing, Task):
            self.token_given.emit(token, self.details.thing.id)

    @property
    def _chosen_model(self) -> str:
        thing = self.details.thing
        return thing.name if isinstance(thing, InstalledModel) and not thing.server else ""

    # -- files dropped -----------------------------------------------------------------------------------------

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if local_paths(event.mimeData()):
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        paths: tuple[Path, ...] = local_paths(event.mimeData())
        if paths:
            self.paths_dropped.emit(paths, self._chosen_model)
            event.setDropAction(Qt.DropAction.CopyAction)
            event.accept()

    # -- making ------------------------------------------------------------------------------------------------

    def _connect(self) -> None:
        self.search_field.textChanged.connect(lambda _text: self._typed())
        self.search_field.stepped.connect(self._step)
        self.search_field.entered.connect(self._enter)
        self.list.picked.connect(lambda _id: self._show_chosen())
        self.list.activated_id.connect(lambda _id: self._enter())
        self.list.clicked.connect(lambda _index: self._clicked())
        details = self.details
        details.wanted.connect(self._want)
        details.link_activated.connect(self.link_activated)
        details.token_given.connect(self._give_token)
        details.own.add_wanted.connect(lambda: self.adapter_folder_requested.emit(self._chosen_model))
        details.own.adapter_wanted.connect(self._want_of_adapter)
        details.own.draft_wanted.connect(lambda draft: self.draft_requested.emit(self._chosen_model, draft))
        self.file_button.clicked.connect(self.file_requested)
        self.folder_button.clicked.connect(self.folder_requested)
        self.close_button.clicked.connect(self.accept)

    def _step(self, steps: int) -> None:
        self._awaited = ""
        self.list.step(steps)
        self.list.announce()

    def _clicked(self) -> None:
        self._awaited = ""

    def _lay_out(self) -> None:
        field = self.search_field
        field.setObjectName("field")
        field.setFont(self._theme.font("list"))
        field.setMaxLength(200)
        field.setAccessibleName(translate("models_dialog", "Search the models"))
        field.setPlaceholderText(translate("models_dialog", "Search, or OWNER/NAME"))
        left = QVBoxLayout()
        left.setSpacing(8)
        left.addWidget(field)
        left.addWidget(self.list, 1)
        for widget in (field, self.list):
            widget.setMinimumWidth(_NARROWEST)
            widget.setMaximumWidth(self._theme.wide(_LIST_WIDTH))
        middle = QHBoxLayout()
        middle.setSpacing(20)
        middle.addLayout(left, 5)
        middle.addWidget(self.details, 7)
        column = QVBoxLayout(self)
        column.setContentsMargins(24, 20, 24, 16)
        column.setSpacing(14)
        column.addWidget(Label(self._theme, translate("models_dialog", "Models"), "heading2"))
        column.addLayout(middle, 1)
        column.addLayout(self._bottom())

    def _bottom(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setSpacing(8)
        row.addWidget(self.file_button)
        row.addWidget(self.folder_button)
        row.addStretch(1)
        row.addWidget(self.close_button)
        return row
