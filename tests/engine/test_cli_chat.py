"""What `loquat chat` hears while it waits for the engine."""

from __future__ import annotations

import argparse
import json
import logging
from collections.abc import Iterator
from contextlib import redirect_stderr
from io import StringIO

import pytest

from engine.chat import ChatRequest, RequestHandle
from engine.cli_chat import _Chat, _ProgressLine, _Terminal
from engine.config import GREEDY, EngineConfig
from engine.errors import BadRequest
from engine.events import UPGRADE, Event, Failed, Finished, FinishReason, Loaded, LoadProgress, LoadStage, ModelInfo
from engine.paths import Paths
from engine.stats import TurnStats

INFO = ModelInfo("m", "M", "llama", 1, 512, "cpu", "", "float32", 1, 1, 1, 0.0)


@pytest.fixture
def terminal(loquat_home: Paths) -> _Terminal:
    """Its worker is never started: the events are the test's."""
    return _Terminal(EngineConfig(), loquat_home)


def test_a_model_that_moves_does_not_end_the_answer(terminal: _Terminal) -> None:
    failed = Failed("turn", BadRequest("The GPU failed; ask again."))
    terminal._events.put(Loaded(UPGRADE, INFO))
    terminal._events.put(failed)
    with pytest.raises(BadRequest, match="ask again"):
        list(terminal._until_done(RequestHandle("turn")))


def test_ctrl_c_stops_the_answer_and_pressed_again_the_program(
    terminal: _Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Pressed:
        """Waits for no event without an end: Windows hears no Ctrl+C in such a wait."""

        def get(self, timeout: float) -> None:
            raise KeyboardInterrupt

    handle = RequestHandle("turn")
    monkeypatch.setattr(terminal, "_events", Pressed())
    with pytest.raises(KeyboardInterrupt):
        terminal._next(handle)
    assert handle.cancelled


class Screen(StringIO):
    """A terminal that keeps what was written to it."""

    def isatty(self) -> bool:
        return True

    @property
    def lines(self) -> list[str]:
        """What stands on it: a carriage return goes back, and what is written there takes the place of what was."""
        shown = []
        for line in self.getvalue().split("\n"):
            cells: list[str] = []
            for part in line.split("\r"):
                cells[: len(part)] = part
            shown.append("".join(cells).rstrip())
        return shown


HALF = LoadProgress("load", LoadStage.LOAD, 1, 2, "Loading a model with a long name")


@pytest.mark.expects_log("Caches stay in memory")
def test_what_is_logged_while_a_model_loads_stands_on_a_line_of_its_own() -> None:
    with redirect_stderr(Screen()) as screen, _ProgressLine() as progress:
        progress.show(HALF)
        assert screen.lines == ["Loading a model with a long name 50 %"]
        logging.getLogger("engine.kv_disk").warning("Caches stay in %s.", "memory")
        assert screen.lines == ["Caches stay in memory.", ""]
        progress.show(HALF)
        assert screen.lines[1] == "Loading a model with a long name 50 %"
    assert screen.lines == ["Caches stay in memory.", ""]


def test_nothing_is_left_of_the_progress_when_the_model_cannot_be_had() -> None:
    with redirect_stderr(Screen()) as screen, pytest.raises(BadRequest), _ProgressLine() as progress:
        progress.show(HALF)
        raise BadRequest("No.")
    assert screen.lines == [""]


def test_json_lines_can_be_written_to_any_pipe(capsys: pytest.CaptureFixture[str]) -> None:
    stats = TurnStats(1, 0, 1, 1, 0.0, 0.0, 0.1, 0.1, None, None, 0, 0.2)

    class Answers:
        """Says one thing."""

        def answer(self, request: ChatRequest) -> Iterator[Event]:
            yield Finished(request.id, FinishReason.END, "你好 🎉", (1,), stats)

    options = argparse.Namespace(json=True, system="")
    _Chat(Answers(), INFO, GREEDY, options).turn("Hello")  # type: ignore[arg-type]
    written = capsys.readouterr().out
    assert written.isascii()
    assert json.loads(written)["text"] == "你好 🎉"
