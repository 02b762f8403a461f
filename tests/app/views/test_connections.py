"""What the window's parts do to one another, over the scripted program: as a person sees it."""

from __future__ import annotations

import json
import sqlite3
import threading
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QDialog

from app.actions import actions
from app.records import ChatOptions
from app.transfer.exporting import export_job
from app.transfer.job import Control, TransferJob
from app.transfer.result import TransferResult
from app.views.assistants_dialog import AssistantsDialog
from app.views.chat_options_dialog import ChatOptionsDialog
from app.views.controls import Menu
from app.views.export_dialog import ExportDialog
from app.views.import_dialog import ImportDialog
from app.views.main_window import MainWindow
from engine.errors import Cancelled, ContextFull
from engine.server.control import ServerState
from tests.app.fake_worker import Reply


def ask(window: MainWindow, world: Any, qtbot: Any, text: str) -> None:
    window.composer.focus_editor()
    QTest.keyClicks(window.composer.editor, text)
    QTest.keyClick(window.composer.editor, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: not world.session.busy)


def ask_in_two_chats(window: MainWindow, world: Any, qtbot: Any) -> str:
    """Asks "One", and "Two" in a chat of its own, which is on view then; the id of the first chat."""
    ask(window, world, qtbot, "One")
    one: str = world.session.conversation.id
    world.conductor.new_chat()
    ask(window, world, qtbot, "Two")
    return one


def contents(world: Any) -> list[str]:
    return [message.content for message in world.session.messages()]


@pytest.mark.expects_log("a search failed")
def test_a_search_that_fails_says_so_in_the_place_of_what_was_found(make_window: Any, qtbot: Any) -> None:
    window, world = make_window()
    with sqlite3.connect(world.store.path) as db:
        db.execute("DROP TABLE title_text")
    db.close()
    window.sidebar.search_field.setText("ships")
    qtbot.waitUntil(lambda: "cannot be searched" in window.sidebar.sentence)


def test_every_declared_action_runs(make_window: Any, qtbot: Any) -> None:
    window, world = make_window()
    ask(window, world, qtbot, "Why?")
    commands = world.conductor.commands
    opens_a_file_dialog = {"attach", "export_turns", "model_file", "model_folder", "quit"}
    for action in actions():
        if action.id not in opens_a_file_dialog:
            commands.run(action.id)
        for dialog in window.findChildren(QDialog):
            dialog.reject()
        QApplication.processEvents()
    assert {action.id for action in actions()} <= set(commands._runs)


def test_no_two_actions_share_a_key_and_no_two_a_word() -> None:
    keys = [action.keys for action in actions() if action.keys]
    words = [action.slash for action in actions() if action.slash]
    assert len(set(keys)) == len(keys)
    assert len(set(words)) == len(words)


def test_the_palette_opens_a_chat_and_runs_an_action(make_window: Any, qtbot: Any) -> None:
    window, world = make_window()
    ask(window, world, qtbot, "About ships")
    first = world.session.conversation.id
    world.conductor.new_chat()
    QTest.keyClick(window, Qt.Key.Key_K, Qt.KeyboardModifier.ControlModifier)
    assert window.command_palette.isVisible()
    QTest.keyClicks(window.command_palette.field, "ships")
    QTest.keyClick(window.command_palette.field, Qt.Key.Key_Return)
    assert world.session.conversation.id == first
    assert window.composer.editor.hasFocus()
    QTest.keyClick(window, Qt.Key.Key_K, Qt.KeyboardModifier.ControlModifier)
    QTest.keyClicks(window.command_palette.field, "fold the inspector")
    QTest.keyClick(window.command_palette.field, Qt.Key.Key_Return)
    assert window.inspector_shown


def test_slash_commands_run_and_take_words(make_window: Any, qtbot: Any) -> None:
    window, world = make_window()
    ask(window, world, qtbot, "About ships")
    QTest.keyClicks(window.composer.editor, "/rename Sails and masts")
    QTest.keyClick(window.composer.editor, Qt.Key.Key_Return)
    assert window.header.title == "Sails and masts"
    assert window.composer.text == ""
    QTest.keyClicks(window.composer.editor, "/find ships")
    QTest.keyClick(window.composer.editor, Qt.Key.Key_Return)
    assert window.chat.find_bar.isVisible()
    qtbot.waitUntil(lambda: window.chat.find_bar.count != "")
    QTest.keyClick(window.chat.find_bar.field, Qt.Key.Key_Escape)
    assert not window.chat.find_bar.isVisible()
    assert window.composer.editor.hasFocus()


def test_folders_pins_and_the_archive(make_window: Any, qtbot: Any) -> None:
    window, world = make_window()
    one = ask_in_two_chats(window, world, qtbot)
    window.sidebar.folder_added.emit("Work", one)
    (folder,) = world.chats.folders()
    assert world.chats.conversations()[-1].folder_id == folder.id
    window.sidebar.pin_requested.emit(one, True)
    assert world.store.flush()
    assert [c.pinned for c in world.store.conversations() if c.id == one] == [True]
    window.sidebar.archive_requested.emit(one, True)
    assert [c.id for c in world.chats.archived()] == [one]
    window.notices.cards[0].action_button.click()
    assert world.chats.archived() == ()
    window.sidebar.folders_folded.emit(frozenset({folder.id}))
    assert json.loads(world.settings.get("folded_folders")) == [folder.id]


def test_a_search_opens_the_message_it_found_on_another_branch(make_window: Any, qtbot: Any) -> None:
    window, world = make_window(Reply(("a porcupine",)), Reply(("a hedgehog",)))
    ask(window, world, qtbot, "Which animal?")
    window.chat.regenerate_requested.emit(world.session.messages()[-1].id)
    qtbot.waitUntil(lambda: contents(world)[-1:] == ["a hedgehog"] and not world.session.busy)
    assert world.store.flush()
    world.conductor.new_chat()
    world.conductor.organizing.find_chats("porcupine")
    results = window.sidebar.results
    qtbot.waitUntil(lambda: results.isVisible() and results.found.rowCount() > 0)
    QTest.keyClick(window.sidebar.search_field, Qt.Key.Key_Return)
    assert contents(world)[-1] == "a porcupine"


def test_what_is_written_stays_with_its_chat(make_window: Any, qtbot: Any) -> None:
    window, world = make_window()
    ask(window, world, qtbot, "One")
    one = world.session.conversation.id
    QTest.keyClicks(window.composer.editor, "half a thou")
    world.conductor.new_chat()
    assert window.composer.text == ""
    QTest.keyClicks(window.composer.editor, "a new chat's")
    world.chats.open(one)
    assert window.composer.text == "half a thou"
    QTest.keyClick(window, Qt.Key.Key_N, Qt.KeyboardModifier.ControlModifier)
    assert window.composer.text == "a new chat's"


def test_a_message_waits_for_the_answer_and_can_be_taken_back(make_window: Any, qtbot: Any) -> None:
    gate = threading.Semaphore(0)
    window, world = make_window(Reply(("One ", "two"), gate=gate), Reply(("Three",)))
    window.composer.focus_editor()
    QTest.keyClicks(window.composer.editor, "first")
    QTest.keyClick(window.composer.editor, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: world.session.busy)
    QTest.keyClicks(window.composer.editor, "second")
    QTest.keyClick(window.composer.editor, Qt.Key.Key_Return)
    assert window.composer.text == ""
    assert world.session.queued == "second"
    window.composer.queued_taken_back.emit()
    assert window.composer.text == "second"
    QTest.keyClick(window.composer.editor, Qt.Key.Key_Return)
    gate.release(10)
    qtbot.waitUntil(lambda: contents(world) == ["first", "One two", "second", "Three"])


def test_messages_are_continued_forked_quoted_and_deleted(make_window: Any, qtbot: Any) -> None:
    window, world = make_window(Reply(("The sea ",)), Reply(("is wide.",)))
    ask(window, world, qtbot, "Write")
    reply = world.session.messages()[-1]
    window.chat.continue_requested.emit(reply.id)
    qtbot.waitUntil(lambda: contents(world)[-1] == "The sea is wide." and not world.session.busy)
    window.composer.type("Well:")
    window.chat.quote_requested.emit("The sea\n\nis wide")
    assert window.composer.text == "Well:\n> The sea\n>\n> is wide\n\n"
    assert window.composer.editor.hasFocus()
    before = world.session.conversation.id
    window.chat.fork_requested.emit(world.session.messages()[0].id)
    assert world.session.conversation.id != before
    assert contents(world) == ["Write"]
    world.chats.open(before)
    window.chat.delete_requested.emit(reply.id)
    assert contents(world) == ["Write"]
    window.notices.cards[0].action_button.click()
    assert contents(world) == ["Write", "The sea is wide."]


def test_an_assistant_is_given_to_an_empty_chat_and_a_new_one_is_begun_for_another(
    make_window: Any, qtbot: Any
) -> None:
    window, world = make_window()
    window.start_page.assistant_chosen.emit("translator")
    assert world.session.conversation.options.assistant == "translator"
    assert "Translator" in window.composer.assistant_button.text()
    ask(window, world, qtbot, "Hello")
    assert world.worker.requests[-1].messages[0].role == "system"
    first = world.session.conversation.id
    world.conductor.assisting.choose("code")
    assert world.session.conversation.id != first
    assert world.session.conversation.options.assistant == "code"
    world.chats.open(first)
    assert "Translator" in window.composer.assistant_button.text()


def test_what_a_chat_behind_does_leaves_the_assistant_on_view_alone(make_window: Any, qtbot: Any) -> None:
    gate = threading.Semaphore(0)
    window, world = make_window(Reply(("One",), gate=gate), Reply(("Two",)))
    window.start_page.assistant_chosen.emit("translator")
    behind = world.session
    behind.send("first")
    behind.send("second")
    world.conductor.assisting.choose("code")
    gate.release(10)
    qtbot.waitUntil(lambda: len(behind.messages()) == 4 and not behind.busy)
    assert "Code" in window.composer.assistant_button.text()


def test_the_options_of_a_chat_are_kept_and_used(make_window: Any, qtbot: Any) -> None:
    window, world = make_window()
    world.conductor.commands.run("chat_options")
    dialog = window.findChild(ChatOptionsDialog)
    dialog.chosen.emit(ChatOptions(sampling={"temperature": 0.0}), "Be brief.")
    dialog.reject()
    ask(window, world, qtbot, "Hello")
    request = world.worker.requests[-1]
    assert request.params.temperature == 0
    assert request.messages[0].content == "Be brief."


def test_the_menu_of_assistants_marks_the_one_in_use_and_begins_there(make_window: Any, qtbot: Any) -> None:
    window, world = make_window()
    window.start_page.assistant_chosen.emit("translator")
    QTest.mouseClick(window.composer.assistant_button, Qt.MouseButton.LeftButton)
    menu = QApplication.activePopupWidget()
    assert isinstance(menu, Menu)
    marked = [action for action in menu.actions() if action.isChecked()]
    assert [action.text() for action in marked] == ["Translator"]
    assert menu.activeAction() is marked[0]
    icon = marked[0].icon().pixmap(18).toImage()
    assert icon == world.conductor._theme.icon("check", "accent").pixmap(18).toImage()
    menu.close()


def test_the_assistants_are_edited_in_their_dialog(make_window: Any, qtbot: Any) -> None:
    window, world = make_window()
    world.conductor.commands.run("assistants")
    dialog = window.findChild(AssistantsDialog)
    dialog.new_button.click()
    qtbot.waitUntil(lambda: len(world.parts.assistants.all()) == 7)
    dialog.reject()


def test_chats_go_out_to_a_file_and_come_back(make_window: Any, qtbot: Any, tmp_path: Path) -> None:
    window, world = make_window()
    ask(window, world, qtbot, "One")
    world.conductor.transfers.export_current()
    dialog = window.findChild(ExportDialog)
    path = tmp_path / "out.json"
    dialog.export_requested.emit("chat", "json", str(path))
    qtbot.waitUntil(lambda: "1 chat" in dialog.sentence_shown)
    dialog.reject()
    held = path.read_text("utf-8").replace(world.session.conversation.id, "0" * 32)
    path.write_text(held.replace('"One"', '"Another"'), "utf-8")
    world.conductor.transfers.import_chats(str(path))
    qtbot.waitUntil(lambda: window.findChild(ImportDialog) is not None)
    window.findChild(ImportDialog).action_button.click()
    qtbot.waitUntil(lambda: len(world.chats.conversations()) == 2)


def test_an_export_that_is_given_up_leaves_nothing(make_window: Any, qtbot: Any, tmp_path: Path) -> None:
    window, world = make_window()
    ask(window, world, qtbot, "One")
    path = tmp_path / "out.json"
    job = export_job(world.store, path, "json")
    job.cancel()
    with qtbot.waitSignal(job.finished) as told:
        job.start()
    assert told.args[0].cancelled
    assert not path.exists()


def test_a_transfer_that_was_given_up_is_not_taken_for_the_next_one(
    make_window: Any, qtbot: Any, tmp_path: Path
) -> None:
    window, world = make_window()
    ask(window, world, qtbot, "One")
    transfers, gate, left = world.conductor.transfers, threading.Event(), threading.Event()

    def slow(control: Control) -> TransferResult:
        gate.wait(20)
        left.set()
        raise Cancelled

    transfers.export_current()
    transfers._run(TransferJob(tmp_path / "first.json", slow, transfers))
    window.findChild(ExportDialog).reject()
    QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
    transfers.export_current()
    dialog = window.findChild(ExportDialog)
    dialog.export_requested.emit("chat", "json", str(tmp_path / "second.json"))
    qtbot.waitUntil(lambda: "1 chat" in dialog.sentence_shown)
    gate.set()
    qtbot.waitUntil(lambda: not transfers._jobs)
    assert left.is_set()
    assert "1 chat" in dialog.sentence_shown
    dialog.reject()


def test_a_chat_is_copied_as_markdown(make_window: Any, qtbot: Any) -> None:
    window, world = make_window()
    ask(window, world, qtbot, "One")
    window.header.copy_requested.emit()
    assert QGuiApplication.clipboard().text().startswith("# One")


def test_an_edit_says_what_it_will_cost(make_window: Any, qtbot: Any) -> None:
    window, world = make_window()
    ask(window, world, qtbot, "One")
    question = next(view for view in window.chat.message_views() if view.is_question)
    question.again_button.click()
    QTest.keyClicks(question.edit_box.editor, " more")
    qtbot.waitUntil(lambda: "recomputes" in question.edit_box.note)


def test_what_was_said_of_a_failed_turn_goes_when_the_chat_is_asked_again(make_window: Any, qtbot: Any) -> None:
    window, world = make_window(Reply(error=ContextFull("This chat is too long.")), Reply(("Now.",)))
    ask(window, world, qtbot, "One")
    qtbot.waitUntil(lambda: len(window.notices.cards) == 1)
    ask(window, world, qtbot, "Two")
    assert window.notices.cards == ()


def test_the_status_bar_says_that_other_programs_are_answered(make_window: Any, qtbot: Any) -> None:
    window, world = make_window()
    world.parts.serving.changed.emit(ServerState("http://127.0.0.1:8000/v1"))
    assert "Serves at 127.0.0.1:8000" in window.status.text
    world.parts.serving.changed.emit(ServerState())
    assert "Serves" not in window.status.text
