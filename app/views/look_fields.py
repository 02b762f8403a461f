"""The controls for what the window looks like: a row of accents, and any font of the system."""

from __future__ import annotations

from typing import Any, Final

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFont, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QAbstractButton, QHBoxLayout, QLineEdit, QListWidget, QListWidgetItem, QWidget

from app.fonts import text_families
from app.i18n import translate
from app.setting import Setting
from app.theme import Theme
from app.views.controls import Menu, make_line
from app.views.dialogs import SheetDialog
from app.views.setting_fields import ChoiceField

_SWATCH: Final = 26
_LINES: Final = 9


class Swatch(QAbstractButton):
    """One accent: a disc of its colour, with a ring around the one in force."""

    def __init__(self, theme: Theme, accent: str, name: str, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self.accent = accent
        self.setCheckable(True)
        self.setAutoExclusive(True)
        self.setAccessibleName(name)
        self.setToolTip(name)
        self.setFixedSize(_SWATCH, _SWATCH)
        self.setCursor(Qt.CursorShape.PointingHandCursor)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        color = self._theme.accent_color(self.accent)
        box = QRectF(self.rect()).adjusted(1.5, 1.5, -1.5, -1.5)
        if self.isChecked() or self.hasFocus():
            painter.setPen(QPen(self._theme.color("text") if self.hasFocus() else color, 1.5))
            painter.drawEllipse(box)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(color)
        painter.drawEllipse(box.adjusted(3, 3, -3, -3))
        if self.isChecked():
            self._theme.icon("check", "on_accent").paint(painter, box.adjusted(4, 4, -4, -4).toRect())


class AccentField(QWidget):
    """All accents in a row; the arrow keys go to the next, as in every exclusive group of buttons."""

    changed = Signal(object)
    refused = Signal(str)

    def __init__(self, theme: Theme, setting: Setting, parent: QWidget) -> None:
        super().__init__(parent)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(6)
        self.swatches = [Swatch(theme, accent, name, self) for accent, name in setting.shown_choices.items()]
        for swatch in self.swatches:
            row.addWidget(swatch)
            swatch.clicked.connect(lambda _=False, accent=swatch.accent: self.changed.emit(accent))
        self.setAccessibleName(setting.shown_label)

    def show_value(self, value: Any) -> None:  # noqa: ANN401
        """Show the accent."""
        for swatch in self.swatches:
            swatch.setChecked(swatch.accent == value)
            swatch.setFocusPolicy(Qt.FocusPolicy.StrongFocus if swatch.accent == value else Qt.FocusPolicy.ClickFocus)


class FontField(ChoiceField):
    """A few fonts, and below them any other that is installed."""

    def menu_of_choices(self) -> Menu:
        """The fonts to choose from, and the way to all others."""
        menu = super().menu_of_choices()
        menu.addSeparator()
        menu.addAction(translate("look_fields", "Other…")).triggered.connect(self.choose_other)
        return menu

    def choose_other(self) -> None:
        """Show all fonts."""
        dialog = FontDialog(self._theme, self._value, self.window())
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.chosen.connect(self.changed)
        dialog.open()


class FontDialog(SheetDialog):
    """Every installed family, written in itself; a few letters find one."""

    chosen = Signal(object)

    def __init__(self, theme: Theme, family: str, parent: QWidget | None = None) -> None:
        title = translate("look_fields", "Choose a font")
        super().__init__(theme, title, translate("look_fields", "Code stays in a font of fixed width."), parent)
        self.setMinimumWidth(theme.wide(420))
        self.search_field = self._make_search()
        self.families = QListWidget(self)
        self.families.setObjectName("reading")
        self.families.setAccessibleName(title)
        self.families.setMinimumHeight(_LINES * theme.line(30))
        for name in text_families():
            self._add(name, name == family)
        self.column.addWidget(self.search_field)
        self.column.addWidget(self.families, 1)
        self.add_button(translate("look_fields", "Cancel")).clicked.connect(self.reject)
        self.use_button = self.add_button(translate("look_fields", "Use"), primary=True)
        self.use_button.clicked.connect(self._use)
        self.families.itemActivated.connect(self._use)
        self.finish_layout()
        self.search_field.setFocus()

    def _make_search(self) -> QLineEdit:
        name = translate("look_fields", "Search the fonts")
        field = make_line(self._theme, name, self)
        field.setPlaceholderText(name)
        field.textChanged.connect(self._filter)
        return field

    def _add(self, name: str, current: bool) -> None:
        item = QListWidgetItem(name, self.families)
        font = QFont([name, *self._theme.font("list").families()])
        font.setPointSizeF(self._theme.font("body").pointSizeF())
        item.setFont(font)
        item.setSizeHint(QSize(0, self._theme.line(28)))
        if current:
            self.families.setCurrentItem(item)

    def _filter(self, words: str) -> None:
        first = -1
        for row in range(self.families.count()):
            item = self.families.item(row)
            item.setHidden(words.lower().strip() not in item.text().lower())
            first = row if first < 0 and not item.isHidden() else first
        self.families.setCurrentRow(first)
        self.use_button.setEnabled(first >= 0)

    def _use(self) -> None:
        item = self.families.currentItem()
        if item is not None and not item.isHidden():
            self.chosen.emit(item.text())
            self.accept()
