"""What exporting and importing have in common: a choice, progress that can be cancelled, the result in words."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QCloseEvent, QShowEvent
from PySide6.QtWidgets import QLabel, QPlainTextEdit, QPushButton, QSizePolicy, QVBoxLayout, QWidget

from app.i18n import translate
from app.theme import Theme
from app.views.controls import Label, show_property
from app.views.dialogs import SheetDialog
from app.views.progress_card import Pace, ProgressLine

WIDTH: Final = 480
_CARD_WIDTH: Final = 200
_LIST_HEIGHT: Final = 120


class OptionCard(QPushButton):
    """One of several choices: what it is, and one sentence about it."""

    def __init__(self, theme: Theme, title: str, sentence: str, parent: QWidget) -> None:
        super().__init__(parent)
        self._wide = theme.wide(_CARD_WIDTH)
        self.setObjectName("example")
        self.setCheckable(True)
        self.setAutoExclusive(True)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)  # as high as its neighbour
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        column = QVBoxLayout(self)
        column.setContentsMargins(14, 10, 14, 10)
        column.setSpacing(3)
        self._title, self._words = Label(theme, title, "button"), Label(theme, sentence, "small", "muted")
        column.addWidget(self._title)
        column.addWidget(self._words)
        column.addStretch(1)  # where the neighbour is higher, the words stay level with its words
        self._column = column
        for label in self.findChildren(QLabel):
            label.setWordWrap(True)
            label.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.show_words(title, sentence)

    def show_words(self, title: str, sentence: str) -> None:
        """Say what it is, and one sentence about it."""
        self._title.setText(title)
        self._words.setText(sentence)
        self.setAccessibleName(title)
        self.setAccessibleDescription(sentence)

    def sizeHint(self) -> QSize:
        return QSize(self._wide, self._column.totalHeightForWidth(self._wide))


class TransferDialog(SheetDialog):
    """A dialog that goes on while something is written or read; closing it meanwhile asks for that to end.

    Args:
        action: Words of the button that begins.
    """

    cancel_requested = Signal()

    def __init__(
        self,
        theme: Theme,
        title: str,
        sentence: str,
        action: str,
        parent: QWidget | None = None,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(theme, title, sentence, parent)
        self.setFixedWidth(theme.wide(WIDTH))
        self._pace = Pace(clock)
        self._working = False
        self.choice = QWidget(self)
        self.column.addSpacing(6)
        self.column.addWidget(self.choice)
        self._state = Label(theme, "", "list")
        self._state.setWordWrap(True)
        self._line = ProgressLine(theme, self)
        self.column.addWidget(self._state)
        self.column.addWidget(self._line)
        self._list = self.add_text("", translate("transfer_dialog", "What was left out, and why"), 5)
        self._list.setFont(theme.font("list"))
        self._list.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self._list.setFixedHeight(theme.line(_LIST_HEIGHT))
        self._list.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.close_button = self.add_button(translate("transfer_dialog", "Cancel"))
        self.action_button = self.add_button(action, primary=True)
        self.close_button.clicked.connect(self.reject)
        self.finish_layout()
        for part in (self._state, self._line, self._list):
            part.hide()

    @property
    def sentence_shown(self) -> str:
        """What it says of the progress or the result; empty before anything was begun."""
        return "" if self._state.isHidden() else self._state.text()

    @property
    def left_out(self) -> str:
        """The lines about what was left out."""
        return self._list.toPlainText()

    @property
    def share(self) -> float | None:
        """How much is done, between 0 and 1; None while that is not known."""
        return self._line.share

    @property
    def working(self) -> bool:
        """Whether something is being written or read."""
        return self._working

    def clear_state(self) -> None:
        """Say nothing any more of what was done before."""
        self._state.hide()
        self._list.hide()
        self.fit_height()

    def show_failure(self, sentence: str) -> None:
        """Say why it could not be done; it can be tried once more."""
        self._end(sentence)
        show_property(self._state, "tone", "warning")
        self.choice.show()
        self.action_button.show()
        self.fit_height()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.fit_height()

    def reject(self) -> None:
        if self._working:
            self.cancel_requested.emit()
        super().reject()

    def closeEvent(self, event: QCloseEvent) -> None:
        if self._working:
            self.cancel_requested.emit()
        super().closeEvent(event)

    def _work(self, sentence: str, share: float | None) -> None:
        """Show that something goes on."""
        self._working = True
        self.choice.hide()
        self._list.hide()
        self.action_button.hide()
        show_property(self._state, "tone", "text")
        self._state.setText(sentence)
        self._state.show()
        self._line.show()
        self._line.show_share(share)
        self.close_button.setText(translate("transfer_dialog", "Cancel"))
        self.fit_height()

    def _end(self, sentence: str, left_out: str = "") -> None:
        """Show how it ended."""
        self._working = False
        self._pace.forget()
        self._line.hide()
        self._state.setText(sentence)
        self._state.show()
        self._list.setPlainText(left_out)
        self._list.setVisible(bool(left_out))
        self.action_button.hide()
        self.close_button.setText(translate("transfer_dialog", "Close"))
        self.close_button.setFocus()
        self.fit_height()
