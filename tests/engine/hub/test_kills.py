"""A download killed at random moments, again and again, in real processes: in the end the model is there, whole."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from engine.hub.plan import Downloads
from engine.models.registry import Registry
from engine.own_command import own_command
from engine.paths import Paths
from tests.engine.hub.conftest import Client, content_of
from tests.engine.hub.stand_in import StandIn, serve, single

ROOT = Path(__file__).parents[3]
REPO = "tiny/killed"
LARGER = {"hidden_size": 128, "intermediate_size": 512, "num_hidden_layers": 6}  # 6 MB of weights
WEIGHTS = "model.safetensors"
GET = ("models", "get", REPO, "--json")


@pytest.fixture
def stand_in(tiny_model: Callable[..., Path]) -> Iterator[StandIn]:
    hub = StandIn({REPO: single(content_of(tiny_model("llama", **LARGER)))}, rate=6_000_000)
    with serve(hub):
        yield hub


def start(hub: StandIn, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*own_command(), *arguments],
        cwd=ROOT,
        env={**os.environ, "HF_ENDPOINT": hub.address},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def kill_somewhere(child: subprocess.Popen[str], stage: str, chance: random.Random) -> int:
    """Kill it a moment after its start, its first progress, or the beginning of the import; its exit code."""
    assert child.stdout is not None
    while stage and (line := child.stdout.readline()) and f'"stage": "{stage}"' not in line:
        pass
    time.sleep(chance.uniform(0, 3 if stage == "import" else 0.8))
    child.kill()
    child.communicate()
    return child.returncode


def forget_what_is_whole(downloads: Downloads) -> None:
    """Of what is all here nothing is downloaded any more, and an import that is not killed takes seconds."""
    for begun in downloads.entries():
        if begun.done == begun.plan.nbytes:
            downloads.drop(begun.folder)


def assert_sound(paths: Paths, hub: StandIn) -> bool:
    """What the registry shows is whole; whether the model is there."""
    entries = Registry(paths.models).entries()
    for entry in entries:
        assert entry.origin == f"{REPO}@{hub.repos[REPO].main}"
        assert (entry.folder / WEIGHTS).read_bytes() == hub.repos[REPO].commits[hub.repos[REPO].main][WEIGHTS]
    return bool(entries)


def run_killed(kills: int, hub: StandIn, paths: Paths, imports: float) -> None:
    chance, killed = random.Random(kills), 0
    while killed < kills:
        stage = "import" if chance.random() < imports else chance.choice(["", "download"])
        if stage == "download":
            forget_what_is_whole(Downloads(paths.models))
        killed += kill_somewhere(start(hub, *GET), stage, chance) == -signal.SIGKILL
        if assert_sound(paths, hub):
            Registry(paths.models).remove("killed")
    last = start(hub, *GET)
    said, complaints = last.communicate(timeout=120)
    assert last.returncode == 0, complaints
    assert json.loads(said.splitlines()[-1])["name"] == "killed"
    assert assert_sound(paths, hub)
    assert [path.name for path in paths.models.iterdir()] == ["killed"]


@pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL is how POSIX ends a process without a word")
def test_a_download_outlives_a_few_kills(stand_in: StandIn, loquat_home: Paths) -> None:
    run_killed(3, stand_in, loquat_home, imports=0)


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL is how POSIX ends a process without a word")
def test_a_download_outlives_fifty_kills(stand_in: StandIn, loquat_home: Paths) -> None:
    run_killed(50, stand_in, loquat_home, imports=0.1)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no signal that asks a program without a window to end")
@pytest.mark.parametrize("number", [signal.SIGTERM, pytest.param(signal.SIGINT, marks=pytest.mark.slow)])
def test_a_signal_pauses_it(stand_in: StandIn, loquat_home: Paths, number: signal.Signals) -> None:
    stand_in.rate = 500_000
    child = start(stand_in, *GET)
    assert child.stdout is not None
    while (line := json.loads(child.stdout.readline()))["done"] < 700_000:
        pass
    began = time.monotonic()
    child.send_signal(number)
    said, complaints = child.communicate(timeout=30)
    assert time.monotonic() - began < 3
    assert line["stage"] == "download" and line["rate"] > 0
    last = json.loads(said.splitlines()[-1])
    assert (child.returncode, last["event"], last["kind"]) == (2, "failed", "cancelled"), complaints
    assert last["sentence"] == f"Paused; it goes on with: loquat models get {REPO}"
    assert complaints == ""
    (begun,) = Downloads(loquat_home.models).entries()
    assert 600_000 < begun.done < begun.plan.nbytes
    stand_in.asked.clear()
    stand_in.rate = 0
    Client(stand_in, loquat_home.models).download(begun)
    weights = [headers for path, headers in stand_in.asked if path.endswith(WEIGHTS)]
    assert int(weights[0]["Range"].removeprefix("bytes=").rstrip("-")) > 500_000
    assert (begun.files / WEIGHTS).read_bytes() == stand_in.repos[REPO].commits[begun.plan.revision][WEIGHTS]
