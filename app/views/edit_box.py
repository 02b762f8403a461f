"""A question being asked in other words, in its own place."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from app.attachments import fits_field
from app.draft import Draft
from app.i18n import translate
from app.live import DraftCost
from app.theme import Theme
from app.views.attached_files import AttachedFiles
from app.views.controls import make_push_button, show_property
from app.views.cost_line import CostLine, Saying, edit_saying
from app.views.editor import MessageEditor


def _hint() -> Saying:
    return Saying((translate("edit_box", "Ctrl+Enter sends, Esc keeps it as it was"), _keys()))


def _keys() -> str:
    return translate("edit_box", "Ctrl+Enter sends")


class EditBox(QFrame):
    """Holds text and files until it is told that they were taken; an unchanged question is given up.

    Args:
        asked: The question as it was asked.
        draft: What stands in the box at first.
    """

    submitted = Signal(object)  # Draft
    cancelled = Signal()
    changed = Signal(object)  # Draft
    height_changed = Signal()

    def __init__(self, theme: Theme, asked: Draft, draft: Draft, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("composer")
        self._asked = asked
        self._column = QVBoxLayout(self)
        self._note = CostLine(theme, self)
        self._note.say(_hint())
        self._files = AttachedFiles(theme, self)
        self._files.refused.connect(lambda sentence: self._note.say(Saying((sentence,), warning=True)))
        self._files.set_attachments(draft.attachments)
        self._editor = MessageEditor(theme, translate("edit_box", "Your question in other words"), self)
        self._begin(draft.text)
        self._send = make_push_button(theme, translate("edit_box", "Send"), self, primary=True)
        self._cancel = make_push_button(theme, translate("edit_box", "Cancel"), self)
        self._lay_out(theme)
        self._editor.submitted.connect(self._submit)
        self._editor.escaped.connect(self.cancelled)
        self._editor.height_changed.connect(self.height_changed)
        self._editor.overlong.connect(self._attach)
        self._editor.textChanged.connect(self._changed)
        self._files.changed.connect(self._changed)
        self._files.changed.connect(self.height_changed)
        self._files.left.connect(self._editor.setFocus)
        self._editor.focus_changed.connect(self._mark_focus)
        self._send.setEnabled(bool(self.draft))
        self._send.clicked.connect(self._submit)
        self._cancel.clicked.connect(self.cancelled)

    @property
    def editor(self) -> MessageEditor:
        """The field."""
        return self._editor

    @property
    def files(self) -> AttachedFiles:
        """The files that go with the question."""
        return self._files

    @property
    def draft(self) -> Draft:
        """Text and files as they are now."""
        return Draft(self._editor.toPlainText(), self._files.attachments)

    @property
    def send_button(self) -> QPushButton:
        """Asks in these words."""
        return self._send

    @property
    def cancel_button(self) -> QPushButton:
        """Keeps the question as it was."""
        return self._cancel

    @property
    def note(self) -> str:
        """What stands beside the buttons."""
        return self._note.text

    def show_cost(self, cost: DraftCost) -> None:
        """Say what asking in these words would cost, beside the key that does it."""
        said = edit_saying(cost)
        self._files.show_cost(cost, len(self._editor.toPlainText()))
        self._note.say(Saying((f"{_keys()} · {said.wordings[0]}", *said.wordings), said.warning))

    def height_for(self, width: int) -> int:
        """Lay out for a width and tell the height that takes."""
        self.resize(width, self.height())
        self._column.activate()
        return self.sizeHint().height()

    def _begin(self, text: str) -> None:
        """Write what was asked; where it is too long to be typed in, as an imported question may be, it is a file."""
        if not fits_field(text):
            self._attach(text)
            return
        self._editor.setPlainText(text)
        self._editor.move_to_end()

    def _attach(self, text: str) -> None:
        self._files.add_pasted(text, as_text=False, revision=self._editor.document().revision())

    def _lay_out(self, theme: Theme) -> None:
        bottom = QHBoxLayout()
        bottom.setSpacing(8)
        bottom.addWidget(self._note, 1)
        bottom.addWidget(self._cancel)
        bottom.addWidget(self._send)
        column = self._column
        column.setContentsMargins(16, 14, 12, 12)
        column.setSpacing(8)
        column.addWidget(self._files)
        column.addWidget(self._editor)
        column.addLayout(bottom)

    def _submit(self) -> None:
        draft = self.draft
        if draft == self._asked:
            self.cancelled.emit()
        elif draft:
            self.submitted.emit(draft)

    def _changed(self) -> None:
        draft = self.draft
        self._send.setEnabled(bool(draft))
        self.changed.emit(draft)

    def _mark_focus(self, focused: bool) -> None:
        show_property(self, "focused", focused)
