"""What the inspector's pages are made of: titled sections, rows of names and figures, one sentence in a box."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QGridLayout, QHBoxLayout, QLayout, QSizePolicy, QVBoxLayout, QWidget

from app.theme import Theme
from app.views.controls import ElidedLabel, Label, plain_tip

_TOGETHER: Final = "\u00a0%"  # a number and its sign stay on one line
_MARGINS: Final = (18, 8, 6, 20)  # around a page; its scroll bar has room of its own at the right
_SECTION_GAP: Final = 22
_GAP: Final = 8


def lay_out_page(page: QWidget, parts: Sequence[QWidget | QLayout]) -> None:
    """Put the parts of a page below one another."""
    column = QVBoxLayout(page)
    column.setContentsMargins(*_MARGINS)
    column.setSpacing(_SECTION_GAP)
    for part in parts:
        if isinstance(part, QWidget):
            column.addWidget(part)
        else:
            column.addLayout(part)
    column.addStretch(1)


class Section(QWidget):
    """A title, one figure beside it, and parts below."""

    def __init__(self, theme: Theme, title: str, parent: QWidget, parts: Sequence[QWidget] = ()) -> None:
        super().__init__(parent)
        self._title = Label(theme, title, "figure", "text")
        self._aside = ElidedLabel(theme, "", "small", "muted")
        head = QHBoxLayout()
        head.addWidget(self._title, 1)
        head.addWidget(self._aside)
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(_GAP)
        self._column.addLayout(head)
        for part in parts:
            self._column.addWidget(part)

    @property
    def aside(self) -> str:
        """The figure beside the title."""
        return self._aside.text()

    def add(self, part: QWidget, place: Qt.AlignmentFlag | None = None) -> None:
        """Add a part below the others, as wide as the section if no place in its width is named."""
        self._column.addWidget(part)
        if place is not None:
            self._column.setAlignment(part, place)

    def show_aside(self, text: str) -> None:
        """Show another figure beside the title."""
        self._aside.setText(text)


class Lines(QWidget):
    """Sentences below one another, each wrapped; hidden while there are none."""

    def __init__(self, theme: Theme, tone: str, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self._tone = tone
        self._labels: list[Label] = []
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(4)
        self.hide()

    @property
    def texts(self) -> tuple[str, ...]:
        """What they say."""
        return tuple(label.text() for label in self._labels if not label.isHidden())

    def show_lines(self, lines: Sequence[tuple[str, str]]) -> None:
        """Show these sentences, each with a tool tip that may be empty."""
        while len(self._labels) < len(lines):
            self._labels.append(self._make())
        for index, label in enumerate(self._labels):
            text, detail = lines[index] if index < len(lines) else ("", "")
            label.setText(text)
            label.setToolTip(detail)
            label.setVisible(bool(text))
        self.setVisible(bool(lines))

    def _make(self) -> Label:
        label = Label(self._theme, "", "small", self._tone)
        label.setWordWrap(True)
        label.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)
        self._column.addWidget(label)
        return label


class Rows(QWidget):
    """Names at the left, figures at the right."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self._pairs: list[tuple[Label, Label]] = []
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setVerticalSpacing(theme.wide(5))
        self._grid.setColumnStretch(0, 1)

    @property
    def texts(self) -> tuple[tuple[str, str], ...]:
        """Names and figures on view."""
        return tuple((name.text(), figure.text()) for name, figure in self._pairs if not name.isHidden())

    def show_rows(self, rows: Sequence[tuple[str, str]], tips: Mapping[str, str] = MappingProxyType({})) -> None:
        """Show these names and figures; `tips` explains some of the names."""
        while len(self._pairs) < len(rows):
            self._pairs.append(self._make(len(self._pairs)))
        for index, (name, figure) in enumerate(self._pairs):
            shown = index < len(rows)
            name.setVisible(shown)
            figure.setVisible(shown)
            if shown:
                name.setText(rows[index][0])
                figure.setText(rows[index][1])
                for label in (name, figure):
                    label.setToolTip(plain_tip(tips.get(rows[index][0], "")))

    def _make(self, row: int) -> tuple[Label, Label]:
        name, figure = Label(self._theme, "", "small", "muted"), Label(self._theme, "", "figure", "text")
        self._grid.addWidget(name, row, 0)
        self._grid.addWidget(figure, row, 1, Qt.AlignmentFlag.AlignRight)
        return name, figure


class Verdict(QFrame):
    """One sentence in the accent's wash, and what would help."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("verdict")
        self._sentence = Label(theme, "", "figure", "text")
        self._help = Label(theme, "", "small", "text")
        column = QVBoxLayout(self)
        column.setContentsMargins(14, 12, 14, 12)
        column.setSpacing(4)
        for label in (self._sentence, self._help):
            label.setWordWrap(True)
            label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            column.addWidget(label)

    @property
    def text(self) -> str:
        """All that it says."""
        return f"{self._sentence.text()} {self._help.text()}".strip().replace(_TOGETHER, " %")

    def show_verdict(self, sentence: str, more: str) -> None:
        """Show what a turn was bound by, and what would help."""
        self._sentence.setText(sentence.replace(" %", _TOGETHER))
        self._help.setText(more.replace(" %", _TOGETHER))
        self._help.setVisible(bool(more))
        self.setAccessibleName(self.text)
