"""The whole program in this process, with a scripted worker behind the window: its start, its first model, its end."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtTest import QTest

from app.views.dialogs import LinkDialog
from engine.errors import EngineError
from engine.explain.version import program_version
from engine.models.bundled import OVERRIDE
from engine.models.catalogue import DEFAULT_MODEL
from engine.updates import Release
from tests.app.fake_worker import FakeWorker, Load, Reply


class Paints(QObject):
    """Notes when the window is painted."""

    def __init__(self, told):
        super().__init__()
        self.told = told

    def eventFilter(self, watched, event):
        if event.type() == QEvent.Type.Paint:
            self.told.append("painted")
        return False


def test_the_model_is_loaded_only_when_the_window_has_been_painted(qtbot, make_desktop):
    told = []

    class Worker(FakeWorker):
        def load(self, name, config):
            told.append("load")
            return super().load(name, config)

    desktop = make_desktop(worker=Worker)
    watcher = Paints(told)
    desktop.window.installEventFilter(watcher)
    desktop.show()
    qtbot.waitUntil(lambda: desktop.chats.model.phase == "ready")
    assert told[0] == "painted"
    assert told.count("load") == 1


def test_closing_the_window_in_mid_reply_loses_nothing(qtbot, make_desktop, ready_desktop):
    gate = threading.Semaphore(0)
    desktop = ready_desktop(Reply(pieces=tuple("abcd"), gate=gate))
    desktop.chats.current.send("slow")
    gate.release(3)
    qtbot.waitUntil(lambda: desktop.chats.current.live.completion_tokens == 3)
    desktop.window.resize(700, 600)
    desktop.window.close()
    assert desktop.close()

    again = make_desktop()
    again.show()
    assert [m.content for m in again.chats.current.messages()] == ["slow", "abc"]
    assert again.window.size().toTuple() == (700, 600)


def test_an_answer_that_ends_with_the_program_leaves_nothing_to_be_read(qtbot, ready_desktop):
    desktop = ready_desktop(Reply(pieces=("One.",)), Reply(pieces=("Two.",), gate=threading.Semaphore(0)))
    session = desktop.chats.current
    session.send("Why?")
    qtbot.waitUntil(lambda: not session.busy)
    desktop.window.show_inspector(True)
    desktop.window.inspector.show_page("history")
    assert session.regenerate(session.messages()[-1].id)
    log = desktop.conductor.inspection._log
    desktop.window.close()
    with qtbot.waitSignal(session.thread_changed):  # the first answer is shown again
        assert desktop.close()
    assert log._latest is None


@pytest.mark.expects_log("settings could not be read")
@pytest.mark.expects_log("the database is damaged")
def test_what_was_put_aside_at_the_start_is_told_in_the_window(qtbot, make_desktop, loquat_home):
    loquat_home.config.mkdir(parents=True)
    (loquat_home.config / "settings.json").write_text("{")
    loquat_home.data.mkdir(parents=True)
    loquat_home.database.write_bytes(b"no database" * 1000)
    desktop = make_desktop()
    notices = []
    desktop.chats.notice.connect(notices.append)
    desktop.show()
    qtbot.waitUntil(lambda: desktop.chats.model.phase == "ready")
    assert [("settings" in n.sentence, "damaged" in n.sentence) for n in notices] == [(True, True), (False, True)]


def test_the_first_start_fetches_nothing_unasked(qtbot, make_desktop):
    desktop = make_desktop(models=())
    desktop.show()
    card = desktop.window.start_page.setup_card
    qtbot.waitUntil(lambda: card.isVisible() and "Download" in card.get_button.text())
    assert desktop.chats.model.phase == "none"
    card.get_button.click()
    qtbot.waitUntil(lambda: desktop.chats.model.phase == "ready")
    assert not card.isVisible()
    assert desktop.bridge._worker.loaded == [DEFAULT_MODEL.name], "by its name: only then it may be downloaded"


def test_a_question_before_the_first_model_waits_under_the_offer_of_one(qtbot, make_desktop):
    desktop = make_desktop(models=())
    desktop.show()
    card = desktop.window.setup_card
    qtbot.waitUntil(lambda: desktop.first_model.offer is not None)
    assert not card.isVisible(), "the page of an empty chat offers it"
    editor = desktop.window.composer.editor
    waiting = []
    for question in ("One", "Two"):
        desktop.conductor.new_chat()
        QTest.keyClicks(editor, question)
        QTest.keyClick(editor, Qt.Key.Key_Return)
        waiting.append(desktop.chats.current)
    assert card.isVisible() and card.models_button.isVisible()
    assert card.get_button.text() == "Download, 98 MB"
    assert desktop.window.chat.waiting_line.words == "Waiting for the model"
    assert desktop.window.notices.cards == ()
    QTest.mouseClick(card.get_button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: not any(session.busy for session in waiting))
    assert [session.messages()[-1].content for session in waiting] == ["You said: One", "You said: Two"]
    assert not card.isVisible()
    assert desktop.bridge._worker.loaded == [DEFAULT_MODEL.name]


def test_the_first_start_of_an_installed_program_loads_the_model_that_came_with_it(
    qtbot, ready_desktop, tmp_path, monkeypatch
):
    file = tmp_path / "bundle" / Path(DEFAULT_MODEL.member).name
    file.parent.mkdir()
    with file.open("wb") as bundled:
        bundled.truncate(DEFAULT_MODEL.nbytes)
    monkeypatch.setenv(OVERRIDE, str(file.parent))
    desktop = ready_desktop(models=())
    assert desktop.bridge._worker.loaded == [None]
    assert not desktop.window.start_page.setup_card.isVisible()


def test_a_first_start_with_a_model_that_is_not_here_offers_the_one_to_get(qtbot, make_desktop):
    desktop = make_desktop(models=())
    desktop.bridge._worker.loads = [Load(EngineError("The model nonsense is not installed."))]
    desktop.show("nonsense")
    card = desktop.window.start_page.setup_card
    qtbot.waitUntil(lambda: card.isVisible() and "Download" in card.get_button.text())
    assert desktop.chats.model.phase == "failed"


def test_a_new_version_is_told_in_the_window_and_its_page_is_asked_about(qtbot, ready_desktop):
    desktop = ready_desktop()
    desktop.updates._tell(Release("99.0", "2026-12-01", "https://loquat.example/99.0", {}))
    (card,) = desktop.window.notices.cards
    assert card.notice.sentence == f"Loquat 99.0 is out; you have {program_version()}."
    card.notice.action()
    dialog = desktop.window.findChild(LinkDialog)
    assert dialog.isVisible() and dialog.address_field.toPlainText() == "https://loquat.example/99.0"
    dialog.close()
