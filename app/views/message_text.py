"""What a message says, from top to bottom: files that went with it, a thought, the text, and more of it on request."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from PySide6.QtCore import QRect, Signal
from PySide6.QtWidgets import QWidget

from app.blocks import Block
from app.i18n import translate
from app.pages import UNROLLED, UNROLLED_BLOCKS, Pages, pages_of
from app.records import StoredMessage
from app.theme import Theme
from app.thinking import Parts, ThinkingSplitter, split
from app.views import words
from app.views.controls import QuietButton
from app.views.formulas import Formulas
from app.views.message_body import MessageBody
from app.views.sent_files import SentFiles
from app.views.thinking_view import ThinkingView

_MORE_GAP: Final = 6
_FILES_GAP: Final = 8


class MessageText(QWidget):
    """Draws the text of a message, whole or as it is written.

    The parent sets the size: `height_for(width)` first, then the geometry.
    """

    height_changed = Signal()
    link_activated = Signal(str)
    pressed = Signal()  # a selection begins here
    thought_quoted = Signal(str)

    def __init__(self, theme: Theme, formulas: Formulas, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self._formulas = formulas
        self._message: StoredMessage | None = None
        self._splitter = ThinkingSplitter()
        self._pages: Pages | None = None
        self._unrolled = False  # more of a long message has been asked for
        self._files: SentFiles | None = None
        self._thinking: ThinkingView | None = None
        self._more: QuietButton | None = None
        self._body = MessageBody(theme, formulas, self)
        self._body.height_changed.connect(self.height_changed)
        self._body.link_activated.connect(self.link_activated)
        self._body.pressed.connect(self.pressed)

    @property
    def body(self) -> MessageBody:
        """The text itself."""
        return self._body

    @property
    def thinking(self) -> ThinkingView | None:
        """What was thought before the answer, if anything was."""
        return self._thinking

    @property
    def files(self) -> SentFiles | None:
        """The files that went with a question, if any did."""
        return self._files

    @property
    def more_button(self) -> QuietButton | None:
        """Shows more of a very long message; None where all is shown."""
        return self._more

    @property
    def unfolded(self) -> bool:
        """Whether the person has opened something that is closed at first."""
        return self._unrolled or (self._thinking is not None and self._thinking.unfolded)

    @property
    def text(self) -> str:
        """What the message says, without what was thought before it."""
        if self._message is None:
            return ""
        return self._message.content if self._is_question else split(self._message.content).answer

    # -- what is shown -----------------------------------------------------------------------------------------

    def begin(self, message: StoredMessage) -> None:
        """Show an answer that is being written, as far as it has come."""
        self._message = message
        self._body.begin()
        self._take(self._splitter.feed(message.content))
        self._body.set_streaming(True)

    def append(self, text: str) -> None:
        """Add the next piece of it."""
        self._take(self._splitter.feed(text))

    def show_message(self, message: StoredMessage, ended: bool) -> None:
        """Show a whole message; one whose stream has just `ended` keeps what is drawn, however long it is."""
        self._message = message
        self._show_files()
        self._show_thought()
        self._pages = None if ended else pages_of(self.text, self._is_question)
        if self._pages is None:
            self._body.finish(self.text)
        else:
            self._body.show_blocks(self._pages.next(), plain=self._is_question)
        self._body.set_streaming(False)
        self._offer_more()

    def all_blocks(self) -> list[Block]:
        """The blocks of the whole text, also of what is not shown."""
        pages, blocks = pages_of(self.text, self._is_question), list[Block]()
        while not pages.done:
            blocks += pages.next()
        return blocks

    def restyle(self) -> None:
        """Draw everything in the theme now in force."""
        self._body.restyle()
        if self._thinking is not None:
            self._thinking.restyle()

    def clear_selection(self) -> None:
        """Select nothing."""
        self._body.selection.clear()
        if self._thinking is not None and self._thinking.body is not None:
            self._thinking.body.selection.clear()

    # -- placing -----------------------------------------------------------------------------------------------

    def natural_width(self) -> int:
        """The width at which no line has to break; of a long text more than there is."""
        parts = [1 << 14 if len(self._body.views) > 1 else self._body.natural_width()]
        parts += [self._files.natural_width()] if self._files is not None else []
        parts += [self._more.sizeHint().width()] if self._more is not None else []
        return max(parts)

    def height_for(self, width: int) -> int:
        """Lay out for a width and tell the height that takes."""
        y = self._place_files(width) + self._place_thought(width)
        only_files = self._files is not None and not self.text
        height = 0 if only_files else self._body.height_for(width)
        self._body.setGeometry(0, y, width, height)
        y += height
        if self._more is None:
            return y
        size = self._more.sizeHint()
        self._more.setGeometry(-8, y + _MORE_GAP, size.width(), size.height())
        return y + _MORE_GAP + size.height()

    def block_at(self, y: int) -> tuple[int, int]:
        """The block of the text at a height and the pixels from its top; (-1, y) above and below the text."""
        inside = self._body.y() <= y < self._body.geometry().bottom()
        return self._body.block_at(y - self._body.y()) if inside else (-1, y)

    def top_of(self, block: int) -> int:
        """Where a block of the text begins, in pixels; -1 is all of it."""
        return self._body.y() + self._body.top_of(block) if block >= 0 else 0

    def match_rect(self, block: int, number: int) -> QRect:
        """Where a match of marked words stands, or the way to it: of a long text as much is shown as takes no pause."""
        if len(self._body.views) <= block < UNROLLED_BLOCKS:
            self._show_up_to(block)
        self.height_for(self.width())
        if block >= len(self._body.views):
            return QRect() if self._more is None else self._more.geometry()
        return self._body.match_rect(block, number).translated(self._body.pos())

    def _place_files(self, width: int) -> int:
        if self._files is None:
            return 0
        height = self._files.height_for(width)
        self._files.setGeometry(0, 4, width, height)
        return 4 + height + (_FILES_GAP if self.text else 0)

    def _place_thought(self, width: int) -> int:
        if self._thinking is None:
            return 0
        height = self._thinking.height_for(width)
        self._thinking.setGeometry(0, 0, width, height)
        return height

    # -- parts -------------------------------------------------------------------------------------------------

    @property
    def _is_question(self) -> bool:
        return self._message is not None and self._message.role == "user"

    def _show_next_page(self) -> None:
        if self._pages is not None and not self._pages.done:
            self._show_more_blocks(self._pages.next())

    def _show_up_to(self, block: int) -> None:
        """Show pages until this block is there, but no more characters than can be shown without a pause."""
        more: list[Block] = []
        pages, shown = self._pages, len(self._body.views)
        while pages is not None and not pages.done and pages.shown < UNROLLED and shown + len(more) <= block:
            more += pages.next()
        if more:
            self._show_more_blocks(more)

    def _show_more_blocks(self, blocks: Sequence[Block]) -> None:
        self._unrolled = True
        self._body.show_blocks((*self._body.blocks, *blocks), plain=self._is_question)
        self._offer_more()
        self.height_changed.emit()

    def _offer_more(self) -> None:
        if self._more is not None:
            self._more.hide()
            self._more.deleteLater()
            self._more = None
        if self._pages is None or self._pages.done:
            return
        shown, of = words.count(self._pages.shown), words.count(len(self.text))
        label = translate("message_text", "Show more ({shown} of {all} characters)").format(shown=shown, all=of)
        self._more = QuietButton(self._theme, label, label, self)
        self._more.clicked.connect(self._show_next_page)
        self._more.show()

    def _show_files(self) -> None:
        files = self._message.attachments if self._message is not None else ()
        if self._files is None and files:
            self._files = SentFiles(self._theme, self)
            self._files.show()
        if self._files is not None:
            self._files.show_files(files)

    def _show_thought(self) -> None:
        message = self._message
        thought = "" if message is None or self._is_question else split(message.content).thought
        if message is not None and thought.strip():
            self._think().show_thought(thought, message.thinking_s)
        elif self._thinking is not None:
            self._thinking.hide()
            self._thinking.deleteLater()
            self._thinking = None

    def _think(self) -> ThinkingView:
        if self._thinking is None:
            self._thinking = ThinkingView(self._theme, self._formulas, self)
            self._thinking.height_changed.connect(self.height_changed)
            self._thinking.link_activated.connect(self.link_activated)
            self._thinking.pressed.connect(self.pressed)
            self._thinking.quoted.connect(self.thought_quoted)
            self._thinking.show()
        return self._thinking

    def _take(self, parts: Parts) -> None:
        """Add a piece of a stream."""
        if self._thinking is None and (self._splitter.thinking or parts.thought.strip()):
            seen_from_start = self._message is not None and not self._message.content
            self._think().begin(seen_from_start)
        if self._thinking is not None and parts.thought:
            self._thinking.append(parts.thought)
        if self._thinking is not None and not self._splitter.thinking:
            self._thinking.end()
        if parts.answer or self._thinking is None:
            self._body.append(parts.answer)
        else:
            self.height_changed.emit()
