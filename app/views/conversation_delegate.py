"""Draws the rows of the conversation list and edits a title in place."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QAbstractItemModel, QEvent, QModelIndex, QObject, QPersistentModelIndex, QRect, QSize, Qt
from PySide6.QtGui import QPainter, QPen
from PySide6.QtWidgets import QLineEdit, QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from app.i18n import translate
from app.theme import Theme
from app.views import words
from app.views.conversation_model import ROW_ROLE, ConversationModel
from app.views.conversation_rows import Row

ROW_HEIGHT: Final = 34  # in the drawn look, of every row, so that ten thousand need not be measured one by one
HEADING_DROP: Final = 4  # a heading stands nearer to what follows it
INDENT: Final = 18  # of what lies in a folder, as wide as the folder's arrow
_INSET: Final = 8
_RADIUS: Final = 8
_GAP: Final = 10
_LEFT: Final = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
_RIGHT: Final = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
_ELIDE: Final = Qt.TextElideMode.ElideRight
Index = QModelIndex | QPersistentModelIndex


class ConversationDelegate(QStyledItemDelegate):
    """Rows after the look: one wash for the open chat, a lighter one under the mouse, times at the right.

    Attributes:
        open_id: The conversation on view.
        drop_key: The row that would take what is being dragged.
    """

    def __init__(self, theme: Theme, model: ConversationModel, parent: QObject) -> None:
        super().__init__(parent)
        self._theme = theme
        self._model = model
        self.open_id = ""
        self.drop_key = ""

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        return QSize(0, self._theme.line(ROW_HEIGHT))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        row: Row = index.data(ROW_ROLE)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self._paint_ground(painter, option, row)
        rect: QRect = option.rect.adjusted(_INSET, 0, -_INSET, 0)
        if row.kind in ("heading", "pinned"):
            self._paint_heading(painter, rect, row)
        elif row.conversation is not None:
            self._paint_conversation(painter, rect.adjusted(INDENT if row.folder else 0, 0, 0, 0), row)
        else:
            self._paint_holder(painter, rect, row)
        painter.restore()

    def createEditor(self, parent: QWidget, option: QStyleOptionViewItem, index: Index) -> QWidget:
        editor = QLineEdit(parent)
        editor.setObjectName("rename")
        editor.setFont(self._theme.font("list"))
        editor.setAccessibleName(translate("conversation_delegate", "New name"))
        return editor

    def updateEditorGeometry(self, editor: QWidget, option: QStyleOptionViewItem, index: Index) -> None:
        row: Row = index.data(ROW_ROLE)
        indent = INDENT if row.folder is not None else 0
        editor.setGeometry(option.rect.adjusted(indent, 1, 0, -1))

    def setModelData(self, editor: QWidget, model: QAbstractItemModel, index: Index) -> None:
        if isinstance(editor, QLineEdit):
            model.setData(index, editor.text(), Qt.ItemDataRole.EditRole)

    def eventFilter(self, editor: QObject, event: QEvent) -> bool:
        # A title that is being written must not be lost because the window was left for a moment.
        return False if event.type() == QEvent.Type.ApplicationDeactivate else super().eventFilter(editor, event)

    def _paint_ground(self, painter: QPainter, option: QStyleOptionViewItem, row: Row) -> None:
        state, box = option.state, option.rect.adjusted(0, 1, 0, -1)
        hovered = state & QStyle.StateFlag.State_MouseOver and state & QStyle.StateFlag.State_Enabled
        token = "accent_wash" if row.key == self.open_id else "hover" if hovered else ""
        focused = state & QStyle.StateFlag.State_HasFocus and state & QStyle.StateFlag.State_KeyboardFocusChange
        if token:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(self._theme.color(token))
            painter.drawRoundedRect(box, _RADIUS, _RADIUS)
        if focused or row.key == self.drop_key:
            painter.setPen(QPen(self._theme.color("accent"), 1.5))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(box.adjusted(1, 1, -1, -1), _RADIUS, _RADIUS)

    def _paint_heading(self, painter: QPainter, rect: QRect, row: Row) -> None:
        painter.setFont(self._theme.font("small"))
        painter.setPen(self._theme.color("muted"))
        painter.drawText(rect.translated(0, self._theme.line(HEADING_DROP)), int(_LEFT), row.text)

    def _paint_conversation(self, painter: QPainter, rect: QRect, row: Row) -> None:
        assert row.conversation is not None  # noqa: S101 - the caller has looked
        if row.busy:
            self._paint_dot(painter, rect)
            used = 18
        else:
            said = words.ago_in_span if row.dated else words.ago
            when = said(row.conversation.updated_at, self._model.now)
            used = self._paint_right(painter, rect, when, "muted")
        self._paint_text(painter, rect.adjusted(0, 0, -used, 0), row.text)

    def _paint_holder(self, painter: QPainter, rect: QRect, row: Row) -> None:
        """A folder with its arrow, or the archive with its sign; how many they hold at the right."""
        name = "archive" if row.kind == "archive" else "next" if row.folded else "chevron"
        sign = QRect(rect.left() - 3, rect.center().y() - 8, 18, 18)
        self._theme.icon(name, "muted").paint(painter, sign)
        used = self._paint_right(painter, rect, words.count(row.holds), "muted")
        if row.busy:
            self._paint_dot(painter, rect.adjusted(0, 0, -used, 0))
            used += 18
        self._paint_text(painter, rect.adjusted(INDENT, 0, -used, 0), row.text)

    def _paint_right(self, painter: QPainter, rect: QRect, text: str, token: str) -> int:
        """Quiet words at the right end; the room that they take."""
        painter.setFont(self._theme.font("small"))
        painter.setPen(self._theme.color(token))
        painter.drawText(rect, int(_RIGHT), text)
        return painter.fontMetrics().horizontalAdvance(text) + _GAP

    def _paint_text(self, painter: QPainter, rect: QRect, text: str) -> None:
        painter.setFont(self._theme.font("list"))
        painter.setPen(self._theme.color("text"))
        painter.drawText(rect, int(_LEFT), painter.fontMetrics().elidedText(text, _ELIDE, rect.width()))

    def _paint_dot(self, painter: QPainter, rect: QRect) -> None:
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self._theme.color("accent"))
        painter.drawEllipse(rect.right() - 7, rect.center().y() - 3, 7, 7)
