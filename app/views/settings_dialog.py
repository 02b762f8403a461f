"""The settings: drawn from their declarations, grouped, searched, each with a way back to its default."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Final

from PySide6.QtCore import QRect, QSize, Qt, Signal
from PySide6.QtWidgets import (
    QDialog,
    QFrame,
    QHBoxLayout,
    QLineEdit,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from app.i18n import translate
from app.setting import Setting
from app.theme import Theme
from app.views.controls import Label, make_line
from app.views.dialogs import ConfirmDialog, fit, make_button
from app.views.row_list import GUTTER
from app.views.setting_row import SettingRow
from app.views.steady_area import SteadyArea

_SIZE: Final = QSize(720, 660)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a person is in the settings, so that another dialog can go on there.

    Attributes:
        geometry: Of the dialog, its place that of its frame.
        scroll: Of the page, in pixels.
        setting: The name of the setting that has the keyboard; "" where none has.
    """

    geometry: QRect
    search: str
    scroll: int
    setting: str


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
        self.setWindowTitle(translate("settings_dialog", "Settings"))
        fit(self, QSize(theme.wide(_SIZE.width()), theme.wide(_SIZE.height())))
        self._theme = theme
        self._rows = [SettingRow(theme, setting, self) for setting in settings]
        self._headings: dict[str, Label] = {}
        self._search = make_line(theme, translate("settings_dialog", "Search the settings"), self)
        self._search.setPlaceholderText(self._search.accessibleName())
        self._nothing = Label(theme, translate("settings_dialog", "No setting is called that."), "list", "muted")
        self._note = QFrame(self)
        self._area = SteadyArea(self)
        self._page = QWidget(self)
        self._reload = make_button(theme, translate("settings_dialog", "Load the model again"), self, primary=True)
        self._reset_all = make_button(theme, translate("settings_dialog", "Reset all"), self)
        self._close = make_button(theme, translate("settings_dialog", "Close"), self)
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

    def show_default(self, name: str, value: Any) -> None:  # noqa: ANN401 - of the setting's kind
        """Take what a setting goes back to, where that is not what is declared."""
        for row in self._rows:
            if row.setting.name == name:
                row.show_default(value)

    def show_reload_needed(self, needed: bool) -> None:
        """Say that changes wait for the model to be loaded again, or stop saying so."""
        self._note.setVisible(needed)

    def place(self) -> Place:
        """Where the person is."""
        at = next((row.setting.name for row in self._rows if row.isAncestorOf(self.focusWidget() or self)), "")
        return Place(QRect(self.pos(), self.size()), self._search.text(), self._area.verticalScrollBar().value(), at)

    def resume_geometry(self, place: Place) -> None:
        """Lie where the other dialog lay; call it before this one is shown."""
        self.resize(place.geometry.size())
        self.move(place.geometry.topLeft())

    def show_place(self, place: Place) -> None:
        """Go to where the person was in another dialog; call it when this one is shown."""
        self._search.setText(place.search)
        self._page.adjustSize()
        self._area.verticalScrollBar().setValue(place.scroll)
        for row in self._rows:
            if row.setting.name == place.setting:
                row.field.setFocus()

    def _connect(self) -> None:
        for row in self._rows:
            row.changed.connect(self.changed)
            row.reset_requested.connect(self.reset_requested)
        self._search.textChanged.connect(self._filter)
        self._reload.clicked.connect(self.reload_requested)
        self._reset_all.clicked.connect(self._confirm_reset)
        self._close.clicked.connect(self.accept)

    def _confirm_reset(self) -> None:
        title = translate("settings_dialog", "Reset all settings?")
        sentence = translate(
            "settings_dialog", "Everything here goes back to its default; the system prompt is emptied."
        )
        action = translate("settings_dialog", "Reset all")
        dialog = ConfirmDialog(self._theme, title, sentence, action, self)
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

    def _lay_out(self) -> None:
        top = QVBoxLayout()
        top.setContentsMargins(24, 22, 24, 12)
        top.setSpacing(12)
        top.addWidget(Label(self._theme, translate("settings_dialog", "Settings"), "heading2"))
        top.addWidget(self._search)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(top)
        column.addWidget(self._fill_page(), 1)
        column.addWidget(self._note)
        column.addLayout(self._bottom())
        self._fill_note()

    def _fill_page(self) -> SteadyArea:
        page = self._page
        page.setObjectName("sheet")
        column = QVBoxLayout(page)
        column.setContentsMargins(24, 4, 24 - GUTTER, 16)
        column.setSpacing(0)
        column.addWidget(self._nothing)
        for group, rows in groupby(self._rows, key=lambda row: row.setting.group):
            shown = list(rows)
            heading = Label(self._theme, shown[0].setting.shown_group, "heading3")
            heading.setContentsMargins(0, 16, 0, 4)
            self._headings[group] = heading
            column.addWidget(heading)
            for row in shown:
                column.addWidget(row)
        column.addStretch(1)
        area = self._area
        area.setObjectName("settingsArea")
        area.setWidget(page)
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
        words = translate("settings_dialog", "Some changes take effect when the model is loaded again.")
        sentence = Label(self._theme, words, "list")
        sentence.setWordWrap(True)
        row.addWidget(sentence, 1)
        row.addWidget(self._reload)
