"""One assistant to be written: name, icon, system prompt, manner, model and opening. What cannot be kept is said."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from PySide6.QtCore import QRectF, Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import (
    QAbstractButton,
    QGridLayout,
    QHBoxLayout,
    QLineEdit,
    QPlainTextEdit,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from app import presets
from app.assistants import ICONS, Assistant
from app.declarations import SETTINGS
from app.i18n import translate
from app.setting import Setting
from app.theme import Theme
from app.views.controls import Label, make_line
from app.views.setting_fields import ChoiceField

AS_SET: Final = "as_set"
ANY_MODEL: Final = "any"
_ICON_SIDE: Final = 32


class IconChoice(QAbstractButton):
    """One icon to choose, with a ring around the one in force."""

    def __init__(self, theme: Theme, icon: str, name: str, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self.icon_name = icon
        self.setCheckable(True)
        self.setAutoExclusive(True)
        self.setAccessibleName(name)
        self.setFixedSize(_ICON_SIDE, _ICON_SIDE)
        self.setCursor(Qt.CursorShape.PointingHandCursor)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        box = QRectF(self.rect()).adjusted(1, 1, -1, -1)
        ring = "accent" if self.isChecked() or self.hasFocus() else "line"
        painter.setPen(QPen(self._theme.color(ring), 1.5 if ring == "accent" else 1))
        painter.setBrush(self._theme.color("accent_wash" if self.isChecked() else "surface"))
        painter.drawRoundedRect(box, 8, 8)
        tone = "text" if self.isChecked() else "muted"
        place = QRectF(0, 0, 18, 18)
        place.moveCenter(box.center())
        self._theme.icon(f"assistant-{self.icon_name}", tone).paint(painter, place.toRect())


class AssistantEditor(QWidget):
    """Shows one assistant and tells each form of it that can be kept, as it is written.

    Args:
        models: Names and labels of the models that are installed.
    """

    edited = Signal(object)  # Assistant

    def __init__(self, theme: Theme, models: Mapping[str, str], parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self._shown = Assistant()
        self.name_field = make_line(theme, translate("assistant_editor", "Name"), self)
        self.opening_field = make_line(theme, translate("assistant_editor", "Opening"), self)
        self.opening_field.setPlaceholderText(translate("assistant_editor", "What an empty chat says"))
        self.prompt_field = self._make_prompt()
        self.icons = [IconChoice(theme, icon, _icon_name(icon), self) for icon in ICONS]
        self.manner_field = ChoiceField(theme, _manners(), self)
        self.model_field = ChoiceField(theme, _models(models), self)
        self._wrong = Label(theme, "", "small", "warning")
        self._wrong.setWordWrap(True)
        shipped = translate("assistant_editor", "Comes with Loquat. Duplicate it to change it.")
        self._shipped = Label(theme, shipped, tone="muted")
        self._lay_out()
        self._connect()

    @property
    def refusal(self) -> str:
        """Why what is written is not kept; empty if it is."""
        return self._wrong.text()

    def show_assistant(self, assistant: Assistant) -> None:
        """Show one; while it is being written here, the cursor stays where it is."""
        self._shown = assistant
        _set_text(self.name_field, assistant.name)
        _set_text(self.opening_field, assistant.opening)
        if self.prompt_field.toPlainText() != assistant.system_prompt:
            self.prompt_field.blockSignals(True)
            self.prompt_field.setPlainText(assistant.system_prompt)
            self.prompt_field.blockSignals(False)
        for icon in self.icons:
            icon.setChecked(icon.icon_name == assistant.icon)
        self._show_choices()
        self._allow(not assistant.builtin)
        self._wrong.setText("")

    def _show_choices(self) -> None:
        self.manner_field.show_value(_manner_of(self._shown))
        self.model_field.show_value(self._shown.model or ANY_MODEL)

    def _allow(self, allowed: bool) -> None:
        self._shipped.setVisible(not allowed)
        for line in (self.name_field, self.opening_field, self.prompt_field):
            line.setReadOnly(not allowed)
            line.style().polish(line)  # what cannot be changed has another ground
        for control in (*self.icons, self.manner_field, self.model_field):
            control.setEnabled(allowed)

    def _connect(self) -> None:
        self.name_field.textEdited.connect(lambda text: self._take(replace(self._shown, name=text)))
        self.opening_field.textEdited.connect(lambda text: self._take(replace(self._shown, opening=text)))
        self.prompt_field.textChanged.connect(
            lambda: self._take(replace(self._shown, system_prompt=self.prompt_field.toPlainText()))
        )
        for icon in self.icons:
            icon.clicked.connect(lambda _=False, name=icon.icon_name: self._take(replace(self._shown, icon=name)))
        self.manner_field.changed.connect(self._take_manner)
        self.model_field.changed.connect(
            lambda name: self._take(replace(self._shown, model="" if name == ANY_MODEL else name))
        )

    def _take_manner(self, manner: str) -> None:
        if manner == presets.CUSTOM:
            return
        rest = {name: value for name, value in self._shown.sampling.items() if name not in presets.NAMES}
        self._take(replace(self._shown, sampling=rest | dict(presets.values_of(manner, {}))))

    def _take(self, assistant: Assistant) -> None:
        if self._shown.builtin or assistant == self._shown:
            return
        self._shown = assistant
        self._show_choices()
        try:
            assistant.check()
        except ValueError as error:
            self._wrong.setText(str(error))
            return
        self._wrong.setText("")
        self.edited.emit(assistant)

    def _make_prompt(self) -> QPlainTextEdit:
        field = QPlainTextEdit(self)
        field.setObjectName("reading")
        field.setFont(self._theme.font("list"))
        field.setAccessibleName(translate("assistant_editor", "System prompt"))
        field.setPlaceholderText(translate("assistant_editor", "What the model is told before the chat begins"))
        field.setTabChangesFocus(True)
        field.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Ignored)
        field.setMinimumHeight(5 * field.fontMetrics().lineSpacing())
        return field

    def _lay_out(self) -> None:
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(6)
        column.addWidget(self._shipped)
        self._add(column, translate("assistant_editor", "Name"), self.name_field)
        column.addLayout(self._icon_row())
        self._add(column, translate("assistant_editor", "System prompt"), self.prompt_field, 1)
        self._add(column, translate("assistant_editor", "Opening"), self.opening_field)
        column.addSpacing(self._theme.space(6))
        column.addLayout(self._choices())
        column.addWidget(self._wrong)

    def _add(self, column: QVBoxLayout, name: str, field: QWidget, stretch: int = 0) -> None:
        column.addSpacing(self._theme.space(4))
        column.addWidget(Label(self._theme, name, "small", "muted"))
        column.addWidget(field, stretch)

    def _icon_row(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setSpacing(4)
        for icon in self.icons:
            row.addWidget(icon)
        row.addStretch(1)
        return row

    def _choices(self) -> QGridLayout:
        grid = QGridLayout()
        grid.setHorizontalSpacing(16)
        grid.setVerticalSpacing(6)
        grid.addWidget(Label(self._theme, translate("assistant_editor", "Manner"), "small", "muted"), 0, 0)
        grid.addWidget(Label(self._theme, translate("assistant_editor", "Model"), "small", "muted"), 0, 1)
        grid.addWidget(self.manner_field, 1, 0)
        grid.addWidget(self.model_field, 1, 1)
        grid.setColumnStretch(2, 1)
        return grid


def _manners() -> Setting:
    """The presets of the settings, and what the settings say as the first choice."""
    declared = next(setting for setting in SETTINGS if setting.name == "preset")
    first = {AS_SET: translate("assistant_editor", "As the settings say")}
    rest = {preset: label for preset, label in declared.choices.items() if preset != presets.OWN}
    return replace(declared, default=AS_SET, choices=first | rest)


def _models(models: Mapping[str, str]) -> Setting:
    first = {ANY_MODEL: translate("assistant_editor", "Whichever is loaded")}
    label = translate("assistant_editor", "Model")
    return Setting("model", "choice", ANY_MODEL, label, label, choices=first | dict(models))


def _manner_of(assistant: Assistant) -> str:
    if not any(name in assistant.sampling for name in presets.NAMES):
        return AS_SET
    defaults = {setting.name: setting.default for setting in SETTINGS if setting.name in presets.NAMES}
    return presets.preset_of(defaults | dict(assistant.sampling))


def _icon_name(icon: str) -> str:
    return {
        "chat": translate("assistant_editor", "Speech bubble"),
        "pen": translate("assistant_editor", "Pen"),
        "translate": translate("assistant_editor", "Two scripts"),
        "code": translate("assistant_editor", "Code"),
        "summary": translate("assistant_editor", "Lines"),
        "tutor": translate("assistant_editor", "Academic cap"),
        "spark": translate("assistant_editor", "Spark"),
        "bulb": translate("assistant_editor", "Light bulb"),
        "heart": translate("assistant_editor", "Heart"),
        "globe": translate("assistant_editor", "Globe"),
        "flask": translate("assistant_editor", "Flask"),
        "music": translate("assistant_editor", "Music"),
    }[icon]


def _set_text(field: QLineEdit, text: str) -> None:
    if field.text() != text:
        field.setText(text)
