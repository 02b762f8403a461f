from __future__ import annotations

import pytest
from PySide6.QtCore import QObject, Slot
from PySide6.QtGui import QDesktopServices

from app.views.refusal_dialog import RefusalDialog


class Opened(QObject):
    """Takes what would be opened in the file manager."""

    def __init__(self):
        super().__init__()
        self.files = []

    @Slot("QUrl")
    def take(self, url):
        self.files.append(url.toLocalFile())


@pytest.fixture
def opened(qapp):
    taker = Opened()
    QDesktopServices.setUrlHandler("file", taker, "take")
    yield taker.files
    QDesktopServices.unsetUrlHandler("file")


def test_it_says_where_the_file_is_and_shows_its_folder(qtbot, theme, tmp_path, opened):
    dialog = RefusalDialog(theme, "A newer Loquat wrote it.", tmp_path / "conversations.sqlite3")
    qtbot.addWidget(dialog)
    dialog.show()
    assert dialog.file_field.toPlainText() == str(tmp_path / "conversations.sqlite3")
    dialog.folder_button.click()
    assert opened == [str(tmp_path)]
    assert dialog.isVisible()
    dialog.quit_button.click()
    assert not dialog.isVisible()


def test_without_a_file_there_is_nothing_to_show(qtbot, theme):
    dialog = RefusalDialog(theme, "Loquat is running already.")
    qtbot.addWidget(dialog)
    dialog.show()
    assert not dialog.folder_button.isVisible()
