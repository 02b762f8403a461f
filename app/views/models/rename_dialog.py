"""Asks what a model shall be called."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from app.i18n import translate
from app.theme import Theme
from app.views.dialogs import SheetDialog

LONGEST = 80  # as engine.models.registry has it


class RenameDialog(SheetDialog):
    """One field; an empty one goes back to what the model is called by itself."""

    named = Signal(str)

    def __init__(self, theme: Theme, label: str, parent: QWidget | None = None) -> None:
        title = translate("rename_dialog", "Rename {model}").format(model=label)
        sentence = translate("rename_dialog", "What people read; empty for what it is called by itself.")
        super().__init__(theme, title, sentence, parent)
        self.setMinimumWidth(theme.wide(380))
        self.field = self.add_line(translate("rename_dialog", "Name"))
        self.field.setMaxLength(LONGEST)
        self.field.setText(label)
        self.field.selectAll()
        cancel = self.add_button(translate("rename_dialog", "Cancel"))
        self.rename_button = self.add_button(translate("rename_dialog", "Rename"), primary=True)
        cancel.clicked.connect(self.reject)
        self.rename_button.clicked.connect(self._rename)
        self.finish_layout()
        self.field.setFocus()

    def _rename(self) -> None:
        self.named.emit(" ".join(self.field.text().split()))
        self.accept()
