"""The model commands as child processes: they can neither freeze the window nor hold its memory, and can be ended."""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Callable, Sequence
from typing import Any, Final

from PySide6.QtCore import QDeadlineTimer, QObject, QProcess, QProcessEnvironment, Qt, QTimer, Signal

from app.i18n import translate
from app.model_offers import Failure, Progress, failure, progress
from engine.own_command import own_command

log = logging.getLogger(__name__)

TOKEN: Final = "HF_TOKEN"  # noqa: S105 - the variable's name, which the commands read
PATIENCE_MS: Final = 3000  # with children that are asked to end, at the end of the program
PAUSE_MS: Final = 15_000  # the same while the program goes on: an import may have to finish what it is writing
FOUND_EXIT: Final = 1  # of a check that found something
ERROR_EXIT: Final = 2
_MOST_SAID: Final = 4000  # bytes of a child's standard error that are kept
_SILENT: Final = Failure("cancelled", "")


class ModelJob(QObject):
    """One command with `--json`, from its start to its end. What it says is told line by line.

    Args:
        program: The words in front of the arguments.
        arguments: Of Loquat's command line.
        token: An access token for the hub, where no keyring keeps it; handed on in the environment alone.
    """

    progressed = Signal(object)  # Progress
    done = Signal(object)  # dict: the last line, or the one object that a list is
    failed = Signal(object)  # Failure

    def __init__(
        self, program: Sequence[str], arguments: Sequence[str], token: str = "", parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._said = b""
        self._lines = b""
        self._ends: Progress | dict[str, Any] | Failure | None = None
        self._given_up = False
        self._over = False
        self._process = process = QProcess(self)
        process.setProgram(program[0])
        process.setArguments([*program[1:], *arguments])
        process.setProcessEnvironment(_environment(token))
        process.readyReadStandardOutput.connect(self._read)
        process.readyReadStandardError.connect(self._read_errors)
        # Some systems say already inside `start` that it failed: nobody knows the job by then.
        process.errorOccurred.connect(self._not_begun, Qt.ConnectionType.QueuedConnection)
        process.finished.connect(self._finished)
        process.setStandardInputFile(QProcess.nullDevice())
        self._patience = QTimer(self)
        self._patience.setSingleShot(True)
        self._patience.setInterval(PAUSE_MS)
        self._patience.timeout.connect(process.kill)

    def start(self) -> None:
        """Begin; returns at once."""
        self._process.start()

    def pause(self) -> None:
        """End the command; what was downloaded stays. It fails as "cancelled", without a sentence.

        One that does not listen is killed after a while, so that it holds up nothing that waits for it.
        """
        self._given_up = True
        if sys.platform == "win32":
            self._process.kill()  # there is nothing milder for a program without a window
        else:
            self._process.terminate()
            self._patience.start()

    def wait(self, deadline: QDeadlineTimer) -> None:
        """Let the child end, or end it when the time is over; for the end of the program."""
        self._patience.stop()
        if self._process.state() != QProcess.ProcessState.NotRunning and not self._process.waitForFinished(
            max(1, deadline.remainingTime())
        ):
            self._process.kill()
            self._process.waitForFinished(PATIENCE_MS)

    def _read(self) -> None:
        self._lines += bytes(self._process.readAllStandardOutput().data())
        *whole, self._lines = self._lines.split(b"\n")
        for line in whole:
            self._take(line)

    def _take(self, line: bytes) -> None:
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            return  # a library printed something; what matters is said in JSON
        if not isinstance(value, dict):
            return
        event = value.get("event")
        if event == "progress":
            self.progressed.emit(progress(value))
        elif event == "failed":
            self._ends = failure(value)
        elif event in ("done", None):
            self._ends = value

    def _read_errors(self) -> None:
        self._said = (self._said + bytes(self._process.readAllStandardError().data()))[-_MOST_SAID:]

    def _not_begun(self, error: QProcess.ProcessError) -> None:
        if error is QProcess.ProcessError.FailedToStart:
            sentence = translate("model_jobs", "Loquat could not start itself for this; please start it anew.")
            self._end(Failure("other", sentence, self._process.errorString()))

    def _finished(self, code: int, status: QProcess.ExitStatus) -> None:
        self._read()
        self._read_errors()
        if self._lines:
            self._take(self._lines)
        ended = status is QProcess.ExitStatus.NormalExit
        if ended and isinstance(self._ends, dict) and code in (0, FOUND_EXIT):
            self._end({**self._ends, "exit_code": code})
        elif ended and self._ends is None and code == 0:
            self._end({})  # of a command that has nothing to tell
        elif self._given_up:
            self._end(_SILENT)
        else:
            self._end(self._ends if isinstance(self._ends, Failure) else self._unexplained(code))

    def _unexplained(self, code: int) -> Failure:
        """What a child that ended without a last word is said to have done."""
        said = self._said.decode(errors="replace")
        last = said.strip().rpartition("\n")[2]
        if code == ERROR_EXIT and last:
            return Failure("other", last, said)
        log.warning("a model command ended with %s: %s", code, said)
        sentence = translate("model_jobs", "This ended before it was done; please try again.")
        return Failure("other", sentence, f"exit={code}\n{said}".strip())

    def _end(self, end: dict[str, Any] | Failure) -> None:
        if self._over:
            return
        self._over = True
        self._patience.stop()
        if isinstance(end, Failure):
            self.failed.emit(end)
        else:
            self.done.emit(end)


class ModelJobs(QObject):
    """Starts commands, and ends those that are not done when the program ends.

    Attributes:
        program: The words in front of the arguments; tests put a stand-in there.
        token: An access token that no keyring keeps.
    """

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.program: Sequence[str] = own_command()
        self.token = ""
        self._jobs: list[ModelJob] = []

    def run(
        self, arguments: Sequence[str], done: Callable[[dict[str, Any]], None], failed: Callable[[Failure], None]
    ) -> ModelJob:
        """Start a command; one of the two is called when it is over."""
        job = ModelJob(self.program, arguments, self.token, self)
        self._jobs.append(job)
        job.done.connect(done)
        job.failed.connect(failed)
        job.done.connect(lambda _: self._forget(job))
        job.failed.connect(lambda _: self._forget(job))
        job.start()
        return job

    def close(self) -> None:
        """End everything that goes on; nobody is told of it."""
        deadline = QDeadlineTimer(PATIENCE_MS)
        for job in self._jobs:
            job.blockSignals(True)
            job.pause()
        for job in self._jobs:
            job.wait(deadline)
        self._jobs.clear()

    def _forget(self, job: ModelJob) -> None:
        self._jobs.remove(job)
        job.deleteLater()


def _environment(token: str) -> QProcessEnvironment:
    environment = QProcessEnvironment.systemEnvironment()
    environment.insert("PYTHONIOENCODING", "utf-8")
    if token:
        environment.insert(TOKEN, token)
    return environment
