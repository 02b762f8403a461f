"""The files that go with a question, above its text: name, size, what reading them costs, a way to take each off."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QPoint, QRectF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent, QPainter, QPaintEvent, QPen, QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QScrollArea, QSizePolicy, QWidget

from app.attachments import size_of
from app.i18n import translate
from app.records import Attachment
from app.theme import Theme
from app.views import words
from app.views.controls import IconButton, Label, QuietButton
from app.views.cost_line import about

_HEIGHT: Final = 32
_GAP: Final = 8
_NAME_WIDTH: Final = 220
_MOST_ROWS: Final = 3
_RADIUS: Final = 8


class AttachmentChip(QWidget):
    """One file; still without a text while it is being read."""

    removed = Signal()
    text_wanted = Signal()  # to be written into the field instead

    def __init__(self, theme: Theme, name: str, as_text: bool, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self._name = name
        self.attachment: Attachment | None = None
        self._size = ""
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        metrics = self.fontMetrics()
        self.counted: int | None = None  # tokens, once they were counted
        self._label = Label(theme, metrics.elidedText(name, Qt.TextElideMode.ElideMiddle, _NAME_WIDTH), "small")
        self._details = Label(theme, translate("attachment_chip", "Reads it…"), "small", "muted")
        self._as_text = QuietButton(
            theme,
            translate("attachment_chip", "Paste as text"),
            translate("attachment_chip", "Write it into the question instead (Ctrl+Shift+V does so at once)"),
            self,
        )
        self._as_text.setVisible(as_text)
        self._remove = IconButton(
            theme, "close", translate("attachment_chip", "Remove {name}").format(name=name), self, side=24
        )
        self._lay_out()
        self._remove.clicked.connect(self.removed)
        self._as_text.clicked.connect(self.text_wanted)
        self._describe("")

    @property
    def name(self) -> str:
        """The file's name."""
        return self._name

    @property
    def details(self) -> str:
        """What stands behind the name."""
        return self._details.text()

    @property
    def remove_button(self) -> IconButton:
        """Takes the file off."""
        return self._remove

    @property
    def text_button(self) -> QuietButton:
        """Writes it into the question; only on a pasted text that the field can hold."""
        return self._as_text

    def show_attachment(self, attachment: Attachment) -> None:
        """The file was read."""
        self.attachment = attachment
        self._size = words.size(size_of(attachment.text))  # once: 5 MB take milliseconds
        self.show_cost(None, None)

    def show_cost(self, tokens: int | None, seconds: float | None) -> None:
        """Say how many tokens the file has, and what reading them takes, as far as both are known."""
        if self.attachment is None:
            return
        parts = [self._size]
        if tokens is not None:
            parts.append(_tokens(tokens))
        if seconds is not None:
            parts.append(about(seconds))
        self._describe(" · ".join(parts))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Delete, Qt.Key.Key_Backspace):
            self.removed.emit()
        else:
            super().keyPressEvent(event)

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(self._theme.color("accent" if self.hasFocus() else "line"), 1.5 if self.hasFocus() else 1))
        painter.setBrush(self._theme.color("code"))
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.75, 0.75, -0.75, -0.75), _RADIUS, _RADIUS)

    def _lay_out(self) -> None:
        row = QHBoxLayout(self)
        row.setContentsMargins(10, 0, 4, 0)
        row.setSpacing(8)
        for part in (self._label, self._details, self._as_text, self._remove):
            row.addWidget(part)
        self.setFixedHeight(_HEIGHT)

    def _describe(self, details: str) -> None:
        if details:
            self._details.setText(details)
        said = translate("attachment_chip", "Attachment {name}, {details}. Delete removes it.")
        self.setAccessibleName(said.format(name=self._name, details=self._details.text()))
        self.updateGeometry()


def _tokens(count: int) -> str:
    if count == 1:
        return translate("attachment_chip", "about 1 token")
    return translate("attachment_chip", "about {count} tokens").format(count=words.count(count))


class AttachmentRow(QScrollArea):
    """The chips side by side, in as many rows as they need; beyond three it scrolls. Hidden while there are none."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self._chips: list[AttachmentChip] = []
        self._inner = QWidget()
        self.setWidget(self._inner)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.viewport().setAutoFillBackground(False)
        self._inner.setAutoFillBackground(False)
        self.hide()

    @property
    def chips(self) -> tuple[AttachmentChip, ...]:
        """In the order in which they came."""
        return tuple(self._chips)

    @property
    def attachments(self) -> tuple[Attachment, ...]:
        """Those that have been read."""
        return tuple(chip.attachment for chip in self._chips if chip.attachment is not None)

    @property
    def reading(self) -> str:
        """The name of a file that is still being read; empty if there is none."""
        return next((chip.name for chip in self._chips if chip.attachment is None), "")

    def add(self, name: str, as_text: bool = False) -> AttachmentChip:
        """A chip for a file that will be read."""
        chip = AttachmentChip(self._theme, name, as_text, self._inner)
        self._chips.append(chip)
        chip.show()
        self.arrange()
        QTimer.singleShot(0, chip, lambda: self.ensureWidgetVisible(chip, 0, 0))
        return chip

    def remove(self, chip: AttachmentChip) -> None:
        """Take one off."""
        self._chips.remove(chip)
        chip.hide()
        chip.deleteLater()
        self.arrange()

    def arrange(self) -> None:
        """Place the chips in the width that there is."""
        bar = self.verticalScrollBar().sizeHint().width() if len(self._chips) > _MOST_ROWS else 0
        width = self.width() - bar
        at = QPoint(0, 0)
        for chip in self._chips:
            size = QSize(min(chip.sizeHint().width(), width), _HEIGHT)
            if at.x() and at.x() + size.width() > width:
                at = QPoint(0, at.y() + _HEIGHT + _GAP)
            chip.setGeometry(at.x(), at.y(), size.width(), size.height())
            at.setX(at.x() + size.width() + _GAP)
        height = at.y() + _HEIGHT if self._chips else 0
        self._inner.resize(width, height)
        self.setFixedHeight(min(height, _MOST_ROWS * (_HEIGHT + _GAP) - _GAP))
        self.setVisible(bool(self._chips))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self.arrange()
