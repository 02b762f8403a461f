"""The self-test's part in the window: does what a person would do, looks at what is drawn, and reports it."""

from __future__ import annotations

import argparse
import json
import os
import time
import traceback
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any, Final

from PySide6.QtCore import QEvent, QObject, Qt, QTimer
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QApplication, QWidget

from app.desktop import Desktop, run
from app.live import Notice
from app.options import SELF_TEST_WINDOW
from app.records import StoredMessage
from app.self_test import BEGAN, FAILED
from app.session import Session
from app.views.code_view import CodeView
from app.views.formula_view import FormulaView
from app.views.formulas import OBJECT
from engine.atomic import write_atomically
from engine.events import Event, TextDelta
from engine.machine import peak_resident

QUESTION: Final = "Count from one to twenty in words."
AGAIN: Final = "Which of these numbers is the largest?"
MOST_TOKENS: Final = 48  # enough to see a stream, soon over on a slow machine
DELTAS: Final = 3  # a text that comes in fewer pieces is no stream
DRAWN: Final = (
    "The roots are\n\n$$x = \\frac{-b \\pm \\sqrt{b^2 - 4ac}}{2a}$$\n\n```python\ndef root(a):\n    return a\n```\n"
)
POLL_MS: Final = 10

# A step waits until something is so; a string says what it is doing.
Steps = Generator[Callable[[], bool] | str, None, None]


class Failed(Exception):
    """What should be so is not; the message is a sentence."""


def main(arguments: list[str]) -> int:
    """Run one part of the self-test in the real window; 0 if it went well."""
    parser = argparse.ArgumentParser()
    parser.add_argument(SELF_TEST_WINDOW, dest="part", choices=("first", "again"))
    parser.add_argument("--model")
    parser.add_argument("--self-test-output", type=Path)
    options = parser.parse_args(arguments)
    model = ["--model", options.model] if options.model else []
    return run(model, attend=lambda desktop: Tester(desktop, options.part, options.self_test_output))


class Tester(QObject):
    """Takes one step after the other on the window's thread, and ends the program after the last.

    Args:
        part: "first" or "again".
        report: The file in which stand the stage and, at the end, the result.
    """

    def __init__(self, desktop: Desktop, part: str, report: Path) -> None:
        super().__init__()
        self._desktop = desktop
        self._report = report
        self._began = float(os.environ.get(BEGAN, time.time()))
        self._found: dict[str, Any] = {}
        self._said: list[Notice] = []
        self._pieces: list[float] = []
        self._until: Callable[[], bool] = lambda: True
        self._steps = self._first() if part == "first" else self._again()
        self._painted = False
        desktop.chats.notice.connect(self._said.append)
        desktop.bridge.arrived.connect(self._note, Qt.ConnectionType.QueuedConnection)
        desktop.chats.bug_found.connect(lambda error: self._fail(error.sentence, error.detail))
        desktop.window.installEventFilter(self)
        self._timer = QTimer(self)
        self._timer.timeout.connect(self._look)
        self._timer.start(POLL_MS)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Note when the window is painted for the first time."""
        if event.type() == QEvent.Type.Paint and not self._painted:
            self._painted = True
            self._stamp("window_s")
        return False

    # -- the two parts -----------------------------------------------------------------------------------------

    def _first(self) -> Steps:
        yield from self._begin()
        yield from self._ask(QUESTION)
        self._found["messages"] = self._messages()

    def _again(self) -> Steps:
        yield "finding the conversation again"
        yield lambda: self._painted
        self._found["messages"] = self._messages()
        yield from self._draw()
        yield from self._begin()
        self._desktop.chats.open(self._found["conversation"])
        yield from self._ask(AGAIN)
        del self._found["conversation"]

    def _begin(self) -> Steps:
        yield "opening the window"
        yield lambda: self._painted
        yield "loading the model"
        yield self._model_is_ready
        self._stamp("model_s")
        info = self._desktop.chats.model.info
        if info is not None:
            self._found["model"] = {"label": info.label, "weights": info.dtype, "weight_bytes": info.weight_bytes}
            self._found["device"] = {"name": info.device, "why": info.device_reason}

    def _ask(self, question: str) -> Steps:
        yield "asking a question"
        self._desktop.settings.set("max_tokens", MOST_TOKENS)
        composer, session = self._desktop.window.composer, self._session()
        pieces = self._pieces
        pieces.clear()
        self._said.clear()  # what was told before has nothing to do with it
        composer.editor.setPlainText(question)
        asked = time.perf_counter()
        composer.button.click()
        yield lambda: self._expect_answer(session)
        ended = time.perf_counter()
        answer = session.messages()[-1]
        self._check_answer(answer, len(pieces))
        figures = answer.stats
        self._found["answer"] = {
            "first_token_s": round(pieces[0] - asked, 3),
            "answer_s": round(ended - asked, 3),
            "pieces": len(pieces),
            "tokens": figures.completion_tokens if figures else None,
            "tokens_per_s": round(figures.decode_tokens_per_s, 1) if figures and figures.decode_tokens_per_s else None,
        }
        yield "showing the answer"
        yield lambda: self._is_on_view(answer)

    def _draw(self) -> Steps:
        """Show an answer with a formula and code, and look at what is drawn of it."""
        yield "opening a conversation with a formula and code"
        self._found["conversation"] = self._session().conversation.id
        store = self._desktop.store
        shown = store.create("Drawn")
        question = StoredMessage(shown.id, "user", "How?")
        store.add_message(question)
        store.add_message(StoredMessage(shown.id, "assistant", DRAWN, parent_id=question.id))
        if not store.flush(5):
            raise Failed("The conversation could not be saved.")
        self._desktop.chats.reread()
        self._desktop.chats.open(shown.id)
        yield lambda: self._view_of(FormulaView) is not None and self._view_of(CodeView) is not None
        yield "drawing a formula"
        yield lambda: not self._desktop.window.chat.formulas.busy and self._shows_a_picture()
        self._found["formula"] = _picture(self._view_of(FormulaView))
        yield "colouring code"
        yield lambda: len(_colours(self._view_of(CodeView))) > 3
        self._found["code"] = _picture(self._view_of(CodeView))

    # -- what is looked at -------------------------------------------------------------------------------------

    def _session(self) -> Session:
        session = self._desktop.chats.current
        if session is None:
            raise Failed("There is no conversation on view.")
        return session

    def _messages(self) -> list[list[str]]:
        return [[message.role, message.status, message.content] for message in self._session().messages()]

    def _model_is_ready(self) -> bool:
        model = self._desktop.chats.model
        offer = self._desktop.first_model.offer
        if model.phase == "failed":
            raise Failed(model.sentence)
        if offer is not None:
            raise Failed("There is no model: none came with the program, and none is installed.")
        return model.phase == "ready"

    def _note(self, event: Event) -> None:
        """Count the pieces as the engine sends them: a quick answer is drawn a few of them at a time."""
        if isinstance(event, TextDelta) and event.text:
            self._pieces.append(time.perf_counter())

    def _expect_answer(self, session: Session) -> bool:
        answered = len(session.messages()) % 2 == 0 and not session.busy
        if self._said and not answered:
            raise Failed(self._said[-1].sentence)
        return answered and bool(session.messages())

    def _check_answer(self, answer: StoredMessage, pieces: int) -> None:
        if answer.role != "assistant" or answer.status not in ("complete", "length") or not answer.content.strip():
            raise Failed(f"The answer is not whole: {answer.status}.")
        if pieces < DELTAS:
            raise Failed(f"The answer came in {pieces} pieces, so it did not stream.")

    def _is_on_view(self, answer: StoredMessage) -> bool:
        views = self._desktop.window.chat.message_views()
        return bool(views) and views[-1].isVisible() and views[-1].text == answer.content

    def _view_of(self, kind: type[QWidget]) -> Any:  # noqa: ANN401 - of that kind, or None
        found = self._desktop.window.chat.findChildren(kind)
        return found[0] if found else None

    def _shows_a_picture(self) -> bool:
        return OBJECT in self._view_of(FormulaView).document.toPlainText()

    # -- one step after the other ------------------------------------------------------------------------------

    def _look(self) -> None:
        try:
            if not self._until():
                return
            step = next(self._steps)
            if isinstance(step, str):
                self._write({"stage": step})
            self._until = (lambda: True) if isinstance(step, str) else step
        except StopIteration:
            self._stamp("total_s")
            self._found["peak_memory_bytes"] = peak_resident()
            self._end({"ok": True, **self._found}, 0)
        except Failed as failure:
            self._fail(str(failure), "")
        except Exception:
            self._fail("Something went wrong inside Loquat.", traceback.format_exc())

    def _stamp(self, name: str) -> None:
        self._found[name] = round(time.time() - self._began, 3)

    def _fail(self, sentence: str, detail: str) -> None:
        self._end({"ok": False, "sentence": sentence, "detail": detail}, FAILED)

    def _end(self, report: dict[str, Any], code: int) -> None:
        self._timer.stop()
        self._write(report)
        QApplication.exit(code)

    def _write(self, report: dict[str, Any]) -> None:
        write_atomically(self._report, json.dumps(report))


def _picture(view: QWidget) -> dict[str, int]:
    """The size of what is drawn, and in how many colours."""
    return {"width": view.width(), "height": view.height(), "colours": len(_colours(view))}


def _colours(view: QWidget) -> set[int]:
    image = view.grab().toImage().convertToFormat(QImage.Format.Format_RGB32)
    return {image.pixel(x, y) for x in range(0, image.width(), 2) for y in range(image.height())}
