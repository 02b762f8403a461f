"""Where the reader of a conversation is: at its end and taken along, or at a place that stays while things change."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from PySide6.QtCore import QObject, QRect, QTimer, Signal
from PySide6.QtWidgets import QScrollArea

from app.views.chat_column import Anchor, ChatColumn
from app.views.chat_find import Match

_AHEAD: Final = 600  # pixels above and below the view in which messages are made before they are seen, in idle time
_NEAR_BOTTOM: Final = 8
_ROUNDS: Final = 6  # in which the heights on the way to a far message settle
_MARGIN: Final = 60  # a match nearer than this to an edge is not seen well
_TOP_GAP: Final = 16


class ChatPosition(QObject):
    """Scrolls a conversation, and places its messages so that what is read does not move.

    Args:
        area: Scrolls the column.
        waits: Whether a question has no word of its answer yet.
    """

    changed = Signal()

    def __init__(self, column: ChatColumn, area: QScrollArea, waits: Callable[[], bool]) -> None:
        super().__init__(area)
        self._column = column
        self._area = area
        self._bar = area.verticalScrollBar()
        self._waits = waits
        self._following = True
        self._moving = False  # the position is being set by this class, not by the reader
        self._anchor = Anchor(0, -1, 0)  # what stays at the top of the view while things change above it
        self._ahead = QTimer(self)
        self._ahead.setSingleShot(True)
        self._ahead.timeout.connect(self._make_ahead)
        self._bar.rangeChanged.connect(self._range_changed)
        self._bar.valueChanged.connect(self._scrolled)

    @property
    def following(self) -> bool:
        """Whether the view stays at the end as text comes."""
        return self._following

    @property
    def away(self) -> bool:
        """Whether there is an end to go back to."""
        return not self._following and self._bar.maximum() > 0

    def follow(self) -> None:
        """Stay at the end from the next change on."""
        self._following = True

    @property
    def place(self) -> Anchor | None:
        """What is at the top of the view; None while the end is followed."""
        return None if self._following else self._seen_first()

    def go_on(self, place: Anchor) -> None:
        """Have this at the top, as it was in another view of the same conversation."""
        self._anchor, self._following = place, False
        self.arrange()
        self.settle()

    def stay(self) -> None:
        """Keep what is at the top now where it is, also at the end, until `settle`."""
        self._anchor = self._seen_first()
        self._following = False

    def settle(self) -> None:
        """Follow again if the reader is at the end."""
        self._following = self._at_end()
        self.changed.emit()

    def to_end(self) -> None:
        """Go to the end and follow it again."""
        self._following = True
        self.arrange()
        self._go_to(self._bar.maximum())

    def to_match(self, match: Match) -> None:
        """Bring a match into view; heights on the way to it are estimates until they are seen, so it takes rounds."""
        self._following = False
        column = self._column
        for _ in range(_ROUNDS):
            view = column.ensure(match.slot)
            column.slots[match.slot].laid_out = 0
            self._place_all()
            place = view.match_rect(match.block, match.number) if match.block >= 0 else QRect(0, 0, 1, 1)
            wanted = self._position_for(place.translated(0, column.tops[match.slot]), match.block < 0)
            if wanted == self._bar.value() and not self._make_seen():
                break
            self._go_to(wanted)
            self._anchor = self._seen_first()
            self.arrange()
        self.settle()

    def set_head(self, head: int) -> None:
        """Begin so many pixels lower; a reader who is at the very top stays there and so sees the first message."""
        if head == self._column.head:
            return
        at_top = self._bar.value() == 0
        self._column.head = head
        if at_top:
            self._following = False
        self.arrange()
        if at_top:
            self._go_to(0)
            self._anchor = self._seen_first()
            self.settle()

    @property
    def room(self) -> int:
        """Pixels that can be seen well at once."""
        return self._area.viewport().height() - 2 * _TOP_GAP

    def show(self, index: int, place: QRect) -> None:
        """Bring a place in a message into view, scrolling no more than that takes."""
        place = place.translated(0, self._column.tops[index])
        low, high = place.bottom() + _TOP_GAP - self._area.viewport().height(), place.top() - _TOP_GAP
        wanted = max(0, min(self._bar.maximum(), max(low, min(self._bar.value(), high))))
        if wanted != self._bar.value():
            self._following = False
            self._go_to(wanted)
            self._anchor = self._seen_first()
            self.arrange()
            self.settle()

    def height_changed(self, index: int) -> None:
        """A message needs another height than it has."""
        self._column.slots[index].laid_out = 0
        self._column.waits = self._waits()
        if index < len(self._column.slots) - 1 or not self._place_last():
            self.arrange()

    def arrange(self) -> None:
        """Place all messages, making those in view; what is at the top of the view stays where it is."""
        column = self._column
        column.set_room(self._area.width())
        column.waits = self._waits()
        for _ in range(len(column.slots) + 1):  # each round makes at least one view, or is the last
            self._place_all()
            place = self._bar.maximum() if self._following else column.height_of(self._anchor)
            if place is not None:
                self._go_to(place)
            if not self._make_seen():
                break
        if self._following:
            self._anchor = self._seen_first()

    def _place_all(self) -> None:
        """Place all messages. A shorter canvas moves the position: that is not the reader's doing."""
        moving, self._moving = self._moving, True
        self._column.place_all()
        self._moving = moving

    def _place_last(self) -> bool:
        """Place the last message alone; False if all must be placed."""
        moving, self._moving = self._moving, True
        placed = self._column.place_last()
        self._moving = moving
        place = self._column.height_of(self._anchor)
        if placed and not self._following and place is not None:
            self._go_to(place)  # something may have changed in it above what is seen
        return placed

    def _make_seen(self) -> bool:
        """Make the views of messages in the view, those near it a moment later; whether there were any to make now."""
        self._ahead.start()
        value = self._bar.value()
        return self._column.make_near(value, value + self._area.viewport().height())

    def _make_ahead(self) -> None:
        """Make one view near what is seen, and the next one when the window has done what else there is to do."""
        value = self._bar.value()
        if self._column.make_near(value - _AHEAD, value + self._area.viewport().height() + _AHEAD, most=1):
            self.arrange()

    def _seen_first(self) -> Anchor:
        return self._column.anchor(self._bar.value(), self._area.viewport().height())

    def _position_for(self, place: QRect, at_top: bool) -> int:
        value, height = self._bar.value(), self._area.viewport().height()
        seen = value + _MARGIN <= place.top() and place.bottom() <= value + height - _MARGIN
        if seen and not at_top:
            return value
        wanted = place.top() - (_TOP_GAP if at_top else height // 3)
        return max(0, min(self._bar.maximum(), wanted))

    def _range_changed(self, _low: int, high: int) -> None:
        if self._following:
            self._go_to(high)

    def _scrolled(self, value: int) -> None:
        if not self._moving:
            self._following = self._at_end()
            self._anchor = self._seen_first()
            if self._make_seen():
                self.arrange()
        self.changed.emit()

    def _at_end(self) -> bool:
        return self._bar.value() >= self._bar.maximum() - _NEAR_BOTTOM

    def _go_to(self, value: int) -> None:
        moving, self._moving = self._moving, True
        self._bar.setValue(value)
        self._moving = moving
        self.changed.emit()
