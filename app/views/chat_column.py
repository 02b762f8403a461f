"""The column of a conversation: messages below each other, each in its slot, with the lines between them."""

from __future__ import annotations

import sys
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from PySide6.QtWidgets import QWidget

from app.records import StoredMessage
from app.theme import Theme
from app.views.left_out_line import LeftOutLine
from app.views.message_view import MessageView
from app.views.slots import Slot, estimated_height
from app.views.waiting_line import WaitingLine

COLUMN: Final = 680
MARGIN: Final = 20
_TOP: Final = 24
_BOTTOM: Final = 28
_AFTER_QUESTION: Final = 0  # the row of actions under a question is the gap
_AFTER_ANSWER: Final = 24
_KEPT: Final = 60  # views that are kept though they are far from what is seen


@dataclass(frozen=True, slots=True)
class Anchor:
    """A point of the conversation that is to stay where it is: in which message, which block, how far down.

    Attributes:
        block: -1 for the message itself.
    """

    slot: int
    block: int
    offset: int


class ChatColumn(QWidget):
    """Places messages. The owner makes their views and says how wide the room is.

    Args:
        make: Makes the view of the slot at an index, as a child of this widget.

    Attributes:
        head: Pixels at the top over which something lies: the first message begins below them.
    """

    def __init__(self, theme: Theme, make: Callable[[int], MessageView]) -> None:
        super().__init__()
        self._make = make
        self._slots: list[Slot] = []
        self._tops: list[int] = []
        self._room = COLUMN
        self.left_out_count = 0
        self.head = 0
        self.waits = False
        self.waiting = WaitingLine(theme, self)
        self.waiting.hide()
        self.left_out = LeftOutLine(theme, self)
        self.setObjectName("canvas")

    @property
    def slots(self) -> Sequence[Slot]:
        """All messages, from top to bottom."""
        return self._slots

    @property
    def tops(self) -> Sequence[int]:
        """Where each message begins, in pixels."""
        return self._tops

    def set_room(self, room: int) -> None:
        """Set the width of the whole view, which the column stands in the middle of."""
        self._room = room

    @property
    def column_width(self) -> int:
        """The width of the messages."""
        return max(200, min(COLUMN, self._room - 2 * MARGIN))

    @property
    def right(self) -> int:
        """Where the messages end at the right."""
        return self._left() + self.column_width

    def views(self) -> tuple[MessageView, ...]:
        """The views that have been made, from top to bottom."""
        return tuple(slot.view for slot in self._slots if slot.view is not None)

    def index_of_message(self, message_id: str) -> int:
        """The index of a message, -1 if it is not here; the last ones are found first."""
        last = len(self._slots) - 1
        return next((last - i for i, slot in enumerate(reversed(self._slots)) if slot.message.id == message_id), -1)

    def index_of(self, view: object) -> int:
        """The index of the message that a view draws, -1 if none."""
        last = len(self._slots) - 1
        return next((last - i for i, slot in enumerate(reversed(self._slots)) if slot.view is view), -1)

    def index_at(self, y: int) -> int:
        """The message at a height, or the nearest above it."""
        return max(0, bisect_right(self._tops, y) - 1)

    # -- which messages ----------------------------------------------------------------------------------------

    def replace_from(self, first: int, messages: Sequence[StoredMessage]) -> None:
        """Show other messages from this index on; none has a view yet."""
        for slot in self._slots[first:]:
            slot.discard()
        width = self.column_width
        self._slots[first:] = [Slot(message, estimated_height(message, width)) for message in messages[first:]]

    def add(self, message: StoredMessage) -> None:
        """Add a message at the end, with a view."""
        self._slots.append(Slot(message, estimated_height(message, self.column_width)))
        self.ensure(len(self._slots) - 1)

    def ensure(self, index: int) -> MessageView:
        """The view of a message, made if it is not there."""
        slot = self._slots[index]
        if slot.view is None:
            slot.view, slot.laid_out = self._make(index), 0
            slot.view.show()
        return slot.view

    def make_near(self, low: int, high: int, most: int = sys.maxsize) -> bool:
        """Make the views of messages between two heights, so many at most; whether there were any to make."""
        made = 0
        first = last = self.index_at(low)
        for index in range(first, len(self._slots)):
            if self._tops[index] > high:
                break
            last = index
            if self._slots[index].view is None and made < most:
                self.ensure(index)
                made += 1
        if made:
            self._drop_far(first, last)
        return bool(made)

    def _drop_far(self, first: int, last: int) -> None:
        """Let views go that are far from those between two indices, so that a long way costs no memory."""
        far = [i for i, slot in enumerate(self._slots) if slot.view is not None and not first <= i <= last]
        for index in sorted(far, key=lambda i: -min(abs(i - first), abs(i - last)))[: max(0, len(far) - _KEPT)]:
            view = self._slots[index].view
            if view is not None and not view.in_use and not view.isAncestorOf(view.focusWidget() or self):
                self._slots[index].discard()

    # -- where they are ----------------------------------------------------------------------------------------

    def anchor(self, y: int, height: int) -> Anchor:
        """What is seen first in a view that begins at `y`: a message that was made, if it shows one.

        Of a message that was not made the height is an estimate: what is seen below it would move when it is made.
        """
        index = first = self.index_at(y)
        while index < len(self._tops) and self._tops[index] < y + height and self._slots[index].view is None:
            index += 1
        if index >= len(self._tops) or self._slots[index].view is None:
            index = first
        offset = y - (self._tops[index] if index < len(self._tops) else 0)
        view = self._slots[index].view if index < len(self._slots) else None
        return Anchor(index, *view.block_at(offset)) if view is not None else Anchor(index, -1, offset)

    def height_of(self, anchor: Anchor) -> int | None:
        """Where an anchor is now; None if its message is gone."""
        if anchor.slot >= len(self._tops):
            return None
        view = self._slots[anchor.slot].view
        inside = view.top_of(anchor.block) if view is not None else 0
        return self._tops[anchor.slot] + inside + anchor.offset

    def place_all(self) -> None:
        """Place all messages, one below the other."""
        width, left, y = self.column_width, self._left(), max(_TOP, self.head)
        self.left_out.setVisible(0 < self.left_out_count < len(self._slots))
        self._tops = []
        for index, slot in enumerate(self._slots):
            if index:
                y += _AFTER_QUESTION if self._slots[index - 1].message.role == "user" else _AFTER_ANSWER
            if index and index == self.left_out_count:
                y += self._place_left_out(left, y, width)
            self._tops.append(y)
            if slot.view is not None:
                slot.lay_out(width)
                slot.view.setGeometry(left, y, width, slot.height)
            y += slot.height
        self._end_at(y)

    def place_last(self) -> bool:
        """Place the last message alone: what is above it does not move when it grows. False if all must be placed."""
        slot = self._slots[-1]
        if slot.view is None or len(self._tops) != len(self._slots):
            return False
        slot.lay_out(self.column_width)
        slot.view.setGeometry(self._left(), self._tops[-1], self.column_width, slot.height)
        self._end_at(self._tops[-1] + slot.height)
        return True

    def _left(self) -> int:
        # Of the whole width, so that the column does not move when the scroll bar comes and goes.
        return max(MARGIN, (self._room - COLUMN) // 2)

    def _place_left_out(self, left: int, top: int, width: int) -> int:
        """Place the line between what was not read and what was; the pixels that it takes."""
        height = self.left_out.height_for(width)
        self.left_out.setGeometry(left, top, width, height)
        return height + _AFTER_ANSWER

    def _end_at(self, bottom: int) -> None:
        self.waiting.setVisible(self.waits)
        if self.waits:
            top = bottom + _AFTER_QUESTION
            self.waiting.setGeometry(self._left(), top, self.column_width, self.waiting.sizeHint().height())
            bottom = top + self.waiting.height()
        viewport = self.parentWidget()
        self.resize(self._room if viewport is None else viewport.width(), bottom + _BOTTOM)
