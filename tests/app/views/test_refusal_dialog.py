from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QObject, QRect, Qt, Slot
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QApplication

from app.settings import Look
from app.theme import Theme
from app.views.controls import Label
from app.views.refusal_dialog import RefusalDialog

LONG = (
    f"Loquat cannot keep its files in /home/somebody/{'a' * 200}/with a rather long name/data: Read-only file system."
)


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


@pytest.mark.parametrize("text_size", [100, 150])
@pytest.mark.parametrize("sentence", ["Loquat is running already.", LONG])
@pytest.mark.parametrize("named", [False, True])
def test_every_word_is_seen_at_any_size(qtbot, theme, text_size, sentence, named):
    larger = Theme(QApplication.instance(), "light", Look(text_size=text_size))
    dialog = RefusalDialog(larger, sentence, Path("/home/somebody/conversations.sqlite3") if named else None)
    qtbot.addWidget(dialog)
    try:
        with qtbot.waitExposed(dialog):
            dialog.show()
        parts = [part for part in dialog.findChildren(Label) if part.isVisible()]
        for part in parts:
            flags = int(Qt.TextFlag.TextWordWrap) if part.wordWrap() else 0
            needed = part.fontMetrics().boundingRect(QRect(0, 0, part.width(), 10_000), flags, part.text())
            assert needed.width() <= part.width() and needed.height() <= part.height()
        parts += [dialog.quit_button, *([dialog.folder_button, dialog.file_field] if named else [])]
        places = [QRect(part.mapTo(dialog, part.rect().topLeft()), part.size()) for part in parts]
        assert all(dialog.rect().contains(place) for place in places)
        assert not any(a.intersects(b) for number, a in enumerate(places) for b in places[:number])
        assert dialog.sentence == sentence
    finally:
        theme.refresh()


def test_it_has_the_programs_icon_and_scrolls_nothing_that_has_room(qtbot, theme):
    dialog = RefusalDialog(theme, "The conversations cannot be read.", Path("/home/somebody") / ("folder/" * 12) / "x")
    qtbot.addWidget(dialog)
    with qtbot.waitExposed(dialog):
        dialog.show()
    assert not dialog.windowIcon().isNull()
    assert dialog.file_field.document().lineCount() == 2
    assert dialog.file_field.verticalScrollBar().maximum() == 0
