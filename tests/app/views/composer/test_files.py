"""Files and long texts that go with a question: a real clipboard, real drops."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QMimeData, QPointF, Qt
from PySide6.QtGui import (
    QAccessible,
    QDragEnterEvent,
    QDragLeaveEvent,
    QDropEvent,
    QGuiApplication,
    QImage,
)
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QFileDialog

from app.attachments import LONG_PASTE
from app.live import DraftCost
from app.records import Attachment
from tests.app.views.composer.support import NOTES, files, paste, press, write

# -- files -----------------------------------------------------------------------------------------------------


def test_a_pasted_file_is_attached_and_goes_with_the_question(
    window: Any, composer: Any, qtbot: Any, tmp_path: Path
) -> None:
    (tmp_path / "notes.txt").write_text("Some notes.")
    paste(composer, files(tmp_path / "notes.txt"))
    assert not composer.button.isEnabled()  # it is still being read
    qtbot.waitUntil(lambda: composer.attachments == (NOTES,))
    assert composer.text == ""
    assert window.edits[-1] == ("", (NOTES,))
    write(composer, "What does it say?")
    press(composer, Qt.Key.Key_Return)
    assert window.sent == [("What does it say?", (NOTES,))]


def test_a_dropped_file_is_attached_and_not_moved(composer: Any, qtbot: Any, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("Some notes.")
    data = files(tmp_path / "notes.txt")  # the event does not keep it alive
    event = QDropEvent(
        QPointF(5, 5),
        Qt.DropAction.CopyAction | Qt.DropAction.MoveAction,
        data,
        Qt.MouseButton.LeftButton,
        Qt.KeyboardModifier.ShiftModifier,
    )
    composer.editor.dropEvent(event)
    assert event.dropAction() == Qt.DropAction.CopyAction
    qtbot.waitUntil(lambda: composer.attachments == (NOTES,))


def test_what_a_drop_will_do_is_said_while_it_is_held_over_the_field(composer: Any, tmp_path: Path) -> None:
    data = files(tmp_path / "notes.txt")
    held = (QPointF(5, 5), Qt.DropAction.CopyAction, data, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier)
    composer.editor.dragEnterEvent(QDragEnterEvent(*held))
    assert composer.drop_hint.isVisible()
    assert composer.drop_hint.words == "Drop to attach"
    assert composer.drop_hint.size() == composer.size()
    composer.editor.dragLeaveEvent(QDragLeaveEvent())
    assert not composer.drop_hint.isVisible()
    composer.show_drag("model")
    assert composer.drop_hint.words == "Drop it to use this model"


def test_what_cannot_be_attached_is_said_and_nothing_stays(
    window: Any, composer: Any, qtbot: Any, tmp_path: Path
) -> None:
    (tmp_path / "a.bin").write_bytes(b"\0\1")
    composer.attach([tmp_path / "a.bin"])
    qtbot.waitUntil(lambda: window.refused == ["a.bin is not a text file."])
    assert not composer.files.isVisible()
    picture = QMimeData()
    picture.setImageData(QImage(4, 4, QImage.Format.Format_RGB32))
    paste(composer, picture)
    assert window.refused[1] == "This model reads text only."
    (tmp_path / "notes.txt").write_text("Some notes.")
    composer.attach([tmp_path / "notes.txt"] * 21)
    assert window.refused[2] == "At most 20 files can go with one question."
    qtbot.waitUntil(lambda: len(composer.attachments) == 20)


def test_a_model_is_told_instead(window: Any, composer: Any, qtbot: Any, tmp_path: Path) -> None:
    told: list[Path] = []
    composer.model_dropped.connect(told.append)
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "config.json").write_text("{}")
    composer.attach([tmp_path / "model.gguf", folder])
    qtbot.waitUntil(lambda: told == [tmp_path / "model.gguf", folder])
    assert composer.attachments == ()
    assert window.refused == []


def test_an_adapter_is_told_instead(window: Any, composer: Any, qtbot: Any, tmp_path: Path) -> None:
    told: list[Path] = []
    composer.adapter_dropped.connect(told.append)
    (tmp_path / "adapter_config.json").write_text("{}")
    composer.attach([tmp_path])
    qtbot.waitUntil(lambda: told == [tmp_path])
    assert composer.attachments == ()


def test_a_file_has_the_same_tokens_while_the_question_beside_it_is_written(composer: Any) -> None:
    composer.set_draft("", (Attachment("a.txt", "x" * 600),))
    chip = composer.files.chips[0]
    composer.show_cost(DraftCost(180, 0, 150, 8192, about=True))
    assert chip.details == "600 B · about 150 tokens"
    composer.show_cost(DraftCost(258, 0, 228, 8192, characters=600))
    assert chip.details == "600 B · about 228 tokens"
    composer.set_text("Why is it so?" * 20)
    composer.show_cost(DraftCost(300, 0, 270, 8192, characters=600))  # of the draft as it was
    assert chip.details == "600 B · about 228 tokens"
    composer.show_cost(DraftCost(300, 0, 270, 8192, characters=860))
    assert chip.details == "600 B · about 228 tokens"
    composer.show_cost(None)  # another model, say
    composer.show_cost(DraftCost(300, 0, 860, 8192, characters=860))
    assert chip.details == "600 B · about 600 tokens"


def test_a_chip_says_what_it_costs_and_is_removed_by_mouse_or_key(composer: Any) -> None:
    composer.set_draft("Why?", (Attachment("a.txt", "x" * 2_000), Attachment("b.txt", "y" * 1_996)))
    composer.show_cost(DraftCost(1_100, 100, 1_000, 8_192, 0, 2.0))
    first, second = composer.files.chips
    assert first.details == "2 KB · about 500 tokens · 1.0 s"
    assert first.accessibleName() == "Attachment a.txt, 2 KB · about 500 tokens · 1.0 s. Delete removes it."
    assert first.remove_button.accessibleName() == "Remove a.txt"
    for wanted in (second.remove_button, second):
        QTest.keyClick(QApplication.focusWidget(), Qt.Key.Key_Backtab, Qt.KeyboardModifier.ShiftModifier)
        assert wanted.hasFocus()
    QTest.keyClick(second, Qt.Key.Key_Delete)
    assert [chip.name for chip in composer.files.chips] == ["a.txt"]
    assert first.hasFocus()
    QTest.mouseClick(first.remove_button, Qt.MouseButton.LeftButton)
    assert composer.files.chips == ()
    assert composer.editor.hasFocus()


def test_many_chips_wrap_and_then_scroll(composer: Any) -> None:
    composer.set_draft("", [Attachment(f"a file with a name {n}.txt", "text") for n in range(12)])
    assert composer.files.height() < 130
    lefts = {chip.x() for chip in composer.files.chips}
    assert len(lefts) > 1


def test_attach_asks_for_files(composer: Any, qtbot: Any, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("Some notes.")
    composer.attach_button.click()
    (dialog,) = composer.window().findChildren(QFileDialog)
    dialog.filesSelected.emit([str(tmp_path / "notes.txt")])
    dialog.reject()
    qtbot.waitUntil(lambda: composer.attachments == (NOTES,))
    assert composer.window().focusWidget() is composer.editor  # offscreen, the window itself is not raised again


# -- long pastes -----------------------------------------------------------------------------------------------


def test_pasting_brings_text_only(composer: Any) -> None:
    data = QMimeData()
    data.setHtml("<b>bold</b> <img src='x'>")
    data.setText("plain")
    paste(composer, data)
    assert composer.text == "plain"


def test_a_long_paste_becomes_a_chip_that_undo_takes_back(composer: Any) -> None:
    paste(composer, "word " * (LONG_PASTE // 5))
    assert len(composer.text) == LONG_PASTE
    composer.clear()
    paste(composer, "word " * 2_400)
    (chip,) = composer.files.chips
    assert (chip.name, chip.details) == ("Pasted text", "12 KB")
    assert composer.text == ""
    press(composer, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert composer.files.chips == ()


def test_undo_is_the_texts_once_something_was_written(composer: Any) -> None:
    paste(composer, "word " * 2_400)
    write(composer, "x")
    press(composer, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert composer.text == ""
    assert len(composer.files.chips) == 1


def test_a_long_paste_can_be_text(composer: Any) -> None:
    write(composer, "Look: ")
    paste(composer, "word " * 2_400)
    (chip,) = composer.files.chips
    QTest.mouseClick(chip.text_button, Qt.MouseButton.LeftButton)
    assert composer.files.chips == ()
    assert composer.text == "Look: " + "word " * 2_400
    assert composer.editor.hasFocus()


def test_ctrl_shift_v_pastes_text_at_once_if_the_field_can_hold_it(composer: Any) -> None:
    held = (Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier)
    QGuiApplication.clipboard().setText("word " * 2_400)
    press(composer, Qt.Key.Key_V, *held)
    assert composer.text == "word " * 2_400
    assert composer.files.chips == ()
    composer.clear()
    QGuiApplication.clipboard().setText("word " * 50_000)
    press(composer, Qt.Key.Key_V, *held)
    assert composer.text == ""
    assert len(composer.files.chips) == 1


def test_what_was_attached_is_told_to_a_screen_reader(
    composer: Any, qtbot: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[str] = []
    monkeypatch.setattr(QAccessible, "updateAccessibility", lambda event: told.append(event.message()))
    (tmp_path / "notes.txt").write_text("Some notes.")
    composer.attach([tmp_path / "notes.txt"])
    qtbot.waitUntil(lambda: told == ["Attached: notes.txt, 11 B"])


@pytest.mark.parametrize("piece", ["a line of words\n", "words ", "x"])
def test_five_megabytes_are_pasted_without_a_pause(composer: Any, piece: str) -> None:
    text = piece * (5_000_000 // len(piece))
    QGuiApplication.clipboard().setText(text)
    began = time.thread_time()
    press(composer, Qt.Key.Key_V, Qt.KeyboardModifier.ControlModifier)
    QApplication.processEvents()
    pasted = time.thread_time() - began
    assert [attachment.text for attachment in composer.attachments] == [text]
    assert not composer.files.chips[0].text_button.isVisible()  # in the field it could not be typed in any more
    began = time.thread_time()
    write(composer, "Why?")
    QApplication.processEvents()
    typed = time.thread_time() - began
    assert pasted < 0.5
    assert typed < 0.2


@pytest.mark.parametrize("text", ["word " * 20_000, "x" * 10_000, "a line\n" * 28_000])
def test_what_may_be_pasted_as_text_leaves_the_field_quick(composer: Any, text: str) -> None:
    paste(composer, text)
    began = time.thread_time()
    composer.files.chips[0].text_button.click()
    QApplication.processEvents()
    assert time.thread_time() - began < 0.5
    began = time.thread_time()
    write(composer, "four")
    QApplication.processEvents()
    assert time.thread_time() - began < 0.8  # 0.12 s on a quiet machine


def test_what_is_quoted_and_too_long_for_the_field_is_attached(composer: Any) -> None:
    composer.editor.quote("short")
    composer.editor.quote("x" * 1_000_000)
    assert composer.text == "> short\n\n"
    assert [len(file.text) for file in composer.attachments] == [1_000_000]
    assert composer.editor.hasFocus()
