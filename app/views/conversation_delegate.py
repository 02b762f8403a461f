"""Draws the rows of the conversation list and edits a title in place."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QAbstractItemModel, QEvent, QModelIndex, QObject, QPersistentModelIndex, QRect, QSize, Qt
from PySide6.QtGui import QPainter, QPen
from PySide6.QtWidgets import QLineEdit, QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from app.theme import Theme
from app.views import words
from app.views.conversation_model import ROW_ROLE, ConversationModel, Row

ROW_HEIGHT: Final = 34
HEADING_HEIGHT: Final = 38
FIRST_HEADING_HEIGHT: Final = 28
_INSET: Final = 8
_RADIUS: Final = 8
Index = QModelIndex | QPersistentModelIndex


class ConversationDelegate(QStyledItemDelegate):
    """Rows after the look: one wash for the open chat, a lighter one under the mouse, times at the right."""

    def __init__(self, theme: Theme, model: ConversationModel, parent: QObject) -> None:
        super().__init__(parent)
        self._theme = theme
        self._model = model
        self.open_id = ""

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        row: Row = index.data(ROW_ROLE)
        if row.conversation is None:
            return QSize(0, FIRST_HEADING_HEIGHT if index.row() == 0 else HEADING_HEIGHT)
        return QSize(0, ROW_HEIGHT)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        row: Row = index.data(ROW_ROLE)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        rect: QRect = option.rect
        if row.conversation is None:
            self._paint_heading(painter, rect, row)
        else:
            self._paint_ground(painter, rect, option, row)
            self._paint_row(painter, rect.adjusted(_INSET, 0, -_INSET, 0), row)
        painter.restore()

    def createEditor(self, parent: QWidget, option: QStyleOptionViewItem, index: Index) -> QWidget:
        editor = QLineEdit(parent)
        editor.setObjectName("rename")
        editor.setFont(self._theme.font("list"))
        editor.setAccessibleName("Title of the conversation")
        return editor

    def updateEditorGeometry(self, editor: QWidget, option: QStyleOptionViewItem, index: Index) -> None:
        editor.setGeometry(option.rect.adjusted(0, 1, 0, -1))

    def setModelData(self, editor: QWidget, model: QAbstractItemModel, index: Index) -> None:
        if isinstance(editor, QLineEdit):
            model.setData(index, editor.text(), Qt.ItemDataRole.EditRole)

    def eventFilter(self, editor: QObject, event: QEvent) -> bool:
        # A title that is being written must not be lost because the window was left for a moment.
        return False if event.type() == QEvent.Type.ApplicationDeactivate else super().eventFilter(editor, event)

    def _paint_heading(self, painter: QPainter, rect: QRect, row: Row) -> None:
        painter.setFont(self._theme.font("small"))
        painter.setPen(self._theme.color("muted"))
        place = rect.adjusted(_INSET, 0, -_INSET, -6)
        painter.drawText(place, int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignBottom), row.text)

    def _paint_ground(self, painter: QPainter, rect: QRect, option: QStyleOptionViewItem, row: Row) -> None:
        state = option.state
        is_open = row.conversation is not None and row.conversation.id == self.open_id
        token = "accent_wash" if is_open else "hover" if state & QStyle.StateFlag.State_MouseOver else ""
        focused = state & QStyle.StateFlag.State_HasFocus and state & QStyle.StateFlag.State_KeyboardFocusChange
        if token:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(self._theme.color(token))
            painter.drawRoundedRect(rect.adjusted(0, 1, 0, -1), _RADIUS, _RADIUS)
        if focused:
            painter.setPen(QPen(self._theme.color("accent"), 1.5))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(rect.adjusted(1, 2, -1, -2), _RADIUS, _RADIUS)

    def _paint_row(self, painter: QPainter, rect: QRect, row: Row) -> None:
        assert row.conversation is not None  # noqa: S101 - rows with a heading are drawn elsewhere
        right = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        left = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
        painter.setFont(self._theme.font("small"))
        when = words.ago(row.conversation.updated_at, self._model.now)
        used = painter.fontMetrics().horizontalAdvance(when) + 10
        if row.busy:
            self._paint_dot(painter, rect)
            used = 18
        else:
            painter.setPen(self._theme.color("muted" if row.conversation.id == self.open_id else "faint"))
            painter.drawText(rect, int(right), when)
        painter.setFont(self._theme.font("list"))
        painter.setPen(self._theme.color("text"))
        place = rect.adjusted(0, 0, -used, 0)
        title = painter.fontMetrics().elidedText(row.text, Qt.TextElideMode.ElideRight, place.width())
        painter.drawText(place, int(left), title)

    def _paint_dot(self, painter: QPainter, rect: QRect) -> None:
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self._theme.color("accent"))
        painter.drawEllipse(rect.right() - 7, rect.center().y() - 3, 7, 7)
