"""Finding in a conversation, over its messages: the bar in their corner, the search behind it, the room it takes."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QScrollArea

from app.theme import Theme
from app.views.chat_column import ChatColumn
from app.views.chat_find import ChatFind
from app.views.chat_position import ChatPosition
from app.views.find_bar import FindBar

_GAP: Final = 12


class FindOverlay(QObject):
    """Opens and closes the bar, and has what is typed into it looked for.

    Args:
        area: Scrolls the messages; the bar lies over it.
        column: The messages.
        position: Goes to what is found, and begins the messages below the bar.
        find: Looks through the messages.
    """

    closed = Signal()

    def __init__(
        self, theme: Theme, area: QScrollArea, column: ChatColumn, position: ChatPosition, find: ChatFind
    ) -> None:
        super().__init__(area)
        self._area = area
        self._column = column
        self._position = position
        self._find = find
        self._bar = FindBar(theme, area)
        self._bar.text_changed.connect(self._look_for)
        self._bar.step_requested.connect(find.step)
        self._bar.closed.connect(self.close)
        find.found.connect(position.to_match)
        find.counted.connect(self._bar.show_count)

    @property
    def bar(self) -> FindBar:
        """Where words to find are typed."""
        return self._bar

    def open(self, words: str) -> None:
        """Show the bar and look at once for these words, or if there are none for those of the last time."""
        self._place_bar()
        self._bar.open(words)
        self._keep_head_free()
        self._look_for(self._bar.field.text())

    def close(self) -> None:
        """Hide the bar, if it is open, and look for nothing."""
        if not self._bar.isHidden():
            inside = self._bar.focusWidget()
            if inside is not None:
                inside.clearFocus()  # or Qt gives the focus to some message and scrolls to it
            self._bar.hide()
            self._keep_head_free()
            self.closed.emit()
        self._find.clear()

    def place(self) -> None:
        """Lie in the corner of the area as large as it is now."""
        self._place_bar()
        self._keep_head_free()

    def _look_for(self, text: str) -> None:
        self._find.look_for(text, self._column.index_at(self._area.verticalScrollBar().value()))

    def _place_bar(self) -> None:
        room, wanted = self._area.viewport().width(), self._bar.sizeHint()
        width = min(wanted.width(), room - 2 * _GAP)
        self._bar.setGeometry(room - width - _GAP, _GAP, width, wanted.height())

    def _keep_head_free(self) -> None:
        """Where the bar lies over the messages, the first one begins below it."""
        bar = self._bar
        covers = not bar.isHidden() and bar.x() < self._column.right
        self._position.set_head(bar.y() + bar.height() + _GAP if covers else 0)
