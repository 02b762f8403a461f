"""What the commands print alike: counts as people read them, and steps."""

from __future__ import annotations

import io
import json
from collections.abc import Generator

import pytest

from app.views.models.model_words import parameters
from engine.cli_models.lines import say
from engine.cli_models.shown import count, finish
from engine.errors import Cancelled
from engine.events import LoadStage
from engine.models.progress import Step


@pytest.mark.parametrize(
    ("number", "shown"),
    [
        (130_048, "130 k"),
        (999_499, "999 k"),
        (999_500, "1 M"),
        (134_515_008, "135 M"),
        (999_499_999, "999 M"),
        (1_543_714_304, "1.5 B"),
    ],
)
def test_parameters_are_said_alike_on_the_command_line_and_in_the_window(number: int, shown: str) -> None:
    assert count(number) == parameters(number) == shown


class Terminal(io.StringIO):
    """What is printed to a terminal."""

    def isatty(self) -> bool:
        return True


def steps() -> Generator[Step, None, str]:
    yield Step(LoadStage.DOWNLOAD, 0, 2, "It is a download of 2 MB", lasting=True)
    yield Step(LoadStage.DOWNLOAD, 1, 2, "Downloading it: 1 of 2 MB")
    yield Step(LoadStage.DOWNLOAD, 2, 2, "Downloading it: 2 of 2 MB")
    return "it"


def test_on_a_terminal_one_line_changes_and_what_is_to_last_stays() -> None:
    out = Terminal()
    assert finish(steps(), out) == "it"
    again = "\r\033[K"
    changing = f"{again}Downloading it: 1 of 2 MB{again}Downloading it: 2 of 2 MB{again}"
    assert out.getvalue() == f"{again}It is a download of 2 MB\n{changing}"


def test_what_is_said_after_a_step_that_failed_begins_on_an_empty_line() -> None:
    def failing() -> Generator[Step, None, None]:
        yield Step(LoadStage.DOWNLOAD, 1, 2, "Downloading it: 1 of 2 MB")
        raise Cancelled

    out = Terminal()
    with pytest.raises(Cancelled):
        finish(failing(), out)
    assert out.getvalue() == "\r\033[KDownloading it: 1 of 2 MB\r\033[K"


def test_a_changing_line_is_never_wrapped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "20")
    out = Terminal()
    assert finish(steps(), out) == "it"
    shown = out.getvalue().replace("\n", "\r\033[K").split("\r\033[K")
    assert shown == ["", "It is a download of 2 MB", "", *["Downloading it: 1 o", "Downloading it: 2 o"], ""]


def test_json_lines_go_through_a_pipe_of_any_encoding(monkeypatch: pytest.MonkeyPatch) -> None:
    pipe = io.TextIOWrapper(io.BytesIO(), encoding="cp1252")  # as an installed program has it on Windows
    monkeypatch.setattr("sys.stdout", pipe)
    value = {"folder": "C:/Users/小明/½", "name of half a character": "\udcff"}
    say(value)
    assert json.loads(pipe.buffer.getvalue()) == value  # type: ignore[attr-defined]


def test_elsewhere_each_kind_of_step_is_a_line() -> None:
    out = io.StringIO()
    assert finish(steps(), out) == "it"
    assert out.getvalue().splitlines() == ["It is a download of 2 MB", "Downloading it"]
