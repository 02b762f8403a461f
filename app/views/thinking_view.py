"""What a model thought before its answer: one line, which unfolds."""

from __future__ import annotations

import time
from typing import Final

from PySide6.QtCore import QRect, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QPainter, QPaintEvent, QTransform
from PySide6.QtWidgets import QWidget

from app.i18n import translate
from app.theme import Theme
from app.views import words
from app.views.controls import QuietButton, paint_ground
from app.views.formulas import Formulas
from app.views.message_body import MessageBody

_TICK_MS: Final = 200
_ICON: Final = 12
_INDENT: Final = 18
_GAP: Final = 8
_UNDER: Final = 12  # pixels between the thought and what follows


class FoldButton(QuietButton):
    """One line of words behind an arrow that points down while what it folds is shown."""

    def __init__(self, theme: Theme, name: str, parent: QWidget) -> None:
        super().__init__(theme, "", name, parent)
        self.setCheckable(True)

    def sizeHint(self) -> QSize:
        return super().sizeHint() + QSize(_ICON + 6, 0)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        paint_ground(self, painter, self._theme)
        tone = "text" if self.underMouse() or self.hasFocus() else "muted"
        picture = self._theme.icon("next", tone).pixmap(QSize(_ICON, _ICON), self.devicePixelRatio())
        if self.isChecked():
            picture = picture.transformed(QTransform().rotate(90))
        painter.drawPixmap(QRect(4, (self.height() - _ICON) // 2, _ICON, _ICON), picture)
        painter.setPen(self._theme.color(tone))
        painter.drawText(self.rect().adjusted(_ICON + 10, 0, 0, 0), Qt.AlignmentFlag.AlignVCenter, self.text())


class ThinkingView(QWidget):
    """Says how long the model thought, and shows what if it is asked to.

    The parent sets the size: `height_for(width)` first, then the geometry.
    """

    height_changed = Signal()
    link_activated = Signal(str)
    pressed = Signal()  # a selection begins here
    quoted = Signal(str)

    def __init__(self, theme: Theme, formulas: Formulas, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self._formulas = formulas
        self._text = ""
        self._open = False
        self._since: float | None = None
        self._seconds: float | None = None
        self._body: MessageBody | None = None
        self._button = FoldButton(theme, translate("thinking_view", "Show or hide what the model thought"), self)
        self._button.toggled.connect(self._fold)
        self._timer = QTimer(self)
        self._timer.setInterval(_TICK_MS)
        self._timer.timeout.connect(self._say)

    @property
    def button(self) -> FoldButton:
        """Folds and unfolds."""
        return self._button

    @property
    def body(self) -> MessageBody | None:
        """The thought, once it has been unfolded."""
        return self._body

    @property
    def text(self) -> str:
        """What was thought."""
        return self._text

    @property
    def unfolded(self) -> bool:
        """Whether the thought is shown."""
        return self._button.isChecked()

    def begin(self, from_start: bool) -> None:
        """The model thinks; `from_start` says whether it has just begun, so that its time can be told."""
        self._open = True
        self._since = time.perf_counter() if from_start else None
        self._timer.start()
        self._say()

    def append(self, text: str) -> None:
        """Add to the thought."""
        self._text += text
        if self._body is not None:
            self._body.append(text)

    def end(self) -> None:
        """The thought is over."""
        if self._open:
            self._seconds = None if self._since is None else time.perf_counter() - self._since
            self._close()

    def show_thought(self, text: str, seconds: float | None) -> None:
        """Show a whole thought, and how long it took where that is known."""
        self._text = text
        self._seconds = seconds if seconds is not None else self._seconds
        if self._body is not None:
            self._body.show_markdown(text.strip())
        self._close()

    def restyle(self) -> None:
        """Draw everything in the theme now in force."""
        if self._body is not None:
            self._body.restyle()
        self.update()

    def height_for(self, width: int) -> int:
        """Lay out for a width and tell the height that takes."""
        size = self._button.sizeHint()
        self._button.setGeometry(-4, 0, min(width + 4, size.width()), size.height())
        if self._body is None or not self.unfolded:
            return size.height() + _UNDER
        height = self._body.height_for(max(40, width - _INDENT))
        self._body.setGeometry(_INDENT, size.height() + _GAP, width - _INDENT, height)
        return size.height() + _GAP + height + _UNDER

    def paintEvent(self, event: QPaintEvent) -> None:
        if self._body is not None and self.unfolded:
            painter = QPainter(self)
            painter.fillRect(QRect(4, self._body.y(), 2, self._body.height()), self._theme.color("line"))

    def _close(self) -> None:
        self._open = False
        if self._body is not None:
            self._body.set_streaming(False)
        self._timer.stop()
        self._say()

    def _say(self) -> None:
        self._button.setText(self._words())
        size = self._button.sizeHint()
        self._button.resize(min(self.width() + 4, size.width()) if self.width() > 0 else size.width(), size.height())

    def _words(self) -> str:
        if self._open and self._since is None:
            return translate("thinking_view", "Thinking…")
        if self._open:
            passed = time.perf_counter() - (self._since or 0.0)
            return translate("thinking_view", "Thinking… {time}").format(time=_duration(passed))
        if self._seconds is None:
            return translate("thinking_view", "Thought before answering")
        return translate("thinking_view", "Thought for {time}").format(time=_duration(self._seconds))

    def _fold(self, unfolded: bool) -> None:
        if unfolded and self._body is None:
            self._body = self._make_body()
        if self._body is not None:
            self._body.setVisible(unfolded)
        self.update()
        self.height_changed.emit()

    def _make_body(self) -> MessageBody:
        """The thought as far as it has come."""
        body = MessageBody(self._theme, self._formulas, self)
        body.set_dimmed(True)
        if self._open:
            body.append(self._text.lstrip())
        else:
            body.show_markdown(self._text.strip())
        body.height_changed.connect(self.height_changed)
        body.link_activated.connect(self.link_activated)
        body.pressed.connect(self.pressed)
        body.quote_requested.connect(lambda: self.quoted.emit(body.selected_text()))
        body.stand_alone()
        return body


def _duration(value: float) -> str:
    """A time as long thoughts have it: tenths of a second are enough."""
    if value >= 60:
        return words.seconds(value)
    return translate("thinking_view", "{seconds} s").format(seconds=f"{value:.1f}")
