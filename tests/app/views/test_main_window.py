"""The whole window over the real program, with a scripted worker: what a person does and sees."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QAccessible, QColor, QDesktopServices, QDropEvent, QGuiApplication, QKeySequence
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication, QWidget

from app import shown_chat as module
from app.conductor import Conductor
from app.crash import CrashReport
from app.live import Notice
from app.theme import Theme, Tokens
from app.views.crash_dialog import CrashDialog
from app.views.dialogs import LinkDialog
from app.views.main_window import MainWindow
from engine.errors import ContextFull
from tests.app.fake_worker import Load, Reply


def ask(window: MainWindow, text: str) -> None:
    window.composer.focus_editor()
    QTest.keyClicks(window.composer.editor, text)
    QTest.keyClick(window.composer.editor, Qt.Key.Key_Return)


def answers(window: MainWindow) -> list[str]:
    return [view.message.content for view in window.chat.message_views() if not view.is_question]


def idle(world: Any) -> bool:
    return not world.session.busy


def test_a_question_is_typed_answered_and_listed(make_window: Any, qtbot: Any) -> None:
    window, world = make_window(Reply(("It ", "is ", "**so**", "."), cached=5, prefill=23))
    assert window.start_page.isVisible()
    ask(window, "Why?")
    qtbot.waitUntil(lambda: bool(answers(window)) and idle(world))
    assert window.chat.isVisible()
    assert answers(window) == ["It is **so**."]
    assert window.composer.text == ""
    assert window.composer.editor.hasFocus()
    assert window.header.title == "Why?"
    assert window.windowTitle() == "Why? — Loquat"
    assert "5 reused + 23 new tokens" in window.status.text
    assert window.sidebar.list.conversations.rowCount() == 2  # heading and conversation
    (view,) = [v for v in window.chat.message_views() if not v.is_question]
    assert view.body.views[0].document.toPlainText() == "It is so."


def test_an_example_is_asked_with_one_click(make_window: Any, qtbot: Any) -> None:
    window, world = make_window()
    window.start_page.examples[0].click()
    qtbot.waitUntil(lambda: bool(answers(window)) and idle(world))
    assert window.header.title == window.start_page.examples[0].accessibleName()


def test_a_refused_question_stays_in_the_composer(make_window: Any, qtbot: Any) -> None:
    gate = threading.Semaphore(0)
    window, world = make_window(Reply(gate=gate))
    ask(window, "first")
    qtbot.waitUntil(lambda: world.session.busy)
    world.conductor.shown.send("waits")  # as a click on an example would
    assert not window.notices.cards
    world.conductor.shown.send("second")
    assert window.notices.cards[0].notice.sentence.startswith("One message waits already. Please press Edit")
    QTest.keyClicks(window.composer.editor, "second")
    QTest.keyClick(window.composer.editor, Qt.Key.Key_Return)
    assert window.composer.text == "second"
    gate.release(10)
    qtbot.waitUntil(lambda: idle(world))


def test_send_becomes_stop_and_escape_stops(make_window: Any, qtbot: Any) -> None:
    gate = threading.Semaphore(0)
    window, world = make_window(Reply(("One ", "two ", "three"), gate=gate))
    ask(window, "Count")
    qtbot.waitUntil(lambda: window.composer.button.text() == "Stop")
    gate.release(2)
    qtbot.waitUntil(lambda: world.session.live.completion_tokens >= 2)
    QTest.keyClick(window, Qt.Key.Key_Escape)
    assert window.composer.button.text() == "Send"
    (view,) = [v for v in window.chat.message_views() if not v.is_question]
    assert view.footer is not None
    assert view.footer.accessibleName().startswith("Stopped")
    assert not view.streaming


def test_waiting_and_reading_are_said_in_words(make_window: Any, qtbot: Any) -> None:
    gate = threading.Semaphore(0)
    window, world = make_window(Reply(prefill=196, prefill_chunk=98, prefill_gate=gate))
    ask(window, "Long?")
    gate.release(1)
    qtbot.waitUntil(lambda: window.chat.waiting_line.words == "Reads 196 new tokens, 50 %")
    assert "Reads 196 new tokens, 50 %" in window.status.text
    gate.release(5)
    qtbot.waitUntil(lambda: idle(world))
    assert not window.chat.waiting_line.isVisible()


def test_a_load_shows_progress_and_does_not_stop_anybody_from_typing(make_window: Any, qtbot: Any) -> None:
    gate = threading.Semaphore(0)
    window, world = make_window(ready=False, loads=(Load(gate=gate),))
    world.chats.load_model(None)
    gate.release(2)
    qtbot.waitUntil(lambda: window.progress.sentence == "Loading the script")
    assert window.progress.isVisible()
    ask(window, "Already?")
    assert window.chat.waiting_line.words == "Waiting for the model"
    gate.release(5)
    qtbot.waitUntil(lambda: bool(answers(window)) and idle(world))
    assert not window.progress.isVisible()
    assert window.header.chip.text() == "Scripted scripted · float32"


def test_cancelling_a_load_leaves_the_window_usable(make_window: Any, qtbot: Any) -> None:
    window, world = make_window(ready=False, loads=(Load(gate=threading.Semaphore(0)),))
    world.chats.load_model(None)
    qtbot.waitUntil(window.progress.isVisible)
    window.progress.cancel_button.click()
    qtbot.waitUntil(lambda: not window.progress.isVisible())
    assert window.header.chip.text() == "No model"
    assert window.composer.editor.isEnabled()


def test_an_error_is_a_notice_never_text_in_the_chat(make_window: Any, qtbot: Any) -> None:
    window, _ = make_window(Reply((), error=ContextFull("The question is longer than the context.", "9000 > 8192")))
    ask(window, "Too long")
    qtbot.waitUntil(lambda: bool(window.notices.cards))
    card = window.notices.cards[0]
    assert card.notice.sentence == "The question is longer than the context."
    assert card.action_button is not None
    assert card.action_button.text() == "Try again"
    assert answers(window) == []


def test_a_chat_is_deleted_and_brought_back(make_window: Any, qtbot: Any) -> None:
    window, world = make_window()
    ask(window, "Keep me")
    qtbot.waitUntil(lambda: bool(answers(window)) and idle(world))
    conversation = world.session.conversation
    window.sidebar.list.setFocus()
    QTest.keyClick(window.sidebar.list, Qt.Key.Key_Delete)
    assert window.start_page.isVisible()
    assert not window.sidebar.list.conversations.index_of(conversation.id).isValid()
    undo = window.notices.cards[-1].action_button
    assert undo is not None
    undo.click()
    assert window.sidebar.list.conversations.index_of(conversation.id).isValid()
    assert window.header.title == "Keep me"
    assert len(answers(window)) == 1


def test_a_chat_is_renamed(make_window: Any, qtbot: Any) -> None:
    window, world = make_window()
    ask(window, "Old title")
    qtbot.waitUntil(lambda: idle(world))
    window.sidebar.rename_requested.emit(world.session.conversation.id, "New title")
    assert window.header.title == "New title"
    assert world.store.flush(5)
    assert world.store.conversations()[0].title == "New title"


def test_an_answer_goes_on_in_its_own_chat_while_another_is_on_view(make_window: Any, qtbot: Any) -> None:
    gate = threading.Semaphore(0)
    window, world = make_window(Reply(("One ", "two ", "three"), gate=gate))
    ask(window, "Count")
    gate.release(1)
    qtbot.waitUntil(lambda: world.session.live.completion_tokens >= 1)
    first = world.session.conversation
    QTest.keySequence(window, QKeySequence(QKeySequence.StandardKey.New))
    assert window.start_page.isVisible()
    assert window.composer.button.text() == "Send"
    model = window.sidebar.list.conversations
    assert model.row(model.index_of(first.id)).busy
    gate.release(5)
    qtbot.waitUntil(lambda: not model.row(model.index_of(first.id)).busy)
    assert answers(window) == []
    window.sidebar.open_requested.emit(first.id)
    assert answers(window) == ["One two three"]


def test_one_announcement_a_finished_answer(make_window: Any, qtbot: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[str] = []
    monkeypatch.setattr(module.QAccessible, "updateAccessibility", lambda event: told.append(event.message()))
    window, world = make_window(Reply(("It ", "is.")))
    ask(window, "Why?")
    qtbot.waitUntil(lambda: bool(answers(window)) and idle(world))
    assert told == ["Answer: It is."]
    assert QAccessible is module.QAccessible


def test_the_theme_is_changed_from_the_menu_live(make_window: Any, qtbot: Any) -> None:
    window, world = make_window()
    ask(window, "Why?")
    qtbot.waitUntil(lambda: bool(answers(window)) and idle(world))
    menu = next(action.menu() for action in window.header.more_menu().actions() if action.text() == "Light or dark")
    assert [action.text() for action in menu.actions()] == ["As the system says", "Light", "Dark"]
    menu.actions()[2].trigger()
    assert world.settings.get("theme") == "dark"
    image = window.grab().toImage()
    dark = Tokens.load("dark")
    assert image.pixelColor(5, 300) == QColor(dark["sidebar"])
    assert image.pixelColor(window.width() - 30, 300) == QColor(dark["background"])


def test_the_sidebar_folds_and_lies_over_a_narrow_window(make_window: Any, qtbot: Any) -> None:
    window, _ = make_window()
    QTest.keySequence(window, QKeySequence("Ctrl+B"))
    assert not window.sidebar.isVisible()
    QTest.keySequence(window, QKeySequence("Ctrl+B"))
    assert window.sidebar.isVisible()
    assert window.chat.parentWidget().mapTo(window, QPoint(0, 0)).x() == window.sidebar.width()
    window.resize(640, 800)
    assert not window.sidebar.isVisible()
    QTest.keySequence(window, QKeySequence("Ctrl+B"))
    qtbot.waitUntil(lambda: window.sidebar.isVisible() and window.sidebar.x() == 0)
    assert window.composer.mapTo(window, QPoint(0, 0)).x() < window.sidebar.width()  # it lies over it
    QTest.keyClick(window, Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: not window.sidebar.isVisible())
    window.resize(1200, 800)
    assert window.sidebar.isVisible()


def test_a_link_is_opened_only_after_its_address_was_shown(
    make_window: Any, qtbot: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    monkeypatch.setattr(QDesktopServices, "openUrl", lambda url: opened.append(url.toString()))
    window, _ = make_window()
    window.chat.link_activated.emit("https://example.org/a?b=c")
    dialog = window.findChild(LinkDialog)
    assert dialog is not None
    assert dialog.address_field.toPlainText() == "https://example.org/a?b=c"
    assert opened == []
    dialog.open_button.click()
    assert opened == ["https://example.org/a?b=c"]


@pytest.mark.parametrize(
    "address", ["smb://host/share", "/usr/bin/env", "run.sh", "ms-settings:about", "FILE:///etc/hosts"]
)
def test_what_is_no_web_address_cannot_be_opened(make_window: Any, address: str) -> None:
    window, _ = make_window()
    window.chat.link_activated.emit(address)
    dialog = window.findChild(LinkDialog)
    assert dialog is not None
    assert dialog.address_field.toPlainText() == address
    assert not dialog.open_button.isVisible()


def test_a_crash_is_shown_with_all_there_is_to_copy(make_window: Any, qtbot: Any) -> None:
    window, world = make_window()
    report = CrashReport("Something went wrong inside Loquat.", "Qt 6.12", "Traceback: here", True)
    world.conductor.dialogs.show_crash(report)
    dialog = window.findChild(CrashDialog)
    assert dialog is not None
    assert "saved first" in dialog.sentence
    dialog.copy_button.click()
    assert QGuiApplication.clipboard().text() == report.text
    world.conductor.dialogs.show_crash(report)
    assert len(window.findChildren(CrashDialog)) == 1
    dialog.close_button.click()
    assert not dialog.isVisible()


def test_a_model_file_that_is_dropped_is_used(make_window: Any, qtbot: Any, tmp_path: Path) -> None:
    window, world = make_window()
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(tmp_path / "model.gguf"))])
    event = QDropEvent(
        QPointF(5, 5),
        Qt.DropAction.CopyAction,
        data,
        Qt.MouseButton.LeftButton,
        Qt.KeyboardModifier.NoModifier,
    )
    world.commands.say("add", {"event": "done", "name": "imported"})
    window.dropEvent(event)
    qtbot.waitUntil(lambda: world.worker.loaded == [None, "imported"])
    assert world.commands.calls == [["add", str(tmp_path / "model.gguf"), "--json"]]
    qtbot.waitUntil(lambda: world.chats.model.phase == "ready")


def test_every_button_without_words_has_a_name_and_tab_reaches_the_controls(make_window: Any, qtbot: Any) -> None:
    window, world = make_window()
    ask(window, "Why?")
    qtbot.waitUntil(lambda: bool(answers(window)) and idle(world))
    world.chats.notice.emit(Notice("Something."))
    buttons = [button for button in window.findChildren(QAbstractButton) if button.isVisible()]
    assert all(button.accessibleName() or button.text() for button in buttons)
    reached: set[QWidget] = set()
    for _ in range(40):
        QTest.keyClick(QApplication.focusWidget() or window, Qt.Key.Key_Tab)
        focus = QApplication.focusWidget()
        if focus is not None:
            reached.add(focus)
    # Jump stays hidden at the end of a conversation, and Send cannot be pressed without text.
    missed = [b for b in buttons if b not in reached and b.isEnabled()]
    assert [b.accessibleName() or b.text() for b in missed] == []
    assert {window.composer.editor, window.sidebar.list, window.chat} <= reached


def test_tab_goes_through_the_messages_as_they_stand(make_window: Any, qtbot: Any) -> None:
    window, world = make_window(Reply(("One",)), Reply(("```\nx\n```\n\n", "Two")))
    for count in (2, 4):
        ask(window, "Why?")
        qtbot.waitUntil(lambda count=count: len(world.session.messages()) == count and idle(world))
    window.chat.setFocus()
    reached: list[str] = []
    while not window.composer.editor.hasFocus() and len(reached) < 40:
        QTest.keyClick(QApplication.focusWidget(), Qt.Key.Key_Tab)
        reached.append(QApplication.focusWidget().accessibleName())
    asked = ["Ask this question in other words", "Copy this question", "More"]
    answered = ["Copy this answer", "Answer once more; this answer is kept"]
    forked = ["Go on from here in a new chat; this one stays as it is", "More"]
    assert reached == [*asked, *answered, *forked, *asked, "Copy this code", *answered, *forked, "Your question"]
    for wanted in (window.composer.attach_button, window.composer.assistant_button):
        QTest.keyClick(QApplication.focusWidget(), Qt.Key.Key_Tab)
        assert wanted.hasFocus()


def test_an_inspector_opened_over_the_conversation_stays_when_there_is_room(make_window: Any, qtbot: Any) -> None:
    window, _ = make_window()
    window.resize(960, 800)
    QTest.keySequence(window, QKeySequence("F12"))
    qtbot.waitUntil(lambda: window.inspector.isVisible() and window.inspector.geometry().right() < window.width())
    window.resize(1240, 800)
    assert window.inspector.isVisible()
    assert window.chat.mapTo(window, window.chat.rect().topRight()).x() < window.inspector.x()
    told: list[bool] = []
    window.inspector_toggled.connect(told.append)
    window.resize(960, 800)
    assert not window.inspector.isVisible()
    window.resize(1240, 800)
    assert window.inspector.isVisible()
    assert told == [False, True], "its button goes with it"


def test_the_inspector_is_there_again_on_its_page_after_a_restart(make_window: Any, qtbot: Any, theme: Theme) -> None:
    window, world = make_window()
    window.show_inspector(True)
    window.inspector.show_page("memory")
    window.close()
    again = MainWindow(theme)
    Conductor(again, world.program(theme))
    qtbot.addWidget(again)
    again.resize(1200, 800)  # the geometry that was kept is cut to the screen of the test
    with qtbot.waitExposed(again):
        again.show()
    assert again.inspector.isVisible()
    assert again.inspector.page == "memory"
    again.show_inspector(False)
    third = MainWindow(theme)
    Conductor(third, world.program(theme))
    qtbot.addWidget(third)
    assert not third.inspector_shown


def test_geometry_is_kept(make_window: Any, qtbot: Any, theme: Theme) -> None:
    window, world = make_window()
    window.resize(780, 600)
    window.close()
    assert world.settings.get("window_geometry")
    again = MainWindow(theme)
    Conductor(again, world.program(theme))
    qtbot.addWidget(again)
    assert again.size() == window.size()
