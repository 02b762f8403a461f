"""A person at the real window with a scripted worker: looks at it, and uses a real mouse and real keys."""

from __future__ import annotations

import json
import select
import subprocess
import sys
from pathlib import Path
from typing import Any, BinaryIO

from engine.paths import Paths
from tests.integration.screen import ROOT, Program, Screen, wait_until

PATIENCE_S = 20
QUESTION = "Your question"


class Person(Program):
    """`tests.integration.watched` on a screen, with a home.

    Args:
        answers: How many words each answer has; 50 of them come in a second.
    """

    def __init__(self, screen: Screen, home: Paths, logs: Path, answers: tuple[int, ...] = ()) -> None:
        self._answers = answers
        super().__init__(screen, home, logs)

    def _start(self, log: BinaryIO) -> subprocess.Popen[Any]:
        command = [sys.executable, "-m", "tests.integration.watched"]
        environ = {**self.environ, "WATCHED_REPLIES": ",".join(map(str, self._answers))}
        pipe = subprocess.PIPE
        return subprocess.Popen(command, cwd=ROOT, env=environ, stdin=pipe, stdout=pipe, stderr=log, text=True)

    # -- eyes --------------------------------------------------------------------------------------------------

    def look(self, what: str, wanted: str) -> Any:
        """What the window says to a question of `tests.integration.watched`."""
        self.alive()
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps({what: wanted}) + "\n")
        self.process.stdin.flush()
        ready, _, _ = select.select([self.process.stdout], [], [], PATIENCE_S)
        assert ready, f"the window does not answer:\n{self.log.read_text()}"
        answer = json.loads(self.process.stdout.readline())
        assert not isinstance(answer, dict), answer["fault"]
        return answer

    def sees(self, text: str) -> None:
        """Wait until this is written somewhere."""
        wait_until(lambda: self.look("says", text), PATIENCE_S, f"the words {text!r}")

    def place(self, what: str, wanted: str) -> tuple[int, int]:
        """Wait until something is there and does not move any more; the middle of it."""
        seen: list[Any] = []

        def settled() -> bool:
            seen.append(self.look(what, wanted))
            return seen[-1] is not None and seen[-3:] == [seen[-1]] * 3

        wait_until(settled, PATIENCE_S, f"{what} {wanted!r}")
        x, y, width, height = seen[-1]
        return x + width // 2, y + height // 2

    # -- hands -------------------------------------------------------------------------------------------------

    def click(self, name: str) -> None:
        """Click on the widget with this name."""
        self.screen.click(*self.place("find", name))

    def click_row(self, title: str, times: int = 1, button: int = 1) -> None:
        """Click on a row of a list."""
        self.screen.click(*self.place("row", title), times, button)

    def ask(self, question: str) -> None:
        """Type a question and press Enter."""
        self.screen.type(question)
        wait_until(lambda: self.look("text", QUESTION) == question, PATIENCE_S, "what was typed")
        self.screen.press("Return")

    # -- what the database holds -------------------------------------------------------------------------------

    def wait_for(self, statement: str, *values: object, rows: int = 1) -> list[Any]:
        """Wait until a question to the database has so many answers."""

        def found() -> list[Any]:
            self.alive()
            answer = self.rows(statement, *values)
            return answer if len(answer) == rows else []

        return list(wait_until(found, PATIENCE_S, f"{statement} {values}"))

    def answered(self, question: str, words: int, times: int = 1) -> list[Any]:
        """Wait until a question has so many complete answers; all that have so many words."""
        statement = """SELECT answer.*, question.id AS question_id FROM message AS answer
            JOIN message AS question ON question.id = answer.parent_id
            WHERE question.content = ? AND answer.status = 'complete' AND answer.content = ? ORDER BY answer.key"""
        return self.wait_for(statement, question, script(words), rows=times)


def script(words: int) -> str:
    """What the scripted worker answers with so many words."""
    return "".join(f"word{number} " for number in range(words))
