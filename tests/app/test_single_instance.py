from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap

import pytest
from PySide6.QtNetwork import QLocalSocket

from app.single_instance import ACTIVATION, SingleInstance

HOLDER = textwrap.dedent(
    """
    import sys
    from pathlib import Path
    from PySide6.QtCore import QCoreApplication
    from app.single_instance import SingleInstance

    core = QCoreApplication([])
    instance = SingleInstance(Path(sys.argv[1]))
    instance.activated.connect(lambda arguments: (print(arguments, flush=True), core.quit()))
    print(instance.claim(), flush=True)
    core.exec()
    instance.release()
    """
)

SECOND = textwrap.dedent(
    """
    import sys
    from pathlib import Path
    from app.single_instance import SingleInstance

    instance = SingleInstance(Path(sys.argv[1]))
    print(instance.claim(), instance.hand_over(sys.argv[2:]))
    """
)


@pytest.fixture
def first(qtbot, tmp_path):
    made = SingleInstance(tmp_path / "data")
    assert made.claim()
    yield made
    made.release()


def hold(folder):
    child = subprocess.Popen([sys.executable, "-c", HOLDER, str(folder)], stdout=subprocess.PIPE, text=True)
    return child, child.stdout.readline().strip()


def start_second(folder, *arguments):
    """Another process: QLocalSocket's waiting holds the interpreter lock, so a thread of this one would not do."""
    command = [sys.executable, "-c", SECOND, str(folder), *arguments]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def test_a_second_start_hands_its_arguments_to_the_first(qtbot, tmp_path):
    child, claimed = hold(tmp_path / "data")
    assert claimed == "True"
    second = SingleInstance(tmp_path / "data")
    assert not second.claim()
    assert second.hand_over(["--model", "größer", "--new"])
    assert child.communicate(timeout=10)[0].strip() == "['--model', 'größer', '--new']"
    assert second.claim(), "the first has gone"
    second.release()


def test_the_first_hears_it_in_its_own_event_loop(qtbot, first, tmp_path):
    with qtbot.waitSignal(first.activated) as told:
        second = start_second(tmp_path / "data", "--new")
    assert told.args == [["--new"]]
    assert second.communicate(timeout=10)[0].strip() == "False True"


def test_the_right_to_come_to_the_front_is_handed_over(qtbot, first, tmp_path, monkeypatch):
    monkeypatch.setenv(ACTIVATION, "from-the-shortcut")
    second = start_second(tmp_path / "data", "--toggle")
    monkeypatch.delenv(ACTIVATION)
    with qtbot.waitSignal(first.activated):
        pass
    assert os.environ[ACTIVATION] == "from-the-shortcut"
    second.communicate(timeout=10)


@pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL is POSIX")
def test_a_killed_first_does_not_lock_the_person_out(qtbot, tmp_path):
    child, claimed = hold(tmp_path / "data")
    assert claimed == "True"
    child.send_signal(signal.SIGKILL)
    child.communicate()
    heir = SingleInstance(tmp_path / "data")
    assert heir.claim()
    with qtbot.waitSignal(heir.activated):
        second = start_second(tmp_path / "data")
    assert second.communicate(timeout=10)[0].strip() == "False True"
    heir.release()


def test_a_lock_that_another_machine_left_does_not_lock_the_person_out(qtbot, tmp_path):
    (tmp_path / "data").mkdir()
    lock = tmp_path / "data" / "loquat.lock"
    lock.write_text(f"{os.getpid()}\npython\nanother-host\n0123456789abcdef0123456789abcdef\nits-boot\n")
    heir = SingleInstance(tmp_path / "data")
    assert heir.claim()
    assert not SingleInstance(tmp_path / "data").claim(), "it is held now"
    heir.release()
    assert not lock.exists()


def test_another_folder_is_another_instance(qtbot, first, tmp_path):
    other = SingleInstance(tmp_path / "other")
    assert other.claim()
    other.release()


def test_a_first_that_does_not_answer_is_given_up(qtbot, first, tmp_path, monkeypatch):
    monkeypatch.setattr("app.single_instance.PATIENCE_S", 0.3)
    monkeypatch.setattr("app.single_instance.ANSWER_MS", 100)
    second = SingleInstance(tmp_path / "data")
    assert not second.hand_over(["--new"]), "its event loop does not run"


@pytest.mark.parametrize(
    "line",
    [
        b"not json\n",
        b'{"a": 1}\n',
        b"[1, 2]\n",
        b'{"arguments": [1], "token": ""}\n',
        b'{"arguments": [], "token": 1}\n',
        b"x" * 100_000,
    ],
)
def test_nonsense_on_the_socket_is_hung_up_on(qtbot, first, line):
    heard = []
    first.activated.connect(heard.append)
    socket = QLocalSocket()
    socket.connectToServer(first._name)
    assert socket.waitForConnected(1000)
    with qtbot.waitSignal(socket.disconnected):
        socket.write(line)
    assert heard == []
