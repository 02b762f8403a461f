"""One message: a question in its bubble, or an answer on the background with one quiet line below it."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QEvent, QPoint, QRectF, Qt, Signal
from PySide6.QtGui import QEnterEvent, QGuiApplication, QPainter, QPainterPath, QPaintEvent
from PySide6.QtWidgets import QWidget

from app.live import LiveTurn
from app.records import StoredMessage, Version
from app.theme import Theme
from app.views.controls import CopyButton, QuietButton
from app.views.edit_box import EditBox
from app.views.figures import FigureLine
from app.views.message_actions import MessageActions
from app.views.message_body import MessageBody
from app.views.turn_figures import live_figures, reply_details, reply_figures

BUBBLE_MAX: Final = 560
_PAD_X: Final = 16
_PAD_TOP: Final = 8
_PAD_BOTTOM: Final = 12
_RADIUS: Final = 16
_FOOTER_GAP: Final = 8
_UNDER_BUBBLE: Final = 2  # pixels between a question and its actions


class MessageView(QWidget):
    """Draws a stored message; an answer that is being written is `streaming` until `finish`.

    The parent sets the size: `height_for(width)` first, then the geometry.
    """

    height_changed = Signal()
    link_activated = Signal(str)
    dragged_to = Signal(QPoint)
    edited = Signal(str, str)  # message id, the question in other words
    regenerate_requested = Signal(str)
    version_requested = Signal(str, int)  # message id, versions to go on or back

    def __init__(self, theme: Theme, message: StoredMessage, streaming: bool, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self._message = message
        self._streaming = streaming
        self._bubble = QRectF()
        self._body = MessageBody(theme, self)
        self._body.height_changed.connect(self.height_changed)
        self._body.link_activated.connect(self.link_activated)
        self._body.dragged_to.connect(self.dragged_to)
        self._footer = None if self.is_question else FigureLine(theme, self)
        self._edit_box: EditBox | None = None
        what = "question" if self.is_question else "answer"
        self._copy = CopyButton(theme, "Copy", f"Copy this {what}", self)
        self._again = (
            QuietButton(theme, "Edit", "Ask this question in other words", self)
            if self.is_question
            else QuietButton(theme, "Regenerate", "Answer once more; this answer is kept", self)
        )
        buttons = (self._again, self._copy) if self.is_question else (self._copy, self._again)
        self._actions = MessageActions(theme, buttons, (self._again,), not self.is_question, self)
        self._connect()
        self._show_message()

    def _connect(self) -> None:
        self._copy.clicked.connect(self._copy_all)
        self._again.clicked.connect(self._ask_again)
        self._actions.stepper.stepped.connect(lambda step: self.version_requested.emit(self._message.id, step))

    @property
    def message(self) -> StoredMessage:
        """What is drawn."""
        return self._message

    @property
    def body(self) -> MessageBody:
        """Its text."""
        return self._body

    @property
    def footer(self) -> FigureLine | None:
        """The figures under an answer."""
        return self._footer

    @property
    def copy_button(self) -> CopyButton:
        """Copies the message as it was written."""
        return self._copy

    @property
    def again_button(self) -> QuietButton:
        """Edits a question, or makes an answer once more."""
        return self._again

    @property
    def action_row(self) -> MessageActions:
        """The row with the buttons and the versions."""
        return self._actions

    @property
    def edit_box(self) -> EditBox | None:
        """Open while a question is being edited."""
        return self._edit_box

    @property
    def is_question(self) -> bool:
        """Whether the person wrote it."""
        return self._message.role == "user"

    @property
    def streaming(self) -> bool:
        """Whether more text is to come."""
        return self._streaming

    def append(self, text: str) -> None:
        """Add text to an answer that is being written."""
        self._body.append(text)

    def show_live(self, live: LiveTurn) -> None:
        """Show the figures of an answer that is being written."""
        if self._footer is not None and self._streaming:
            self._footer.show_groups(live_figures(live))
            self._place_actions()

    def finish(self, message: StoredMessage) -> None:
        """Show the answer as it ended: one full pass, in which blocks that are right already stay untouched."""
        self._streaming = False
        self.show_message(message)

    def show_message(self, message: StoredMessage) -> None:
        """Show another version of the message."""
        self._message = message
        self._show_message()
        self.height_changed.emit()

    def show_version(self, version: Version) -> None:
        """Show which of its versions the message is."""
        self._actions.stepper.show_version(version)
        self._place_actions()

    def set_busy(self, busy: bool) -> None:
        """While an answer is being written, nothing can be asked again."""
        self._actions.set_busy(busy)
        self._place_actions()

    def set_dimmed(self, dimmed: bool) -> None:
        """Draw a message quietly that was not read for the last answer."""
        self._body.set_dimmed(dimmed)

    def restyle(self) -> None:
        """Draw everything in the theme now in force."""
        self._body.restyle()
        self.update()

    def height_for(self, width: int) -> int:
        """Lay out for a width and tell the height that takes."""
        if self.is_question:
            return self._lay_out_question(width)
        height = self._body.height_for(width)
        self._body.setGeometry(0, 0, width, height)
        return height + _FOOTER_GAP + self._actions.sizeHint().height()

    def resizeEvent(self, event: QEvent) -> None:
        self._place_actions()

    def enterEvent(self, event: QEnterEvent) -> None:
        self._actions.reveal(True)

    def leaveEvent(self, event: QEvent) -> None:
        self._actions.reveal(False)

    def paintEvent(self, event: QPaintEvent) -> None:
        if not self.is_question or self._edit_box is not None:
            return
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.fillPath(_bubble_path(self._bubble), self._theme.color("question"))

    def _show_message(self) -> None:
        self.setAccessibleName(f"{'Question' if self.is_question else 'Answer'}: {self._message.content}")
        if self.is_question:
            self._body.show_plain(self._message.content)
        else:
            self._show_answer()
        self._place_actions()

    def _show_answer(self) -> None:
        if self._streaming:
            self._body.begin()
            self._body.append(self._message.content)
        else:
            self._body.show_markdown(self._message.content)
        self._body.set_streaming(self._streaming)
        if self._footer is not None:
            self._footer.show_groups(() if self._streaming else reply_figures(self._message))
            self._footer.setToolTip("" if self._streaming else reply_details(self._message))
        self._actions.setVisible(not self._streaming)

    def _place_actions(self) -> None:
        """The row under the message: at the right under a question, behind the figures under an answer."""
        actions = self._actions.sizeHint()
        if self._footer is None:
            top = int(self._bubble.bottom()) + _UNDER_BUBBLE
            self._actions.setGeometry(self.width() - actions.width(), top, actions.width(), actions.height())
            return
        figures = self._footer.sizeHint()
        row = max(actions.height(), figures.height())
        room = self.width() - actions.width() - 8
        width = min(figures.width(), max(0, room)) if self._actions.isVisibleTo(self) else figures.width()
        top = self._body.height() + _FOOTER_GAP
        self._footer.setGeometry(0, top + (row - figures.height()) // 2, width, figures.height())
        self._actions.setGeometry(width + (8 if width else -8), top, actions.width(), row)

    def _lay_out_question(self, width: int) -> int:
        if self._edit_box is not None:
            height = self._edit_box.height_for(width)
            self._edit_box.setGeometry(0, 0, width, height)
            self._bubble = QRectF(0, 0, width, height)
        else:
            self._lay_out_bubble(width)
        self.update()
        return int(self._bubble.height()) + _UNDER_BUBBLE + self._actions.sizeHint().height()

    def _lay_out_bubble(self, width: int) -> None:
        most = min(BUBBLE_MAX, width) - 2 * _PAD_X
        inner = min(most, self._body.natural_width())
        height = self._body.height_for(inner)
        left = width - inner - 2 * _PAD_X
        self._body.setGeometry(left + _PAD_X, _PAD_TOP, inner, height)
        self._bubble = QRectF(left, 0, inner + 2 * _PAD_X, height + _PAD_TOP + _PAD_BOTTOM)

    def _copy_all(self) -> None:
        QGuiApplication.clipboard().setText(self._message.content)

    # -- asking again ------------------------------------------------------------------------------------------

    def _ask_again(self) -> None:
        if self.is_question:
            self._begin_edit()
        else:
            self.regenerate_requested.emit(self._message.id)

    def _begin_edit(self) -> None:
        self._edit_box = EditBox(self._theme, self._message.content, self)
        self._edit_box.submitted.connect(lambda text: self.edited.emit(self._message.id, text))
        self._edit_box.cancelled.connect(self._end_edit)
        self._edit_box.height_changed.connect(self.height_changed)
        self._body.hide()
        self._actions.hide()
        self._edit_box.show()
        self._edit_box.editor.setFocus(Qt.FocusReason.OtherFocusReason)
        self.height_changed.emit()

    def _end_edit(self) -> None:
        if self._edit_box is not None:
            self._edit_box.hide()
            self._edit_box.deleteLater()
            self._edit_box = None
        self._body.show()
        self._actions.show()
        self._again.setFocus(Qt.FocusReason.OtherFocusReason)
        self.height_changed.emit()


def _bubble_path(box: QRectF) -> QPainterPath:
    """Round corners but for the lower right one, where the question was said."""
    path = QPainterPath()
    path.setFillRule(Qt.FillRule.WindingFill)
    path.addRoundedRect(box, _RADIUS, _RADIUS)
    corner = QRectF(box.right() - _RADIUS, box.bottom() - _RADIUS, _RADIUS, _RADIUS)
    path.addRoundedRect(corner, 4, 4)
    return path
