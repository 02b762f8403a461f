"""Why the program cannot begin: one sentence, and where the file lies that it is about."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QSizePolicy

from app.i18n import translate
from app.theme import Theme, app_icon
from app.views.dialogs import SheetDialog


class RefusalDialog(SheetDialog):
    """Shown in place of the window; when it is closed, the program ends.

    Args:
        file: What the sentence is about; None where it says all.
    """

    def __init__(self, theme: Theme, sentence: str, file: Path | None = None) -> None:
        super().__init__(theme, translate("refusal_dialog", "Loquat cannot begin"), sentence, None)
        self.setWindowIcon(app_icon())
        self.folder_button = self.add_button(translate("refusal_dialog", "Show the folder"))
        self.quit_button = self.add_button(translate("refusal_dialog", "Quit"), primary=True)
        self.folder_button.setVisible(file is not None)
        self.quit_button.clicked.connect(self.accept)
        if file is not None:
            self.file_field = self.add_text(str(file), translate("refusal_dialog", "Where the file is"), 2)
            self.file_field.setFixedHeight(self.file_field.minimumHeight())
            self.file_field.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
            folder = QUrl.fromLocalFile(str(file.parent))
            self.folder_button.clicked.connect(lambda: QDesktopServices.openUrl(folder))
        self.finish_layout()
        self.setFixedWidth(theme.wide(520))
        self.fit_height()
