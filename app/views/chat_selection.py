"""Text selected with the mouse across the messages of a conversation, and scrolled on while it is."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QObject, QPoint, Qt, QTimer
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QScrollArea

from app.blocks import plain_text
from app.markdown import parse
from app.thinking import split
from app.views.chat_column import ChatColumn
from app.views.message_view import MessageView
from app.views.slots import Slot

_DRAG_MS: Final = 30
_FASTEST: Final = 60  # pixels a tick
_FEW: Final = 100  # characters


class ChatSelection(QObject):
    """Knows from which message to which the selection runs; each message knows what of it is selected.

    Args:
        area: Scrolls on while the mouse is held beyond its edge.
    """

    def __init__(self, column: ChatColumn, area: QScrollArea) -> None:
        super().__init__(area)
        self._column = column
        self._area = area
        self._point = QPoint()
        self._from: MessageView | None = None
        self._range: tuple[int, int] | None = None  # first and last message, where it is more than one
        self._all = False  # all of these is selected, also what their views do not show
        self._timer = QTimer(self)
        self._timer.setInterval(_DRAG_MS)
        self._timer.timeout.connect(self._scroll_on)

    @property
    def scrolls_on(self) -> bool:
        """Whether the conversation scrolls because text is being selected beyond its edge."""
        return self._timer.isActive()

    @property
    def text(self) -> str:
        """What is selected, messages apart from each other by an empty line."""
        if self._range is None:
            return "\n\n".join(text for text in (view.body.selected_text() for view in self._column.views()) if text)
        first, last = self._range
        texts = (
            _whole_text(slot) if self._all or first < index < last else _selected(slot)
            for index, slot in enumerate(self._column.slots)
            if first <= index <= last
        )
        return "\n\n".join(text for text in texts if text)

    @property
    def words(self) -> str:
        """What is selected, if it is so little that one may look for it; a long selection is not put together."""
        text = self.text if self._range is None else ""
        return text if len(text) < _FEW and "\n" not in text else ""

    def begin(self, view: MessageView) -> None:
        """The mouse is pressed on a message: nothing else stays selected."""
        self.clear()
        self._from = view

    def clear(self) -> None:
        """Select nothing."""
        self._range, self._all = None, False
        for view in self._column.views():
            view.clear_selection()

    def select_all(self) -> None:
        """Select the whole conversation, also what has not been looked at yet."""
        self._range, self._all = (0, len(self._column.slots) - 1), True
        for view in self._column.views():
            view.body.selection.select_all()

    def made(self, index: int, view: MessageView) -> None:
        """A view was made for a message in the middle of what is selected."""
        if self._range is not None and self._range[0] <= index <= self._range[1]:
            view.body.selection.select_all()

    def drag(self, view: MessageView, point: QPoint) -> None:
        """The mouse was moved with its button down, from a message to a point of the screen."""
        self._from, self._point = view, point
        outside = not self._area.viewport().rect().contains(self._area.viewport().mapFromGlobal(point))
        if outside and not self._timer.isActive():
            self._timer.start()
        elif not outside:
            self._timer.stop()
        self._extend()

    def release(self) -> None:
        """The mouse was released."""
        self._timer.stop()

    def _extend(self) -> None:
        begun = self._column.index_of(self._from)
        if self._from is None or begun < 0:
            return
        reached = self._column.index_at(self._column.mapFromGlobal(self._point).y())
        self._all = False
        self._range = None if reached == begun else (min(begun, reached), max(begun, reached))
        for index, slot in enumerate(self._column.slots):
            if slot.view is not None:
                self._select(slot.view, index, begun, reached)

    def _select(self, view: MessageView, index: int, begun: int, reached: int) -> None:
        selection = view.body.selection
        if index == begun:
            down = reached > begun
            place = view.body.place_at(view.body.mapFromGlobal(self._point))
            selection.extend(place if reached == begun else selection.end if down else selection.start)
        elif index == reached:
            place = view.body.place_at(view.body.mapFromGlobal(self._point))
            selection.between(selection.start if reached > begun else selection.end, place)
        elif min(begun, reached) < index < max(begun, reached):
            selection.select_all()
        elif selection.anchored:
            selection.clear()

    def _scroll_on(self) -> None:
        if self._from is None or not QGuiApplication.mouseButtons() & Qt.MouseButton.LeftButton:
            self._timer.stop()
            return
        viewport = self._area.viewport()
        y = viewport.mapFromGlobal(self._point).y()
        step = y if y < 0 else y - viewport.height()
        bar = self._area.verticalScrollBar()
        bar.setValue(bar.value() + max(-_FASTEST, min(_FASTEST, step)))
        self._extend()


def _selected(slot: Slot) -> str:
    """What is selected of a message at one end of the selection."""
    return slot.view.body.selected_text() if slot.view is not None else ""


def _whole_text(slot: Slot) -> str:
    """All that a message says, as it is copied out of its view, whether it has one that shows all of it or not."""
    if slot.message.role == "user":
        return slot.message.content
    return "\n\n".join(text for text in map(plain_text, parse(split(slot.message.content).answer)) if text)
