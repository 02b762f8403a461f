"""One message: a question in its bubble, or an answer on the background with one quiet line below it."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QEvent, QPoint, QRectF, Qt, Signal
from PySide6.QtGui import QEnterEvent, QGuiApplication, QPainter, QPainterPath, QPaintEvent
from PySide6.QtWidgets import QWidget

from app.live import LiveTurn
from app.records import StoredMessage
from app.theme import Theme
from app.views.controls import CopyButton
from app.views.figures import FigureLine
from app.views.message_body import MessageBody
from app.views.turn_figures import live_figures, reply_figures

BUBBLE_MAX: Final = 560
_PAD_X: Final = 16
_PAD_TOP: Final = 8
_PAD_BOTTOM: Final = 12
_RADIUS: Final = 16
_FOOTER_GAP: Final = 8


class MessageView(QWidget):
    """Draws a stored message; an answer that is being written is `streaming` until `finish`.

    The parent sets the size: `height_for(width)` first, then the geometry.
    """

    height_changed = Signal()
    link_activated = Signal(str)
    dragged_to = Signal(QPoint)

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
        self._footer: FigureLine | None = None
        self._copy: CopyButton | None = None
        self.setAccessibleName(f"{'Question' if self.is_question else 'Answer'}: {message.content}")
        if self.is_question:
            self._body.show_plain(message.content)
        else:
            self._make_footer()
            self._show_answer()

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
    def copy_button(self) -> CopyButton | None:
        """Copies an answer as it was written."""
        return self._copy

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
            self._place_footer()

    def finish(self, message: StoredMessage) -> None:
        """Show the answer as it ended: one full pass, in which blocks that are right already stay untouched."""
        self._message = message
        self._streaming = False
        self.setAccessibleName(f"Answer: {message.content}")
        self._show_answer()
        self.height_changed.emit()

    def restyle(self) -> None:
        """Draw everything in the theme now in force."""
        self._body.restyle()
        self.update()

    def height_for(self, width: int) -> int:
        """Lay out for a width and tell the height that takes."""
        if self.is_question:
            return self._lay_out_bubble(width)
        height = self._body.height_for(width)
        self._body.setGeometry(0, 0, width, height)
        footer = self._footer.sizeHint().height() + 8 if self._footer is not None else 0
        return height + _FOOTER_GAP + footer

    def resizeEvent(self, event: QEvent) -> None:
        self._place_footer()

    def enterEvent(self, event: QEnterEvent) -> None:
        self._reveal(True)

    def leaveEvent(self, event: QEvent) -> None:
        self._reveal(False)

    def paintEvent(self, event: QPaintEvent) -> None:
        if not self.is_question:
            return
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.fillPath(_bubble_path(self._bubble), self._theme.color("question"))

    def _show_answer(self) -> None:
        if self._streaming:
            self._body.begin()
            self._body.append(self._message.content)
        else:
            self._body.show_markdown(self._message.content)
        self._body.set_streaming(self._streaming)
        if self._footer is not None and self._copy is not None:
            self._footer.show_groups(() if self._streaming else reply_figures(self._message))
            self._copy.setVisible(not self._streaming)
        self._place_footer()

    def _make_footer(self) -> None:
        self._footer = FigureLine(self._theme, self)
        self._copy = CopyButton(self._theme, "Copy", "Copy this answer", self)
        self._copy.set_revealed(False)
        self._copy.clicked.connect(self._copy_all)

    def _place_footer(self) -> None:
        if self._footer is None or self._copy is None:
            return
        figures, copy = self._footer.sizeHint(), self._copy.sizeHint()
        room = self.width() - copy.width() - 8
        width = min(figures.width(), max(0, room))
        top = self._body.height() + _FOOTER_GAP
        self._footer.setGeometry(0, top + (copy.height() - figures.height()) // 2, width, figures.height())
        self._copy.setGeometry(width + (8 if width else -8), top, copy.width(), copy.height())

    def _lay_out_bubble(self, width: int) -> int:
        most = min(BUBBLE_MAX, width) - 2 * _PAD_X
        inner = min(most, self._body.natural_width())
        height = self._body.height_for(inner)
        left = width - inner - 2 * _PAD_X
        self._body.setGeometry(left + _PAD_X, _PAD_TOP, inner, height)
        self._bubble = QRectF(left, 0, inner + 2 * _PAD_X, height + _PAD_TOP + _PAD_BOTTOM)
        self.update()
        return int(self._bubble.height())

    def _reveal(self, revealed: bool) -> None:
        if self._copy is not None:
            self._copy.set_revealed(revealed)

    def _copy_all(self) -> None:
        QGuiApplication.clipboard().setText(self._message.content)


def _bubble_path(box: QRectF) -> QPainterPath:
    """Round corners but for the lower right one, where the question was said."""
    path = QPainterPath()
    path.setFillRule(Qt.FillRule.WindingFill)
    path.addRoundedRect(box, _RADIUS, _RADIUS)
    corner = QRectF(box.right() - _RADIUS, box.bottom() - _RADIUS, _RADIUS, _RADIUS)
    path.addRoundedRect(corner, 4, 4)
    return path
