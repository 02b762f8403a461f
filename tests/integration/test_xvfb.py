"""The whole program on a screen: real keys, a real model, real pictures, a real kill."""

from __future__ import annotations

import itertools
import json
import os
import sqlite3
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from app.records import unpack_ids
from engine.paths import Paths
from tests.integration.screen import Program, Screen, answer_once, missing_tools, wait_until

ABSENT = missing_tools()
pytestmark = [
    pytest.mark.xvfb,
    pytest.mark.model,
    pytest.mark.timeout(600),
    pytest.mark.skipif(sys.platform != "linux", reason="Xvfb is for Linux"),
    pytest.mark.skipif(
        bool(ABSENT) and not os.environ.get("CI"),
        reason=f"needs {', '.join(ABSENT)}: sudo apt install xvfb openbox xdotool imagemagick",
    ),
]
ANSWER_S = 180
SAVE_S = 1.0  # what a kill may cost
SLACK_S = 0.8  # two busy cores, and this test's own polling


@pytest.fixture
def pictures(tmp_path: Path) -> Path:
    return Path(os.environ.get("LOQUAT_PICTURES") or tmp_path / "pictures")


@pytest.fixture
def screen(tmp_path: Path) -> Iterator[Screen]:
    with Screen(tmp_path) as made:
        yield made


@pytest.fixture(scope="session")
def compiled_kernels(model_home: Paths) -> None:
    """The CPU kernels are there: had they to take over between two turns, the second would find an empty cache."""
    answer_once(model_home)


@pytest.fixture
def start(
    screen: Screen, home_with_model: Paths, compiled_kernels: None, tmp_path: Path, pictures: Path
) -> Iterator[Callable[[], Program]]:
    home_with_model.config.mkdir(parents=True, exist_ok=True)
    settings = {"temperature": 0, "theme": "light"}
    (home_with_model.config / "settings.json").write_text(json.dumps(settings), encoding="utf-8")
    started: list[Program] = []

    def make() -> Program:
        started.append(Program(screen, home_with_model, tmp_path))
        return started[-1]

    yield make
    for program in started:
        if program.process.poll() is None:  # the test failed: show where it stood
            screen.picture(pictures / "failed.png")
            print(program.log.read_text(), *map(tuple, program.messages()), sep="\n")
        program.kill()


def ask(program: Program, question: str) -> None:
    program.screen.type(question)
    program.screen.press("Return")


def test_two_turns_typed_answered_kept_and_closed(start: Callable[[], Program], pictures: Path) -> None:
    program = start()
    window = program.window()
    program.screen.picture(pictures / "1-started.png")
    ask(program, "What is the capital of France?")
    program.screen.picture(pictures / "2-asked.png")
    first = wait_until(lambda: program.replies("complete"), ANSWER_S, "the first answer")[0]
    program.screen.picture(pictures / "3-answered.png", window)
    assert "Paris" in first["content"]
    assert program.messages()[0]["content"] == "What is the capital of France?"

    ask(program, "Tell me about its history in a few sentences.")
    wait_until(lambda: len(program.messages()) == 4 and len(program.messages()[-1]["content"]) > 40, ANSWER_S, "words")
    program.screen.picture(pictures / "4-streaming.png")
    second = wait_until(lambda: program.replies("complete")[1:], ANSWER_S, "the second answer")[0]
    program.screen.picture(pictures / "5-second-answer.png")

    before, after = json.loads(first["stats"]), json.loads(second["stats"])
    kept = before["prompt_tokens"] + before["completion_tokens"]
    assert after["cached_tokens"] >= kept - 1  # all of the turn before, at most the last token recomputed
    assert after["prefill_tokens"] < after["cached_tokens"]
    assert after["ttft_s"] > 0
    assert second["parent_id"] is not None

    assert program.close() == 0
    assert "Traceback" not in program.log.read_text()

    again = start()
    again.window()
    again.screen.picture(pictures / "6-reopened.png")
    assert again.close() == 0
    assert len(again.messages()) == 4


def test_a_kill_in_mid_reply_costs_at_most_the_last_second(start: Callable[[], Program], pictures: Path) -> None:
    program = start()
    program.window()
    ask(program, "Write a long story about a ship, a storm and a lighthouse. Tell every detail.")
    wait_until(lambda: program.replies("partial"), ANSWER_S, "the first saved words")

    saves: list[tuple[float, str, int]] = []

    def watched() -> bool:
        row = program.replies("partial")[0]
        if not saves or row["content"] != saves[-1][1]:
            saves.append((time.monotonic(), row["content"], len(unpack_ids(row["token_ids"]) or ())))
        return len(saves) > 3

    wait_until(watched, ANSWER_S, "the growing reply")
    program.screen.picture(pictures / "7-before-the-kill.png")
    program.kill()
    killed = time.monotonic()

    row = next(row for row in program.messages() if row["role"] == "assistant")
    assert row["status"] == "partial"
    assert row["content"].startswith(saves[-1][1])
    seconds_per_token = (saves[-1][0] - saves[0][0]) / (saves[-1][2] - saves[0][2])
    allowed = SAVE_S + seconds_per_token + SLACK_S  # a save shows only when there is a token more than at the last one
    gaps = [later[0] - earlier[0] for earlier, later in itertools.pairwise(saves)]
    assert max(gaps) < allowed, (gaps, seconds_per_token)
    assert killed - saves[-1][0] < allowed
    db = sqlite3.connect(program.home.database)
    assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    db.close()

    again = start()
    again.window()
    again.screen.picture(pictures / "8-after-the-kill.png")
    assert again.close() == 0
    kept = next(row for row in again.messages() if row["role"] == "assistant")
    assert kept["content"] == row["content"]
