"""The messages of a conversation in a reading column: made lazily, kept in place for the reader."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from PySide6.QtCore import QEvent, QPoint, Qt, Signal
from PySide6.QtGui import QGuiApplication, QKeyEvent, QKeySequence, QResizeEvent
from PySide6.QtWidgets import QScrollArea, QWidget

from app.draft import Draft
from app.i18n import translate
from app.live import DraftCost, LiveTurn, ModelState
from app.records import StoredMessage, Version
from app.theme import Theme
from app.views.chat_column import Anchor, ChatColumn
from app.views.chat_find import ChatFind, Match
from app.views.chat_position import ChatPosition
from app.views.chat_selection import ChatSelection
from app.views.controls import IconButton, is_typing
from app.views.drawing_time import DrawingTime
from app.views.find_bar import FindBar
from app.views.find_overlay import FindOverlay
from app.views.focus_order import controls_in, follow
from app.views.formulas import Formulas
from app.views.jump_button import JumpButton
from app.views.left_out_line import LeftOutLine
from app.views.message_view import MessageView
from app.views.slots import Slot, common_length
from app.views.waiting_line import WaitingLine


class ChatView(QScrollArea):
    """Draws a thread of messages and follows its end only while the reader is there."""

    link_activated = Signal(str)
    typed = Signal(str)  # a key that belongs into the composer
    find_closed = Signal()
    edited = Signal(str, object)  # message id, Draft: the question in other words
    edit_changed = Signal(str, object)  # message id, Draft so far: what would it cost?
    retry_requested = Signal()  # the last question, which has no answer, is to be asked again
    regenerate_requested = Signal(str)
    continue_requested = Signal(str)
    fork_requested = Signal(str)
    delete_requested = Signal(str)
    explain_requested = Signal(str)  # message id: where did the time of this answer go?
    quote_requested = Signal(str)  # text that is to be quoted in the composer
    version_requested = Signal(str, int)  # message id, versions to go on or back

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._formulas = Formulas(theme, self)
        self._live = LiveTurn()
        self._versions: Mapping[str, Version] = {}
        self._drawing = DrawingTime()
        self._column = ChatColumn(theme, self._make)
        self._position = ChatPosition(self._column, self, self._waits)
        self._selection = ChatSelection(self._column, self)
        self._find = ChatFind(self._column, self)
        self.setWidget(self._column)
        self.setObjectName("chat")
        self.setAccessibleName(translate("chat_view", "Chat"))
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self._jump = JumpButton(theme, translate("chat_view", "Jump to the latest (Ctrl+End)"), self)
        self._finding = FindOverlay(theme, self, self._column, self._position, self._find)
        self._connect()

    def _connect(self) -> None:
        self._position.changed.connect(self._show_jump)
        self._jump.clicked.connect(self.jump_to_end)
        self._finding.closed.connect(self.find_closed)
        self._theme.changed.connect(self._restyle)

    # -- what is shown -----------------------------------------------------------------------------------------

    @property
    def following(self) -> bool:
        """Whether the view stays at the end as text comes."""
        return self._position.following

    @property
    def jump_button(self) -> IconButton:
        """Shown while the end is out of sight."""
        return self._jump

    @property
    def waiting_line(self) -> WaitingLine:
        """Says what goes on before the first word of an answer."""
        return self._column.waiting

    @property
    def left_out_line(self) -> LeftOutLine:
        """Stands above the first message that was read for the last answer, if some were not."""
        return self._column.left_out

    @property
    def find_bar(self) -> FindBar:
        """Where words to find are typed."""
        return self._finding.bar

    @property
    def formulas(self) -> Formulas:
        """The formulas of the conversation."""
        return self._formulas

    @property
    def scrolls_on(self) -> bool:
        """Whether it scrolls because text is being selected beyond its edge."""
        return self._selection.scrolls_on

    @property
    def drawing_s(self) -> float:
        """Seconds that laying out and painting the latest answer have taken since it began to be written."""
        view = self._column.slots[-1].view if self._column.slots else None
        painted = view.painted_s if view is not None and not view.is_question else 0.0
        return self._drawing.seconds + painted

    @property
    def flushes(self) -> int:
        """How many times text of the latest answer has been put on the screen since it began to be written."""
        return self._drawing.times

    def message_views(self) -> tuple[MessageView, ...]:
        """Those that have been made so far, from top to bottom."""
        return self._column.views()

    def show_thread(self, messages: Sequence[StoredMessage], live: LiveTurn) -> None:
        """Show another conversation, from its end."""
        self.close_find()
        self._column.replace_from(0, messages)
        self._selection.clear()
        self._live = live
        self._position.follow()
        self._position.arrange()

    def change_thread(self, messages: Sequence[StoredMessage], live: LiveTurn) -> None:
        """Show another branch of the conversation; what both have in common stays where it is."""
        self._position.stay()
        slots = self._column.slots
        same = common_length(slots, messages)
        if same < min(len(slots), len(messages)) and slots[same].can_become(messages[same]):
            self._become(slots[same], messages[same])
            same += 1
        self._column.replace_from(same, messages)
        self._selection.clear()
        self._live = live
        self._mark_last()
        self._position.arrange()
        self._position.settle()
        self._find.refresh()

    def show_versions(self, versions: Mapping[str, Version]) -> None:
        """Show which version the messages are, of those that have more than one."""
        self._versions = versions
        for view in self._column.views():
            view.show_version(versions.get(view.message.id, Version()))

    def show_left_out(self, count: int) -> None:
        """Mark the first so many messages as not read for the last answer."""
        if count == self._column.left_out_count:
            return
        self._column.left_out_count = count
        self._column.left_out.show_count(count)
        for index, slot in enumerate(self._column.slots):
            if slot.view is not None:
                slot.view.set_dimmed(index < count)
        self._position.arrange()

    def add_message(self, message: StoredMessage) -> None:
        """Show a new message at the end; a question of the person's own brings the end into view."""
        if message.role == "user":
            self._position.follow()
        self._drawing = DrawingTime()
        self._column.add(message)
        self._mark_last()
        self._position.arrange()
        self._find.refresh()

    def append_text(self, message_id: str, text: str) -> None:
        """Add text to the answer that is being written."""
        index = self._column.index_of_message(message_id)
        if index >= 0:
            with self._drawing.measured():
                self._column.ensure(index).append(text)
            self._drawing.times += 1

    def finish_message(self, message: StoredMessage) -> None:
        """Show an answer as it ended."""
        index = self._column.index_of_message(message.id)
        if index < 0:
            return
        slot = self._column.slots[index]
        slot.message = message
        if slot.view is not None:
            with self._drawing.measured():
                slot.view.finish(message)
        self._find.refresh()

    def resume_message(self, message: StoredMessage) -> None:
        """An answer that had ended is being written on."""
        index = self._column.index_of_message(message.id)
        if index >= 0:
            slot = self._column.slots[index]
            slot.message = message
            slot.discard()
            self._drawing = DrawingTime()
            self._column.ensure(index)
            self._position.arrange()

    def show_turn(self, live: LiveTurn, model: ModelState) -> None:
        """Show how far the turn has come: before the first word in a line of its own, then under the answer."""
        was_busy, self._live = self._busy, live
        self._column.waiting.show_turn(live, model)
        if was_busy != self._busy:
            for view in self.message_views():
                view.set_busy(self._busy)
        slots = self._column.slots
        last = slots[-1].view if slots else None
        if last is not None:
            last.show_live(live)
        if self._column.waiting.isHidden() == self._waits():
            self._position.arrange()

    def place(self) -> Anchor | None:
        """Where the reader is; None at the end, which comes with another view by itself."""
        return self._position.place

    def resume_place(self, place: Anchor | None) -> None:
        """Go on reading where another view of the same conversation had come to."""
        if place is not None:
            self._position.go_on(place)

    def open_edits(self) -> dict[str, Draft]:
        """What stands in the questions that are being asked in other words, by message id."""
        boxes = ((view.message.id, view.edit_box) for view in self._column.views())
        return {message_id: box.draft for message_id, box in boxes if box is not None}

    def resume_edits(self, edits: Mapping[str, Draft]) -> None:
        """Go on with edits where another view of the same conversation had come to."""
        for message_id, draft in edits.items():
            index = self._column.index_of_message(message_id)
            if index >= 0:
                self._column.ensure(index).begin_edit(draft)

    def show_edit_cost(self, message_id: str, cost: DraftCost) -> None:
        """Say in the open edit of a question what asking in these words would cost."""
        index = self._column.index_of_message(message_id)
        view = self._column.slots[index].view if index >= 0 else None
        if view is not None:
            view.show_edit_cost(cost)

    # -- finding and selecting ---------------------------------------------------------------------------------

    def show_find(self) -> None:
        """Open the bar in which words to find are typed; a short selection is looked for at once.

        A conversation that is not on view has nothing to find: the bar would come, and take the keyboard, with it.
        """
        if self.isVisible():
            self._finding.open(self._selection.words)

    def close_find(self) -> None:
        """Close that bar."""
        self._finding.close()

    def scroll_to(self, message_id: str, text: str = "") -> None:
        """Bring a message into view, and for a moment show where any of some words stand in it."""
        index = self._column.index_of_message(message_id)
        if index < 0:
            return
        if text:
            self._find.look_at(index, text)
        else:
            self._position.to_match(Match(index, -1, 0))

    def selected_text(self) -> str:
        """What is selected, in one message or in several."""
        return self._selection.text

    def copy(self) -> None:
        """Put what is selected onto the clipboard."""
        text = self._selection.text
        if text:
            QGuiApplication.clipboard().setText(text)

    def select_all(self) -> None:
        """Select the whole conversation."""
        self._selection.select_all()

    # -- moving ------------------------------------------------------------------------------------------------

    def jump_to_end(self) -> None:
        """Go to the end and follow it again."""
        self._position.to_end()

    def order_focus(self) -> None:
        """Have Tab go through the messages from top to bottom; their views are made as they come into sight."""
        follow(self.find_bar.close_button, (each for view in self._column.views() for each in controls_in(view)))

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
        elif event.matches(QKeySequence.StandardKey.Copy):
            self.copy()
        elif event.matches(QKeySequence.StandardKey.SelectAll):
            self.select_all()
        elif is_typing(event):
            self.typed.emit(event.text())
        else:
            super().keyPressEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._position.arrange()
        self._place_jump()
        self._finding.place()

    def mouseReleaseEvent(self, event: QEvent) -> None:
        self._selection.release()

    def _place_jump(self) -> None:
        size = self.viewport().size()
        self._jump.move((size.width() - self._jump.width()) // 2, size.height() - self._jump.height() - 10)

    def _show_jump(self) -> None:
        self._jump.setVisible(self._position.away)
        self._jump.raise_()

    # -- placing -----------------------------------------------------------------------------------------------

    @property
    def _busy(self) -> bool:
        return self._live.phase != "idle"

    def _waits(self) -> bool:
        """Whether a question has no word of its answer yet."""
        return self._busy and not self._live.message_id

    def _become(self, slot: Slot, message: StoredMessage) -> None:
        """Show another version of a message in the same view, which keeps the keyboard where it is."""
        slot.message, slot.laid_out = message, 0
        if slot.view is not None:
            slot.view.show_message(message)

    def _make(self, index: int) -> MessageView:
        """Make the view of a message."""
        slots = self._column.slots
        message = slots[index].message
        # An answer is added just before the figures of its first token come, while the turn still seems to wait.
        streaming = index == len(slots) - 1 and message.status == "partial" and self._busy
        view = MessageView(self._theme, self._formulas, message, streaming, self._column)
        self._connect_message(view)
        view.show_version(self._versions.get(message.id, Version()))
        view.set_busy(self._busy)
        view.set_dimmed(index < self._column.left_out_count)
        view.set_last(index == len(slots) - 1)
        if streaming:
            view.show_live(self._live)
        slots[index].view = view
        self._selection.made(index, view)
        self._find.made(index)
        return view

    def _mark_last(self) -> None:
        """Only the last answer can be continued."""
        last = self._column.slots[-1] if self._column.slots else None
        for view in self.message_views():
            view.set_last(last is not None and view is last.view)

    def _connect_message(self, view: MessageView) -> None:
        view.height_changed.connect(self._height_changed)
        view.pressed.connect(self._pressed)
        view.dragged_to.connect(self._dragged)
        view.copy_requested.connect(self.copy)
        view.select_all_requested.connect(self.select_all)
        view.link_activated.connect(self.link_activated)
        view.edited.connect(self.edited)
        view.edit_changed.connect(self.edit_changed)
        view.edit_moved.connect(self._edit_moved)
        view.retry_requested.connect(self.retry_requested)
        view.regenerate_requested.connect(self.regenerate_requested)
        view.continue_requested.connect(self.continue_requested)
        view.fork_requested.connect(self.fork_requested)
        view.delete_requested.connect(self.delete_requested)
        view.explain_requested.connect(self.explain_requested)
        view.quote_requested.connect(self.quote_requested)
        view.version_requested.connect(self.version_requested)

    def _pressed(self) -> None:
        view = self.sender()
        if isinstance(view, MessageView):
            self._selection.begin(view)

    def _dragged(self, point: QPoint) -> None:
        view = self.sender()
        if isinstance(view, MessageView):
            self._selection.drag(view, point)

    def _height_changed(self) -> None:
        index = self._column.index_of(self.sender())
        if index >= 0:
            self._position.height_changed(index)

    def _edit_moved(self) -> None:
        """Keep the part of an edit in view in which the person writes."""
        index = self._column.index_of(self.sender())
        view = self._column.slots[index].view if index >= 0 else None
        if view is not None and view.edit_box is not None:
            self._position.show(index, view.edit_rect(self._position.room))

    def _restyle(self) -> None:
        for slot in self._column.slots:
            slot.laid_out = 0
            if slot.view is not None:
                slot.view.restyle()
        self._position.arrange()
        self.viewport().update()
