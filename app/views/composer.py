"""Where questions are written: files, text, what sending will cost, Send, Queue or Stop."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from PySide6.QtCore import QEvent, QMimeData, Qt, Signal
from PySide6.QtGui import QGuiApplication, QKeyEvent, QKeySequence, QResizeEvent
from PySide6.QtWidgets import QFileDialog, QFrame, QHBoxLayout, QVBoxLayout, QWidget

from app.attachments import LONG_PASTE, DropKind, fits_field, images_refused, kind_of_drop, local_paths
from app.history import QuestionHistory
from app.i18n import translate
from app.live import DraftCost
from app.palette import PaletteEntry
from app.records import Attachment
from app.theme import Theme
from app.views.assistant_button import AssistantButton
from app.views.attached_files import AttachedFiles
from app.views.attachment_chip import AttachmentChip
from app.views.controls import QuietButton, make_push_button, show_property
from app.views.cost_line import CostLine, Saying, cost_saying
from app.views.drop_hint import DropHint
from app.views.editor import QuestionEditor
from app.views.queued_line import QueuedLine
from app.views.slash_menu import SlashMenu

_PLAIN_PASTE: Final = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier  # with V
_NARROW: Final = 480  # pixels; below this width the buttons say less


class Composer(QFrame):
    """The question being written. Emits what the person wants; keeps the text until it is told that it was taken.

    Attributes:
        queued_line: The question that waits for the answer being written.
        files: The files that go with the question.
        editor: The field.
        slash_menu: The commands after a "/".
        attach_button: Asks for files.
        assistant_button: Names the assistant; its menu belongs above it.
        cost_line: What sending costs.
        button: Send; while an answer is being written Queue, or Stop if nothing is written.
        stop_button: Stop beside Queue.
        drop_hint: What dropping will do.
    """

    send_requested = Signal(str, object)  # text, tuple of Attachment; while an answer is written: to be queued
    stop_requested = Signal()
    edited = Signal(str, object)  # text and tuple of Attachment as they are now
    queued_taken_back = Signal()
    assistant_menu_requested = Signal()
    command_chosen = Signal(str, str)  # id, argument
    command_unknown = Signal(str)  # the word after the "/" that is none; what is written stays
    model_dropped = Signal(object)  # Path of a model file or folder
    adapter_dropped = Signal(object)  # Path of an adapter's folder
    refused = Signal(str)  # why something was not attached, in one sentence
    paged = Signal(int)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("composer")
        self._busy = False
        self._setting = False  # whether the field is being filled by the program
        self._written = False  # whether the person changed what the program filled in
        self._cost: DraftCost | None = None
        self._history = QuestionHistory()
        self.queued_line = QueuedLine(theme, self)
        self.files = AttachedFiles(theme, self)
        name = translate("composer", "Your question")
        self.editor = QuestionEditor(theme, name, self._take_key, self.take_mime, self)
        self.editor.setPlaceholderText(translate("composer", "Ask anything. Drop a file to talk about it."))
        self.slash_menu = SlashMenu(theme, self)
        self.cost_line = CostLine(theme, self)
        self.attach_button = QuietButton(
            theme, translate("composer", "Attach"), translate("composer", "Attach text files"), self
        )
        self.assistant_button = AssistantButton(theme, self)
        self.stop_button = make_push_button(theme, translate("composer", "Stop"), self)
        self.stop_button.setAccessibleName(translate("composer", "Stop the answer (Esc)"))
        self.stop_button.setToolTip(self.stop_button.accessibleName())
        self.button = make_push_button(theme, "", self, primary=True)
        self.drop_hint = DropHint(theme, self)
        self._lay_out()
        self._connect()
        self._refresh()

    def _connect(self) -> None:
        self.editor.submitted.connect(self._submit)
        self.editor.holds_undo = lambda: self.files.holds_paste(self.editor.document().revision())
        self.editor.textChanged.connect(self._text_changed)
        self.editor.paged.connect(self.paged)
        self.editor.dragged.connect(self.show_drag)
        self.editor.focus_changed.connect(self._mark_focus)
        self.editor.overlong.connect(self._attach_text)
        self.button.clicked.connect(self._press)
        self.stop_button.clicked.connect(self._press_stop)
        self.attach_button.clicked.connect(self.choose_files)
        self.assistant_button.clicked.connect(self.assistant_menu_requested)
        self.queued_line.taken_back.connect(self._take_back)
        self.files.changed.connect(self._files_changed)
        self.files.chip_added.connect(self._place_in_tab_order)
        self.files.refused.connect(self.refused)
        self.files.model_found.connect(self.model_dropped)
        self.files.adapter_found.connect(self.adapter_dropped)
        self.files.text_wanted.connect(self.type)
        self.files.left.connect(self.focus_editor)
        self.slash_menu.command_chosen.connect(self._run_command)
        self.slash_menu.completed.connect(self.editor.replace_all)
        self.slash_menu.open_changed.connect(self._menu_changed)

    # -- what is written ---------------------------------------------------------------------------------------

    @property
    def text(self) -> str:
        """What is written so far."""
        return self.editor.toPlainText()

    @property
    def attachments(self) -> tuple[Attachment, ...]:
        """The files that have been read so far."""
        return self.files.attachments

    def set_draft(self, text: str, attachments: Sequence[Attachment] = ()) -> None:
        """Show the draft of a chat in place of what is there; `edited` is not emitted."""
        self._setting = True
        self.files.set_attachments(attachments)
        self.set_text(text)
        self._setting = self._written = False
        self._history.reset()
        self.slash_menu.follow("")
        self.show_cost(None)

    def set_text(self, text: str) -> None:
        """Replace what is written; the text cursor goes to its end."""
        self.editor.setPlainText(text)
        self.editor.move_to_end()

    def type(self, text: str) -> None:
        """Write text at the cursor and put the keyboard into the field."""
        self.editor.insertPlainText(text)
        self.editor.ensureCursorVisible()
        self.focus_editor()

    def clear(self) -> None:
        """Empty the field and take the files off: the question was taken."""
        self.set_draft("")
        self.edited.emit("", ())

    def set_history(self, questions: Sequence[str]) -> None:
        """Take the questions of the chat, oldest first, which Up calls back; those that the field can hold."""
        self._history.set_questions([question for question in questions if fits_field(question)])

    def set_commands(self, entries: Sequence[PaletteEntry]) -> None:
        """Offer these after a "/"."""
        self.slash_menu.set_commands(entries)

    def attach(self, paths: Sequence[Path]) -> None:
        """Read files and let them go with the question; a model among them is told by `model_dropped`."""
        self.files.attach(paths)
        self.focus_editor()

    def choose_files(self) -> None:
        """Ask for files to attach."""
        dialog = QFileDialog(self.window(), translate("composer", "Attach text files"))
        dialog.setFileMode(QFileDialog.FileMode.ExistingFiles)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.filesSelected.connect(lambda names: self.attach([Path(name) for name in names]))
        dialog.finished.connect(self.focus_editor)
        dialog.open()

    def take_mime(self, mime: QMimeData) -> bool:
        """Attach what is dropped or pasted, if it is more than a short text; whether it was taken."""
        kind = kind_of_drop(mime)
        if kind in ("files", "model"):
            self.attach(local_paths(mime))
        elif kind == "image":
            self.refused.emit(images_refused().sentence)
        elif kind == "text" and len(text := mime.text()) > LONG_PASTE:
            self._attach_text(text)
        else:
            return False
        return True

    def _attach_text(self, text: str) -> None:
        self.files.add_pasted(text, as_text=fits_field(text), revision=self.editor.document().revision())

    # -- what is shown -----------------------------------------------------------------------------------------

    def set_busy(self, busy: bool) -> None:
        """Whether an answer is being written: Stop is offered then, and Enter queues."""
        if busy != self._busy:
            self._busy = busy
            self._refresh()

    def show_cost(self, cost: DraftCost | None) -> None:
        """Show what sending would cost; None while it is not known."""
        self._cost = cost
        self.files.show_cost(cost, len(self.text))
        self._refresh()

    def show_drag(self, kind: DropKind | None) -> None:
        """Say what dropping will do, while something is held over the window; None once it is not any more."""
        self.drop_hint.show_kind(kind)

    def show_queued(self, text: str) -> None:
        """Show the question that waits for the answer being written; empty where none does."""
        self.queued_line.show_queued(text)

    def show_assistant(self, name: str) -> None:
        """Name the assistant that answers; empty for none."""
        self.assistant_button.show_name(name)

    def focus_editor(self) -> None:
        """Put the keyboard into the field."""
        self.editor.setFocus(Qt.FocusReason.OtherFocusReason)

    def mousePressEvent(self, event: QEvent) -> None:
        self.focus_editor()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.assistant_button.set_narrow(event.size().width() < _NARROW)

    def _lay_out(self) -> None:
        field = QVBoxLayout()
        field.setContentsMargins(8, 0, 4, 0)
        field.setSpacing(10)
        for part in (self.queued_line, self.files, self.editor):
            field.addWidget(part)
        bottom = QHBoxLayout()
        bottom.setSpacing(0)
        for quiet in (self.attach_button, self.assistant_button):
            bottom.addWidget(quiet)
        bottom.addSpacing(8)
        bottom.addWidget(self.cost_line, 1)
        for button in (self.stop_button, self.button):
            bottom.addSpacing(8)
            bottom.addWidget(button)
        column = QVBoxLayout(self)
        column.setContentsMargins(8, 14, 12, 12)
        column.setSpacing(8)
        column.addLayout(field)
        column.addLayout(bottom)

    # -- keys --------------------------------------------------------------------------------------------------

    def _take_key(self, event: QKeyEvent) -> bool:
        if self.slash_menu.take_key(event):
            return True
        if event.matches(QKeySequence.StandardKey.Undo):
            return self.files.undo_paste(self.editor.document().revision())
        if event.key() == Qt.Key.Key_V and event.modifiers() == _PLAIN_PASTE:
            return self._paste_text()
        return not event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier and self._take_arrow(event.key())

    def _take_arrow(self, key: int) -> bool:
        if key == Qt.Key.Key_Up and self.editor.in_first_line:
            return self._step_history(older=True)
        if key == Qt.Key.Key_Down and self.editor.in_last_line:
            return self._step_history(older=False)
        return False

    def _paste_text(self) -> bool:
        """Paste into the field however long it is, as far as the field stays quick with it."""
        clipboard = QGuiApplication.clipboard()
        if fits_field(clipboard.text()):
            self.type(clipboard.text())
        else:
            self.take_mime(clipboard.mimeData())
        return True

    def _step_history(self, older: bool) -> bool:
        if self._written and not self.editor.blank:
            return False
        text = self._history.older(self.text) if older else self._history.newer()
        if text is None:
            return False
        self._setting = True
        self.editor.replace_all(text)
        self._setting = self._written = False
        self._refresh()
        self.edited.emit(self.text, self.attachments)
        return True

    # -- what the person does ----------------------------------------------------------------------------------

    @property
    def _ready(self) -> bool:
        """Whether there is something to send, and all of it is there."""
        return not self.files.reading and (bool(self.attachments) or not self.editor.blank)

    def _submit(self) -> None:
        if self._ready and (word := self.slash_menu.unknown(self.text)):
            self.command_unknown.emit(word)
        else:
            self.send_as_it_is()

    def send_as_it_is(self) -> None:
        """Send what is written, also where it begins as a command would."""
        if self._ready:
            self.send_requested.emit(self.text, self.attachments)

    def _press(self) -> None:
        if self._busy and self._empty:
            self.stop_requested.emit()
        else:
            self._submit()
        self.focus_editor()

    def _press_stop(self) -> None:
        self.stop_requested.emit()
        self.focus_editor()

    def _take_back(self) -> None:
        self.focus_editor()
        self.queued_taken_back.emit()

    def _run_command(self, command_id: str, argument: str) -> None:
        self.editor.clear()
        self.focus_editor()
        self.command_chosen.emit(command_id, argument)

    def _text_changed(self) -> None:
        if self._setting:
            return
        self._written = True
        self._history.reset()
        self.slash_menu.follow(self.text)
        self._changed()

    def _files_changed(self) -> None:
        if not self._setting:
            self._changed()

    def _place_in_tab_order(self, chip: AttachmentChip) -> None:
        """Files come before the field, as they stand; Qt would put what is made later behind everything."""
        before = self.editor.previousInFocusChain() or self.editor
        for part in (chip, chip.text_button, chip.remove_button):
            self.setTabOrder(before, part)
            before = part

    def _changed(self) -> None:
        if self._empty:
            self._cost = None
        self._refresh()
        self.edited.emit(self.text, self.attachments)

    def _menu_changed(self, shown: bool) -> None:
        self.editor.holds_escape = shown

    # -- how it looks ------------------------------------------------------------------------------------------

    @property
    def _empty(self) -> bool:
        return self.editor.blank and not self.files.chips

    def _refresh(self) -> None:
        """Buttons and the quiet line, as text, files and the answer being written have them."""
        stops = self._busy and self._empty
        self.stop_button.setVisible(self._busy and not stops)
        self.button.setText(
            translate("composer", "Stop")
            if stops
            else translate("composer", "Queue")
            if self._busy
            else translate("composer", "Send")
        )
        self.button.setAccessibleName(self._button_name(stops))
        self.button.setToolTip(self.button.accessibleName())
        self.button.setEnabled(stops or self._ready)
        self.cost_line.say(self._saying())

    def _button_name(self, stops: bool) -> str:
        if stops:
            return translate("composer", "Stop the answer (Esc)")
        if self._busy:
            return translate("composer", "Send the question after this answer (Enter)")
        return translate("composer", "Send the question (Enter)")

    def _saying(self) -> Saying:
        if self.files.reading:
            return Saying((translate("composer", "Reads {name}…").format(name=self.files.reading),))
        if self._cost is not None and not self._empty:
            return cost_saying(self._cost)
        if self._busy:
            if self._empty:
                return Saying((translate("composer", "Esc stops the answer"),))
            return Saying((translate("composer", "Enter sends it after this answer"),))
        enter = translate("composer", "Enter sends")
        return Saying((translate("composer", "Enter sends, Shift+Enter breaks the line"), enter))

    def _mark_focus(self, focused: bool) -> None:
        show_property(self, "focused", focused)
