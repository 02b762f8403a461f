"""Lets other programs on this machine ask the model: on which port, with which key, and where they find it."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QLocale, QObject, Signal
from PySide6.QtGui import QGuiApplication, QIntValidator
from PySide6.QtWidgets import QWidget

from app.engine_sentences import translated
from app.i18n import translate
from app.theme import Theme
from app.views.controls import Label, show_property
from app.views.dialogs import SheetDialog
from engine.server.control import ServerState

_WIDTH: Final = 480
_HIGHEST_PORT: Final = 65_535


class ServeDialog(SheetDialog):
    """Emits what the person wants; `show_state` says what came of it."""

    start_requested = Signal(int, str)  # port, key; "" asks for none
    stop_requested = Signal()

    def __init__(self, theme: Theme, port: int, parent: QWidget | None = None) -> None:
        title = translate("serve_dialog", "Serve other programs")
        sentence = translate(
            "serve_dialog",
            "Programs on this machine can ask the model that is loaded, in the way of OpenAI's API. Nobody else is "
            "answered, and your own questions come first. It ends with the window.",
        )
        super().__init__(theme, title, sentence, parent)
        self.setFixedWidth(theme.wide(_WIDTH))
        self._url = ""
        self.port_field = self.add_line(translate("serve_dialog", "Port"))
        self.port_field.setText(str(port))
        self.port_field.setValidator(_port_validator(self.port_field))
        self.key_field = self.add_line(translate("serve_dialog", "Key that programs must show (may be empty)"))
        self._said = Label(theme, "", "list", "muted")
        self._said.setWordWrap(True)
        self.column.addWidget(self._said)
        self.copy_button = self.add_button(translate("serve_dialog", "Copy the address"))
        self.close_button = self.add_button(translate("serve_dialog", "Close"))
        self.switch = self.add_button("", primary=True)
        self.finish_layout()
        self.copy_button.clicked.connect(self._copy)
        self.close_button.clicked.connect(self.reject)
        self.switch.clicked.connect(self._press)
        self.port_field.textChanged.connect(self._update)
        self.show_state("", "")

    @property
    def said(self) -> str:
        """What it says of the server."""
        return self._said.text()

    def take_state(self, state: ServerState) -> None:
        """Show what the server came to."""
        self.show_state(state.url, state.error)

    def show_state(self, url: str, error: str) -> None:
        """Show where programs are answered, or why they are not."""
        self._url = url
        said = (
            translate("serve_dialog", "At {url} programs are answered now.").format(url=url)
            if url
            else translated(error)
        )
        self._said.setText(said or translate("serve_dialog", "Nobody is answered now."))
        show_property(self._said, "tone", "warning" if error else "text" if url else "muted")
        self.copy_button.setVisible(bool(url))
        self._update()

    def _update(self) -> None:
        on = bool(self._url)
        self.switch.setText(translate("serve_dialog", "Stop") if on else translate("serve_dialog", "Start"))
        self.switch.setEnabled(on or self.port_field.hasAcceptableInput())
        self.port_field.setEnabled(not on)
        self.key_field.setEnabled(not on)

    def _press(self) -> None:
        self.switch.setEnabled(False)
        if self._url:
            self.stop_requested.emit()
        else:
            self.start_requested.emit(int(self.port_field.text()), self.key_field.text().strip())

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(self._url)


def _port_validator(parent: QObject) -> QIntValidator:
    """Takes digits alone: those of the language in force may be grouped, as in "8,080"."""
    validator, digits = QIntValidator(1, _HIGHEST_PORT, parent), QLocale.c()
    digits.setNumberOptions(QLocale.NumberOption.RejectGroupSeparator)
    validator.setLocale(digits)
    return validator
