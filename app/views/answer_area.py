"""One answer in a small scrolling area, which follows it while it is written."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QScrollArea, QSizePolicy, QWidget

from app.records import StoredMessage
from app.theme import Theme
from app.thinking import ThinkingSplitter, split
from app.views.formulas import Formulas
from app.views.message_body import MessageBody

_LONGEST: Final = 60_000  # characters; more is for the window, which draws it page by page


class AnswerArea(QScrollArea):
    """As high as the answer, up to its maximum height. What the model thought before it answered is not shown."""

    height_changed = Signal()
    link_activated = Signal(str)
    quoted = Signal(str)

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._message_id = ""
        self._text = ""
        self._splitter = ThinkingSplitter()
        self._page = QWidget()
        self._body = MessageBody(theme, Formulas(theme, self), self._page)
        self.setWidget(self._page)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.viewport().setAutoFillBackground(False)
        self._page.setAutoFillBackground(False)
        self._body.height_changed.connect(self._fit)
        self._body.link_activated.connect(self.link_activated)
        self._body.stand_alone()
        self._body.quote_requested.connect(lambda: self.quoted.emit(self._body.selected_text()))
        theme.changed.connect(self._body.restyle)
        self.hide()

    @property
    def text(self) -> str:
        """The answer so far, as Markdown."""
        return self._text

    @property
    def body(self) -> MessageBody:
        """What is drawn."""
        return self._body

    def clear(self) -> None:
        """Show nothing."""
        self._message_id = self._text = ""
        self._body.show_markdown("")
        self.hide()

    def begin(self, message: StoredMessage) -> None:
        """Show an answer that is being written, as far as it is there."""
        self.clear()
        self._message_id = message.id
        self._splitter = ThinkingSplitter()
        self._body.begin()
        self._add(message.content)

    def append(self, message_id: str, text: str) -> None:
        """The answer goes on; text of another one is not shown."""
        if message_id == self._message_id:
            self._add(text)

    def finish(self, message: StoredMessage) -> None:
        """The answer as it ended."""
        if message.id == self._message_id:
            self._text = split(message.content).answer
            self._body.finish(self._text[:_LONGEST])
            self._body.set_streaming(False)
            self.setVisible(bool(self._text))
            self._fit()

    def page(self, step: int) -> None:
        """Scroll by a page up or down."""
        bar = self.verticalScrollBar()
        bar.setValue(bar.value() + step * bar.pageStep())

    def sizeHint(self) -> QSize:
        return QSize(super().sizeHint().width(), min(self._page.height(), self.maximumHeight()))

    def minimumSizeHint(self) -> QSize:
        return QSize(0, self.sizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self._fit()

    def _add(self, text: str) -> None:
        said = self._splitter.feed(text).answer
        if said and len(self._text) < _LONGEST:
            self._body.append(said)
        self._text += said
        self.setVisible(bool(self._text))

    def _fit(self) -> None:
        bar = self.verticalScrollBar()
        followed = bar.value() == bar.maximum()
        width = self.viewport().width()
        height = self._body.height_for(width)
        self._body.setGeometry(0, 0, width, height)
        self._page.resize(width, height)
        self.updateGeometry()
        self.height_changed.emit()
        if followed:
            bar.setValue(bar.maximum())
