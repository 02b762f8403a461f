"""All assistants at the left, the one that is chosen at the right: written, copied, deleted and brought back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import QDialog, QHBoxLayout, QListWidget, QListWidgetItem, QVBoxLayout, QWidget

from app.assistants import Assistant
from app.i18n import translate
from app.records import new_id
from app.theme import Theme
from app.views.assistant_editor import AssistantEditor
from app.views.controls import Label, QuietButton
from app.views.dialogs import fit, make_button

_SIZE: Final = QSize(820, 640)
_LIST_WIDTH: Final = 230
_NARROWEST: Final = 140


class AssistantsDialog(QDialog):
    """Shows the assistants and emits what the person does with them; they come back by `show_assistants`.

    Args:
        assistants: All, the shipped ones first.
        models: Names and labels of the models that are installed.
    """

    put = Signal(object)  # Assistant: new, or in another form
    removed = Signal(str)  # its id
    brought_back = Signal(object, int)  # Assistant, its place among one's own
    chat_requested = Signal(str)  # begin a chat with this one

    def __init__(
        self,
        theme: Theme,
        assistants: Sequence[Assistant],
        models: Mapping[str, str],
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.setObjectName("sheet")
        self.setWindowTitle(translate("assistants_dialog", "Assistants"))
        self._theme = theme
        self._assistants: tuple[Assistant, ...] = ()
        self._deleted: tuple[Assistant, int] | None = None
        self.list = QListWidget(self)
        self.editor = AssistantEditor(theme, models, self)
        self.new_button = make_button(theme, translate("assistants_dialog", "New"), self)
        self.duplicate_button = make_button(theme, translate("assistants_dialog", "Duplicate"), self)
        self.delete_button = make_button(theme, translate("assistants_dialog", "Delete"), self)
        self.close_button = make_button(theme, translate("assistants_dialog", "Close"), self)
        self.chat_button = make_button(theme, translate("assistants_dialog", "New chat"), self, primary=True)
        self._undo_line = Label(theme, "", "small", "muted")
        words = translate("assistants_dialog", "Undo")
        self.undo_button = QuietButton(theme, words, translate("assistants_dialog", "Bring the assistant back"), self)
        self._lay_out()
        fit(self, QSize(theme.wide(_SIZE.width()), theme.wide(_SIZE.height())))
        self._connect()
        self._show_deleted(None)
        self.show_assistants(assistants)
        self.list.setCurrentRow(0)

    @property
    def undo_text(self) -> str:
        """What was deleted, while it can be brought back."""
        return self._undo_line.text()

    def show_assistants(self, assistants: Sequence[Assistant]) -> None:
        """Show all; the one that was chosen stays chosen while it is there."""
        chosen, row = self._chosen_id(), self.list.currentRow()
        self._assistants = tuple(assistants)
        self.list.blockSignals(True)
        self.list.clear()
        for assistant in self._assistants:
            self._add(assistant)
        self.list.blockSignals(False)
        ids = [assistant.id for assistant in self._assistants]
        self.list.setCurrentRow(ids.index(chosen) if chosen in ids else max(0, min(row, len(ids) - 1)))
        self._show_chosen()

    def select(self, assistant_id: str) -> None:
        """Choose one."""
        ids = [assistant.id for assistant in self._assistants]
        if assistant_id in ids:
            self.list.setCurrentRow(ids.index(assistant_id))

    def _add(self, assistant: Assistant) -> None:
        item = QListWidgetItem(self._theme.icon(assistant.drawing, "muted"), assistant.name, self.list)
        item.setData(Qt.ItemDataRole.UserRole, assistant.id)
        item.setSizeHint(QSize(0, self._theme.line(36)))

    def _chosen_id(self) -> str:
        item = self.list.currentItem()
        return str(item.data(Qt.ItemDataRole.UserRole)) if item is not None else ""

    def _chosen(self) -> Assistant | None:
        return next((assistant for assistant in self._assistants if assistant.id == self._chosen_id()), None)

    def _show_chosen(self) -> None:
        assistant = self._chosen()
        if assistant is not None:
            self.editor.show_assistant(assistant)
            self.delete_button.setVisible(not assistant.builtin)

    def _connect(self) -> None:
        self.list.currentRowChanged.connect(lambda _row: self._show_chosen())
        self.editor.edited.connect(self._take)
        self.new_button.clicked.connect(self._make_new)
        self.duplicate_button.clicked.connect(self._duplicate)
        self.delete_button.clicked.connect(self._delete)
        self.undo_button.clicked.connect(self._bring_back)
        self.close_button.clicked.connect(self.accept)
        self.chat_button.clicked.connect(self._begin_chat)
        self.list.itemActivated.connect(lambda _item: self._begin_chat())

    def _take(self, assistant: Assistant) -> None:
        """Keep what was written; the list follows without being made anew under the person's hands."""
        item = self.list.currentItem()
        if item is not None:
            item.setText(assistant.name)
            item.setIcon(self._theme.icon(assistant.drawing, "muted"))
        self._assistants = tuple(assistant if held.id == assistant.id else held for held in self._assistants)
        self.put.emit(assistant)

    def _make_new(self) -> None:
        self._add_own(Assistant(name=self._free_name(translate("assistants_dialog", "New assistant"))))

    def _duplicate(self) -> None:
        assistant = self._chosen()
        if assistant is not None:
            name = self._free_name(assistant.name)
            self._add_own(replace(assistant, id=new_id(), name=name, builtin=False))

    def _add_own(self, assistant: Assistant) -> None:
        self.put.emit(assistant)
        self.select(assistant.id)
        self.editor.name_field.setFocus()
        self.editor.name_field.selectAll()

    def _free_name(self, name: str) -> str:
        """The name, with a number where it is taken."""
        taken = {assistant.name for assistant in self._assistants}
        numbered = (f"{name} {number}" for number in range(2, len(taken) + 3))
        return name if name not in taken else next(other for other in numbered if other not in taken)

    def _delete(self) -> None:
        assistant = self._chosen()
        if assistant is None or assistant.builtin:
            return
        own = [held.id for held in self._assistants if not held.builtin]
        self._show_deleted((assistant, own.index(assistant.id)))
        self.removed.emit(assistant.id)
        self.list.setFocus()

    def _bring_back(self) -> None:
        if self._deleted is not None:
            assistant, place = self._deleted
            self._show_deleted(None)
            self.brought_back.emit(assistant, place)
            self.select(assistant.id)

    def _show_deleted(self, deleted: tuple[Assistant, int] | None) -> None:
        self._deleted = deleted
        sentence = translate("assistants_dialog", "Deleted “{name}”.")
        self._undo_line.setText(sentence.format(name=deleted[0].name) if deleted else "")
        self.undo_button.setVisible(deleted is not None)

    def _begin_chat(self) -> None:
        self.chat_requested.emit(self._chosen_id())
        self.accept()

    def _lay_out(self) -> None:
        self.list.setObjectName("assistants")
        self.list.setFont(self._theme.font("list"))
        self.list.setIconSize(QSize(18, 18))
        self.list.setAccessibleName(translate("assistants_dialog", "Assistants"))
        left = QVBoxLayout()
        left.setSpacing(8)
        left.addWidget(self.list, 1)
        left.addWidget(self.new_button)
        self.list.setMinimumWidth(_NARROWEST)
        self.list.setMaximumWidth(self._theme.wide(_LIST_WIDTH))
        middle = QHBoxLayout()
        middle.setSpacing(24)
        middle.addLayout(left, 2)
        middle.addWidget(self.editor, 5)
        column = QVBoxLayout(self)
        column.setContentsMargins(24, 22, 24, 18)
        column.setSpacing(14)
        column.addWidget(Label(self._theme, translate("assistants_dialog", "Assistants"), "heading2"))
        column.addLayout(middle, 1)
        column.addLayout(self._bottom())

    def _bottom(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setSpacing(8)
        row.addWidget(self.duplicate_button)
        row.addWidget(self.delete_button)
        row.addWidget(self._undo_line)
        row.addWidget(self.undo_button)
        row.addStretch(1)
        row.addWidget(self.close_button)
        row.addWidget(self.chat_button)
        return row
