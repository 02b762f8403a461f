"""Nothing goes online unasked: starting, listing, loading, chatting. Real processes, whose every access is seen."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.chat import RequestHandle
from engine.models.registry import Registry
from engine.offline import stay_offline
from engine.paths import Paths
from tests.engine.hub.conftest import done
from tests.engine.hub.stand_in import wait_until

ROOT = Path(__file__).parents[2]
# Any look at an address outside this machine's own files ends the process with this.
ONLINE = 99
WATCHED = f"""
import os, socket, sys

def watch(event, arguments):
    asks = event in ("socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr")
    if asks or (event in ("socket.connect", "socket.sendto") and arguments[0].family != socket.AF_UNIX):
        print("ONLINE", event, arguments[1:], file=sys.stderr, flush=True)
        os._exit({ONLINE})

sys.addaudithook(watch)
from app.__main__ import main
sys.exit(main(sys.argv[1:]))
"""


def start(*arguments: str, typed: str | None = None) -> subprocess.Popen[str]:
    """The program, with nothing in its environment that keeps libraries quiet."""
    quiet: dict[str, str] = {}
    stay_offline(quiet)
    environment = {name: value for name, value in os.environ.items() if name not in quiet}
    return subprocess.Popen(
        [sys.executable, "-P", "-c", f"import sys; sys.path.insert(0, {str(ROOT)!r})\n{WATCHED}", *arguments],
        env=environment,
        stdin=subprocess.PIPE if typed is not None else subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def run(*arguments: str) -> str:
    """What it prints; it succeeds."""
    child = start(*arguments)
    said, complaints = child.communicate(timeout=120)
    assert child.returncode == 0, complaints
    return said


def test_the_guard_sees_a_search(loquat_home: Paths, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_ENDPOINT", "http://localhost:9")
    child = start("models", "search", "anything")
    assert "ONLINE" in child.communicate(timeout=60)[1]
    assert child.returncode == ONLINE


def add(paths: Paths, folder: Path) -> None:
    done(Registry(paths.models).add(folder, RequestHandle("test"), "tiny"))


def test_listing_loading_and_chatting_ask_nobody(loquat_home: Paths, tiny_model: Callable[..., Path]) -> None:
    add(loquat_home, tiny_model("llama"))
    assert "tiny" in run("models", "list")
    assert run("models", "downloads") == "No download is unfinished.\n"
    # In floats, for which no kernels have to be compiled.
    assert run("chat", "--model", "tiny", "--prompt", "Hello", "--max-tokens", "3", "--dtype", "float32")


def has_loaded(paths: Paths) -> bool:
    """Whether the window has a model, whose name it keeps for the next start."""
    settings = paths.config / "settings.json"
    return settings.is_file() and "last_model" in json.loads(settings.read_text(encoding="utf-8"))


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no signal that asks a window's program to end")
def test_an_open_window_asks_nobody(loquat_home: Paths, tiny_model: Callable[..., Path]) -> None:
    add(loquat_home, tiny_model("llama"))
    child = start()
    wait_until(lambda: child.poll() is not None or has_loaded(loquat_home), 60)
    with pytest.raises(subprocess.TimeoutExpired):  # it stays open, with idle work to do
        child.wait(3)
    began = time.monotonic()
    child.send_signal(signal.SIGTERM)
    complaints = child.communicate(timeout=60)[1]
    assert child.returncode == 0, complaints
    assert time.monotonic() - began < 30
