"""The offer to fetch torch for an NVIDIA GPU: made once, carried out by a child process, and given up in no time."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from app import cuda_offer
from app.cuda_offer import CudaOffer
from app.live import Notice
from app.model_jobs import ModelJob
from engine.cuda_pack import CudaSource
from engine.paths import Paths
from tests.app.model_commands import Commands

FAR = {"event": "progress", "stage": "download", "done": 5, "total": 10, "sentence": "Fetching: 50 %"}
DEAF = """
import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN)
print('{"event": "progress", "done": 1, "total": 2, "sentence": "Fetching"}', flush=True)
while True: time.sleep(1)
"""


@pytest.fixture
def commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Commands:
    """A machine with such a GPU and none of what it needs, and what stands in for the command."""
    (tmp_path / "commands").mkdir()
    made = Commands(tmp_path / "commands")
    source = CudaSource("2.0", "3.11", ())
    monkeypatch.setattr(cuda_offer, "read_source", lambda: source)
    monkeypatch.setattr(cuda_offer, "nvidia_driver", lambda: True)
    monkeypatch.setattr(cuda_offer, "own_command", lambda: made.program)
    return made


@pytest.fixture
def said() -> list[Notice]:
    return []


@pytest.fixture
def offer(qtbot: Any, commands: Commands, loquat_home: Paths, said: list[Notice]) -> Iterator[CudaOffer]:
    made = CudaOffer(loquat_home, said.append)
    yield made
    made.close()


def press(notice: Notice) -> None:
    assert notice.action is not None
    notice.action()


def test_nothing_is_fetched_until_the_person_says_so(
    offer: CudaOffer, commands: Commands, said: list[Notice], qtbot: Any
) -> None:
    commands.say("install", FAR, {"event": "done"})
    offer.begin()
    assert [notice.action_label for notice in said] == ["Fetch it"]
    assert commands.calls == []
    press(said[0])
    qtbot.waitUntil(lambda: len(said) == 3)
    assert commands.calls == [["install", "--json"]]
    assert [(notice.sentence, notice.action_label) for notice in said[1:]] == [
        ("Fetching: 50 %", "Cancel"),
        ("The GPU is used from the next start of Loquat on.", ""),
    ]


def test_what_fails_is_said_and_can_be_tried_again(
    offer: CudaOffer, commands: Commands, said: list[Notice], qtbot: Any
) -> None:
    failed = {"event": "failed", "kind": "network", "sentence": "There is no network."}
    commands.say("install", FAR, failed, {"exit": 2})
    offer.begin()
    press(said[0])
    qtbot.waitUntil(lambda: len(said) == 3)
    assert (said[2].sentence, said[2].action_label) == ("There is no network.", "Try again")
    commands.say("install", FAR, {"event": "done"})
    press(said[2])
    qtbot.waitUntil(lambda: len(said) == 5)
    assert (said[3].sentence, said[3].action_label) == ("Fetching: 50 %", "Cancel"), "where it stopped, it goes on"


def test_the_window_does_not_wait_for_a_child_that_is_given_up(
    offer: CudaOffer, commands: Commands, said: list[Notice], qtbot: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    (commands.folder / "deaf.py").write_text(DEAF)
    program = [sys.executable, "-I", "-S", str(commands.folder / "deaf.py")]
    monkeypatch.setattr(cuda_offer, "own_command", lambda: program)
    monkeypatch.setattr(cuda_offer, "PATIENCE_MS", 300)
    offer.begin()
    press(said[0])
    qtbot.waitUntil(lambda: len(said) == 2)
    with monkeypatch.context() as patch:
        patch.setattr(ModelJob, "wait", lambda *_: pytest.fail("it is waited for"))
        press(said[1])


def test_a_machine_without_such_a_gpu_is_not_asked(
    offer: CudaOffer, said: list[Notice], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cuda_offer, "nvidia_driver", lambda: False)
    offer.begin()
    assert said == []
