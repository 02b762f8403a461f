"""The model commands as child processes: what they say, how they end, and that none outlives the program."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

import psutil
import pytest
from PySide6.QtCore import QCoreApplication

from app.model_jobs import ModelJob, ModelJobs
from app.model_offers import Failure, Progress, Task, offers, paused
from app.model_queue import ModelQueue
from engine.own_command import own_command
from tests.app.model_commands import Commands

FAR = {"event": "progress", "stage": "download", "done": 3, "total": 9, "rate": 2.0, "left_s": 3.0, "sentence": "Now"}


class Heard:
    """A command, and all that was heard of it."""

    def __init__(self, jobs: ModelJobs, *arguments: str) -> None:
        self.progress: list[Progress] = []
        self.ends: list[dict[str, Any] | Failure] = []
        self.job: ModelJob = jobs.run(arguments, self.ends.append, self.ends.append)
        self.job.progressed.connect(self.progress.append)


@pytest.fixture
def commands(tmp_path: Path) -> Commands:
    (tmp_path / "commands").mkdir()
    return Commands(tmp_path / "commands")


@pytest.fixture
def jobs(qtbot: Any, commands: Commands) -> Any:
    made = ModelJobs()
    made.program = commands.program
    yield made
    made.close()


def test_progress_comes_as_it_is_said_and_then_one_end(jobs: ModelJobs, commands: Commands, qtbot: Any) -> None:
    commands.say("get", FAR, {"wait": "go"}, {"event": "done", "name": "ünï"})
    heard = Heard(jobs, "models", "get", "x")
    qtbot.waitUntil(lambda: heard.progress == [Progress("download", 3, 9, 2.0, 3.0, "Now")])
    assert heard.ends == []
    commands.go_on("go")
    qtbot.waitUntil(lambda: bool(heard.ends))
    assert heard.ends == [{"event": "done", "name": "ünï", "exit_code": 0}]


def scripted(jobs: ModelJobs, commands: Commands, code: str) -> None:
    """Let a child run this code, whatever the command."""
    script = commands.folder / "child.py"
    script.write_text(code)
    jobs.program = [sys.executable, "-I", "-S", str(script), str(commands.folder)]


def test_what_is_no_json_is_passed_over(jobs: ModelJobs, commands: Commands, qtbot: Any) -> None:
    deep = "print('[' * 100_000)"
    scripted(
        jobs,
        commands,
        f"print('a library says something'); print('[1]'); {deep}; print('{{\"event\": \"done\"}}', end='')",
    )
    heard = Heard(jobs, "models", "get")
    qtbot.waitUntil(lambda: heard.ends == [{"event": "done", "exit_code": 0}])


def test_figures_that_are_none_are_not_believed(jobs: ModelJobs, commands: Commands, qtbot: Any) -> None:
    nonsense = f'{{"event": "progress", "done": NaN, "total": 1e999, "rate": Infinity, "left_s": {10**400}}}'
    scripted(jobs, commands, f'print({nonsense!r}); print(\'{{"event": "done"}}\')')
    heard = Heard(jobs, "models", "get")
    qtbot.waitUntil(lambda: bool(heard.ends))
    assert heard.progress == [Progress()]


def test_a_sentence_that_comes_in_two_pieces_is_whole(jobs: ModelJobs, commands: Commands, qtbot: Any) -> None:
    said = "没有这个模型。".encode()
    scripted(
        jobs,
        commands,
        "import os, sys, time\n"
        f"os.write(2, {said[:4]!r}); print({json.dumps(FAR)!r}, flush=True)\n"
        "while not os.path.exists(sys.argv[1] + '/go'): time.sleep(0.01)\n"
        f"os.write(2, {said[4:]!r}); sys.exit(2)",
    )
    heard = Heard(jobs, "models", "get")
    qtbot.waitUntil(lambda: heard.job._said == said[:4])
    commands.go_on("go")
    qtbot.waitUntil(lambda: bool(heard.ends))
    assert heard.ends == [Failure("other", said.decode(), said.decode())]


@pytest.mark.parametrize(
    ("lines", "end"),
    [
        ([{"error": "No such model."}, {"exit": 2}], Failure("other", "No such model.", "No such model.\n")),
        (
            [{"event": "failed", "kind": "disk", "sentence": "The disk is full.", "detail": "d"}, {"exit": 2}],
            Failure("disk", "The disk is full.", "d"),
        ),
        ([{"exit": 0}], {}),
    ],
)
def test_an_end_is_told_in_a_sentence(
    jobs: ModelJobs, commands: Commands, qtbot: Any, lines: list[dict[str, Any]], end: object
) -> None:
    commands.say("get", *lines)
    heard = Heard(jobs, "models", "get")
    qtbot.waitUntil(lambda: heard.ends == [end])


@pytest.mark.expects_log("a model command ended with 3")
def test_a_child_that_breaks_off_is_told_so(jobs: ModelJobs, commands: Commands, qtbot: Any) -> None:
    commands.say("get", FAR, {"error": "Traceback"}, {"exit": 3})
    heard = Heard(jobs, "models", "get")
    qtbot.waitUntil(lambda: bool(heard.ends))
    assert heard.ends == [Failure("other", "This ended before it was done; please try again.", "exit=3\nTraceback")]


def test_a_program_that_is_not_there_is_told_so(jobs: ModelJobs, qtbot: Any) -> None:
    jobs.program = ["/nowhere/loquat"]
    heard = Heard(jobs, "models", "get")
    qtbot.waitUntil(lambda: bool(heard.ends))
    assert isinstance(heard.ends[0], Failure) and heard.ends[0].sentence.startswith("Loquat could not start itself")


def test_a_pause_ends_the_child_without_a_word(jobs: ModelJobs, commands: Commands, qtbot: Any) -> None:
    commands.say("get", FAR, {"wait": "never"})
    heard = Heard(jobs, "models", "get")
    qtbot.waitUntil(lambda: bool(heard.progress))
    child = psutil.Process(heard.job._process.processId())
    heard.job.pause()
    qtbot.waitUntil(lambda: heard.ends == [Failure("cancelled", "")])
    assert not child.is_running()


DEAF = (
    "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
    'print(\'{"event": "progress"}\', flush=True)\nwhile True: time.sleep(1)'
)


def test_a_child_that_does_not_listen_holds_up_nothing_that_waits(
    jobs: ModelJobs, commands: Commands, qtbot: Any
) -> None:
    scripted(jobs, commands, DEAF)
    heard = Heard(jobs, "models", "get")
    qtbot.waitUntil(lambda: bool(heard.progress))
    heard.job._patience.setInterval(20)
    heard.job.pause()
    qtbot.waitUntil(lambda: heard.ends == [Failure("cancelled", "")])


@pytest.mark.skipif(sys.platform == "win32", reason="limits on open files are POSIX; there it is said within start too")
def test_a_start_that_fails_at_once_is_told_when_somebody_listens(
    jobs: ModelJobs, commands: Commands, qtbot: Any
) -> None:
    import resource

    queue = ModelQueue(jobs)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (3, hard))  # as where the machine has none left
    try:
        queue.add(Task("x", "X", "x"))
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    qtbot.waitUntil(lambda: [task.state for task in queue.tasks] == ["failed"])
    with qtbot.waitSignal(queue.done):
        queue.resume("x")


def test_one_that_is_wanted_again_before_it_has_ended_is_done(jobs: ModelJobs, commands: Commands, qtbot: Any) -> None:
    commands.say("get", FAR, {"wait": "never"})
    queue = ModelQueue(jobs)
    queue.add(Task("x", "X", "x"))
    qtbot.waitUntil(lambda: queue.tasks[0].progress.done == 3)
    commands.say("get", {"event": "done", "name": "x"})
    queue.cancel("x")
    queue.add(Task("x", "X", "x"))
    with qtbot.waitSignal(queue.done):
        pass
    assert commands.calls == [["get", "x", "--json"]] * 2, "and nothing of it was dropped meanwhile"


def test_a_child_that_hears_nothing_is_ended_with_the_program(
    jobs: ModelJobs, commands: Commands, qtbot: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.model_jobs.PATIENCE_MS", 300)
    scripted(jobs, commands, DEAF)
    heard = Heard(jobs, "models", "get")
    qtbot.waitUntil(lambda: bool(heard.progress))
    child = psutil.Process(heard.job._process.processId())
    began = time.monotonic()
    jobs.close()
    assert time.monotonic() - began < 3
    assert not child.is_running()
    QCoreApplication.processEvents()
    assert heard.ends == [], "nobody is there any more"


def test_the_real_command_is_understood(jobs: ModelJobs, qtbot: Any, loquat_home: Any, tmp_path: Path) -> None:
    jobs.program = own_command()
    listed, refused = (
        Heard(jobs, "models", "list", "--json"),
        Heard(jobs, "models", "add", str(tmp_path / "x"), "--json"),
    )
    qtbot.waitUntil(lambda: bool(listed.ends and refused.ends), timeout=60_000)
    assert listed.ends == [{"models": [], "elsewhere": [], "exit_code": 0}]
    assert refused.ends == [Failure("not_found", f"There is no file or folder {tmp_path / 'x'}.", "")]


def test_a_task_that_is_wanted_twice_is_done_once(jobs: ModelJobs, commands: Commands, qtbot: Any) -> None:
    commands.say("get", FAR, {"wait": "go"}, {"event": "done", "name": "x"})
    queue = ModelQueue(jobs)
    done: list[tuple[str, str]] = []
    queue.done.connect(lambda task, name: done.append((task.id, name)))
    queue.add(Task("x", "X", "x"))
    queue.add(Task("y", "Y", "y"))
    queue.add(Task("y", "Y", "y", "int8"))
    queue.add(Task("x", "X", "x"))
    assert [(task.id, task.state, task.weights) for task in queue.tasks] == [
        ("x", "running", ""),
        ("y", "waiting", "int8"),
    ]
    commands.go_on("go")
    qtbot.waitUntil(lambda: done == [("x", "x"), ("y", "x")])
    assert commands.calls == [["get", "x", "--json"], ["get", "y", "--weights", "int8", "--json"]]
    assert queue.tasks == ()


def test_one_that_fails_does_not_hold_up_the_others(jobs: ModelJobs, commands: Commands, qtbot: Any) -> None:
    commands.say("get", {"event": "failed", "kind": "network", "sentence": "No network."}, {"exit": 2})
    commands.say("add", {"event": "done", "name": "mine"})
    queue = ModelQueue(jobs)
    failed: list[Task] = []
    queue.failed.connect(failed.append)
    queue.add(Task("x", "X", "x"))
    queue.add(Task("y", "Y", "/y", kind="add"))
    with qtbot.waitSignal(queue.done):
        pass
    assert [task.failure for task in failed] == [Failure("network", "No network.")]
    assert [(task.id, task.state) for task in queue.tasks] == [("x", "failed")]
    commands.say("get", {"event": "done", "name": "x"})
    with qtbot.waitSignal(queue.done):
        queue.resume("x")
    assert queue.tasks == ()


@pytest.mark.parametrize(
    "told",
    [
        {},
        {"models": None},
        {"models": [1, "x", None, [], {}]},
        {"models": [{"label": 3, "sources": "x", "parameters": "many", "languages": None, "gated": "yes"}]},
        {"models": [{"sources": [{"weights": None, "nbytes": -5, "fit": 3}, 4]}, {"chosen": {"nbytes": True}}]},
        {"models": [{"sources": [{"fit": {"kind": "maybe", "tokens_per_s": "fast"}}]}]},
        {"models": [{"parameters": float("nan"), "languages": 7}, {"parameters": float("inf")}]},
    ],
)
def test_offers_are_read_without_trust(told: dict[str, Any]) -> None:
    assert all(offer.parameters == 0 and not offer.gated for offer in offers(told))
    assert paused({"downloads": told.get("models")}) == ()
