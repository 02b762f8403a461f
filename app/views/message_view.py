"""One message: a question in its bubble, or an answer on the background with one quiet line below it."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QEvent, QPoint, QRect, QRectF, Qt, Signal
from PySide6.QtGui import QEnterEvent, QGuiApplication, QPainter, QPainterPath, QPaintEvent
from PySide6.QtWidgets import QWidget

from app.draft import Draft
from app.i18n import labelled, translate
from app.live import DraftCost, LiveTurn
from app.plain_text import links_of, message_text
from app.records import StoredMessage, Version
from app.theme import Theme
from app.views.controls import CopyButton, QuietButton, plain_tip
from app.views.edit_box import EditBox
from app.views.figures import FigureLine
from app.views.formulas import Formulas
from app.views.message_actions import MessageActions
from app.views.message_body import MessageBody
from app.views.message_text import MessageText
from app.views.thinking_view import ThinkingView
from app.views.turn_figures import live_figures, reply_details, reply_figures

BUBBLE_MAX: Final = 560
_PAD_X: Final = 16
_PAD_TOP: Final = 8
_PAD_BOTTOM: Final = 12
_RADIUS: Final = 16
_FOOTER_GAP: Final = 8
_UNDER_BUBBLE: Final = 2  # pixels between a question and its actions
_CUT_OFF: Final = ("length", "cancelled", "partial")
_SPOKEN: Final = 2_000  # characters that a screen reader is told as the name of a message


class MessageView(QWidget):
    """Draws a stored message; an answer that is being written is `streaming` until `finish`.

    The parent sets the size: `height_for(width)` first, then the geometry.
    """

    height_changed = Signal()
    link_activated = Signal(str)
    pressed = Signal()  # a selection begins here
    dragged_to = Signal(QPoint)
    copy_requested = Signal()  # of what is selected, here or in several messages
    select_all_requested = Signal()
    edited = Signal(str, object)  # message id, Draft: the question in other words
    edit_changed = Signal(str, object)  # message id, Draft as it is so far
    edit_moved = Signal()  # the text cursor of the edit is elsewhere, or the edit has another height
    retry_requested = Signal()  # a question without an answer is to be asked again
    regenerate_requested = Signal(str)
    continue_requested = Signal(str)
    fork_requested = Signal(str)
    delete_requested = Signal(str)
    explain_requested = Signal(str)
    quote_requested = Signal(str)  # text
    version_requested = Signal(str, int)  # message id, versions to go on or back

    def __init__(
        self, theme: Theme, formulas: Formulas, message: StoredMessage, streaming: bool, parent: QWidget
    ) -> None:
        super().__init__(parent)
        self._theme = theme
        self._message = message
        self._streaming = streaming
        self._is_last = False
        self._bubble = QRectF()
        self._text = MessageText(theme, formulas, self)
        self._footer = None if self.is_question else FigureLine(theme, self)
        self._edit_box: EditBox | None = None
        self._actions = MessageActions(theme, self.is_question, lambda: links_of(self.body.blocks), self)
        self._connect()
        self._show_message()

    def _connect(self) -> None:
        self._text.height_changed.connect(self.height_changed)
        self._text.link_activated.connect(self.link_activated)
        self._text.pressed.connect(self.pressed)
        self._text.thought_quoted.connect(self.quote_requested)
        self.body.dragged_to.connect(self.dragged_to)
        self.body.copy_requested.connect(self.copy_requested)
        self.body.select_all_requested.connect(self.select_all_requested)
        self.body.quote_requested.connect(self._quote)
        actions = self._actions
        actions.copy_requested.connect(self._copy_all)
        actions.plain_copy_requested.connect(self._copy_plain)
        actions.quote_requested.connect(self._quote)
        actions.edit_requested.connect(self.begin_edit)
        actions.link_activated.connect(self.link_activated)
        actions.retry_requested.connect(self.retry_requested)
        actions.regenerate_requested.connect(lambda: self.regenerate_requested.emit(self._message.id))
        actions.continue_requested.connect(lambda: self.continue_requested.emit(self._message.id))
        actions.fork_requested.connect(lambda: self.fork_requested.emit(self._message.id))
        actions.delete_requested.connect(lambda: self.delete_requested.emit(self._message.id))
        actions.explain_requested.connect(lambda: self.explain_requested.emit(self._message.id))
        if self._footer is not None:
            self._footer.clicked.connect(lambda: self.explain_requested.emit(self._message.id))
        actions.stepper.stepped.connect(lambda step: self.version_requested.emit(self._message.id, step))

    @property
    def message(self) -> StoredMessage:
        """What is drawn."""
        return self._message

    @property
    def body(self) -> MessageBody:
        """Its text."""
        return self._text.body

    @property
    def thinking(self) -> ThinkingView | None:
        """What was thought before the answer, if anything was."""
        return self._text.thinking

    @property
    def more_button(self) -> QuietButton | None:
        """Shows more of a very long message; None where all is shown."""
        return self._text.more_button

    @property
    def footer(self) -> FigureLine | None:
        """The figures under an answer."""
        return self._footer

    @property
    def copy_button(self) -> CopyButton:
        """Copies the message as it was written."""
        return self._actions.copy

    @property
    def again_button(self) -> QuietButton:
        """Edits a question, or makes an answer once more."""
        return self._actions.again

    @property
    def action_row(self) -> MessageActions:
        """The row with the buttons and the versions."""
        return self._actions

    @property
    def edit_box(self) -> EditBox | None:
        """Open while a question is being edited."""
        return self._edit_box

    @property
    def is_question(self) -> bool:
        """Whether the person wrote it."""
        return self._message.role == "user"

    @property
    def streaming(self) -> bool:
        """Whether more text is to come."""
        return self._streaming

    @property
    def in_use(self) -> bool:
        """Whether letting the view go would lose something: a stream, an edit, what was unfolded or selected."""
        selected = self.body.selection.anchored
        return self._streaming or self._edit_box is not None or self._text.unfolded or selected

    @property
    def painted_s(self) -> float:
        """Seconds that painting its text has taken so far."""
        return self.body.painted_s

    @property
    def text(self) -> str:
        """What the message says, without what was thought before it."""
        return self._text.text

    def append(self, text: str) -> None:
        """Add text to an answer that is being written."""
        self._text.append(text)

    def show_live(self, live: LiveTurn) -> None:
        """Show the figures of an answer that is being written."""
        if self._footer is not None and self._streaming:
            self._footer.show_groups(live_figures(live))
            self._place_actions()

    def finish(self, message: StoredMessage) -> None:
        """Show the answer as it ended: one full pass, in which blocks that are right already stay untouched."""
        was_streaming, self._streaming, self._message = self._streaming, False, message
        self._show_message(ended=was_streaming)
        self.height_changed.emit()

    def show_message(self, message: StoredMessage) -> None:
        """Show another version of the message."""
        self._message = message
        self._show_message()
        self.height_changed.emit()

    def show_version(self, version: Version) -> None:
        """Show which of its versions the message is."""
        self._actions.stepper.show_version(version)
        self._place_actions()

    def set_busy(self, busy: bool) -> None:
        """While an answer is being written, nothing can be asked again."""
        self._actions.set_busy(busy)
        self._place_actions()

    def set_last(self, last: bool) -> None:
        """Whether nothing follows it: an answer that was cut off can be continued then, a question asked again."""
        self._is_last = last
        self._offer_to_go_on()

    def set_dimmed(self, dimmed: bool) -> None:
        """Draw a message quietly that was not read for the last answer."""
        self.body.set_dimmed(dimmed)

    def clear_selection(self) -> None:
        """Select nothing."""
        self._text.clear_selection()

    def restyle(self) -> None:
        """Draw everything in the theme now in force."""
        self._text.restyle()
        self.update()

    # -- placing -----------------------------------------------------------------------------------------------

    def height_for(self, width: int) -> int:
        """Lay out for a width and tell the height that takes."""
        if self.is_question:
            return self._lay_out_question(width)
        height = self._text.height_for(width)
        self._text.setGeometry(0, 0, width, height)
        return height + _FOOTER_GAP + self._actions.sizeHint().height()

    def block_at(self, y: int) -> tuple[int, int]:
        """The block of the text at a height and the pixels from its top; (-1, y) above and below the text."""
        block, offset = self._text.block_at(y - self._text.y())
        return (block, offset) if block >= 0 else (-1, y)

    def top_of(self, block: int) -> int:
        """Where a block of the text begins, in pixels; -1 is the message itself."""
        return self._text.y() + self._text.top_of(block) if block >= 0 else 0

    def match_rect(self, block: int, number: int) -> QRect:
        """Where a match of marked words stands, or the way to it: of a long message no more is shown than is quick."""
        return self._text.match_rect(block, number).translated(self._text.pos())

    def resizeEvent(self, event: QEvent) -> None:
        self._place_actions()

    def enterEvent(self, event: QEnterEvent) -> None:
        self._actions.reveal(True)

    def leaveEvent(self, event: QEvent) -> None:
        self._actions.reveal(False)

    def paintEvent(self, event: QPaintEvent) -> None:
        if not self.is_question or self._edit_box is not None:
            return
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.fillPath(_bubble_path(self._bubble), self._theme.color("question"))

    def _offer_to_go_on(self) -> None:
        self._actions.set_cut_off(not self.is_question and self._is_last and self._message.status in _CUT_OFF)
        self._actions.set_unanswered(self.is_question and self._is_last)
        self._place_actions()

    def _place_actions(self) -> None:
        """The row under the message: at the right under a question, behind the figures under an answer."""
        if self._footer is None:
            actions = self._actions.sizeHint()
            top = int(self._bubble.bottom()) + _UNDER_BUBBLE
            self._actions.setGeometry(self.width() - actions.width(), top, actions.width(), actions.height())
            return
        figures = self._footer.sizeHint()
        self._actions.fit(self.width() - figures.width() - 8)
        actions = self._actions.sizeHint()
        row = max(actions.height(), figures.height())
        room = max(0, self.width() - actions.width() - 8)
        width = self._footer.width_within(room) if self._actions.isVisibleTo(self) else figures.width()
        top = self._text.geometry().bottom() + 1 + _FOOTER_GAP
        self._footer.setGeometry(0, top + (row - figures.height()) // 2, width, figures.height())
        self._actions.setGeometry(width + (8 if width else -8), top, actions.width(), row)

    def _lay_out_question(self, width: int) -> int:
        if self._edit_box is not None:
            height = self._edit_box.height_for(width)
            self._edit_box.setGeometry(0, 0, width, height)
            self._bubble = QRectF(0, 0, width, height)
        else:
            self._lay_out_bubble(width)
        self.update()
        return int(self._bubble.height()) + _UNDER_BUBBLE + self._actions.sizeHint().height()

    def _lay_out_bubble(self, width: int) -> None:
        most = min(BUBBLE_MAX, width) - 2 * _PAD_X
        inner = min(most, self._text.natural_width())
        height = self._text.height_for(inner)
        left = width - inner - 2 * _PAD_X
        self._text.setGeometry(left + _PAD_X, _PAD_TOP, inner, height)
        self._bubble = QRectF(left, 0, inner + 2 * _PAD_X, height + _PAD_TOP + _PAD_BOTTOM)

    def _show_message(self, ended: bool = False) -> None:
        """Draw the message; one whose stream has just `ended` keeps what is drawn, however long it is."""
        if self._streaming:
            self._text.begin(self._message)
        else:
            self._text.show_message(self._message, ended)
        what = translate("message_view", "Question") if self.is_question else translate("message_view", "Answer")
        self.setAccessibleName(labelled(what, self.text[:_SPOKEN]))
        if self._footer is not None:
            self._footer.show_groups(() if self._streaming else reply_figures(self._message))
            self._footer.setToolTip("" if self._streaming else plain_tip(reply_details(self._message)))
            self._offer_to_go_on()
            self._actions.setVisible(not self._streaming)
        self._place_actions()

    # -- what is done with it ----------------------------------------------------------------------------------

    def _copy_all(self) -> None:
        QGuiApplication.clipboard().setText(self.text)

    def _copy_plain(self) -> None:
        QGuiApplication.clipboard().setText(self.text if self.is_question else message_text(self._text.all_blocks()))

    def _quote(self) -> None:
        self.quote_requested.emit(self.body.selected_text() or self.text)

    def show_edit_cost(self, cost: DraftCost) -> None:
        """Say in the open edit what asking in these words would cost."""
        if self._edit_box is not None:
            self._edit_box.show_cost(cost)

    def begin_edit(self, draft: Draft | None = None) -> None:
        """Let the question be asked in other words.

        Args:
            draft: How far that had come before; None begins with what was asked.
        """
        asked = Draft(self._message.content, self._message.attachments)
        box = self._edit_box = EditBox(self._theme, asked, draft or asked, self)
        box.submitted.connect(lambda draft: self.edited.emit(self._message.id, draft))
        box.changed.connect(lambda draft: self.edit_changed.emit(self._message.id, draft))
        box.cancelled.connect(self._end_edit)
        box.height_changed.connect(self.height_changed)
        box.height_changed.connect(self.edit_moved)
        box.editor.cursorPositionChanged.connect(self.edit_moved)
        self._set_shown(False)
        box.show()
        box.editor.setFocus(Qt.FocusReason.OtherFocusReason)
        self.height_changed.emit()
        self.edit_moved.emit()
        self.edit_changed.emit(self._message.id, box.draft)

    def edit_rect(self, room: int) -> QRect:
        """Where the open edit stands; if it is higher than `room` pixels, where its text cursor does."""
        box = self._edit_box
        if box is None or box.height() <= room:
            return QRect() if box is None else box.geometry()
        editor = box.editor
        return editor.cursorRect().translated(editor.viewport().mapTo(self, QPoint(0, 0)))

    def _end_edit(self) -> None:
        if self._edit_box is not None:
            self._edit_box.hide()
            self._edit_box.deleteLater()
            self._edit_box = None
        self._set_shown(True)
        self._actions.again.setFocus(Qt.FocusReason.OtherFocusReason)
        self.height_changed.emit()

    def _set_shown(self, shown: bool) -> None:
        """Show the message, or leave its place to the edit."""
        self._text.setVisible(shown)
        self._actions.setVisible(shown)


def _bubble_path(box: QRectF) -> QPainterPath:
    """Round corners but for the lower right one, where the question was said."""
    path = QPainterPath()
    path.setFillRule(Qt.FillRule.WindingFill)
    path.addRoundedRect(box, _RADIUS, _RADIUS)
    corner = QRectF(box.right() - _RADIUS, box.bottom() - _RADIUS, _RADIUS, _RADIUS)
    path.addRoundedRect(corner, 4, 4)
    return path
