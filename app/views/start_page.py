"""What an empty chat shows: one line, and a few questions that can be clicked."""

from __future__ import annotations

from functools import partial
from typing import Final

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import QGridLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from app.live import ModelState
from app.theme import Theme, app_icon
from app.views.controls import Label

TITLE: Final = "What would you like to know?"
PROMISE: Final = "The answer is made on this machine; nothing leaves it."
EXAMPLES: Final = (
    "Why is the sky blue?",
    "Write a short thank-you note to a neighbour",
    "Three ideas for a rainy Sunday",
    "Explain recursion with a Python example",
)
_TWO_COLUMNS: Final = 560


class ExampleButton(QPushButton):
    """A question on a card; its text is broken into lines where it has to be."""

    def __init__(self, theme: Theme, text: str, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("example")
        self.setAccessibleName(text)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        label = Label(theme, text, "list")
        label.setWordWrap(True)
        label.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 12, 16, 12)
        column.addWidget(label)

    def sizeHint(self) -> QSize:
        return QSize(200, 56)


class StartPage(QWidget):
    """Stands where messages will stand."""

    example_chosen = Signal(str)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._icon = QLabel(self)
        self._icon.setPixmap(app_icon().pixmap(QSize(56, 56), self.devicePixelRatioF()))
        self._icon.setAccessibleName("Loquat")
        self._title = Label(theme, TITLE, "display")
        self._state = Label(theme, PROMISE, "list", "muted")
        for label in (self._icon, self._title, self._state):
            label.setAlignment(Qt.AlignmentFlag.AlignHCenter)
            label.setWordWrap(label is not self._icon)
        self._examples = [ExampleButton(theme, text, self) for text in EXAMPLES]
        for button in self._examples:
            button.clicked.connect(partial(self._choose, button.accessibleName()))
        self._column = QVBoxLayout(self)
        self._grid = QGridLayout()
        self._grid.setSpacing(12)
        self._columns = 0
        self._lay_out()

    @property
    def examples(self) -> tuple[ExampleButton, ...]:
        """The questions that can be clicked."""
        return tuple(self._examples)

    @property
    def sentence(self) -> str:
        """The line under the title."""
        return self._state.text()

    def show_model(self, model: ModelState) -> None:
        """Say what can be done now: ask, type already, or why there is no model."""
        sentence = PROMISE
        if model.phase == "working":
            sentence = "You can type already. The answer comes as soon as the model is ready."
        elif model.phase == "failed":
            sentence = model.sentence
        self._state.setText(sentence)

    def _choose(self, text: str) -> None:
        self.example_chosen.emit(text)

    def resizeEvent(self, event: object) -> None:
        self._arrange()

    def _lay_out(self) -> None:
        column = self._column
        column.setSpacing(0)
        column.addStretch(4)
        column.addWidget(self._icon)
        column.addSpacing(20)
        column.addWidget(self._title)
        column.addSpacing(8)
        column.addWidget(self._state)
        column.addSpacing(32)
        column.addLayout(self._grid)
        column.addStretch(5)
        self._arrange()

    def _arrange(self) -> None:
        columns = 2 if self.width() >= _TWO_COLUMNS else 1
        side = max(20, (self.width() - 680) // 2)
        self._column.setContentsMargins(side, 24, side, 24)
        if columns == self._columns:
            return
        self._columns = columns
        for index, button in enumerate(self._examples):
            self._grid.addWidget(button, index // columns, index % columns)
        for index in range(2):
            self._grid.setColumnStretch(index, 1 if index < columns else 0)
