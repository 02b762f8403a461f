"""Names the assistant that answers, and asks for another; where it is narrow it says the name alone."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget

from app.i18n import translate
from app.theme import Theme
from app.views.controls import QuietButton, plain_tip

_NAME_WIDTH: Final = 180  # pixels of a name, half of them where it is narrow


class AssistantButton(QuietButton):
    """Says "Assistant: Plain" while there is none."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(theme, "", "", parent)
        self._name = ""
        self._narrow = False
        self.show_name("")

    def show_name(self, name: str) -> None:
        """Name the assistant; empty for none."""
        self._name = name or translate("assistant_button", "Plain")
        said = translate("assistant_button", "Choose the assistant, now {name}").format(name=self._name)
        self.setAccessibleName(said)
        self.setToolTip(plain_tip(said))
        self._fit()

    def set_narrow(self, narrow: bool) -> None:
        """Take less room, or as much as it likes."""
        if narrow != self._narrow:
            self._narrow = narrow
            self._fit()

    def _fit(self) -> None:
        width = _NAME_WIDTH // 2 if self._narrow else _NAME_WIDTH
        name = self.fontMetrics().elidedText(self._name, Qt.TextElideMode.ElideRight, width)
        text = "{name}" if self._narrow else translate("assistant_button", "Assistant: {name}")
        self.setText(text.format(name=name))
        self.updateGeometry()
