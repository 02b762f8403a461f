"""Quick questions, asked beside the window of the whole program."""

from __future__ import annotations

import threading

from app.views.dialogs import LinkDialog
from tests.app.fake_worker import Reply


def test_a_quick_question_is_asked_beside_the_window_and_goes_on_in_it(qtbot, ready_desktop):
    desktop = ready_desktop(Reply(("Quick.",)))
    quick = desktop.presence.quick
    desktop.presence.toggle_quick_ask()
    qtbot.waitUntil(quick.isVisible)
    quick.asked.emit("Quick question?")
    qtbot.waitUntil(lambda: len(desktop.chats.conversations()) == 1)
    qtbot.waitUntil(lambda: "Quick." in quick.answer.text)
    assert desktop.chats.current.messages() == ()
    quick.opened.emit()
    assert not quick.isVisible()
    assert [m.content for m in desktop.chats.current.messages()] == ["Quick question?", "Quick."]


def test_a_quick_question_whose_chat_is_gone_for_good_is_in_nobodys_way(qtbot, ready_desktop):
    desktop = ready_desktop()
    desktop.presence.quick.asked.emit("First?")
    qtbot.waitUntil(lambda: len(desktop.chats.conversations()) == 1 and not desktop.chats.busy)
    desktop.chats.delete(desktop.chats.conversations()[0].id)
    with qtbot.waitSignal(desktop.presence._session.destroyed):
        desktop.chats._trash.empty()
    window = desktop.window
    desktop.settings.set("density", "compact")
    qtbot.waitUntil(lambda: desktop.window is not window)
    desktop.presence.quick.asked.emit("Second?")
    qtbot.waitUntil(lambda: [chat.title for chat in desktop.chats.conversations()] == ["Second?"])
    desktop.chats.delete(desktop.chats.conversations()[0].id)
    with qtbot.waitSignal(desktop.presence._session.destroyed):
        desktop.chats._trash.empty()
    desktop.window.close()
    assert desktop.close()


def test_a_quick_answer_goes_on_when_the_windows_are_made_anew_and_its_links_are_asked_about(qtbot, ready_desktop):
    gate = threading.Semaphore(0)
    desktop = ready_desktop(Reply(("Slow ", "answer."), gate=gate))
    desktop.presence.toggle_quick_ask()
    before, window = desktop.presence.quick, desktop.window
    before.asked.emit("Quick question?")
    gate.release(1)
    qtbot.waitUntil(lambda: "Slow" in before.answer.text)
    desktop.settings.set("density", "compact")
    qtbot.waitUntil(lambda: desktop.window is not window)
    quick = desktop.presence.quick
    assert quick is not before
    assert quick.isVisible()
    gate.release(9)
    qtbot.waitUntil(lambda: quick.answer.text == "Slow answer.")
    assert before.answer.text != "Slow answer."
    quick.link_activated.emit("https://example.org/")
    assert not quick.isVisible()
    assert desktop.window.findChild(LinkDialog).isVisible()
