"""Asks for the name of a new folder."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from app.i18n import translate
from app.theme import Theme
from app.views.controls import make_line
from app.views.dialogs import SheetDialog


class FolderDialog(SheetDialog):
    """One field; the name goes out once there is one."""

    named = Signal(str)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        sentence = translate("folder_dialog", "Chats can be dragged onto it, or moved with their menu.")
        super().__init__(theme, translate("folder_dialog", "New folder"), sentence, parent)
        self.setMinimumWidth(360)
        self.field = make_line(theme, translate("folder_dialog", "Name of the folder"), self)
        self.field.setMaxLength(80)
        self.field.setPlaceholderText(translate("folder_dialog", "Name"))
        self.column.addSpacing(6)
        self.column.addWidget(self.field)
        cancel = self.add_button(translate("folder_dialog", "Cancel"))
        self.create_button = self.add_button(translate("folder_dialog", "Create"), primary=True)
        self.create_button.setEnabled(False)
        self.field.textChanged.connect(lambda text: self.create_button.setEnabled(bool(text.strip())))
        cancel.clicked.connect(self.reject)
        self.create_button.clicked.connect(self._create)
        self.finish_layout()
        self.field.setFocus()

    def _create(self) -> None:
        self.named.emit(" ".join(self.field.text().split()))
        self.accept()
