"""The window made anew, in another language or size: what was read, written and waited for goes on in it."""

from __future__ import annotations

import threading

import pytest
from PySide6.QtCore import QRect

from app.draft import Draft
from app.records import Attachment
from app.views.settings_dialog import SettingsDialog
from tests.app.fake_worker import Reply


def test_another_language_is_spoken_at_once_and_what_is_written_stays(qtbot, ready_desktop):
    desktop = ready_desktop()
    before = desktop.window
    before.composer.type("half a thought")
    before.show_inspector(True)
    desktop.conductor.dialogs.show_settings()
    desktop.settings.set("language", "zh_CN")
    qtbot.waitUntil(lambda: desktop.window is not before)
    assert desktop.window.sidebar.search_field.placeholderText() == "搜索全部对话"
    assert desktop.window.composer.text == "half a thought"
    assert desktop.window.inspector_shown
    assert desktop.conductor.dialogs.settings_place() is not None
    desktop.settings.set("text_size", "120")
    desktop.settings.set("language", "en")
    qtbot.waitUntil(lambda: desktop.window.sidebar.search_field.placeholderText() == "Search all chats")


@pytest.mark.parametrize(("name", "value"), [("density", "compact"), ("language", "zh_CN"), ("text_size", "120")])
def test_what_is_read_stays_and_so_do_the_settings_when_the_window_is_made_anew(qtbot, ready_desktop, name, value):
    desktop = ready_desktop(Reply(tuple(f"Paragraph {number} of the answer.\n\n" for number in range(60))))
    desktop.chats.current.send("A long answer, please")
    qtbot.waitUntil(lambda: not desktop.chats.current.busy)
    before, bar = desktop.window, desktop.window.chat.verticalScrollBar()
    qtbot.waitUntil(lambda: bar.maximum() > 900)
    bar.setValue(500)
    read = before.chat.place()
    desktop.conductor.dialogs.show_settings()
    dialog = before.findChild(SettingsDialog)
    dialog.setGeometry(90, 60, 500, 480)
    desktop.settings.set(name, value)
    qtbot.waitUntil(lambda: desktop.window is not before)
    assert desktop.window.chat.place() == read
    assert desktop.window.findChild(SettingsDialog).geometry() == QRect(90, 60, 500, 480)


def test_an_open_edit_goes_on_in_a_window_that_is_made_anew(qtbot, ready_desktop):
    desktop = ready_desktop(Reply())
    files = (Attachment("one.txt", "1"), Attachment("two.txt", "2"))
    desktop.chats.current.send("Read these", files)
    qtbot.waitUntil(lambda: not desktop.chats.current.busy)
    before = desktop.window
    view = before.chat.message_views()[0]
    view.again_button.click()
    view.edit_box.editor.setPlainText("Read this")
    view.edit_box.files.chips[0].remove_button.click()
    desktop.settings.set("density", "compact")
    qtbot.waitUntil(lambda: desktop.window is not before)
    box = desktop.window.chat.message_views()[0].edit_box
    assert box.draft == Draft("Read this", files[1:])
    assert desktop.window.focusWidget() is box.editor
    box.send_button.click()
    qtbot.waitUntil(lambda: not desktop.chats.current.busy)
    asked = desktop.chats.current.messages()[0]
    assert (asked.content, asked.attachments) == ("Read this", files[1:])


def test_every_chat_that_is_answered_is_marked_also_in_a_window_that_is_made_anew(qtbot, ready_desktop):
    gate = threading.Semaphore(0)
    desktop = ready_desktop(Reply(("Slow",), gate=gate))
    desktop.chats.current.send("Slow question")
    slow = desktop.chats.current.conversation.id
    desktop.chats.new()
    before = desktop.window
    desktop.settings.set("density", "compact")
    qtbot.waitUntil(lambda: desktop.window is not before)
    assert desktop.window.sidebar.list.listing.busy == {slow}
    gate.release(9)
    qtbot.waitUntil(lambda: desktop.window.sidebar.list.listing.busy == frozenset())
