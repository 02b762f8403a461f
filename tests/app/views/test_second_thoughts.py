"""What the window does when something went otherwise than meant: asked again, taken back, typed too soon."""

from __future__ import annotations

import threading
from typing import Any

from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel

from app.live import Notice
from app.views.export_dialog import ExportDialog
from app.views.main_window import MainWindow
from engine.errors import ContextFull
from tests.app.fake_worker import Reply
from tests.app.views.test_connections import ask, ask_in_two_chats, contents


def test_a_question_that_could_not_be_answered_is_asked_again_by_its_key(make_window: Any, qtbot: Any) -> None:
    window, world = make_window(Reply(pieces=(), error=ContextFull("It is too long.")), Reply())
    ask(window, world, qtbot, "Why?")
    world.conductor.inspection.refresh()
    window.show_inspector(True)
    assert "not answered" in " ".join(label.text() for label in window.inspector.turn.findChildren(QLabel))
    window.notices.cards[0].close_button.click()
    row = window.chat.message_views()[0].action_row
    assert row.retry.isVisible()
    QTest.keyClick(window, Qt.Key.Key_R, Qt.KeyboardModifier.ControlModifier)
    qtbot.waitUntil(lambda: not world.session.busy)
    assert contents(world) == ["Why?", "It is **so**."]
    assert not row.retry.isVisible()


def test_what_is_no_command_is_asked_only_when_the_person_says_so(make_window: Any, qtbot: Any) -> None:
    window, world = make_window()
    ask(window, world, qtbot, "/xyz hello")
    assert contents(world) == []
    assert window.composer.text == "/xyz hello"
    (card,) = window.notices.cards
    assert card.notice.sentence == "There is no command “/xyz”."
    card.action_button.click()
    qtbot.waitUntil(lambda: not world.session.busy)
    assert contents(world)[0] == "/xyz hello"
    assert window.composer.text == ""


def test_a_chat_that_has_not_begun_says_that_it_cannot_be_renamed(make_window: Any, qtbot: Any) -> None:
    window, world = make_window()
    ask(window, world, qtbot, "/rename Sails")
    assert window.notices.cards[-1].notice.sentence.startswith("There is nothing to rename yet.")


def test_what_could_not_be_attached_is_not_told_of_in_another_chat(make_window: Any, qtbot: Any) -> None:
    window, world = make_window()
    ask(window, world, qtbot, "Why?")
    window.composer.refused.emit("Pasted text is too large.")
    window.notices.show_notice(Notice("The disk is full."))
    assert window.notices.cards[0].notice.lapses
    world.conductor.new_chat()
    assert [card.notice.sentence for card in window.notices.cards] == ["The disk is full."]


def test_the_latest_deletion_is_undone_by_its_key_outside_of_text(make_window: Any, qtbot: Any) -> None:
    window, world = make_window()
    world.chats.archive(ask_in_two_chats(window, world, qtbot), True)
    world.chats.delete(world.session.conversation.id)
    undo = (Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    window.composer.focus_editor()
    QTest.keyClick(window.composer.editor, Qt.Key.Key_A)
    QTest.keyClick(window.composer.editor, *undo)
    assert window.composer.text == ""
    assert world.chats.conversations() == ()
    window.sidebar.new_button.setFocus()
    QTest.keyClick(window.sidebar.new_button, *undo)
    assert [chat.title for chat in world.chats.conversations()] == ["Two"]
    QTest.keyClick(window.sidebar.new_button, *undo)
    assert world.chats.archived() == ()
    QTest.keyClick(window.sidebar.new_button, *undo)
    assert len(world.chats.conversations()) == 2


def test_an_empty_composer_with_nothing_to_undo_leaves_the_key_to_the_program(make_window: Any, qtbot: Any) -> None:
    window, world = make_window()
    ask(window, world, qtbot, "One")
    world.conductor.commands.run("delete_chat")
    window.composer.focus_editor()
    QTest.keyClick(window.composer.editor, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert [chat.title for chat in world.chats.conversations()] == ["One"]


def test_the_reason_of_a_failed_turn_stands_in_its_chat_alone(make_window: Any, qtbot: Any) -> None:
    window, world = make_window(Reply(pieces=(), error=ContextFull("It is too long.")))
    ask(window, world, qtbot, "Why?")
    asked = world.session.conversation.id
    world.conductor.new_chat()
    assert window.notices.cards == ()
    assert not window.notices.isVisible()
    world.chats.open(asked)
    (card,) = window.notices.cards
    assert card.isVisible()
    QTest.mouseClick(card.action_button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: not world.session.busy)
    assert contents(world)[-1] == "You said: Why?"
    assert window.notices.cards == ()


def test_that_a_message_waits_already_is_not_said_any_more_when_none_does(make_window: Any, qtbot: Any) -> None:
    gate = threading.Semaphore(0)
    window, world = make_window(Reply(gate=gate))
    for text in ("One", "Two", "Three"):
        QTest.keyClicks(window.composer.editor, text)
        QTest.keyClick(window.composer.editor, Qt.Key.Key_Return)
    (card,) = window.notices.cards
    assert card.notice.sentence.startswith("One message waits already.")
    busy = world.session.conversation.id
    world.conductor.new_chat()
    assert window.notices.cards == ()
    world.chats.open(busy)
    assert window.notices.cards == (card,)
    gate.release(99)
    qtbot.waitUntil(lambda: not world.session.busy)
    assert window.notices.cards == ()


def test_an_interrupted_answer_is_called_that_by_the_inspector(make_window: Any, qtbot: Any) -> None:
    window, world = make_window(Reply(pieces=("Half",), error=ContextFull("It is too long.")))
    ask(window, world, qtbot, "Why?")
    window.show_inspector(True)
    world.conductor.inspection.refresh()
    assert "interrupted" in " ".join(label.text() for label in window.inspector.turn.findChildren(QLabel))


def test_escape_ends_a_search_whose_hit_was_opened(make_window: Any, qtbot: Any) -> None:
    window, world = make_window()
    ask(window, world, qtbot, "About ships")
    window.sidebar.search_field.setText("ships")
    qtbot.waitUntil(lambda: bool(window.sidebar.results.isVisible()))
    window.sidebar.hit_opened.emit(world.session.conversation.id, world.session.messages()[0].id, "ships")
    window.composer.focus_editor()
    QTest.keyClick(window.composer.editor, Qt.Key.Key_Escape)
    assert window.sidebar.search_field.text() == ""
    assert window.sidebar.list.isVisible()
    assert window.composer.editor.hasFocus()


def test_all_chats_are_exported_from_a_chat_that_is_not_empty(make_window: Any, qtbot: Any) -> None:
    window, world = make_window()
    ask(window, world, qtbot, "About ships")
    world.conductor.commands.run("export_all")
    dialog = window.findChild(ExportDialog)
    assert dialog.scope == "all"
    assert dialog.chat_card.isEnabled()
    dialog.chat_card.click()
    assert dialog.scope == "chat"


def test_words_typed_at_once_after_a_new_chat_stand_in_it(make_window: Any, qtbot: Any) -> None:
    window, world = make_window()
    for number in range(5):
        QTest.keyClicks(window.composer.editor, f"Question {number}")
        QTest.keyClick(window.composer.editor, Qt.Key.Key_Return)
        session = world.session
        session.turn_ended.connect(lambda _well: type_into_a_new_chat(window))
        qtbot.waitUntil(lambda session=session: world.session is not session)
        QTest.qWait(50)
        assert window.composer.text == "hello there"
        assert world.chats.draft.text == "hello there"
        window.composer.clear()


def type_into_a_new_chat(window: MainWindow) -> None:
    """All keys come before the program does anything else."""
    QTest.keyClick(window, Qt.Key.Key_N, Qt.KeyboardModifier.ControlModifier)
    for letter in "hello there":
        for kind in (QEvent.Type.KeyPress, QEvent.Type.KeyRelease):
            event = QKeyEvent(kind, 0, Qt.KeyboardModifier.NoModifier, letter)
            QApplication.postEvent(QApplication.focusWidget() or window, event)


def test_a_question_given_up_while_it_waits_can_be_asked_again_after_a_restart(make_window: Any, qtbot: Any) -> None:
    window, world = make_window(Reply(gate=threading.Semaphore(0), prefill_gate=threading.Semaphore(0)))
    QTest.keyClicks(window.composer.editor, "Why?")
    QTest.keyClick(window.composer.editor, Qt.Key.Key_Return)
    assert not window.chat.message_views()[0].action_row.retry.isVisible()
    QTest.keyClick(window.composer.editor, Qt.Key.Key_Escape)
    assert window.chat.message_views()[0].action_row.retry.isVisible()
    window.close()
    world.close()
    again, world = make_window(Reply())
    QTest.mouseClick(again.chat.message_views()[0].action_row.retry, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: not world.session.busy)
    assert contents(world) == ["Why?", "It is **so**."]
    assert again.composer.editor.hasFocus()


def test_a_title_that_is_being_written_is_not_given_to_the_next_chat(make_window: Any, qtbot: Any) -> None:
    window, world = make_window()
    one = ask_in_two_chats(window, world, qtbot)
    field = window.header.title_field
    field.begin()
    QTest.keyClicks(field.editor, "About two")
    world.chats.open(one)  # as a shortcut does, which leaves the keyboard where it is
    assert not field.editing
    window.composer.focus_editor()
    assert sorted(chat.title for chat in world.chats.conversations()) == ["One", "Two"]
