"""The whole program with the engine's own worker: a server is added in the window, answers, and fails."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication

from app.desktop import Desktop
from app.views.figures import text_of
from engine.config import EngineConfig
from engine.keys import Keys
from engine.worker import Worker
from tests.engine.remote.scripted import MODEL, Exchange, Scripted, refuses, running, says
from tests.memory_keyring import MemoryKeyring

pytestmark = pytest.mark.timeout(120)

PATIENCE_MS = 20_000
USAGE = {"prompt_tokens": 30, "completion_tokens": 4, "prompt_tokens_details": {"cached_tokens": 20}}


@pytest.fixture
def scripted():
    with running(Scripted([says("Because ", "it ", "is so.", usage=USAGE)])) as made:
        yield made


@pytest.fixture
def desktop(qtbot, loquat_home):
    keys = Keys(MemoryKeyring())
    made = Desktop(
        QApplication.instance(), loquat_home, lambda emit: Worker(emit, EngineConfig(), loquat_home, keys=keys)
    )
    made.chats.restore()
    made.window.resize(1300, 800)
    with qtbot.waitExposed(made.window):
        made.window.show()
    made.notices = []
    made.chats.notice.connect(made.notices.append)
    yield made
    made.window.close()
    assert made.close()
    made.window.deleteLater()
    made.theme.deleteLater()


def add_server(qtbot, desktop, scripted: Scripted, key: str = "") -> None:
    """As a person does it."""
    desktop.window.header.server_requested.emit("")
    dialog = desktop.conductor.connecting.dialog
    qtbot.keyClicks(dialog.name_field, "GPU box")
    qtbot.keyClicks(dialog.address_field, scripted.server.base_url)
    qtbot.keyClicks(dialog.key_field, key)
    qtbot.mouseClick(dialog.try_button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: dialog.entry.models == (MODEL,), timeout=PATIENCE_MS)
    qtbot.mouseClick(dialog.save_button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: desktop.chats.model.phase == "ready", timeout=PATIENCE_MS)


def answered(qtbot, desktop, text: str) -> str:
    """The last answer's text, once the turn is over."""
    assert desktop.chats.current.send(text)
    qtbot.waitUntil(lambda: not desktop.chats.current.busy, timeout=PATIENCE_MS)
    return desktop.chats.current.messages()[-1].content


def test_a_chat_with_a_server_says_everywhere_where_the_text_goes(qtbot, desktop, scripted) -> None:
    window = desktop.window
    assert window.sidebar.promise == "Offline. Nothing leaves this machine."
    add_server(qtbot, desktop, scripted, key="sk-9")
    host = scripted.server.host
    assert window.sidebar.promise == f"Online. What you ask in any chat goes to {host}."
    assert window.header.chip.words == "GPU box: big-model"
    assert host in window.status.text
    assert scripted.seen == []  # nothing is sent unasked
    assert answered(qtbot, desktop, "Why?") == "Because it is so."
    assert scripted.seen[0].headers["authorization"] == "Bearer sk-9"
    footer = text_of(window.chat.message_views()[-1].footer.groups)
    assert footer.startswith("by GPU box, TTFT ") and footer.endswith("20 reused + 10 new")
    qtbot.wait(1200)  # what is done in idle time, such as titles, would have been sent by now
    assert len(scripted.seen) == 1
    assert desktop.notices == []


def test_a_fault_is_a_notice_and_what_came_is_kept(qtbot, desktop, scripted) -> None:
    def cut(exchange: Exchange) -> None:
        exchange.begin_stream()
        exchange.piece("Because it")
        exchange.cut()

    add_server(qtbot, desktop, scripted)
    scripted.actions = [cut]
    assert answered(qtbot, desktop, "Why?") == "Because it"
    notice = desktop.notices[-1]
    assert "broke off in the middle of the answer" in notice.sentence and notice.action is not None
    scripted.actions = [says("So it is.")]
    notice.action()
    qtbot.waitUntil(lambda: not desktop.chats.current.busy, timeout=PATIENCE_MS)
    reply = desktop.chats.current.messages()[-1]
    assert reply.content == "So it is." and desktop.chats.current.versions()[reply.id].of == 2
    scripted.actions = [refuses(401)]
    desktop.chats.current.send("And?")
    qtbot.waitUntil(lambda: "asks for a key" in desktop.notices[-1].sentence, timeout=PATIENCE_MS)


def test_stop_keeps_what_came(qtbot, desktop, scripted) -> None:
    def slow(exchange: Exchange) -> None:
        exchange.begin_stream()
        exchange.piece("Because it")
        exchange.ended.wait(20)

    add_server(qtbot, desktop, scripted)
    scripted.actions = [slow]
    desktop.chats.current.send("Why?")
    qtbot.waitUntil(lambda: desktop.chats.current.messages()[-1].content == "Because it", timeout=PATIENCE_MS)
    desktop.conductor.shown.stop()
    qtbot.waitUntil(lambda: not desktop.chats.current.busy, timeout=PATIENCE_MS)
    reply = desktop.chats.current.messages()[-1]
    assert (reply.content, reply.status) == ("Because it", "cancelled")
