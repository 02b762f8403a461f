"""A fault in the program: what happened, whether all is saved, and what to copy into a report."""

from __future__ import annotations

from PySide6.QtCore import QSize
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QPlainTextEdit, QPushButton, QWidget

from app.crash import CrashReport
from app.engine_sentences import translated
from app.i18n import translate
from app.theme import Theme
from app.views.dialogs import SheetDialog, fit


class CrashDialog(SheetDialog):
    """Shows environment and traceback, and copies both."""

    def __init__(self, theme: Theme, report: CrashReport, parent: QWidget | None = None) -> None:
        super().__init__(theme, translated(report.sentence).rstrip(".。"), _saved(report.saved), parent)
        fit(self, QSize(theme.wide(660), theme.wide(460)))
        self._report = report
        text = f"{report.environment}\n\n{report.traceback}"
        self.field: QPlainTextEdit = self.add_text(text, translate("crash_dialog", "What happened, for a report"), 10)
        self.copy_button: QPushButton = self.add_button(translate("crash_dialog", "Copy report"))
        self.close_button: QPushButton = self.add_button(translate("crash_dialog", "Go on"), primary=True)
        self.copy_button.clicked.connect(self._copy)
        self.close_button.clicked.connect(self.accept)
        self.finish_layout()

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(self._report.text)
        self.copy_button.setText(translate("crash_dialog", "Copied"))


def _saved(saved: bool) -> str:
    if saved:
        return translate(
            "crash_dialog",
            "Your chats were saved first. You can go on, or restart Loquat if something looks wrong.",
        )
    return translate(
        "crash_dialog", "Not everything could be saved. Please copy what you need before you close Loquat."
    )
