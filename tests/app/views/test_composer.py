"""Writing a question: real keys, a real input method's events, a real clipboard."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import (
    QAccessible,
    QDragEnterEvent,
    QDragLeaveEvent,
    QDropEvent,
    QGuiApplication,
    QImage,
    QInputMethodEvent,
    QKeySequence,
    QShortcut,
)
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QFileDialog, QVBoxLayout, QWidget

from app.attachments import LONG_PASTE
from app.live import DraftCost
from app.palette import PaletteEntry
from app.records import Attachment
from app.theme import Theme
from app.views.composer import Composer
from app.views.cost_line import cost_saying

NOTES = Attachment("notes.txt", "Some notes.")
COMMANDS = (
    PaletteEntry("new", "New chat", "Ctrl+N"),
    PaletteEntry("title", "Name this chat", argument="title"),
    PaletteEntry("settings", "Settings"),
)


class Window(QWidget):
    """A window with a composer at its bottom, and a record of what it told."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.composer = Composer(theme, self)
        column = QVBoxLayout(self)
        column.addStretch(1)
        column.addWidget(self.composer)
        self.resize(720, 600)
        self.sent: list[tuple[str, tuple[Attachment, ...]]] = []
        self.edits: list[tuple[str, tuple[Attachment, ...]]] = []
        self.refused: list[str] = []
        self.composer.send_requested.connect(lambda text, files: self.sent.append((text, files)))
        self.composer.edited.connect(lambda text, files: self.edits.append((text, files)))
        self.composer.refused.connect(self.refused.append)


@pytest.fixture
def window(qtbot: Any, theme: Theme) -> Window:
    made = Window(theme)
    qtbot.addWidget(made)
    with qtbot.waitActive(made):
        made.show()
    made.composer.focus_editor()
    return made


@pytest.fixture
def composer(window: Window) -> Composer:
    return window.composer


def press(composer: Composer, key: Qt.Key, *modifiers: Qt.KeyboardModifier) -> None:
    held = Qt.KeyboardModifier.NoModifier
    for modifier in modifiers:
        held |= modifier
    QTest.keyClick(composer.editor, key, held)


def write(composer: Composer, text: str) -> None:
    QTest.keyClicks(composer.editor, text)


def compose(composer: Composer, preedit: str, commit: str = "") -> None:
    event = QInputMethodEvent(preedit, [])
    event.setCommitString(commit)
    QApplication.sendEvent(composer.editor, event)


def paste(composer: Composer, data: str | QMimeData) -> None:
    clipboard = QGuiApplication.clipboard()
    clipboard.setText(data) if isinstance(data, str) else clipboard.setMimeData(data)
    press(composer, Qt.Key.Key_V, Qt.KeyboardModifier.ControlModifier)


def files(*paths: Path) -> QMimeData:
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path)) for path in paths])
    return data


# -- writing and sending ---------------------------------------------------------------------------------------


def test_enter_sends_what_was_typed_and_keeps_it_until_it_is_taken(window: Any, composer: Any) -> None:
    write(composer, "Why?")
    press(composer, Qt.Key.Key_Return)
    assert window.sent == [("Why?", ())]
    assert composer.text == "Why?"
    composer.clear()
    assert composer.text == ""
    assert window.edits[-1] == ("", ())
    assert composer.editor.hasFocus()


@pytest.mark.parametrize("key", [Qt.Key.Key_Return, Qt.Key.Key_Enter])
def test_both_enter_keys_send_and_with_shift_break_the_line(window: Any, composer: Any, key: Qt.Key) -> None:
    write(composer, "one")
    press(composer, key, Qt.KeyboardModifier.ShiftModifier)
    write(composer, "two")
    assert window.sent == []
    assert composer.text == "one\ntwo"
    press(composer, key)
    assert window.sent == [("one\ntwo", ())]


def test_enter_while_an_input_method_composes_sends_nothing(window: Any, composer: Any) -> None:
    compose(composer, "ni hao")
    assert composer.editor.composing
    press(composer, Qt.Key.Key_Return)
    assert window.sent == []
    assert composer.text == ""
    compose(composer, "", "你好")
    assert composer.text == "你好"
    assert window.sent == []
    press(composer, Qt.Key.Key_Return)
    assert window.sent == [("你好", ())]


def test_keys_belong_to_the_input_method_while_it_composes(composer: Any) -> None:
    composer.set_history(["earlier"])
    composer.set_commands(COMMANDS)
    write(composer, "/")
    assert composer.slash_menu.isVisible()
    compose(composer, "xin")
    marked = composer.slash_menu.choices.current
    press(composer, Qt.Key.Key_Down)
    assert composer.slash_menu.choices.current == marked
    compose(composer, "", "")
    composer.editor.clear()
    compose(composer, "ni")
    press(composer, Qt.Key.Key_Up)
    assert composer.text == ""


def test_escape_while_an_input_method_composes_stops_no_answer(window: Any, composer: Any) -> None:
    stops: list[bool] = []
    QShortcut(QKeySequence("Escape"), window).activated.connect(lambda: stops.append(True))
    compose(composer, "ni")
    press(composer, Qt.Key.Key_Escape)
    assert stops == []
    compose(composer, "")
    press(composer, Qt.Key.Key_Escape)
    assert stops == [True]


def test_an_empty_question_is_not_sent(window: Any, composer: Any) -> None:
    write(composer, "   ")
    press(composer, Qt.Key.Key_Return)
    assert window.sent == []
    assert not composer.button.isEnabled()


def test_it_grows_with_its_text_up_to_ten_lines(composer: Any) -> None:
    line = composer.editor.fontMetrics().lineSpacing()
    heights = []
    for lines in (1, 3, 10, 30):
        composer.set_text("\n".join("x" * lines))
        heights.append(composer.editor.height())
    assert heights[1] - heights[0] == 2 * line
    assert heights[2] - heights[1] == 7 * line
    assert heights[3] == heights[2]
    composer.clear()
    assert composer.editor.height() == heights[0]


@pytest.mark.parametrize("line", ["word", "推理为什么慢", "🙂", "שלום"])
def test_no_line_is_cut_whatever_its_letters(composer: Any, line: str) -> None:
    composer.set_text("\n".join([line] * 4))
    QApplication.processEvents()
    assert composer.editor.verticalScrollBar().maximum() == 0
    composer.clear()
    composer.editor.insertPlainText(line)
    line_height = composer.editor.document().begin().layout().lineAt(0).height()
    assert composer.editor.height() >= line_height + 4


def test_a_line_that_wraps_counts_as_two(composer: Any) -> None:
    one = composer.editor.height()
    composer.set_text("many words " * 15)
    assert composer.editor.height() > one


def test_page_keys_are_for_the_conversation(composer: Any, qtbot: Any) -> None:
    with qtbot.waitSignal(composer.paged) as told:
        press(composer, Qt.Key.Key_PageUp)
    assert told.args == [-1]


def test_a_draft_is_shown_silently_and_whole(window: Any, composer: Any) -> None:
    composer.set_draft("half a question", (NOTES,))
    assert (composer.text, composer.attachments) == ("half a question", (NOTES,))
    assert window.edits == []
    write(composer, "?")
    assert window.edits == [("half a question?", (NOTES,))]
    composer.set_draft("")
    assert (composer.text, composer.attachments) == ("", ())


# -- while an answer is being written --------------------------------------------------------------------------


def test_send_turns_into_stop_while_nothing_is_written(composer: Any, qtbot: Any) -> None:
    composer.set_busy(True)
    assert composer.button.text() == "Stop"
    assert not composer.stop_button.isVisible()
    assert composer.cost_line.text == "Esc stops the answer"
    with qtbot.waitSignal(composer.stop_requested):
        QTest.mouseClick(composer.button, Qt.MouseButton.LeftButton)
    assert composer.editor.hasFocus()
    composer.set_busy(False)
    assert composer.button.text() == "Send"
    assert not composer.button.isEnabled()


def test_a_question_is_queued_while_an_answer_is_written_and_stop_stays_in_reach(
    window: Any, composer: Any, qtbot: Any
) -> None:
    composer.set_busy(True)
    write(composer, "And then?")
    assert composer.button.text() == "Queue"
    assert composer.cost_line.text == "Enter sends it after this answer"
    press(composer, Qt.Key.Key_Return)
    QTest.mouseClick(composer.button, Qt.MouseButton.LeftButton)
    assert window.sent == [("And then?", ())] * 2
    with qtbot.waitSignal(composer.stop_requested):
        QTest.mouseClick(composer.stop_button, Qt.MouseButton.LeftButton)
    assert composer.editor.hasFocus()


def test_the_queued_question_is_shown_and_taken_back(composer: Any, qtbot: Any) -> None:
    composer.show_queued("And\nthen?")
    assert composer.queued_line.isVisible()
    assert composer.queued_line.text == "Sent after this answer: And then?"
    with qtbot.waitSignal(composer.queued_taken_back):
        QTest.mouseClick(composer.queued_line.edit_button, Qt.MouseButton.LeftButton)
    assert composer.editor.hasFocus()
    composer.show_queued("")
    assert not composer.queued_line.isVisible()


# -- what sending costs ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cost", "text", "warning"),
    [
        (DraftCost(705, 693, 12, 8192, 0, 0.09), "Sending reads 12 new tokens, about 0.1 s · 7,487 of 8,192 left", 0),
        (DraftCost(705, 704, 1, 8192), "Sending reads 1 new token · 7,487 of 8,192 left", 0),
        (DraftCost(5705, 704, 1, 8192, 0, 42.3), "Sending reads 5,001 new tokens, about 42 s · 2,487 of 8,192 left", 0),
        (
            DraftCost(8000, 0, 100, 8192, 2, 3.0),
            "2 earlier messages will not be read · Sending reads 8,000 new tokens, about 3.0 s",
            1,
        ),
        (DraftCost(9000, 0, 8990, 8192), "Too long: 9,000 tokens, and the context holds 8,192", 1),
        (
            DraftCost(9000, 0, 8990, 8192, about=True),
            "Too long: about 9,000 tokens, and the context holds 8,192",
            1,
        ),
        (
            DraftCost(50_000, 0, 50_000, 131_072, about=True),
            "Sending reads about 50,000 new tokens · about 81,072 of 131,072 left",
            0,
        ),
    ],
)  # fmt: skip
def test_the_cost_is_said_in_words(cost: DraftCost, text: str, warning: int) -> None:
    saying = cost_saying(cost)
    assert (saying.wordings[0], saying.warning) == (text, bool(warning))


def test_the_cost_stands_below_the_field_as_long_as_there_is_something_to_send(composer: Any) -> None:
    write(composer, "Why?")
    composer.show_cost(DraftCost(705, 693, 12, 8192, 0, 0.09))
    assert composer.cost_line.text.startswith("Sending reads 12 new tokens, about 0.1 s")
    assert composer.cost_line.accessibleName() == composer.cost_line.text
    composer.set_busy(True)
    assert composer.cost_line.text.startswith("Sending reads 12 new tokens")
    composer.set_busy(False)
    composer.editor.clear()
    assert composer.cost_line.text == "Enter sends, Shift+Enter breaks the line"


def test_a_narrow_line_says_less(composer: Any) -> None:
    composer.set_text("Why?")
    composer.show_cost(DraftCost(705, 693, 12, 8192, 0, 0.09))
    line = composer.cost_line
    said = []
    for width in (600, 280, 80):
        line.resize(width, line.height())
        said.append(line.shown)
    assert said == [line.text, "Sending reads 12 new tokens, about 0.1 s", "12 new"]


def test_the_assistant_is_named_and_asked_for(composer: Any, qtbot: Any) -> None:
    assert composer.assistant_button.text() == "Assistant: Plain"
    composer.show_assistant("Translator")
    assert composer.assistant_button.text() == "Assistant: Translator"
    composer.window().resize(400, 500)
    assert composer.assistant_button.text() == "Translator"
    composer.show_assistant("An assistant with a long name")
    assert composer.assistant_button.text().endswith("…")
    assert composer.assistant_button.accessibleName() == "Choose the assistant, now An assistant with a long name"
    with qtbot.waitSignal(composer.assistant_menu_requested):
        QTest.mouseClick(composer.assistant_button, Qt.MouseButton.LeftButton)


# -- earlier questions -----------------------------------------------------------------------------------------


def test_up_calls_earlier_questions_back_and_down_the_draft(window: Any, composer: Any) -> None:
    composer.set_history(["one", "two"])
    composer.set_draft("a draft")
    texts = []
    for key in (Qt.Key.Key_Up, Qt.Key.Key_Up, Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_Down, Qt.Key.Key_Down):
        press(composer, key)
        texts.append(composer.text)
    assert texts == ["two", "one", "one", "two", "a draft", "a draft"]
    assert window.edits[0] == ("two", ())


def test_what_was_written_is_never_replaced(composer: Any) -> None:
    composer.set_history(["one"])
    write(composer, "new")
    press(composer, Qt.Key.Key_Up)
    assert composer.text == "new"
    composer.clear()
    press(composer, Qt.Key.Key_Up)
    write(composer, "!")
    press(composer, Qt.Key.Key_Down)
    assert composer.text == "one!"


def test_in_a_long_question_the_arrows_first_go_through_its_lines(composer: Any) -> None:
    composer.set_history(["older", "wraps " * 40 + "\nlast line"])
    press(composer, Qt.Key.Key_Up)
    presses = 0
    while composer.text != "older":
        press(composer, Qt.Key.Key_Up)
        presses += 1
    assert presses > 3


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


# -- commands --------------------------------------------------------------------------------------------------


@pytest.fixture
def commands(composer: Composer) -> list[tuple[str, str]]:
    composer.set_commands(COMMANDS)
    told: list[tuple[str, str]] = []
    composer.command_chosen.connect(lambda command, argument: told.append((command, argument)))
    return told


def offered(composer: Composer) -> list[str]:
    return [row.id for row in composer.slash_menu.choices.rows] if composer.slash_menu.isVisible() else []


def test_a_slash_opens_the_menu_above_the_field_and_typing_narrows_it(composer: Any, commands: Any) -> None:
    write(composer, "/")
    assert offered(composer) == ["new", "title", "settings"]
    menu, top = composer.slash_menu, composer.mapTo(composer.window(), QPoint(0, 0)).y()
    assert menu.geometry().bottom() < top
    assert composer.editor.hasFocus()
    write(composer, "se")
    assert offered(composer) == ["settings"]
    press(composer, Qt.Key.Key_Backspace)
    press(composer, Qt.Key.Key_Backspace)
    press(composer, Qt.Key.Key_Backspace)
    assert offered(composer) == []


def test_enter_runs_the_marked_command_and_sends_nothing(window: Any, composer: Any, commands: Any) -> None:
    write(composer, "/")
    press(composer, Qt.Key.Key_Down)
    press(composer, Qt.Key.Key_Down)
    press(composer, Qt.Key.Key_Return)
    assert commands == [("settings", "")]
    assert composer.text == ""
    assert window.sent == []
    assert offered(composer) == []
    assert composer.editor.hasFocus()


def test_an_argument_is_completed_and_handed_over(window: Any, composer: Any, commands: Any) -> None:
    write(composer, "/ti")
    press(composer, Qt.Key.Key_Tab)
    assert composer.text == "/title "
    assert composer.editor.hasFocus()
    assert offered(composer) == ["title"]
    press(composer, Qt.Key.Key_Return)  # not without its argument
    assert commands == []
    write(composer, "My new title")
    press(composer, Qt.Key.Key_Return)
    assert commands == [("title", "My new title")]
    assert window.sent == []


def test_the_mouse_chooses_too(composer: Any, commands: Any) -> None:
    write(composer, "/")
    choices = composer.slash_menu.choices
    row = choices.visualRect(choices.model().index(0, 0)).center()
    QTest.mouseClick(choices.viewport(), Qt.MouseButton.LeftButton, pos=row)
    assert commands == [("new", "")]


@pytest.mark.parametrize("text", ["//new", "/usr/bin is full", "a /new", "/new is a word", "/2 of it"])
def test_what_is_no_command_is_sent_as_it_is(window: Any, composer: Any, commands: Any, text: str) -> None:
    write(composer, text)
    assert offered(composer) == []
    press(composer, Qt.Key.Key_Return)
    assert window.sent == [(text, ())]
    assert commands == []


@pytest.mark.parametrize("text", ["/nothing", "/newest of all"])
def test_what_looks_like_a_command_and_is_none_stays_until_it_is_sent_as_it_is(
    window: Any, composer: Any, commands: Any, qtbot: Any, text: str
) -> None:
    write(composer, text)
    with qtbot.waitSignal(composer.command_unknown, timeout=500) as told:
        press(composer, Qt.Key.Key_Return)
    assert told.args == [text.split(maxsplit=1)[0][1:]]
    assert (composer.text, window.sent, commands) == (text, [], [])
    composer.send_as_it_is()
    assert window.sent == [(text, ())]


def test_escape_closes_the_menu_before_it_stops_an_answer(window: Any, composer: Any, commands: Any) -> None:
    stops: list[bool] = []
    QShortcut(QKeySequence("Escape"), window).activated.connect(lambda: stops.append(True))
    write(composer, "/ne")
    press(composer, Qt.Key.Key_Escape)
    assert offered(composer) == []
    assert stops == []
    write(composer, "w")
    assert offered(composer) == []
    press(composer, Qt.Key.Key_Return)
    assert window.sent == [("/new", ())]
    press(composer, Qt.Key.Key_Escape)
    assert stops == [True]
    composer.clear()
    write(composer, "/")
    assert len(offered(composer)) == 3


def test_the_menu_follows_the_window(composer: Any, commands: Any) -> None:
    write(composer, "/")
    composer.window().resize(720, 450)
    QApplication.processEvents()
    top = composer.mapTo(composer.window(), QPoint(0, 0)).y()
    assert 0 <= composer.slash_menu.geometry().bottom() < top
    assert top - composer.slash_menu.geometry().bottom() < 20


def test_the_button_says_what_it_does(composer: Any) -> None:
    assert composer.button.accessibleName() == "Send the question (Enter)"
    assert composer.editor.accessibleName() == "Your question"
    composer.set_busy(True)
    assert composer.button.accessibleName() == "Stop the answer (Esc)"
    write(composer, "x")
    assert composer.button.accessibleName() == "Send the question after this answer (Enter)"
    assert composer.stop_button.accessibleName() == "Stop the answer (Esc)"
