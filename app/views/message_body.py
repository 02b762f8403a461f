"""The text of one message: a column of block views, which grows at its end while the message is written."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtGui import QContextMenuEvent, QGuiApplication, QKeyEvent, QKeySequence, QMouseEvent
from PySide6.QtWidgets import QWidget

from app.markdown import Block, Code, Heading, Paragraph, Rule, Span, Table, parse
from app.markdown_stream import BlockStream
from app.theme import Theme
from app.views.code_view import CodeView
from app.views.controls import Menu
from app.views.document_view import DocumentView
from app.views.prose_view import ProseView

Place = tuple[int, int]  # (index of the block view, position in its text)


class MessageBody(QWidget):
    """Draws blocks below each other; text is selected across all of them with mouse or keyboard.

    The parent sets the size: `height_for(width)` first, then the geometry.
    """

    height_changed = Signal()
    link_activated = Signal(str)
    dragged_to = Signal(QPoint)  # global position while text is being selected

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self._views: list[DocumentView] = []
        self._tops: list[int] = []
        self._stream: BlockStream | None = None
        self._tail: DocumentView | None = None
        self._width = 0
        self._anchor: Place | None = None
        self._head: Place = (0, 0)
        self._pressed_link = ""
        self._dimmed = False
        self.setMouseTracking(True)

    @property
    def blocks(self) -> tuple[Block, ...]:
        """What is drawn, in order."""
        return tuple(view.block for view in self._views if view.block is not None)

    @property
    def views(self) -> tuple[DocumentView, ...]:
        """The block views, in order."""
        return tuple(self._views)

    def show_plain(self, text: str) -> None:
        """Draw text as it was written."""
        self._reconcile((Paragraph((Span(text),)),))

    def show_markdown(self, text: str) -> None:
        """Draw a whole Markdown text; blocks that are on view already stay untouched."""
        self._stream = None
        self._release_tail()
        self._reconcile(parse(text))

    def begin(self) -> None:
        """From here on text comes in pieces, by `append`, until `show_markdown` ends it with the whole."""
        self._stream = BlockStream()

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

    # -- selecting ---------------------------------------------------------------------------------------------

    def select_all(self) -> None:
        """Select the whole message."""
        if self._views:
            self._select((0, 0), (len(self._views) - 1, self._views[-1].length))

    def clear_selection(self) -> None:
        """Select nothing."""
        self._anchor = None
        for view in self._views:
            view.select(0, 0)

    def selected_text(self) -> str:
        """The selected text, its blocks on lines of their own."""
        return "\n\n".join(text for text in (view.selected_text() for view in self._views) if text)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() != Qt.MouseButton.LeftButton:
            event.ignore()
            return
        self.setFocus(Qt.FocusReason.MouseFocusReason)
        self._pressed_link = self._link_at(event.position().toPoint())
        place = self._place_at(event.position().toPoint())
        if event.modifiers() & Qt.KeyboardModifier.ShiftModifier and self._anchor is not None:
            self._select(self._anchor, place)
        else:
            self._select(place, place)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        point = event.position().toPoint()
        index, _ = self._place_at(point)
        start, end = self._views[index].word_at(self._views[index].mapFrom(self, point))
        self._select((index, start), (index, end))

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        point = event.position().toPoint()
        if event.buttons() & Qt.MouseButton.LeftButton and self._anchor is not None:
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

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.matches(QKeySequence.StandardKey.Copy) and self.selected_text():
            self._copy()
        elif event.matches(QKeySequence.StandardKey.SelectAll):
            self.select_all()
        else:
            event.ignore()

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        self.context_menu().popup(event.globalPos())

    def context_menu(self) -> Menu:
        """Copy what is selected, or select everything."""
        menu = Menu(self._theme, self)
        copy = menu.addAction("Copy", self._copy)
        copy.setEnabled(bool(self.selected_text()))
        menu.addAction("Select all", self.select_all)
        return menu

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(self.selected_text())

    def drag_to(self, point: QPoint) -> None:
        """Select from where the mouse was pressed to a point of this widget."""
        if self._anchor is not None:
            self._select(self._anchor, self._place_at(point))

    def _select(self, anchor: Place, head: Place) -> None:
        self._anchor, self._head = anchor, head
        start, end = min(anchor, head), max(anchor, head)
        for index, view in enumerate(self._views):
            first = start[1] if index == start[0] else 0 if index > start[0] else view.length
            last = end[1] if index == end[0] else view.length if index < end[0] else 0
            view.select(first, last) if first < last else view.select(0, 0)

    def _place_at(self, point: QPoint) -> Place:
        index = self._index_at(point.y())
        return index, self._views[index].position_at(self._views[index].mapFrom(self, point))

    def _index_at(self, y: int) -> int:
        return next((i for i, bottom in enumerate(self._tops[1:]) if y < bottom), len(self._views) - 1)

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
        self._lay_out(min(first, len(blocks)))
        self.height_changed.emit()

    def _make(self, block: Block) -> DocumentView:
        view = CodeView(self._theme, self) if isinstance(block, Code) else ProseView(self._theme, self)
        view.set_dimmed(self._dimmed)
        view.show_block(block)
        view.show()
        return view

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
            view.set_gap(*gap(previous, view.block))
            height = view.height_for(self._width)
            view.setGeometry(0, y, self._width, height)
            self._tops.append(y)
            y += height
        self._tops.append(y)


def _discard(view: DocumentView) -> None:
    view.hide()
    view.deleteLater()


def _draws(view: DocumentView, block: Block) -> bool:
    return isinstance(view, CodeView) == isinstance(block, Code)


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
