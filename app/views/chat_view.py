"""The messages of a conversation in a reading column: made lazily, kept in place for the reader."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from typing import Final

from PySide6.QtCore import QEvent, QPoint, Qt, QTimer, Signal
from PySide6.QtGui import QGuiApplication, QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QScrollArea, QWidget

from app.live import LiveTurn, ModelState
from app.records import StoredMessage, Version
from app.theme import Theme
from app.views.controls import IconButton, is_typing
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
_AHEAD: Final = 600  # pixels above and below the view in which messages are made before they are seen
_NEAR_BOTTOM: Final = 8
_DRAG_MS: Final = 30


class ChatView(QScrollArea):
    """Draws a thread of messages and follows its end only while the reader is there."""

    link_activated = Signal(str)
    typed = Signal(str)  # a key that belongs into the composer
    edited = Signal(str, str)  # message id, the question in other words
    regenerate_requested = Signal(str)
    version_requested = Signal(str, int)  # message id, versions to go on or back

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._slots: list[Slot] = []
        self._tops: list[int] = []
        self._live = LiveTurn()
        self._versions: Mapping[str, Version] = {}
        self._left_out_count = 0
        self._following = True
        self._moving = False  # the position is being set by this class, not by the reader
        self._canvas = QWidget()
        self._canvas.setObjectName("canvas")
        self._waiting = WaitingLine(theme, self._canvas)
        self._waiting.hide()
        self._left_out = LeftOutLine(theme, self._canvas)
        self.setWidget(self._canvas)
        self.setObjectName("chat")
        self.setAccessibleName("Conversation")
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self._jump = IconButton(theme, "down", "Jump to the latest (Ctrl+End)", self, 36)
        self._jump.setObjectName("jump")
        self._jump.hide()
        self._drag_point = QPoint()
        self._drag_view: MessageView | None = None
        self._drag_timer = QTimer(self)
        self._drag_timer.setInterval(_DRAG_MS)
        self._connect()

    def _connect(self) -> None:
        bar = self.verticalScrollBar()
        bar.rangeChanged.connect(self._range_changed)
        bar.valueChanged.connect(self._scrolled)
        self._jump.clicked.connect(self.jump_to_end)
        self._drag_timer.timeout.connect(self._drag_on)
        self._theme.changed.connect(self._restyle)

    # -- what is shown -----------------------------------------------------------------------------------------

    @property
    def following(self) -> bool:
        """Whether the view stays at the end as text comes."""
        return self._following

    @property
    def jump_button(self) -> IconButton:
        """Shown while the end is out of sight."""
        return self._jump

    @property
    def waiting_line(self) -> WaitingLine:
        """Says what goes on before the first word of an answer."""
        return self._waiting

    @property
    def left_out_line(self) -> LeftOutLine:
        """Stands above the first message that was read for the last answer, if some were not."""
        return self._left_out

    @property
    def scrolls_on(self) -> bool:
        """Whether it scrolls because text is being selected beyond its edge."""
        return self._drag_timer.isActive()

    def message_views(self) -> tuple[MessageView, ...]:
        """Those that have been made so far, from top to bottom."""
        return tuple(slot.view for slot in self._slots if slot.view is not None)

    def show_thread(self, messages: Sequence[StoredMessage], live: LiveTurn) -> None:
        """Show another conversation, from its end."""
        self._replace_from(0, messages, live)
        self._following = True
        self._arrange()

    def change_thread(self, messages: Sequence[StoredMessage], live: LiveTurn) -> None:
        """Show another branch of the conversation; what both have in common stays where it is."""
        pairs = zip(self._slots, messages, strict=False)
        same = next((i for i, (slot, new) in enumerate(pairs) if slot.message.id != new.id), None)
        same = min(len(self._slots), len(messages)) if same is None else same
        if same < min(len(self._slots), len(messages)) and self._slots[same].can_become(messages[same]):
            self._become(self._slots[same], messages[same])
            same += 1
        self._replace_from(same, messages, live)
        self._following = False
        self._arrange()
        self._following = self._at_end()
        self._jump.setVisible(not self._following)

    def show_versions(self, versions: Mapping[str, Version]) -> None:
        """Show which version the messages are, of those that have more than one."""
        self._versions = versions
        for slot in self._slots:
            if slot.view is not None:
                slot.view.show_version(versions.get(slot.message.id, Version()))

    def show_left_out(self, count: int) -> None:
        """Mark the first so many messages as not read for the last answer."""
        if count == self._left_out_count:
            return
        self._left_out_count = count
        self._left_out.show_count(count)
        for index, slot in enumerate(self._slots):
            if slot.view is not None:
                slot.view.set_dimmed(index < count)
        self._arrange()

    def add_message(self, message: StoredMessage) -> None:
        """Show a new message at the end; a question of the person's own brings the end into view."""
        self._slots.append(Slot(message, estimated_height(message, self._column())))
        if message.role == "user":
            self._following = True
        self._make(len(self._slots) - 1)
        self._arrange()

    def append_text(self, message_id: str, text: str) -> None:
        """Add text to the answer that is being written."""
        slot = self._slot(message_id)
        if slot is None:
            return
        if slot.view is None:
            self._make(self._slots.index(slot))
        if slot.view is not None:
            slot.view.append(text)

    def finish_message(self, message: StoredMessage) -> None:
        """Show an answer as it ended."""
        slot = self._slot(message.id)
        if slot is None:
            return
        slot.message = message
        if slot.view is not None:
            slot.view.finish(message)

    def show_turn(self, live: LiveTurn, model: ModelState) -> None:
        """Show how far the turn has come: before the first word in a line of its own, then under the answer."""
        was_busy, self._live = self._busy, live
        self._waiting.show_turn(live, model)
        if was_busy != self._busy:
            for view in self.message_views():
                view.set_busy(self._busy)
        slot = self._slots[-1] if self._slots else None
        if slot is not None and slot.view is not None:
            slot.view.show_live(live)
        if self._waiting.isHidden() == self._waits():
            self._arrange()

    # -- moving ------------------------------------------------------------------------------------------------

    def jump_to_end(self) -> None:
        """Go to the end and follow it again."""
        self._following = True
        self._arrange()
        self._go_to(self.verticalScrollBar().maximum())

    def page(self, pages: int) -> None:
        """Scroll by so many pages; for the keys of a field that does not scroll itself."""
        bar = self.verticalScrollBar()
        bar.setValue(bar.value() + pages * (bar.pageStep() - 48))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        bar = self.verticalScrollBar()
        if event.key() == Qt.Key.Key_Home:
            bar.setValue(0)
        elif event.key() == Qt.Key.Key_End:
            self.jump_to_end()
        elif is_typing(event):
            self.typed.emit(event.text())
        else:
            super().keyPressEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange()
        size = self.viewport().size()
        self._jump.move((size.width() - self._jump.width()) // 2, size.height() - self._jump.height() - 10)

    def mouseReleaseEvent(self, event: QEvent) -> None:
        self._drag_timer.stop()

    def _range_changed(self, _low: int, high: int) -> None:
        if self._following:
            self._go_to(high)

    def _scrolled(self, value: int) -> None:
        if not self._moving:
            self._following = self._at_end()
            if self._make_near(value):
                self._arrange()
        self._jump.setVisible(not self._following and self.verticalScrollBar().maximum() > 0)
        self._jump.raise_()

    def _at_end(self) -> bool:
        return self.verticalScrollBar().value() >= self.verticalScrollBar().maximum() - _NEAR_BOTTOM

    def _go_to(self, value: int) -> None:
        self._moving = True
        self.verticalScrollBar().setValue(value)
        self._moving = False
        self._jump.setVisible(not self._following)

    # -- placing -----------------------------------------------------------------------------------------------

    def _column(self) -> int:
        return max(200, min(COLUMN, self.width() - 2 * MARGIN))

    def _left(self) -> int:
        # Of the whole width, so that the column does not move when the scroll bar comes and goes.
        return max(MARGIN, (self.width() - COLUMN) // 2)

    def _slot(self, message_id: str) -> Slot | None:
        return next((slot for slot in reversed(self._slots) if slot.message.id == message_id), None)

    @property
    def _busy(self) -> bool:
        return self._live.phase != "idle"

    def _waits(self) -> bool:
        """Whether a question has no word of its answer yet."""
        return self._busy and not self._live.message_id

    def _replace_from(self, first: int, messages: Sequence[StoredMessage], live: LiveTurn) -> None:
        """Show other messages from this index on; none has a view yet."""
        for slot in self._slots[first:]:
            slot.discard()
        width = self._column()
        self._slots[first:] = [Slot(message, estimated_height(message, width)) for message in messages[first:]]
        self._live = live

    def _become(self, slot: Slot, message: StoredMessage) -> None:
        """Show another version of a message in the same view, which keeps the keyboard where it is."""
        slot.message, slot.laid_out = message, 0
        if slot.view is not None:
            slot.view.show_message(message)

    def _make(self, index: int) -> None:
        """Make the view of a message."""
        slot = self._slots[index]
        # An answer is added just before the figures of its first token come, while the turn still seems to wait.
        is_last = index == len(self._slots) - 1
        streaming = is_last and slot.message.status == "partial" and self._busy
        view = MessageView(self._theme, slot.message, streaming, self._canvas)
        view.height_changed.connect(self._height_changed)
        view.link_activated.connect(self.link_activated)
        view.dragged_to.connect(self._dragged)
        view.edited.connect(self.edited)
        view.regenerate_requested.connect(self.regenerate_requested)
        view.version_requested.connect(self.version_requested)
        view.show_version(self._versions.get(slot.message.id, Version()))
        view.set_busy(self._busy)
        view.set_dimmed(index < self._left_out_count)
        slot.view = view
        if streaming:
            view.show_live(self._live)
        view.show()

    def _height_changed(self) -> None:
        view = self.sender()
        slot = next((slot for slot in reversed(self._slots) if slot.view is view), None)
        if slot is None:
            return
        slot.laid_out = 0
        if slot is self._slots[-1]:
            self._place_last()
        else:
            self._arrange()

    def _place_last(self) -> None:
        """Place the last message alone: what is above it does not move when it grows."""
        slot = self._slots[-1]
        if slot.view is None or len(self._tops) != len(self._slots):
            self._arrange()
            return
        slot.lay_out(self._column())
        slot.view.setGeometry(self._left(), self._tops[-1], self._column(), slot.height)
        self._resize_canvas(self._tops[-1] + slot.height)

    def _arrange(self) -> None:
        """Place all messages, making those near the view; the message at the top of the view stays where it is."""
        bar = self.verticalScrollBar()
        anchor, offset = self._anchor(bar.value())
        for _ in range(len(self._slots) + 1):  # each round makes at least one view, or is the last
            self._place_all()
            if self._following:
                self._go_to(bar.maximum())
            elif anchor < len(self._tops):
                self._go_to(self._tops[anchor] + offset)
            if not self._make_near(bar.value()):
                return

    def _anchor(self, value: int) -> tuple[int, int]:
        index = max(0, bisect_right(self._tops, value) - 1)
        return index, value - (self._tops[index] if index < len(self._tops) else 0)

    def _place_all(self) -> None:
        width, left, y = self._column(), self._left(), _TOP
        self._left_out.setVisible(0 < self._left_out_count < len(self._slots))
        self._tops = []
        for index, slot in enumerate(self._slots):
            if index:
                y += _AFTER_QUESTION if self._slots[index - 1].message.role == "user" else _AFTER_ANSWER
            if index and index == self._left_out_count:
                y += self._place_left_out(left, y, width)
            self._tops.append(y)
            if slot.view is not None:
                slot.lay_out(width)
                slot.view.setGeometry(left, y, width, slot.height)
            y += slot.height
        self._resize_canvas(y)

    def _place_left_out(self, left: int, top: int, width: int) -> int:
        """Place the line between what was not read and what was; the pixels that it takes."""
        height = self._left_out.height_for(width)
        self._left_out.setGeometry(left, top, width, height)
        return height + _AFTER_ANSWER

    def _resize_canvas(self, bottom: int) -> None:
        self._waiting.setVisible(self._waits())
        if self._waits():
            top = bottom + _AFTER_QUESTION
            self._waiting.setGeometry(self._left(), top, self._column(), self._waiting.sizeHint().height())
            bottom = top + self._waiting.height()
        self._canvas.resize(self.viewport().width(), max(bottom + _BOTTOM, 1))

    def _make_near(self, value: int) -> bool:
        """Make the views of messages in and near the view; whether there were any to make."""
        low, high = value - _AHEAD, value + self.viewport().height() + _AHEAD
        made = False
        for index in range(max(0, bisect_right(self._tops, low) - 1), len(self._slots)):
            if self._tops[index] > high:
                break
            if self._slots[index].view is None:
                self._make(index)
                made = True
        return made

    def _restyle(self) -> None:
        for slot in self._slots:
            slot.laid_out = 0
            if slot.view is not None:
                slot.view.restyle()
        self._arrange()
        self.viewport().update()

    # -- selecting beyond the edge -----------------------------------------------------------------------------

    def _dragged(self, point: QPoint) -> None:
        sender = self.sender()
        self._drag_view = sender if isinstance(sender, MessageView) else None
        self._drag_point = point
        outside = not self.viewport().rect().contains(self.viewport().mapFromGlobal(point))
        if outside and not self._drag_timer.isActive():
            self._drag_timer.start()
        elif not outside:
            self._drag_timer.stop()

    def _drag_on(self) -> None:
        if self._drag_view is None or not QGuiApplication.mouseButtons() & Qt.MouseButton.LeftButton:
            self._drag_timer.stop()
            return
        y = self.viewport().mapFromGlobal(self._drag_point).y()
        step = y if y < 0 else y - self.viewport().height()
        self.verticalScrollBar().setValue(self.verticalScrollBar().value() + max(-60, min(60, step)))
        body = self._drag_view.body
        body.drag_to(body.mapFromGlobal(self._drag_point))
