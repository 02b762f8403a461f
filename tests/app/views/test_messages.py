"""What can be done with a message, what was thought before it, and messages of unusual size."""

from __future__ import annotations

import dataclasses
import time
from typing import Any

import pytest
from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from app.draft import Draft
from app.live import DraftCost, LiveTurn
from app.records import Attachment
from app.theme import Theme
from app.views.chat_view import ChatView
from app.views.message_view import BUBBLE_MAX
from app.views.sent_files import SentFiles
from tests.app.views.threads import READY, STATS, answer, begin_answer, question


def click(button: Any) -> None:
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)


def test_every_action_tells_which_message_it_is_for(chat: ChatView, qtbot: Any) -> None:
    cut = answer("An answer", status="length")
    chat.show_thread([question("A question"), cut], LiveTurn())
    actions = chat.message_views()[1].action_row
    for signal, button in (
        (chat.regenerate_requested, actions.again),
        (chat.continue_requested, actions.go_on),
        (chat.fork_requested, actions.fork),
    ):
        with qtbot.waitSignal(signal, timeout=500) as told:
            click(button)
        assert told.args == [cut.id]
    menu = {action.text(): action for action in actions.menu().actions()}
    with qtbot.waitSignal(chat.delete_requested, timeout=500) as told:
        menu["Delete from here on"].trigger()
    assert told.args == [cut.id]
    with qtbot.waitSignal(chat.quote_requested, timeout=500) as told:
        menu["Quote in the question"].trigger()
    assert told.args == ["An answer"]


def test_a_question_can_be_forked_and_deleted_too(chat: ChatView, qtbot: Any) -> None:
    asked = question("A question")
    chat.show_thread([asked, answer("An answer")], LiveTurn())
    menu = {action.text(): action for action in chat.message_views()[0].action_row.menu().actions()}
    for signal, name in ((chat.fork_requested, "Fork into a new chat"), (chat.delete_requested, "Delete from here on")):
        with qtbot.waitSignal(signal, timeout=500) as told:
            menu[name].trigger()
        assert told.args == [asked.id]


@pytest.mark.parametrize("width", [620, 640])
def test_the_figures_of_a_stopped_answer_stand_there_and_its_row_leaves_out_what_the_menu_has(
    chat: ChatView, width: int
) -> None:
    stats = dataclasses.replace(STATS, cached_tokens=1432, prefill_tokens=31)
    stopped = answer("Words", status="cancelled", stats=stats)
    chat.show_thread([question(), stopped], LiveTurn())
    chat.resize(width, 600)
    view = chat.message_views()[1]
    row = view.action_row
    assert view.footer.width() >= view.footer.sizeHint().width()
    assert row.geometry().right() < view.width()
    assert row.x() == view.footer.width() + 8
    assert not row.fork.isVisible()
    assert {"Fork into a new chat", "Copy as Markdown"} <= {action.text() for action in row.menu().actions()}
    chat.resize(900, 600)
    chat.finish_message(dataclasses.replace(stopped, status="complete"))
    assert row.fork.isVisible() and row.copy.isVisible()


@pytest.mark.parametrize("name", ["Pasted text", "notes.txt", "Anna's ideas.md", "illustration-1.py"])
def test_the_name_of_a_file_is_not_cut_where_a_bubble_is_as_wide_as_it_likes(
    theme: Theme, qtbot: Any, name: str
) -> None:
    files = SentFiles(theme, None)
    qtbot.addWidget(files)
    files.show_files((Attachment(name, "x" * 10_000),))
    drawn = []
    for room in (0, 300):
        files.resize(files.natural_width() + room, files.height_for(0))
        drawn.append(files.grab(QRect(10, 3, files.natural_width() - 70, 24)).toImage())
    assert drawn[0] == drawn[1]


def test_what_is_selected_is_quoted(chat: ChatView, qtbot: Any) -> None:
    chat.show_thread([question(), answer("One word here.")], LiveTurn())
    view = chat.message_views()[1]
    view.body.selection.between((0, 4), (0, 8))
    with qtbot.waitSignal(chat.quote_requested, timeout=500) as told:
        view.body.context_menu().actions()[1].trigger()
    assert told.args == ["word"]


def test_a_thought_is_quoted_too(chat: ChatView, qtbot: Any) -> None:
    chat.show_thread([question(), answer("<think>One word here.</think>Yes.")], LiveTurn())
    view = chat.message_views()[1]
    view.thinking.button.click()
    view.thinking.body.selection.between((0, 4), (0, 8))
    with qtbot.waitSignal(chat.quote_requested, timeout=500) as told:
        view.thinking.body.context_menu().actions()[1].trigger()
    assert told.args == ["word"]


def test_links_are_reached_without_a_mouse(chat: ChatView, qtbot: Any) -> None:
    text = "[One](https://a.example/?x=1&y=2), [two](https://a.example/?x=1&y=2)\n\n| <https://b.example> |\n|--|"
    chat.show_thread([question("https://q.example"), answer(text), answer("No link.")], LiveTurn())
    asked, linked, plain = (view.action_row.menu() for view in chat.message_views())
    assert "Open a link" not in [action.text() for menu in (asked, plain) for action in menu.actions()]
    (links,) = (action.menu() for action in linked.actions() if action.text() == "Open a link")
    assert [action.text() for action in links.actions()] == ["https://a.example/?x=1&&y=2", "https://b.example"]
    with qtbot.waitSignal(chat.link_activated, timeout=500) as told:
        links.actions()[0].trigger()
    assert told.args == ["https://a.example/?x=1&y=2"]


def test_an_answer_is_copied_as_markdown_and_as_plain_text(chat: ChatView) -> None:
    chat.show_thread([question(), answer("<think>hm</think>**Bold**\n\n- item")], LiveTurn())
    menu = {action.text(): action for action in chat.message_views()[1].action_row.menu().actions()}
    menu["Copy as Markdown"].trigger()
    assert QGuiApplication.clipboard().text() == "**Bold**\n\n- item"
    menu["Copy as plain text"].trigger()
    assert QGuiApplication.clipboard().text() == "Bold\n\n• item"


@pytest.mark.parametrize(
    ("status", "offered"), [("complete", False), ("length", True), ("cancelled", True), ("partial", True)]
)
def test_only_an_answer_that_was_cut_off_can_be_continued(chat: ChatView, status: Any, offered: bool) -> None:
    chat.show_thread([question(), answer("An answer", status=status)], LiveTurn())
    go_on = chat.message_views()[1].action_row.go_on
    assert go_on.isVisible() is offered
    chat.add_message(question("What else?"))
    assert not go_on.isVisible(), "only the last answer"


def test_while_an_answer_is_written_nothing_else_is_begun(chat: ChatView) -> None:
    chat.show_thread([question(), answer("An answer", status="length")], LiveTurn())
    chat.show_turn(LiveTurn("prefill"), READY)
    actions = chat.message_views()[1].action_row
    assert not actions.go_on.isVisible()
    assert not actions.again.isVisible()
    assert not actions.menu().actions()[-1].isEnabled()
    chat.show_turn(LiveTurn(), READY)
    assert actions.go_on.isVisible()


def test_an_answer_that_is_written_on_grows_from_where_it_ended(chat: ChatView) -> None:
    cut = answer("So far", status="length", stats=STATS)
    chat.show_thread([question(), cut], LiveTurn())
    chat.show_turn(LiveTurn("decode", message_id=cut.id), READY)
    chat.resume_message(answer("So far", id=cut.id, status="partial"))
    chat.append_text(cut.id, " and on")
    view = chat.message_views()[1]
    assert view.streaming
    assert view.body.views[0].document.toPlainText() == "So far and on"


def test_the_cost_of_an_edit_is_shown_where_it_is_written(chat: ChatView, qtbot: Any) -> None:
    asked = question("A question")
    chat.show_thread([asked, answer()], LiveTurn())
    chat.verticalScrollBar().setValue(0)
    view = chat.message_views()[0]
    with qtbot.waitSignal(chat.edit_changed, timeout=500) as told:
        click(view.again_button)
    assert told.args == [asked.id, Draft("A question")]
    assert view.edit_box.note == "Ctrl+Enter sends, Esc keeps it as it was"
    with qtbot.waitSignal(chat.edit_changed, timeout=500) as told:
        QTest.keyClicks(view.edit_box.editor, "?")
    assert told.args == [asked.id, Draft("A question?")]
    chat.show_edit_cost(asked.id, DraftCost(40, 28, 12, 8192))
    assert view.edit_box.note == "Ctrl+Enter sends · This edit recomputes 12 tokens"


def test_a_file_can_be_taken_off_a_question_that_is_asked_in_other_words(chat: ChatView, qtbot: Any) -> None:
    one, two = Attachment("one.txt", "1"), Attachment("two.txt", "2")
    asked = question("Read these", attachments=(one, two))
    chat.show_thread([asked, answer("Yes")], LiveTurn())
    view = chat.message_views()[0]
    click(view.again_button)
    box = view.edit_box
    assert [chip.name for chip in box.files.chips] == ["one.txt", "two.txt"]
    click(box.files.chips[0].remove_button)
    with qtbot.waitSignal(chat.edited, timeout=500) as told:
        QTest.keyClick(box.editor, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    assert told.args == [asked.id, Draft("Read these", (two,))]
    click(box.files.chips[0].remove_button)
    assert not box.files.isVisible()
    box.editor.clear()
    assert not box.send_button.isEnabled()


def test_what_is_too_long_to_be_typed_in_goes_with_an_edit_as_a_file(chat: ChatView) -> None:
    chat.show_thread([question("x" * 1_000_000), answer("Yes")], LiveTurn())
    view = chat.message_views()[0]
    click(view.again_button)
    box = view.edit_box
    assert (box.editor.toPlainText(), [chip.name for chip in box.files.chips]) == ("", ["Pasted text"])
    assert box.send_button.isEnabled()
    QGuiApplication.clipboard().setText("y" * 20_000)
    QTest.keyClick(box.editor, Qt.Key.Key_V, Qt.KeyboardModifier.ControlModifier)
    assert [len(file.text) for file in box.draft.attachments] == [1_000_000, 20_000]
    QGuiApplication.clipboard().setText("y" * 6_000_000)
    QTest.keyClick(box.editor, Qt.Key.Key_V, Qt.KeyboardModifier.ControlModifier)
    assert "too large" in box.note
    assert len(box.draft.attachments) == 2


def test_an_edit_comes_into_view_and_stays_there_while_it_grows(chat: ChatView) -> None:
    asked = question("\n".join(f"line {n}" for n in range(40)))
    chat.show_thread([question("First"), asked, answer(), question("Last")], LiveTurn())
    chat.verticalScrollBar().setValue(0)
    view = chat.message_views()[1]
    chat.verticalScrollBar().setValue(view.geometry().bottom() - 60)  # only its last lines and Edit are seen
    click(view.again_button)
    QApplication.processEvents()

    def seen() -> bool:
        box, field = view.edit_box, chat.viewport()
        top, bottom = box.mapTo(field, box.rect().topLeft()).y(), box.mapTo(field, box.rect().bottomLeft()).y()
        return top >= 0 and bottom < field.height()

    assert seen()
    view.edit_box.editor.setPlainText("short")
    chat.verticalScrollBar().setValue(view.y() - chat.viewport().height() + 120)
    for _ in range(12):
        QTest.keyClick(view.edit_box.editor, Qt.Key.Key_Return)
        QApplication.processEvents()
        assert seen()


def test_a_question_without_an_answer_says_so_and_can_be_asked_again(chat: ChatView, qtbot: Any) -> None:
    chat.show_thread([question("One"), answer("Yes"), question("Two")], LiveTurn())
    first, last = chat.message_views()[0].action_row, chat.message_views()[2].action_row
    assert last.not_answered.isVisible()
    assert last.not_answered.text() == "Not answered"
    assert not first.not_answered.isVisible()
    drawn = last.grab().toImage()
    last.reveal(True)
    assert last.grab().toImage() == drawn, "Edit is drawn beside it without being pointed at"
    with qtbot.waitSignal(chat.retry_requested, timeout=500):
        click(last.retry)
    chat.show_turn(LiveTurn("prefill"), READY)
    assert not last.retry.isVisible()
    chat.add_message(answer("There"))
    chat.show_turn(LiveTurn(), READY)
    assert not last.retry.isVisible()


def test_files_that_went_with_a_question_stand_in_its_bubble(chat: ChatView) -> None:
    files = (Attachment("notes.txt", "x" * 2_000), Attachment("a very long name " * 20, "y"))
    chat.show_thread([question("Read this", attachments=files), question("", attachments=files[:1])], LiveTurn())
    first, second = chat.message_views()
    files_view = first.findChild(SentFiles)
    assert files_view.accessibleName().startswith("notes.txt, a very long name")
    assert files_view.geometry().right() <= BUBBLE_MAX
    assert first.height() > second.height() > 40


# -- thinking ----------------------------------------------------------------------------------------------------


def test_a_thought_is_one_line_that_unfolds(chat: ChatView) -> None:
    chat.show_thread([question(), answer("<think>\nHm, **well**.\n</think>\n\nYes.", thinking_s=4.21)], LiveTurn())
    view = chat.message_views()[1]
    assert view.thinking.button.text() == "Thought for 4.2 s"
    assert view.body.blocks[0].spans[0].text == "Yes."
    folded = view.height()
    view.thinking.button.setFocus()
    QTest.keyClick(view.thinking.button, Qt.Key.Key_Space)
    assert view.thinking.body.views[0].document.toPlainText() == "Hm, well."
    assert view.height() > folded + 20
    QTest.keyClick(view.thinking.button, Qt.Key.Key_Space)
    assert view.height() == folded


def test_a_thought_is_told_while_it_is_thought(chat: ChatView, qtbot: Any) -> None:
    chat.show_thread([question()], LiveTurn())
    reply = begin_answer(chat)
    for piece in ("<th", "ink>", "Let me "):
        chat.append_text(reply.id, piece)
    view = chat.message_views()[1]
    assert view.thinking.button.text().startswith("Thinking…")
    qtbot.waitUntil(lambda: view.thinking.button.text() != "Thinking… 0.0 s")
    view.thinking.button.click()
    for piece in ("see.</", "think>"):
        chat.append_text(reply.id, piece)
    thought_only = view.height()
    chat.append_text(reply.id, "\n\nYes")
    assert view.height() > thought_only + 15
    assert not view.thinking.body.views[-1]._caret
    assert view.thinking.body.views[0].document.toPlainText() == "Let me see."
    assert view.thinking.button.text().startswith("Thought for 0.")
    assert [block.spans[0].text for block in view.body.blocks] == ["Yes"]
    chat.finish_message(answer("<think>Let me see.</think>\n\nYes", id=reply.id, thinking_s=1.5))
    assert view.thinking.button.text() == "Thought for 1.5 s"
    assert view.thinking.unfolded, "what the reader unfolded stays so"


def test_an_empty_thought_and_tags_elsewhere_are_no_thought(chat: ChatView) -> None:
    chat.show_thread([question(), answer("<think>\n\n</think>\n\nYes <think>no</think>")], LiveTurn())
    view = chat.message_views()[1]
    assert view.thinking is None
    assert view.body.blocks[0].spans[0].text == "Yes <think>no</think>"


# -- size ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("role", ["question", "answer"])
@pytest.mark.parametrize("text", ["word " * 1_000_000, "x" * 5_000_000, "line\n\n" * 800_000])
def test_five_megabytes_open_at_once_and_more_is_shown_on_request(chat: ChatView, role: str, text: str) -> None:
    begun = time.thread_time()
    chat.show_thread([question(text) if role == "question" else answer(text)], LiveTurn())
    QApplication.processEvents()
    assert time.thread_time() - begun < 2.5
    (view,) = chat.message_views()
    assert view.more_button is not None
    height, label = view.height(), view.more_button.text()
    click(view.more_button)
    assert view.height() > height
    assert view.more_button.text() != label
    click(view.copy_button)
    assert len(QGuiApplication.clipboard().text()) == len(text)


def test_a_streamed_answer_is_never_cut(chat: ChatView) -> None:
    chat.show_thread([question()], LiveTurn())
    reply = begin_answer(chat)
    text = "A paragraph of words.\n\n" * 5_000
    for at in range(0, len(text), 30_000):
        chat.append_text(reply.id, text[at : at + 30_000])
    chat.finish_message(answer(text, id=reply.id))
    view = chat.message_views()[1]
    assert view.more_button is None
    assert len(view.body.blocks) == 5_000
