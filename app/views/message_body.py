"""The text of one message: a column of block views, which grows at its end while the message is written."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from PySide6.QtCore import QPoint, QRect, Qt, QTimer, Signal
from PySide6.QtGui import QContextMenuEvent, QGuiApplication, QKeyEvent, QKeySequence, QMouseEvent
from PySide6.QtWidgets import QWidget

from app.blocks import Block, Code, Formula, Heading, Paragraph, Rule, Table
from app.i18n import translate
from app.markdown import parse
from app.markdown_stream import BlockStream
from app.plain_text import Query
from app.theme import Theme
from app.views.body_selection import BodySelection, Place
from app.views.code_view import CodeView
from app.views.controls import Menu
from app.views.document_view import DocumentView
from app.views.formula_view import FormulaView
from app.views.formulas import Formulas
from app.views.prose_view import ProseView
from app.views.table_view import TableView


class MessageBody(QWidget):
    """Draws blocks below each other; text is selected across all of them with mouse or keyboard.

    The parent sets the size: `height_for(width)` first, then the geometry.
    """

    height_changed = Signal()
    link_activated = Signal(str)
    pressed = Signal()  # a selection begins here
    dragged_to = Signal(QPoint)  # global position while text is being selected
    copy_requested = Signal()
    quote_requested = Signal()
    select_all_requested = Signal()

    def __init__(self, theme: Theme, formulas: Formulas, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self._formulas = formulas
        self._views: list[DocumentView] = []
        self._tops: list[int] = []
        self._stream: BlockStream | None = None
        self._tail: DocumentView | None = None
        self._plain = False
        self._width = 0
        self._changed_from: int | None = None  # the first of the blocks that are to be placed again
        self._pressed_link = ""
        self._dimmed = False
        self._marked: tuple[Query | None, int, int] = (None, -1, -1)  # the words; block and number of one match
        self.selection = BodySelection(self._views)
        self.setMouseTracking(True)

    def stand_alone(self) -> None:
        """Copy and select all by itself: this text is no part of a chat, in which both go over all messages."""
        self.copy_requested.connect(self._copy)
        self.select_all_requested.connect(self.selection.select_all)

    @property
    def blocks(self) -> tuple[Block, ...]:
        """What is drawn, in order."""
        return tuple(view.block for view in self._views if view.block is not None)

    @property
    def views(self) -> tuple[DocumentView, ...]:
        """The block views, in order."""
        return tuple(self._views)

    @property
    def painted_s(self) -> float:
        """Seconds that painting its blocks has taken so far."""
        return sum(view.painted_s for view in self._views)

    def show_markdown(self, text: str) -> None:
        """Draw a whole Markdown text; blocks that are on view already stay untouched."""
        self.show_blocks(parse(text))

    def show_blocks(self, blocks: Sequence[Block], plain: bool = False) -> None:
        """Draw blocks; those that are on view already stay untouched. Those of plain text have no gaps between."""
        self._stream = None
        self._plain = plain
        self._release_tail()
        self._reconcile(blocks)

    def begin(self) -> None:
        """From here on text comes in pieces, by `append`, until `finish` ends it with the whole."""
        self._stream = BlockStream()

    def finish(self, text: str) -> None:
        """The stream is over and this is its text: blocks that are right already stay untouched."""
        streamed = self._stream is not None and self._stream.text == text
        self.show_blocks(self._stream.finish() if self._stream is not None and streamed else parse(text))

    def append(self, text: str) -> None:
        """Draw the next piece: finished blocks stay as they are, only the open end changes."""
        if self._stream is None:
            self.begin()
        update = self._stream.feed(text)  # type: ignore[union-attr]
        first = len(self._views) - (self._tail is not None)
        for block in update.finished:
            self._show_tail(block)
            self._release_tail()
        if update.tail is not None:
            self._show_tail(update.tail)
        elif self._tail is not None:
            self._drop_tail()
        self._lay_out(first)
        self._place_caret()
        self.height_changed.emit()

    def restyle(self) -> None:
        """Draw everything in the theme now in force."""
        for view in self._views:
            view.restyle()
        self._lay_out(0)

    def height_for(self, width: int) -> int:
        """Lay out for a width and tell the height that takes."""
        if width != self._width:
            self._width = width
            self._lay_out(0)
        return self._tops[-1] if self._tops else 0

    def natural_width(self) -> int:
        """The width at which no line of the first block has to break."""
        self._width = 0
        return self._views[0].natural_width() if self._views else 0

    def set_streaming(self, streaming: bool) -> None:
        """Show the block caret at the end, or take it away."""
        for view in self._views:
            view.set_caret(False)
        if streaming and self._views:
            self._views[-1].set_caret(True)

    def set_dimmed(self, dimmed: bool) -> None:
        """Draw the text quietly, or as usual."""
        self._dimmed = dimmed
        for view in self._views:
            view.set_dimmed(dimmed)

    # -- places ------------------------------------------------------------------------------------------------

    def block_at(self, y: int) -> tuple[int, int]:
        """The block at a height and the pixels from its top; (-1, y) if there is none."""
        index = bisect_right(self._tops, y) - 1
        return (index, y - self._tops[index]) if 0 <= index < len(self._views) else (-1, y)

    def top_of(self, block: int) -> int:
        """Where a block begins, in pixels."""
        return self._tops[block] if 0 <= block < len(self._tops) else 0

    def mark_matches(self, query: Query | None, block: int = -1, number: int = -1) -> int:
        """Draw where words stand; the one of this number in this block more strongly. How often they do."""
        self._marked = (query, block, number)
        return self._mark(0)

    def match_rect(self, block: int, number: int) -> QRect:
        """Where a match of marked words stands; a wide block scrolls to it."""
        view = self._views[block]
        position = view.match_position(number)
        view.show_position(position)
        return view.position_rect(position).toAlignedRect().translated(view.pos())

    # -- selecting ---------------------------------------------------------------------------------------------

    def selected_text(self) -> str:
        """The selected text, its blocks on lines of their own."""
        return self.selection.text

    def place_at(self, point: QPoint) -> Place:
        """The place of the text nearest to a point of this widget."""
        if not self._views:
            return 0, 0
        index = next((i for i, bottom in enumerate(self._tops[1:]) if point.y() < bottom), len(self._views) - 1)
        return index, self._views[index].position_at(self._views[index].mapFrom(self, point))

    def drag_to(self, point: QPoint) -> None:
        """Select from where the mouse was pressed to a point of this widget."""
        self.selection.extend(self.place_at(point))

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() != Qt.MouseButton.LeftButton:
            event.ignore()
            return
        self.setFocus(Qt.FocusReason.MouseFocusReason)
        point = event.position().toPoint()
        self._pressed_link = self._link_at(point)
        if event.modifiers() & Qt.KeyboardModifier.ShiftModifier and self.selection.anchored:
            self.drag_to(point)
        else:
            self.pressed.emit()
            self.selection.begin(self.place_at(point))

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        point = event.position().toPoint()
        index, _ = self.place_at(point)
        if self._views:
            start, end = self._views[index].word_at(self._views[index].mapFrom(self, point))
            self.selection.between((index, start), (index, end))

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        point = event.position().toPoint()
        if event.buttons() & Qt.MouseButton.LeftButton and self.selection.anchored:
            self.drag_to(point)
            self.dragged_to.emit(event.globalPosition().toPoint())
            return
        link = self._link_at(point)
        shape = Qt.CursorShape.PointingHandCursor if link else Qt.CursorShape.IBeamCursor
        view = self._view_at(point)
        if view is not None:
            view.setCursor(shape)
            view.setToolTip(link)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        link = self._link_at(event.position().toPoint())
        if link and link == self._pressed_link and not self.selected_text():
            self.link_activated.emit(link)
        self._pressed_link = ""
        event.ignore()  # the conversation stops scrolling by itself

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.matches(QKeySequence.StandardKey.Copy):
            self.copy_requested.emit()
        elif event.matches(QKeySequence.StandardKey.SelectAll):
            self.select_all_requested.emit()
        else:
            event.ignore()

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        self.context_menu().popup(event.globalPos())

    def context_menu(self) -> Menu:
        """Copy or quote what is selected, or select everything."""
        menu = Menu(self._theme, self)
        copy = menu.addAction(translate("message_body", "Copy"), self.copy_requested.emit)
        quote = menu.addAction(translate("message_body", "Quote"), self.quote_requested.emit)
        for action in (copy, quote):
            action.setEnabled(bool(self.selected_text()))
        menu.addAction(translate("message_body", "Select all"), self.select_all_requested.emit)
        return menu

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(self.selected_text())

    def _view_at(self, point: QPoint) -> DocumentView | None:
        child = self.childAt(point)
        return child if isinstance(child, DocumentView) else None

    def _link_at(self, point: QPoint) -> str:
        view = self._view_at(point)
        return view.link_at(view.mapFrom(self, point)) if view is not None else ""

    # -- blocks ------------------------------------------------------------------------------------------------

    def _reconcile(self, blocks: Sequence[Block]) -> None:
        drawn = self.blocks
        first = next((i for i, (a, b) in enumerate(zip(drawn, blocks, strict=False)) if a != b), len(drawn))
        for index, block in enumerate(blocks[first:], first):
            if index >= len(self._views):
                self._views.append(self._make(block))
            elif not _draws(self._views[index], block):
                _discard(self._views[index])
                self._views[index] = self._make(block)
            else:
                self._views[index].show_block(block)
        for view in self._views[len(blocks) :]:
            _discard(view)
        del self._views[len(blocks) :]
        self._mark(first)
        self._lay_out(min(first, len(blocks)))
        self.height_changed.emit()

    def _mark(self, first: int) -> int:
        """Draw in the blocks from index `first` on where the words stand that are looked for; how often they do."""
        query, block, number = self._marked
        marked = enumerate(self._views[first:], first)
        return sum(view.mark_matches(query, number if index == block else -1) for index, view in marked)

    def _make(self, block: Block) -> DocumentView:
        view = self._new_view(block)
        view.changed.connect(self._block_changed)
        view.set_dimmed(self._dimmed)
        view.show_block(block)
        view.show()
        return view

    def _new_view(self, block: Block) -> DocumentView:
        match block:
            case Code():
                return CodeView(self._theme, self)
            case Table():
                return TableView(self._theme, self._formulas, self)
            case Formula():
                return FormulaView(self._theme, self._formulas, self)
        return ProseView(self._theme, self._formulas, self)

    def _block_changed(self) -> None:
        """A block needs another height; those that change in one go are placed in one go."""
        view = self.sender()
        index = next((i for i, each in enumerate(self._views) if each is view), -1)
        if index < 0:
            return
        if self._changed_from is None:
            QTimer.singleShot(0, self, self._place_changed)
        self._changed_from = index if self._changed_from is None else min(index, self._changed_from)

    def _place_changed(self) -> None:
        first, self._changed_from = self._changed_from, None
        if first is not None:
            self._lay_out(min(first, len(self._views)))
            self.height_changed.emit()

    def _show_tail(self, block: Block) -> None:
        if self._tail is not None and _draws(self._tail, block):
            self._tail.show_block(block)
            return
        self._drop_tail()
        self._tail = self._make(block)
        self._views.append(self._tail)

    def _drop_tail(self) -> None:
        if self._tail is not None:
            self._views.remove(self._tail)
            _discard(self._tail)
            self._tail = None

    def _release_tail(self) -> None:
        if self._tail is not None:
            self._tail.set_caret(False)
            self._tail = None

    def _place_caret(self) -> None:
        if self._tail is None and self._views:
            self._views[-1].set_caret(not isinstance(self._views[-1].block, Rule))
        elif self._tail is not None:
            for view in self._views[-3:]:
                view.set_caret(view is self._tail)

    def _lay_out(self, first: int) -> None:
        """Place the views from index `first` on; those before it have not changed."""
        if self._width <= 0:
            return
        y = self._tops[first] if first < len(self._tops) else 0
        del self._tops[first:]
        for index in range(first, len(self._views)):
            view = self._views[index]
            previous = self._views[index - 1].block if index else None
            view.set_gap(*((0, 0) if self._plain else gap(previous, view.block)))
            height = view.height_for(self._width)
            view.setGeometry(0, y, self._width, height)
            self._tops.append(y)
            y += height
        self._tops.append(y)


def _discard(view: DocumentView) -> None:
    view.hide()
    view.deleteLater()


def _draws(view: DocumentView, block: Block) -> bool:
    """Whether a view is of the kind that draws such a block."""
    kind = {Code: CodeView, Table: TableView, Formula: FormulaView}.get(type(block), ProseView)
    return type(view) is kind


def gap(above: Block | None, block: Block | None) -> tuple[int, int]:
    """The pixels between two blocks, and how many quotes go on from one to the other."""
    if above is None or block is None:
        return 0, 0
    shared = sum(a == b for a, b in zip(above.frames, block.frames, strict=False) if a.kind == "quote")
    if isinstance(block, Heading):
        return 24 if block.level <= 2 else 20, shared
    if isinstance(above, Heading):
        return 8, shared
    marked = bool(block.frames) and bool(block.frames[-1].marker)
    if marked and above.frames and isinstance(above, Paragraph) and isinstance(block, Paragraph):
        return 4, shared
    if isinstance(above, Rule) or isinstance(block, Rule):
        return 20, shared
    return (14 if isinstance(block, Table) or isinstance(above, Table) else 12), shared
