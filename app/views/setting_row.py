"""One setting in a dialog: what it is, what it does, its control, and a way back while it differs from its default."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from app.i18n import as_one_text, translate
from app.setting import Setting
from app.theme import Theme
from app.views.controls import IconButton, Label
from app.views.look_fields import AccentField, FontField
from app.views.setting_fields import ChoiceField, NumberField, SwitchField, TextField

Field = SwitchField | ChoiceField | NumberField | TextField | AccentField
_FIELDS: Final[Mapping[str, type[Field]]] = {
    "switch": SwitchField,
    "choice": ChoiceField,
    "number": NumberField,
    "integer": NumberField,
    "text": TextField,
    "accent": AccentField,
    "font": FontField,
}


def make_field(theme: Theme, setting: Setting, parent: QWidget) -> Field:
    """The control for a setting."""
    return _FIELDS[setting.kind](theme, setting, parent)


class SettingRow(QWidget):
    """One setting: what it is, what it does, its control, and Reset while it differs from its default."""

    changed = Signal(str, object)
    reset_requested = Signal(str)

    def __init__(self, theme: Theme, setting: Setting, parent: QWidget) -> None:
        super().__init__(parent)
        self.setting = setting
        self._default = self._value = setting.default
        self.field = make_field(theme, setting, self)
        self._reset = IconButton(theme, "reset", _reset_name(setting), self, 28)
        hint = as_one_text((setting.shown_help, _bounds(setting)))
        self._help = Label(theme, hint, "small", "muted")
        self._help.setWordWrap(True)
        self._wrong = Label(theme, "", "small", "warning")
        self._wrong.setWordWrap(True)
        self._wrong.hide()
        self._lay_out(theme)
        self.field.changed.connect(partial(self.changed.emit, setting.name))
        self.field.refused.connect(self._show_refusal)
        self._reset.clicked.connect(partial(self.reset_requested.emit, setting.name))

    @property
    def reset_button(self) -> IconButton:
        """Goes back to the default."""
        return self._reset

    @property
    def refusal(self) -> str:
        """Why what is in the field is not taken; empty if it is."""
        return self._wrong.text()

    def show_value(self, value: Any) -> None:  # noqa: ANN401 - of the setting's kind
        """Show a value."""
        self._value = value
        self.field.show_value(value)
        self._reset.setVisible(value != self._default)

    def show_default(self, value: Any) -> None:  # noqa: ANN401 - of the setting's kind
        """Take what Reset goes back to, where that is not what is declared."""
        self._default = value
        self._reset.setVisible(self._value != value)

    def matches(self, words: str) -> bool:
        """Whether all words stand in what is said of the setting."""
        setting = self.setting
        shown = (setting.shown_label, setting.shown_help, setting.shown_group, *setting.shown_choices.values())
        text = " ".join((*shown, setting.label, setting.name)).lower()
        return all(word in text for word in words.lower().split())

    def _show_refusal(self, sentence: str) -> None:
        self._wrong.setText(sentence)
        self._wrong.setVisible(bool(sentence))

    def _lay_out(self, theme: Theme) -> None:
        words = QVBoxLayout()
        words.setSpacing(2)
        name = Label(theme, self.setting.shown_label, "list")
        name.setWordWrap(True)  # or a long name pushes its control out of a narrow dialog
        words.addWidget(name)
        words.addWidget(self._help)
        words.addWidget(self._wrong)
        top = QHBoxLayout()
        top.setSpacing(8)
        top.addLayout(words, 1)
        policy = self._reset.sizePolicy()
        policy.setRetainSizeWhenHidden(True)
        self._reset.setSizePolicy(policy)
        wide = self.setting.kind == "text"
        parts: tuple[QWidget, ...] = (self._reset,) if wide else (self._reset, self.field)
        for part in parts:
            top.addWidget(part, 0, Qt.AlignmentFlag.AlignVCenter)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, theme.space(8), 0, theme.space(8))
        column.setSpacing(8)
        column.addLayout(top)
        if wide:
            column.addWidget(self.field)


def _reset_name(setting: Setting) -> str:
    return translate("setting_row", "Reset: {name}").format(name=setting.shown_label)


def _bounds(setting: Setting) -> str:
    if setting.kind not in ("number", "integer") or setting.high > 1_000_000_000:
        return ""
    words = translate("setting_row", "{range}.").format(range=setting.range)
    return words[0].upper() + words[1:]
