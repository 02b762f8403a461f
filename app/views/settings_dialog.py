"""The settings: drawn from their declarations, grouped, searched, each with a way back to its default."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import groupby
from typing import Any, Final

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import (
    QDialog,
    QFrame,
    QHBoxLayout,
    QLineEdit,
    QPushButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from app.declarations import Setting
from app.theme import FontRole, Theme
from app.views.controls import IconButton, Label
from app.views.dialogs import ConfirmDialog
from app.views.setting_fields import make_field

_SIZE: Final = QSize(720, 660)
RELOAD: Final = "Some changes take effect when the model is loaded again."
NOTHING: Final = "No setting is called that."


class SettingRow(QWidget):
    """One setting: what it is, what it does, its control, and Reset while it differs from its default."""

    changed = Signal(str, object)
    reset_requested = Signal(str)

    def __init__(self, theme: Theme, setting: Setting, parent: QWidget) -> None:
        super().__init__(parent)
        self.setting = setting
        self.field = make_field(theme, setting, self)
        self._reset = IconButton(theme, "reset", f"Reset: {setting.label}", self, 28)
        hint = f"{setting.help} {_bounds(setting)}".strip()
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
        self.field.show_value(value)
        self._reset.setVisible(value != self.setting.default)

    def matches(self, words: str) -> bool:
        """Whether all words stand in what is said of the setting."""
        text = f"{self.setting.label} {self.setting.help} {self.setting.group} {self.setting.name}".lower()
        return all(word in text for word in words.lower().split())

    def _show_refusal(self, sentence: str) -> None:
        self._wrong.setText(sentence)
        self._wrong.setVisible(bool(sentence))

    def _lay_out(self, theme: Theme) -> None:
        words = QVBoxLayout()
        words.setSpacing(2)
        words.addWidget(Label(theme, self.setting.label, "list"))
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
        column.setContentsMargins(0, 8, 0, 8)
        column.setSpacing(8)
        column.addLayout(top)
        if wide:
            column.addWidget(self.field)


class SettingsDialog(QDialog):
    """Shows the settings and emits what the person wants changed; the values come back by `show_value`."""

    changed = Signal(str, object)
    reset_requested = Signal(str)
    reset_all_requested = Signal()
    reload_requested = Signal()

    def __init__(
        self, theme: Theme, settings: Sequence[Setting], values: Mapping[str, Any], parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setObjectName("sheet")
        self.setWindowTitle("Settings")
        room = parent.size() if parent is not None else _SIZE
        self.resize(_SIZE.boundedTo(room - QSize(40, 80)))
        self._theme = theme
        self._rows = [SettingRow(theme, setting, self) for setting in settings]
        self._headings: dict[str, Label] = {}
        self._search = QLineEdit(self)
        self._search.setObjectName("field")
        self._search.setFont(theme.font("list"))
        self._search.setPlaceholderText("Search the settings")
        self._search.setAccessibleName("Search the settings")
        self._search.setClearButtonEnabled(False)
        self._nothing = Label(theme, NOTHING, "list", "muted")
        self._note = QFrame(self)
        self._reload = self._button("Load the model again", "send", "button")
        self._reset_all = self._button("Reset all", "quiet", "list")
        self._close = self._button("Close", "quiet", "list")
        self._lay_out()
        self._connect()
        for row in self._rows:
            row.show_value(values[row.setting.name])
        self.show_reload_needed(False)
        self._filter("")
        self._search.setFocus()

    @property
    def rows(self) -> tuple[SettingRow, ...]:
        """The settings, in order."""
        return tuple(self._rows)

    @property
    def search_field(self) -> QLineEdit:
        """Leaves only what is looked for."""
        return self._search

    @property
    def reload_button(self) -> QPushButton:
        """Loads the model again, where changes wait for that."""
        return self._reload

    @property
    def reset_all_button(self) -> QPushButton:
        """Goes back to all defaults."""
        return self._reset_all

    @property
    def nothing_label(self) -> Label:
        """Shown where the search finds nothing."""
        return self._nothing

    def show_value(self, name: str, value: Any) -> None:  # noqa: ANN401 - of the setting's kind
        """Show the value of a setting."""
        for row in self._rows:
            if row.setting.name == name:
                row.show_value(value)

    def show_reload_needed(self, needed: bool) -> None:
        """Say that changes wait for the model to be loaded again, or stop saying so."""
        self._note.setVisible(needed)

    def _connect(self) -> None:
        for row in self._rows:
            row.changed.connect(self.changed)
            row.reset_requested.connect(self.reset_requested)
        self._search.textChanged.connect(self._filter)
        self._reload.clicked.connect(self.reload_requested)
        self._reset_all.clicked.connect(self._confirm_reset)
        self._close.clicked.connect(self.accept)

    def _confirm_reset(self) -> None:
        sentence = "Everything here goes back to its default; the system prompt is emptied."
        dialog = ConfirmDialog(self._theme, "Reset all settings?", sentence, "Reset all", self)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.accepted.connect(self.reset_all_requested)
        dialog.open()

    def _filter(self, words: str) -> None:
        found: set[str] = set()
        for row in self._rows:
            row.setVisible(row.matches(words))
            found |= {row.setting.group} if row.matches(words) else set()
        for group, heading in self._headings.items():
            heading.setVisible(group in found)
        self._nothing.setVisible(not found)

    def _button(self, label: str, kind: str, role: FontRole) -> QPushButton:
        button = QPushButton(label, self)
        button.setObjectName(kind)
        button.setFont(self._theme.font(role))
        button.setAutoDefault(False)
        button.setCursor(Qt.CursorShape.PointingHandCursor)
        return button

    def _lay_out(self) -> None:
        top = QVBoxLayout()
        top.setContentsMargins(24, 22, 24, 12)
        top.setSpacing(12)
        top.addWidget(Label(self._theme, "Settings", "heading2"))
        top.addWidget(self._search)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(top)
        column.addWidget(self._page(), 1)
        column.addWidget(self._note)
        column.addLayout(self._bottom())
        self._fill_note()

    def _page(self) -> QScrollArea:
        page = QWidget(self)
        page.setObjectName("sheet")
        column = QVBoxLayout(page)
        column.setContentsMargins(24, 4, 24, 16)
        column.setSpacing(0)
        column.addWidget(self._nothing)
        for group, rows in groupby(self._rows, key=lambda row: row.setting.group):
            heading = Label(self._theme, group, "heading3")
            heading.setContentsMargins(0, 16, 0, 4)
            self._headings[group] = heading
            column.addWidget(heading)
            for row in rows:
                column.addWidget(row)
        column.addStretch(1)
        area = QScrollArea(self)
        area.setObjectName("settingsArea")
        area.setWidget(page)
        area.setWidgetResizable(True)
        area.setFrameShape(QFrame.Shape.NoFrame)
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        return area

    def _bottom(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setContentsMargins(24, 12, 24, 16)
        row.setSpacing(8)
        row.addWidget(self._reset_all)
        row.addStretch(1)
        row.addWidget(self._close)
        return row

    def _fill_note(self) -> None:
        self._note.setObjectName("note")
        row = QHBoxLayout(self._note)
        row.setContentsMargins(24, 10, 24, 10)
        row.setSpacing(12)
        sentence = Label(self._theme, RELOAD, "list")
        sentence.setWordWrap(True)
        row.addWidget(sentence, 1)
        row.addWidget(self._reload)


def _bounds(setting: Setting) -> str:
    if setting.kind not in ("number", "integer") or setting.high > 1_000_000_000:
        return ""
    return f"{setting.range[0].upper()}{setting.range[1:]}."
