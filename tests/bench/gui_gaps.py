"""How long the window's thread cannot respond while the real model loads, reads a long prompt and answers.

    python -m tests.bench.gui_gaps [--tokens 200] [--words 900] [--stacks FILE]
    python -m tests.bench.gui_gaps --scripted [--rate 200] [--words 6000]

Opens the real window (offscreen, unless QT_QPA_PLATFORM says otherwise) with the default model, which is fetched once
into the tests' cache. Prints a line per phase: the gaps between ticks of a 5 ms timer in the window's thread.

With --scripted no model is loaded: an answer of --words words with code, tables and formulas comes at --rate tokens a
second, and the cost of drawing a token is printed for each tenth of it.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import sys
import tempfile
import time
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import IO

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import platformdirs
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication

from app.desktop import SWITCH_INTERVAL_S, Desktop
from app.gui_probe import GuiProbe
from app.live import LiveTurn, ModelState, Notice
from engine import EngineConfig, Paths, RequestHandle, Worker
from tests.app.fake_worker import FakeWorker
from tests.bench.gui_stream import Stream, scripted_reply, tenths

GIVE_UP_S = 300
SETTLE_MS = 500


def model_folder() -> Path:
    """The folder with the default model, fetched and imported if it is missing.

    A process of its own does that: it imports torch, which is to be measured here.
    """
    root = Path(os.environ.get("LOQUAT_TEST_CACHE") or platformdirs.user_cache_path("loquat-tests"))
    models = Paths(root / "data", root / "config", root / "cache", root / "logs").models
    process = multiprocessing.get_context("spawn").Process(target=fetch_model, args=(models,))
    process.start()
    process.join()
    if process.exitcode:
        sys.exit("the default model is not to be had")
    return models


def fetch_model(models: Path) -> None:
    """Make sure that the default model is in `models`."""
    from engine.models.prepare import prepare
    from engine.models.registry import Registry

    for step in prepare(Registry(models), None, RequestHandle("gui_gaps")):
        print(step.sentence, file=sys.stderr)


def long_question(words: int) -> str:
    """A prompt of so many different words: nothing of it is in any cache."""
    numbered = " ".join(f"item{n} weighs {n * 37 % 101} kilograms," for n in range(words // 4))
    return f"Here is a list: {numbered} and that is all. Write a long story about the things in this list."


class Measurement:
    """One run: load, ask, read the answer, quit."""

    def __init__(self, app: QApplication, desktop: Desktop, question: str, stacks: IO[str] | None) -> None:
        self._app = app
        self._desktop = desktop
        self._question = question
        self.probe = GuiProbe(stacks)
        self.problem = ""
        self._phase = ""
        desktop.chats.model_changed.connect(self._model_changed)
        desktop.chats.notice.connect(self._notice)
        QTimer.singleShot(GIVE_UP_S * 1000, app, lambda: self._end(f"not done after {GIVE_UP_S} s"))

    def run(self) -> LiveTurn:
        """Measure; the figures of the answer."""
        self._desktop.show(new=True)
        self.probe.start("before the load")
        self._app.exec()
        assert self._desktop.chats.current is not None
        return self._desktop.chats.current.live

    def _model_changed(self, state: ModelState) -> None:
        self.probe.mark("load" if state.phase == "working" else "idle")
        if state.phase == "ready":
            QTimer.singleShot(SETTLE_MS, self._app, self._ask)

    def _ask(self) -> None:
        session = self._desktop.chats.current
        assert session is not None
        session.turn_changed.connect(self._turn_changed)
        session.send(self._question)

    def _turn_changed(self, turn: LiveTurn) -> None:
        self.probe.mark({"decode": "streaming"}.get(turn.phase, turn.phase))
        if turn.phase == "idle":
            QTimer.singleShot(SETTLE_MS, self._app, lambda: self._end(""))

    def _notice(self, notice: Notice) -> None:
        self._end(notice.sentence)

    def _end(self, problem: str) -> None:
        self.problem = self.problem or problem
        self.probe.stop()
        self._app.quit()


def main() -> int:
    """Run once and print the table; 1 if the run did not come to its end."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tokens", type=int, default=200, help="length of the model's answer")
    parser.add_argument("--words", type=int, help="length of the question, or of the scripted answer")
    parser.add_argument("--scripted", action="store_true", help="a scripted answer in place of the model's")
    parser.add_argument("--rate", type=float, default=200.0, help="tokens a second of the scripted answer")
    parser.add_argument("--stacks", type=Path, help="write the stacks of all threads at long gaps to this file")
    options = parser.parse_args()
    models = None if options.scripted else model_folder()
    sys.setswitchinterval(SWITCH_INTERVAL_S)
    app = QApplication(["loquat"])
    with tempfile.TemporaryDirectory() as folder, stacks_file(options.stacks) as stacks:
        paths = paths_in(Path(folder), models)
        if models is None:
            return run_scripted(app, paths, options.words or 6_000, options.rate, stacks)
        return run_model(app, paths, options.words or 900, options.tokens, stacks)


def stacks_file(path: Path | None) -> AbstractContextManager[IO[str] | None]:
    """The file for stacks, open, or nothing."""
    return path.open("w") if path else nullcontext()


def paths_in(home: Path, models: Path | None) -> Paths:
    """A home for one run, with the models in it."""
    paths = Paths(home / "data", home / "config", home / "cache", home / "logs")
    paths.data.mkdir()
    if models is not None:
        paths.models.symlink_to(models)
    return paths


def run_model(app: QApplication, paths: Paths, words: int, tokens: int, stacks: IO[str] | None) -> int:
    """The real model loads, reads and answers."""
    desktop = Desktop(app, paths, lambda emit: Worker(emit, EngineConfig(), paths, wait_for_kernels=True))
    desktop.settings.set("max_tokens", tokens)
    desktop.settings.set("temperature", 0)
    measurement = Measurement(app, desktop, long_question(words), stacks)
    live = measurement.run()
    desktop.close()
    print_table(measurement.probe)
    print(f"prefill of {live.prefill_total} tokens, TTFT {live.ttft_s or 0:.2f} s; ", end="")
    print(f"{live.completion_tokens} tokens at {live.tokens_per_s or 0:.1f} tokens/s")
    if measurement.problem:
        print(measurement.problem, file=sys.stderr)
    return 1 if measurement.problem else 0


def run_scripted(app: QApplication, paths: Paths, words: int, rate: float, stacks: IO[str] | None) -> int:
    """A scripted answer is drawn."""
    reply = scripted_reply(words, rate)
    desktop = Desktop(app, paths, lambda emit: FakeWorker(emit, (reply,)))
    probe = GuiProbe(stacks, dump_after_s=0.03)
    stream = Stream(app, desktop, probe)
    began = time.perf_counter()
    stream.run()
    took = time.perf_counter() - began
    desktop.close()
    print_table(probe)
    last = stream.samples[-1]
    print(f"{last.tokens} tokens in {took:.0f} s, drawn {last.flushes} times, {last.seconds:.2f} s of drawing")
    print("ms of drawing per token, by tenths:", " ".join(f"{cost:.3f}" for cost in tenths(stream.samples)))
    return 0


def print_table(probe: GuiProbe) -> None:
    """A line per phase, and which one was in the way longest."""
    print(f"{'gaps in ms':<16} {'ticks':>7} {'p50':>7} {'p95':>7} {'p99':>7} {'longest':>8}")
    for phase, gaps in probe.gaps().items():
        print(f"{phase:<16} {gaps.count:>7} {gaps.p50:>7.1f} {gaps.p95:>7.1f} {gaps.p99:>7.1f} {gaps.max:>8.1f}")
    phase, longest = probe.longest()
    print(f"the longest gap, {longest:.0f} ms, fell into: {phase}")


if __name__ == "__main__":
    sys.exit(main())
