"""The whole program, as its own process or in this one, with a scripted worker behind the window."""

from __future__ import annotations

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import textwrap
import threading
from functools import partial
from pathlib import Path

import pytest
from PySide6.QtCore import QEvent, QObject, QRect, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from app import migrations
from app.desktop import Desktop
from app.draft import Draft
from app.records import Attachment
from app.single_instance import SingleInstance
from app.store import Store
from app.views.dialogs import LinkDialog
from app.views.settings_dialog import SettingsDialog
from engine.errors import EngineError
from engine.explain.version import program_version
from engine.models.bundled import OVERRIDE
from engine.models.catalogue import DEFAULT_MODEL
from engine.updates import Release
from tests.app.fake_worker import FakeWorker, Load, Reply

PROGRAM = textwrap.dedent(
    """
    import sys
    from PySide6.QtCore import QTimer
    from PySide6.QtWidgets import QApplication
    from app import single_instance
    from app.desktop import run
    from app.views.refusal_dialog import RefusalDialog
    from tests.app.fake_worker import FakeWorker

    class Worker(FakeWorker):
        def load(self, name, config):
            window = next(w for w in QApplication.topLevelWidgets() if w.objectName() == "window")
            print("loading", name, window.isVisible(), window.windowTitle(), flush=True)
            return super().load(name, config)

    def read(dialog):
        dialog.show()
        where = dialog.file_field.toPlainText() if dialog.folder_button.isVisible() else ""
        print("shown:", dialog.sentence, where, flush=True)
        dialog.quit_button.click()

    RefusalDialog.exec = read
    single_instance.PATIENCE_S, single_instance.ANSWER_MS = 0.3, 100
    model = sys.argv[1] if len(sys.argv) > 1 else None
    sys.exit(run(["--model", model, "--new"] if model else [], Worker))
    """
)

posix = pytest.mark.skipif(sys.platform == "win32", reason="these signals are POSIX")


@pytest.fixture
def start():
    children = []

    def begin(*arguments, before=(), program=PROGRAM):
        command = [*before, sys.executable, "-c", program, *arguments]
        child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        children.append(child)
        return child

    yield begin
    for child in children:
        if child.poll() is None:
            child.kill()
        child.communicate()


@pytest.fixture
def read_only():
    """Makes a folder that can only be read; answers what to put before a command that shall find it so."""
    locked = []

    def lock(folder):
        folder.mkdir(parents=True)
        folder.chmod(0o555)
        locked.append(folder)
        if not os.access(folder, os.W_OK):
            return []
        mount = 'mount --bind "$0" "$0" && mount -o remount,ro,bind "$0" && exec "$@"'  # modes do not bind root
        before = ["unshare", "-m", "sh", "-c", mount, str(folder)]
        if shutil.which("unshare") is None or subprocess.run([*before, "true"], check=False).returncode:
            pytest.skip("this user can write every folder")
        return before

    yield lock
    for folder in locked:
        folder.chmod(0o755)


@posix
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_terminal_can_end_it_cleanly(start, loquat_home, number):
    child = start()
    assert child.stdout.readline() == "loading None True Loquat\n"
    child.send_signal(number)
    out, err = child.communicate(timeout=20)
    assert (child.returncode, out, err) == (0, "", "")
    assert {file.name for file in loquat_home.data.iterdir()} == {"conversations.sqlite3"}
    log = (loquat_home.logs / "loquat.log").read_text()
    assert "ERROR" not in log
    assert "WARNING" not in log


@posix
def test_a_second_start_brings_the_first_window_up_and_ends(start, loquat_home):
    first = start()
    assert first.stdout.readline().startswith("loading None")
    second = start("other")
    out, err = second.communicate(timeout=20)
    assert (second.returncode, out, err) == (0, "", "")
    assert first.stdout.readline() == "loading other True Loquat\n"
    first.send_signal(signal.SIGTERM)
    assert first.communicate(timeout=20)[1] == ""
    assert first.returncode == 0


def test_a_newer_database_is_refused_with_a_sentence(start, loquat_home):
    Store(loquat_home.database).close()
    db = sqlite3.connect(loquat_home.database)
    db.execute(f"PRAGMA user_version = {len(migrations.STEPS) + 1}")
    db.close()
    child = start()
    out, err = child.communicate(timeout=20)
    sentence = "Your chats were saved by a newer version of Loquat. Please update Loquat to open them."
    assert (child.returncode, out, err) == (2, f"shown: {sentence} {loquat_home.database}\n", f"{sentence}\n")


def test_a_data_folder_that_is_a_file_is_refused_with_a_sentence(start, loquat_home):
    loquat_home.data.parent.mkdir(parents=True, exist_ok=True)
    loquat_home.data.write_text("in the way")
    child = start()
    out, err = child.communicate(timeout=20)
    assert child.returncode == 2
    assert err.startswith("Loquat cannot keep its files in ")
    assert out == f"shown: {err.strip()} \n"


def test_a_data_folder_that_can_only_be_read_is_refused_with_a_sentence(start, loquat_home, read_only):
    child = start(before=read_only(loquat_home.data))
    out, err = child.communicate(timeout=20)
    assert child.returncode == 2
    assert err.startswith(f"Loquat cannot keep its files in {loquat_home.data}: ")
    assert out == f"shown: {err.strip()} \n"


@posix
@pytest.mark.parametrize("part", ["config", "cache", "logs"])
def test_it_runs_where_only_conversations_can_be_kept(start, loquat_home, read_only, part):
    folder = getattr(loquat_home, part)
    child = start(before=read_only(folder))
    assert child.stdout.readline() == "loading None True Loquat\n"
    child.send_signal(signal.SIGTERM)
    out, err = child.communicate(timeout=20)
    assert (child.returncode, out) == (0, ""), err
    assert "Traceback" not in err
    assert err.count(f"The log {folder / 'loquat.log'} cannot be written: ") == (part == "logs")


def test_a_first_that_does_not_answer_is_told_on_the_screen_too(start, loquat_home):
    silent = SingleInstance(loquat_home.data)
    assert silent.claim()
    child = start()
    out, err = child.communicate(timeout=20)
    silent.release()
    assert child.returncode == 2
    assert err == "Loquat is running already, but does not answer. Please close it and try again.\n"
    assert out == f"shown: {err.strip()} \n"


def test_a_fault_before_there_is_a_window_is_told_with_the_place_of_the_log(start, loquat_home):
    child = start(program=PROGRAM.replace("class Worker(FakeWorker):", "class Worker(FakeWorker):\n    start = None\n"))
    out, err = child.communicate(timeout=20)
    log, sentence = loquat_home.logs / "loquat.log", "Something went wrong inside Loquat."
    assert (child.returncode, out, err) == (2, f"shown: {sentence} {log}\n", f"{sentence}\n")
    assert "'NoneType' object is not callable" in log.read_text()


def test_one_that_is_just_ending_when_it_is_asked_is_followed_by_the_new_one(qtbot, start, loquat_home):
    ending = SingleInstance(loquat_home.data)
    assert ending.claim()
    ending._server.newConnection.connect(ending.release)
    child = start()
    with qtbot.waitSignal(ending._server.newConnection, timeout=20_000):
        pass
    assert child.stdout.readline() == "loading None True Loquat\n"


class Paints(QObject):
    """Notes when the window is painted."""

    def __init__(self, told):
        super().__init__()
        self.told = told

    def eventFilter(self, watched, event):
        if event.type() == QEvent.Type.Paint:
            self.told.append("painted")
        return False


@pytest.fixture
def make_desktop(qtbot, loquat_home):
    made = []

    def make(*replies, worker=FakeWorker, models=None):
        desktop = Desktop(QApplication.instance(), loquat_home, partial(worker, replies=replies))
        if models is not None:
            desktop.bridge._worker.models = list(models)
        made.append(desktop)
        return desktop

    yield make
    for desktop in made:
        desktop.window.close()
        if desktop.bridge._worker.thread.is_alive():
            assert desktop.close()
        desktop.window.deleteLater()
        desktop.theme.deleteLater()


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


def test_closing_the_window_in_mid_reply_loses_nothing(qtbot, make_desktop):
    gate = threading.Semaphore(0)
    desktop = make_desktop(Reply(pieces=tuple("abcd"), gate=gate))
    desktop.show()
    qtbot.waitUntil(lambda: desktop.chats.model.phase == "ready")
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


def test_an_answer_that_ends_with_the_program_leaves_nothing_to_be_read(qtbot, make_desktop):
    desktop = make_desktop(Reply(pieces=("One.",)), Reply(pieces=("Two.",), gate=threading.Semaphore(0)))
    desktop.show()
    qtbot.waitUntil(lambda: desktop.chats.model.phase == "ready")
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
    qtbot, make_desktop, tmp_path, monkeypatch
):
    file = tmp_path / "bundle" / Path(DEFAULT_MODEL.member).name
    file.parent.mkdir()
    with file.open("wb") as bundled:
        bundled.truncate(DEFAULT_MODEL.nbytes)
    monkeypatch.setenv(OVERRIDE, str(file.parent))
    desktop = make_desktop(models=())
    desktop.show()
    qtbot.waitUntil(lambda: desktop.chats.model.phase == "ready")
    assert desktop.bridge._worker.loaded == [None]
    assert not desktop.window.start_page.setup_card.isVisible()


def test_a_first_start_with_a_model_that_is_not_here_offers_the_one_to_get(qtbot, make_desktop):
    desktop = make_desktop(models=())
    desktop.bridge._worker.loads = [Load(EngineError("The model nonsense is not installed."))]
    desktop.show("nonsense")
    card = desktop.window.start_page.setup_card
    qtbot.waitUntil(lambda: card.isVisible() and "Download" in card.get_button.text())
    assert desktop.chats.model.phase == "failed"


def test_a_new_version_is_told_in_the_window_and_its_page_is_asked_about(qtbot, make_desktop):
    desktop = make_desktop()
    desktop.show()
    qtbot.waitUntil(lambda: desktop.chats.model.phase == "ready")
    desktop.updates._tell(Release("99.0", "2026-12-01", "https://loquat.example/99.0", {}))
    (card,) = desktop.window.notices.cards
    assert card.notice.sentence == f"Loquat 99.0 is out; you have {program_version()}."
    card.notice.action()
    dialog = desktop.window.findChild(LinkDialog)
    assert dialog.isVisible() and dialog.address_field.toPlainText() == "https://loquat.example/99.0"
    dialog.close()


def test_another_language_is_spoken_at_once_and_what_is_written_stays(qtbot, make_desktop):
    desktop = make_desktop()
    desktop.show()
    qtbot.waitUntil(lambda: desktop.chats.model.phase == "ready")
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
def test_what_is_read_stays_and_so_do_the_settings_when_the_window_is_made_anew(qtbot, make_desktop, name, value):
    desktop = make_desktop(Reply(tuple(f"Paragraph {number} of the answer.\n\n" for number in range(60))))
    desktop.show()
    qtbot.waitUntil(lambda: desktop.chats.model.phase == "ready")
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


def test_an_open_edit_goes_on_in_a_window_that_is_made_anew(qtbot, make_desktop):
    desktop = make_desktop(Reply())
    desktop.show()
    qtbot.waitUntil(lambda: desktop.chats.model.phase == "ready")
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


def test_every_chat_that_is_answered_is_marked_also_in_a_window_that_is_made_anew(qtbot, make_desktop):
    gate = threading.Semaphore(0)
    desktop = make_desktop(Reply(("Slow",), gate=gate))
    desktop.show()
    qtbot.waitUntil(lambda: desktop.chats.model.phase == "ready")
    desktop.chats.current.send("Slow question")
    slow = desktop.chats.current.conversation.id
    desktop.chats.new()
    before = desktop.window
    desktop.settings.set("density", "compact")
    qtbot.waitUntil(lambda: desktop.window is not before)
    assert desktop.window.sidebar.list.listing.busy == {slow}
    gate.release(9)
    qtbot.waitUntil(lambda: desktop.window.sidebar.list.listing.busy == frozenset())


def test_a_quick_question_is_asked_beside_the_window_and_goes_on_in_it(qtbot, make_desktop):
    desktop = make_desktop(Reply(("Quick.",)))
    desktop.show()
    qtbot.waitUntil(lambda: desktop.chats.model.phase == "ready")
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


def test_a_quick_question_whose_chat_is_gone_for_good_is_in_nobodys_way(qtbot, make_desktop):
    desktop = make_desktop()
    desktop.show()
    qtbot.waitUntil(lambda: desktop.chats.model.phase == "ready")
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


def test_a_quick_answer_goes_on_when_the_windows_are_made_anew_and_its_links_are_asked_about(qtbot, make_desktop):
    gate = threading.Semaphore(0)
    desktop = make_desktop(Reply(("Slow ", "answer."), gate=gate))
    desktop.show()
    qtbot.waitUntil(lambda: desktop.chats.model.phase == "ready")
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
