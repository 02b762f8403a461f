"""What `loquat chat` hears while it waits for the engine."""

from __future__ import annotations

import pytest

from engine.chat import RequestHandle
from engine.cli_chat import _Terminal
from engine.config import EngineConfig
from engine.errors import BadRequest
from engine.events import UPGRADE, Failed, Loaded, ModelInfo
from engine.paths import Paths

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
