"""Lies over the composer while a file is dragged over the window, and says what dropping it will do."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QEvent, QObject, QRectF, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QWidget

from app.attachments import DropKind
from app.i18n import translate
from app.theme import Theme

_RADIUS: Final = 15.5


class DropHint(QWidget):
    """As large as its parent; hidden while nothing is dragged."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self._words = ""
        self._parent = parent
        self.setFont(theme.font("list"))
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        parent.installEventFilter(self)
        self.hide()

    @property
    def words(self) -> str:
        """What it says."""
        return self._words

    def show_kind(self, kind: DropKind | None) -> None:
        """Say what dropping does; None once nothing is dragged any more."""
        match kind:
            case "model":
                self._words = translate("drop_hint", "Drop it to use this model")
            case "files":
                self._words = translate("drop_hint", "Drop to attach")
            case _:
                self._words = ""
        self.setVisible(bool(self._words))
        self.raise_()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Resize:
            self.setGeometry(self._parent.rect())
        return False

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(self._theme.color("accent"), 1.5, Qt.PenStyle.DashLine))
        painter.setBrush(self._theme.color("accent_wash"))
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.75, 0.75, -0.75, -0.75), _RADIUS, _RADIUS)
        painter.setPen(self._theme.color("text"))
        painter.drawText(self.rect(), Qt.AlignmentFlag.AlignCenter, self._words)
