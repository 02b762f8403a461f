"""The whole program as a process of its own: what it refuses to start with, and how it ends."""

from __future__ import annotations

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import textwrap

import pytest

from app import migrations
from app.single_instance import SingleInstance
from app.store import Store

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
