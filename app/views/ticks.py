"""Boxes to check, with a tick in the theme's colour: alone, in a list, and in what a model writes."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPainterPath, QPaintEvent, QPen
from PySide6.QtWidgets import QCheckBox, QStyle, QStyledItemDelegate, QStyleOptionButton, QStyleOptionViewItem, QWidget

from app.theme import Theme


def paint_tick(painter: QPainter, box: QRectF, color: QColor) -> None:
    """The tick in a box that is checked, as large as the box."""
    scale = box.width() / 12
    tick = QPainterPath(box.topLeft() + QPointF(3, 6.2) * scale)
    tick.lineTo(box.topLeft() + QPointF(5.2, 8.6) * scale)
    tick.lineTo(box.topLeft() + QPointF(9.2, 3.6) * scale)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(QPen(color, 1.6 * scale))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.drawPath(tick)


class TickBox(QCheckBox):
    """A box to check: the style sheet fills it, and knows no tick in the theme's colour."""

    def __init__(self, theme: Theme, text: str, parent: QWidget) -> None:
        super().__init__(text, parent)
        self._theme = theme
        self.setFont(theme.font("list"))

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if self.isChecked():
            option = QStyleOptionButton()
            self.initStyleOption(option)
            box = self.style().subElementRect(QStyle.SubElement.SE_CheckBoxIndicator, option, self)
            paint_tick(QPainter(self), QRectF(box).adjusted(1, 1, -1, -1), self._theme.color("on_accent"))


class TickDelegate(QStyledItemDelegate):
    """The same for the boxes of a list."""

    def __init__(self, theme: Theme, listed: QWidget) -> None:
        super().__init__(listed)
        self._theme = theme
        self._listed = listed

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        super().paint(painter, option, index)
        if Qt.CheckState(index.data(Qt.ItemDataRole.CheckStateRole)) is Qt.CheckState.Checked:
            shown = QStyleOptionViewItem(option)
            self.initStyleOption(shown, index)
            element = QStyle.SubElement.SE_ItemViewItemCheckIndicator
            box = self._listed.style().subElementRect(element, shown, self._listed)
            painter.save()
            paint_tick(painter, QRectF(box).adjusted(1, 1, -1, -1), self._theme.color("on_accent"))
            painter.restore()
