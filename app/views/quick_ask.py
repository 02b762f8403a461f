"""The quick ask: a small window above all others, with one field and the answer to what was asked last."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from PySide6.QtCore import QPoint, QRectF, Qt, Signal
from PySide6.QtGui import (
    QCursor,
    QGuiApplication,
    QKeyEvent,
    QMouseEvent,
    QPainterPath,
    QRegion,
    QResizeEvent,
    QShowEvent,
)
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QVBoxLayout

from app.i18n import translate
from app.live import LiveTurn, ModelState
from app.records import StoredMessage
from app.theme import Theme
from app.views.answer_area import AnswerArea
from app.views.controls import CopyButton, ElidedLabel, Label, QuietButton, make_push_button
from app.views.editor import Editor
from app.views.waiting_line import WaitingLine

WIDTH: Final = 560
_RADIUS: Final = 16
_FROM_TOP: Final = 0.18  # of the screen


class QuickAsk(QFrame):
    """Shows a session's newest question and answer; it takes the same values as the conversation in the window."""

    asked = Signal(str)
    stop_requested = Signal()
    opened = Signal()  # the conversation is to be shown in the window
    link_activated = Signal(str)

    def __init__(self, theme: Theme) -> None:
        super().__init__(
            None,
            Qt.WindowType.Tool | Qt.WindowType.FramelessWindowHint | Qt.WindowType.WindowStaysOnTopHint,
        )
        self._busy = False
        self.setObjectName("quickAsk")
        self.setWindowTitle(translate("quick_ask", "Quick ask"))
        self.setAttribute(Qt.WidgetAttribute.WA_MacAlwaysShowToolWindow)
        self._editor = Editor(theme, translate("quick_ask", "Your question"), self)
        self._editor.setPlaceholderText(translate("quick_ask", "Ask anything"))
        self._button = make_push_button(theme, "", self, primary=True)
        self._question = ElidedLabel(theme, "", "small", "muted")
        self._waiting = WaitingLine(theme, self)
        self._answer = AnswerArea(theme, self)
        self._trouble = Label(theme, "", "small", "warning")
        self._trouble.setWordWrap(True)
        self._hint = ElidedLabel(theme, translate("quick_ask", "Enter asks, Esc hides"), "small", "muted")
        self._copy = CopyButton(
            theme, translate("quick_ask", "Copy"), translate("quick_ask", "Copy the answer as Markdown"), self
        )
        self._open = QuietButton(
            theme, translate("quick_ask", "Open in Loquat"), translate("quick_ask", "Go on in the window"), self
        )
        self._lay_out()
        self._connect()
        self.clear()

    def _connect(self) -> None:
        self._editor.submitted.connect(self._submit)
        self._editor.textChanged.connect(self._refresh)
        self._editor.height_changed.connect(self._fit)
        self._editor.paged.connect(self._answer.page)
        self._editor.overlong.connect(self._refuse)
        self._button.clicked.connect(self._press)
        self._copy.clicked.connect(self._copy_answer)
        self._open.clicked.connect(self._open_window)
        self._answer.height_changed.connect(self._fit)
        self._answer.link_activated.connect(self.link_activated)
        self._answer.quoted.connect(self._editor.quote)

    @property
    def editor(self) -> Editor:
        """The field."""
        return self._editor

    @property
    def button(self) -> QPushButton:
        """Ask, or Stop while an answer is being written."""
        return self._button

    @property
    def copy_button(self) -> CopyButton:
        """Copies the answer."""
        return self._copy

    @property
    def open_button(self) -> QuietButton:
        """Asks for the window."""
        return self._open

    @property
    def question(self) -> ElidedLabel:
        """What was asked last."""
        return self._question

    @property
    def answer(self) -> AnswerArea:
        """The answer to it."""
        return self._answer

    @property
    def waiting(self) -> WaitingLine:
        """What goes on before the first word."""
        return self._waiting

    @property
    def trouble(self) -> Label:
        """Why there is no answer."""
        return self._trouble

    # -- coming and going --------------------------------------------------------------------------------------

    def toggle(self) -> None:
        """Come if hidden, or behind another window; go otherwise."""
        if self.isVisible() and self.isActiveWindow():
            self.hide()
        else:
            self.summon()

    def summon(self) -> None:
        """Come to the front of the screen that the mouse is on, and take the keyboard."""
        if not self.isVisible():
            screen = QGuiApplication.screenAt(QCursor.pos()) or QGuiApplication.primaryScreen()
            room = screen.availableGeometry()
            left = room.left() + (room.width() - self.width()) // 2
            self.move(left, room.top() + int(room.height() * _FROM_TOP))
        self.show()
        self.raise_()
        self.activateWindow()
        self._editor.setFocus(Qt.FocusReason.ActiveWindowFocusReason)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape and not self._editor.composing:
            self.hide()
        else:
            super().keyPressEvent(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Nothing but a title bar is missing: the ground moves the window."""
        handle = self.windowHandle()
        if event.button() == Qt.MouseButton.LeftButton and handle is not None:
            handle.startSystemMove()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Round corners also where no desktop can make a window translucent."""
        super().resizeEvent(event)
        path = QPainterPath()
        path.addRoundedRect(QRectF(self.rect()).adjusted(-0.5, -0.5, 0.5, 0.5), _RADIUS, _RADIUS)
        self.setMask(QRegion(path.toFillPolygon().toPolygon()))

    # -- what a session says -----------------------------------------------------------------------------------

    def clear(self) -> None:
        """Begin anew: no question, no answer."""
        self._set_question("")
        self._answer.clear()
        self._waiting.hide()
        self._busy = False
        self.show_trouble("")

    def show_thread(self, messages: Sequence[StoredMessage], live: LiveTurn) -> None:
        """Show the newest question of a conversation and its answer, which may still be written."""
        self.clear()
        for message in messages[-2:]:
            self.add_message(message)
            if message.role == "assistant" and not (live.phase == "decode" and message.id == live.message_id):
                self.finish_message(message)

    def add_message(self, message: StoredMessage) -> None:
        """A question was asked, or an answer begins."""
        if message.role == "user":
            self.clear()
            self._set_question(message.content)
        else:
            self._answer.begin(message)
            self._refresh()

    def append_text(self, message_id: str, text: str) -> None:
        """The answer goes on."""
        self._answer.append(message_id, text)

    def finish_message(self, message: StoredMessage) -> None:
        """The answer is there."""
        self._answer.finish(message)
        self._refresh()

    def show_turn(self, live: LiveTurn, model: ModelState) -> None:
        """Say what goes on until the first word comes; offer Stop while anything does."""
        self._busy = live.phase != "idle"
        self._waiting.show_turn(live, model)
        self._waiting.setVisible(self._busy and not self._answer.text)
        self._refresh()

    def show_trouble(self, sentence: str) -> None:
        """Say why there is no answer; empty for nothing."""
        self._trouble.setText(sentence)
        self._trouble.setVisible(bool(sentence))
        self._refresh()

    # -- what the person does ----------------------------------------------------------------------------------

    def _submit(self) -> None:
        """Ask; the field is emptied, the question stands above its answer."""
        if self._busy or self._editor.blank:
            return
        text = self._editor.toPlainText()
        self._editor.clear()
        self.show_trouble("")
        self.asked.emit(text)

    def _press(self) -> None:
        if self._busy:
            self.stop_requested.emit()
        else:
            self._submit()
        self._editor.setFocus(Qt.FocusReason.OtherFocusReason)

    def _copy_answer(self) -> None:
        QGuiApplication.clipboard().setText(self._answer.text)

    def _open_window(self) -> None:
        self.hide()
        self.opened.emit()

    def _refuse(self, _text: str) -> None:
        self.show_trouble(
            translate("quick_ask", "That is too long for this field. In the window it goes with a question as a file.")
        )

    # -- how it looks ------------------------------------------------------------------------------------------

    def _lay_out(self) -> None:
        ask = QHBoxLayout()
        ask.setSpacing(12)
        ask.addWidget(self._editor, 1)
        ask.addWidget(self._button, 0, Qt.AlignmentFlag.AlignTop)
        foot = QHBoxLayout()
        foot.setSpacing(4)
        foot.addWidget(self._hint, 1)
        foot.addWidget(self._copy)
        foot.addWidget(self._open)
        column = QVBoxLayout(self)
        column.setContentsMargins(20, 16, 16, 10)
        column.setSpacing(10)
        column.addLayout(ask)
        for part in (self._question, self._waiting, self._answer, self._trouble):
            column.addWidget(part)
        column.addLayout(foot)

    def _set_question(self, text: str) -> None:
        self._question.setText(" ".join(text.split()))
        self._question.setVisible(bool(text))

    def _refresh(self) -> None:
        self._button.setText(translate("quick_ask", "Stop") if self._busy else translate("quick_ask", "Ask"))
        self._button.setEnabled(self._busy or not self._editor.blank)
        self._copy.setVisible(bool(self._answer.text))
        self._open.setVisible(bool(self._question.text()))
        self._fit()

    def _fit(self) -> None:
        """As high as what it shows, no higher than its screen allows."""
        self._answer.setMaximumHeight(max(120, self._room_below()))
        self.layout().activate()  # type: ignore[union-attr]
        self.setFixedSize(WIDTH, self.sizeHint().height())

    def _room_below(self) -> int:
        room = self.screen().availableGeometry()
        rest = self.sizeHint().height() - (self._answer.height() if self._answer.isVisible() else 0)
        return min(420, room.bottom() - self.mapToGlobal(QPoint(0, 0)).y() - rest)
