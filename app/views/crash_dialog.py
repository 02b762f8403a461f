"""A fault in the program: what happened, whether all is saved, and what to copy into a report."""

from __future__ import annotations

from typing import Final

from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QPlainTextEdit, QPushButton, QWidget

from app.crash import CrashReport
from app.theme import Theme
from app.views.dialogs import SheetDialog

SAVED: Final = "Your conversations were saved first. You can go on, or restart Loquat if something looks wrong."
UNSAVED: Final = "Not everything could be saved. Please copy what you need before you close Loquat."


class CrashDialog(SheetDialog):
    """Shows environment and traceback, and copies both."""

    def __init__(self, theme: Theme, report: CrashReport, parent: QWidget | None = None) -> None:
        super().__init__(theme, report.sentence.rstrip("."), SAVED if report.saved else UNSAVED, parent)
        self.resize(660, 460)
        self._report = report
        text = f"{report.environment}\n\n{report.traceback}"
        self.field: QPlainTextEdit = self.add_text(text, "What happened, for a report", 10)
        self.copy_button: QPushButton = self.add_button("Copy report")
        self.close_button: QPushButton = self.add_button("Go on", primary=True)
        self.copy_button.clicked.connect(self._copy)
        self.close_button.clicked.connect(self.accept)
        self.finish_layout()

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(self._report.text)
        self.copy_button.setText("Copied")
