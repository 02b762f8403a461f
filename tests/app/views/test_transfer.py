"""The dialogs of exporting and importing: choices, progress, cancelling, results in words."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QMimeData, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QFileDialog, QLabel

from app.theme import Theme
from app.transfer.result import Skipped, TransferResult
from app.transfer.words import export_sentence, import_sentence
from app.views.export_dialog import ExportDialog
from app.views.import_dialog import ImportDialog

FILE = Path("/home/ada/chats.json")


@pytest.fixture
def export(qtbot: Any, theme: Theme, tmp_path: Path) -> ExportDialog:
    made = ExportDialog(theme, 'What: is "this"? / an example', 12, folder=tmp_path)
    qtbot.addWidget(made)
    made.show()
    return made


@pytest.fixture
def importing(qtbot: Any, theme: Theme) -> ImportDialog:
    now = [100.0]
    made = ImportDialog(theme, clock=lambda: now[0])
    made.now = now  # type: ignore[attr-defined]
    qtbot.addWidget(made)
    made.show()
    return made


def system_dialog(dialog: Any) -> QFileDialog:
    found = dialog.findChild(QFileDialog)
    assert isinstance(found, QFileDialog)
    return found


def test_one_chat_becomes_one_file_with_a_name_that_every_system_takes(
    export: ExportDialog, qtbot: Any, tmp_path: Path
) -> None:
    export.action_button.click()
    asked = system_dialog(export)
    assert Path(asked.selectedFiles()[0]) == tmp_path / "What is this an example.md"
    with qtbot.waitSignal(export.export_requested) as told:
        asked.fileSelected.emit(str(tmp_path / "x.md"))
    asked.close()
    assert told.args == ["chat", "markdown", str(tmp_path / "x.md")]
    assert export.working


def test_all_chats_as_json_is_one_file_and_as_markdown_a_folder(export: ExportDialog, tmp_path: Path) -> None:
    export.all_card.click()
    export.action_button.click()
    asked = system_dialog(export)
    assert asked.fileMode() == QFileDialog.FileMode.Directory
    asked.close()
    QApplication.sendPostedEvents(None, 0)
    export.json_card.click()
    assert (export.scope, export.format) == ("all", "json")
    export.action_button.click()
    assert Path(system_dialog(export).selectedFiles()[0]).suffix == ".json"
    system_dialog(export).close()


def test_choices_exclude_one_another_row_by_row_also_by_key(export: ExportDialog) -> None:
    export.json_card.click()
    assert (export.chat_card.isChecked(), export.markdown_card.isChecked()) == (True, False)
    export.chat_card.setFocus()
    QTest.keyClick(export.chat_card, Qt.Key.Key_Right)
    assert (export.scope, export.format) == ("all", "json")


def test_what_is_not_there_cannot_be_exported(qtbot: Any, theme: Theme) -> None:
    dialog = ExportDialog(theme, None, 0)
    qtbot.addWidget(dialog)
    assert not dialog.action_button.isEnabled()
    assert not dialog.chat_card.isEnabled()


def test_an_export_tells_how_far_it_is_and_where_the_file_went(export: ExportDialog, qtbot: Any) -> None:
    export.show_progress(3, 12)
    assert export.sentence_shown == "3 of 12 chats are written."
    assert export.share == pytest.approx(0.25)
    assert export.choice.isHidden()
    export.show_result(TransferResult(FILE, 12))
    assert export.sentence_shown == export_sentence(TransferResult(FILE, 12))
    with qtbot.waitSignal(export.reveal_requested) as told:
        export.reveal_button.click()
    assert told.args == [str(FILE)]


def test_a_failed_export_can_be_tried_again(export: ExportDialog) -> None:
    export.show_progress(3, 12)
    export.show_result(TransferResult(FILE, problem="The disk is full."))
    assert export.sentence_shown == "The disk is full."
    assert export.action_button.isVisible()
    assert export.choice.isVisible()


def test_closing_while_it_works_cancels(export: ExportDialog, qtbot: Any) -> None:
    with qtbot.assertNotEmitted(export.cancel_requested, wait=10):
        QTest.keyClick(export, Qt.Key.Key_Escape)
    export.show()
    export.show_progress(3, 12)
    with qtbot.waitSignal(export.cancel_requested):
        QTest.keyClick(export, Qt.Key.Key_Escape)
    assert export.isHidden()


def test_a_file_is_chosen_and_read(importing: Any, qtbot: Any, tmp_path: Path) -> None:
    file = tmp_path / "conversations.json"
    file.write_bytes(b"x" * 5000)
    assert not importing.action_button.isEnabled()
    importing.file_card.click()
    system_dialog(importing).fileSelected.emit(str(file))
    system_dialog(importing).close()
    assert importing.file_card.accessibleName() == "conversations.json"
    assert importing.file_card.accessibleDescription() == "5 KB"
    with qtbot.waitSignal(importing.import_requested) as told:
        importing.action_button.click()
    assert told.args == [str(file)]
    importing.show_progress(0, 200_000_000)
    importing.now[0] += 2.0
    importing.show_progress(100_000_000, 200_000_000)
    assert importing.sentence_shown == "Reads conversations.json: 100 MB of 200 MB · 50 MB/s · 2 s left"
    assert importing.share == pytest.approx(0.5)
    with qtbot.waitSignal(importing.cancel_requested):
        importing.close_button.click()


def test_the_result_names_what_was_left_out_and_why(importing: ImportDialog) -> None:
    skipped = (Skipped("Recipes", "It holds no messages."), Skipped("Tax", "It is cut short."))
    result = TransferResult(FILE, 809, 12, skipped, 5)
    importing.show_result(result)
    assert importing.sentence_shown == import_sentence(result)
    assert "809" in importing.sentence_shown
    assert importing.left_out == "Recipes: It holds no messages.\nTax: It is cut short.\nAnd others: 3"
    importing.show_result(TransferResult(FILE, 1))
    assert importing.left_out == ""
    importing.show_result(TransferResult(FILE, cancelled=True))
    assert importing.sentence_shown == "The import was cancelled. Nothing was added."


def test_after_a_wrong_file_another_one_can_be_chosen(importing: ImportDialog) -> None:
    importing.choose(str(FILE))
    importing.show_progress(1, 2)
    importing.show_result(TransferResult(FILE, problem="This is no export that Loquat knows."))
    assert importing.sentence_shown == "This is no export that Loquat knows."
    assert importing.file_card.isVisible()
    assert not importing.action_button.isEnabled()
    importing.choose(str(FILE))
    assert importing.sentence_shown == ""
    assert importing.action_button.isEnabled()


def test_a_file_can_be_dropped_but_not_while_another_is_read(importing: ImportDialog) -> None:
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile("/home/ada/a.json")])
    carried = (Qt.DropAction.CopyAction, data, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier)
    importing.show_progress(1, 2)
    QApplication.sendEvent(importing, QDragEnterEvent(QPointF(20, 20), *carried))
    QApplication.sendEvent(importing, QDropEvent(QPointF(20, 20), *carried))
    assert importing.path == ""
    importing.show_result(TransferResult(FILE, problem="It is damaged."))
    QApplication.sendEvent(importing, QDragEnterEvent(QPointF(20, 20), *carried))
    QApplication.sendEvent(importing, QDropEvent(QPointF(20, 20), *carried))
    assert importing.path == "/home/ada/a.json"


def test_the_words_of_two_cards_stand_level(qtbot: Any, theme: Theme) -> None:
    dialog = ExportDialog(theme, "A title that is long enough for two lines and more than one card is wide", 12)
    qtbot.addWidget(dialog)
    dialog.show()
    pairs = zip(dialog.chat_card.findChildren(QLabel), dialog.all_card.findChildren(QLabel), strict=True)
    assert all(one.geometry().top() == other.geometry().top() for one, other in pairs)
    assert dialog.chat_card._words.height() > dialog.all_card._words.fontMetrics().height()
