"""The control for one setting, by its kind. Only a value that is allowed leaves it; anything else is said in words."""

from __future__ import annotations

from typing import Any, Final, Protocol

from PySide6.QtCore import QPoint, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QAction, QActionGroup, QFocusEvent, QKeyEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QAbstractButton, QLineEdit, QPlainTextEdit, QPushButton, QWidget

from app.i18n import labelled, translate
from app.presets import CUSTOM
from app.setting import Setting
from app.theme import Theme
from app.views.controls import Menu, unmarked

WIDTH: Final = 200
_SWITCH: Final = QSize(40, 22)
_DIGITS: Final = set("0123456789.-")


class Field(Protocol):
    """What the dialog needs of a control."""

    changed: Signal  # the new value, which is allowed
    refused: Signal  # a sentence that says what would be; empty when all is well again

    def show_value(self, value: Any) -> None:  # noqa: ANN401 - of the setting's kind
        """Show a value without telling it as a change."""
        ...


class SwitchField(QAbstractButton):
    """On or off."""

    changed = Signal(object)
    refused = Signal(str)

    def __init__(self, theme: Theme, setting: Setting, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self.setCheckable(True)
        self.setAccessibleName(setting.shown_label)
        self._size = QSize(theme.wide(_SWITCH.width()), theme.wide(_SWITCH.height()))
        self.setFixedSize(self._size)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.clicked.connect(lambda: self.changed.emit(self.isChecked()))

    def show_value(self, value: Any) -> None:  # noqa: ANN401
        """Show on or off."""
        self.setChecked(value)

    def sizeHint(self) -> QSize:
        return self._size

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        box = QRectF(self.rect()).adjusted(1, 1, -1, -1)
        ring = self._theme.color("text") if self.hasFocus() else None
        painter.setPen(QPen(ring, 1.5) if ring else Qt.PenStyle.NoPen)
        painter.setBrush(self._theme.color("accent_fill" if self.isChecked() else "reused"))
        painter.drawRoundedRect(box, box.height() / 2, box.height() / 2)
        knob = box.height() - 6
        left = box.right() - knob - 3 if self.isChecked() else box.left() + 3
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self._theme.color("on_accent" if self.isChecked() else "surface"))
        painter.drawEllipse(QRectF(left, box.top() + 3, knob, knob))


class ChoiceField(QPushButton):
    """One of a few; a menu shows them all. Up and Down go to the next."""

    changed = Signal(object)
    refused = Signal(str)

    def __init__(self, theme: Theme, setting: Setting, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self._setting = setting
        self._value: str = setting.default
        self.setObjectName("choice")
        self.setFont(theme.font("list"))
        self.setFixedWidth(theme.wide(WIDTH))
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setAutoDefault(False)
        self.clicked.connect(lambda: self.menu_of_choices().popup(self.mapToGlobal(QPoint(0, self.height() + 4))))

    def show_value(self, value: Any) -> None:  # noqa: ANN401
        """Show the choice."""
        self._value = value
        shown = self._setting.shown_choices.get(value, value)
        self.setText(unmarked(shown))
        self.setAccessibleName(labelled(self._setting.shown_label, shown))

    def menu_of_choices(self) -> Menu:
        """All choices, the one in force ticked."""
        menu = Menu(self._theme, self)
        menu.setMinimumWidth(self.width())
        group = QActionGroup(menu)
        for value, label in self._setting.shown_choices.items():
            action = QAction(unmarked(label), group)
            action.setEnabled(value != CUSTOM or value == self._value)
            action.setCheckable(True)
            action.setChecked(value == self._value)
            action.triggered.connect(lambda _=False, chosen=value: self.changed.emit(chosen))
            menu.addAction(action)
        return menu

    def keyPressEvent(self, event: QKeyEvent) -> None:
        step = {Qt.Key.Key_Up: -1, Qt.Key.Key_Down: 1}.get(Qt.Key(event.key()), 0)
        values = list(self._setting.choices)
        at = values.index(self._value) + step if self._value in values else 0
        if step and 0 <= at < len(values):
            self.changed.emit(values[at])
        elif not step:
            super().keyPressEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        painter = QPainter(self)
        icon = self._theme.icon("chevron", "muted")
        icon.paint(painter, self.width() - 28, (self.height() - 18) // 2, 18, 18)


class NumberField(QLineEdit):
    """A number within bounds; an empty field stands for the automatic value where there is one."""

    changed = Signal(object)
    refused = Signal(str)

    def __init__(self, theme: Theme, setting: Setting, parent: QWidget) -> None:
        super().__init__(parent)
        self._setting = setting
        self._value: float | None = setting.default
        self.setObjectName("field")
        self.setFont(theme.font("list"))
        self.setFixedWidth(theme.wide(WIDTH))
        self.setAccessibleName(setting.shown_label)
        self.setPlaceholderText(setting.shown_optional)
        self.setMaxLength(24)
        self.textEdited.connect(self._take)

    def show_value(self, value: Any) -> None:  # noqa: ANN401
        """Show the number; one that is being written stays as it is written."""
        self._value = value
        if self._parsed() != (True, value):
            self.setText(_text(value))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        step = {Qt.Key.Key_Up: 1, Qt.Key.Key_Down: -1}.get(Qt.Key(event.key()), 0)
        if step:
            self._step(step)
        elif event.text().isprintable() and event.text() and not set(event.text()) <= _DIGITS and not event.modifiers():
            event.accept()  # a letter is no part of a number
        else:
            super().keyPressEvent(event)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """What is not allowed does not stay."""
        super().focusOutEvent(event)
        self.setText(_text(self._value))
        self.refused.emit("")

    def _parsed(self) -> tuple[bool, float | None]:
        """Whether the text is a number or stands for the automatic value, and which."""
        text = self.text().strip()
        if not text:
            return bool(self._setting.optional), None
        try:
            return True, int(text) if self._setting.kind == "integer" else float(text)
        except ValueError:
            return False, None

    def _take(self) -> None:
        valid, value = self._parsed()
        try:
            checked = self._setting.check(value if valid else "")
        except ValueError as error:
            self.refused.emit(str(error))
            return
        self._value = checked
        self.refused.emit("")
        self.changed.emit(checked)

    def _step(self, step: int) -> None:
        setting = self._setting
        unit = 1 if setting.kind == "integer" or setting.high > 100 else 0.05
        start = setting.low if self._value is None else self._value
        value = max(setting.low, min(setting.high, round(start + step * unit, 4)))
        self.setText(_text(int(value) if setting.kind == "integer" else value))
        self._take()


class TextField(QPlainTextEdit):
    """Text of some lines."""

    changed = Signal(object)
    refused = Signal(str)

    def __init__(self, theme: Theme, setting: Setting, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("reading")
        self.setFont(theme.font("list"))
        self.setAccessibleName(setting.shown_label)
        self.setPlaceholderText(translate("setting_fields", "None"))
        self.setTabChangesFocus(True)
        self.setFixedHeight(5 * self.fontMetrics().lineSpacing() + 20)
        self.textChanged.connect(self._take)

    def show_value(self, value: Any) -> None:  # noqa: ANN401
        """Show the text; while it is being written the cursor stays."""
        if value != self.toPlainText():
            self.blockSignals(True)
            self.setPlainText(value)
            self.blockSignals(False)

    def _take(self) -> None:
        self.changed.emit(self.toPlainText())


def _text(value: float | None) -> str:
    return "" if value is None else f"{value:.10g}" if isinstance(value, float) else str(value)
