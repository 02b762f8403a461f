"""How the window copes with 10,000 conversations of 20 messages: its start, searching, a long chat, scrolling.

    python -m tests.bench.many_chats [--database FILE] [--starts 3]

Makes the database (a minute) unless one is given, which is copied. Each start is a process of its own, with a scripted
worker: torch is loaded behind the window and is not counted. Prints the figures; `tests/integration/test_many_chats.py`
holds them to what is promised. The window is offscreen unless QT_QPA_PLATFORM says otherwise.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

ROOT = Path(__file__).parent.parent.parent
STARTED = "LOQUAT_BENCH_STARTED"  # the moment before the process was asked for, of a clock that all processes share
LONG = "long"
LONG_MESSAGES = 1_000


def make_database(path: Path, conversations: int = 10_000, messages: int = 20) -> None:
    """Write the conversations, and a long one with lists, code, tables and formulas."""
    from app.db_writer import connect
    from app.records import Conversation, StoredMessage
    from app.rows import tree_statements
    from tests.app.many import fill
    from tests.bench.gui_stream import long_answer

    fill(path, conversations, messages)
    section = long_answer(1).split("\n\n")
    talk = Conversation(id=LONG, title="A long chat", created_at=1.0, updated_at=1.0)
    made = [
        StoredMessage(
            LONG,
            "assistant" if at % 2 else "user",
            "\n\n".join(section[at % 7 :][:4]) if at % 2 else f"Question {at}: what does that mean?",
            id=f"{LONG}m{at}",
            parent_id=f"{LONG}m{at - 1}" if at else None,
            created_at=1.0 + at,
        )
        for at in range(LONG_MESSAGES)
    ]
    db = connect(path)
    db.execute("BEGIN")
    for statement, values in tree_statements(talk, made, {}):
        db.execute(statement, values)
    db.execute("COMMIT")
    db.close()


def measure(database: Path, starts: int) -> list[dict[str, Any]]:
    """Start so often, each time in a fresh home with a copy of the database; what each window measured."""
    return [_start_once(database) for _ in range(starts)]


def _start_once(database: Path) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "data"
        data.mkdir()
        shutil.copy2(database, data / "conversations.sqlite3")
        environ = {**os.environ, "LOQUAT_HOME": folder, STARTED: repr(time.monotonic())}
        command = [sys.executable, "-m", "tests.bench.many_chats", "--window"]
        done = subprocess.run(command, cwd=ROOT, env=environ, stdout=subprocess.PIPE, text=True, check=True)
        figures: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
        return figures


def run_window() -> int:
    """Be the program that is measured: start, be looked at, print the figures, quit."""
    started = float(os.environ[STARTED])
    from app.desktop import run

    imported = time.monotonic() - started
    from tests.app.fake_worker import FakeWorker
    from tests.bench.window_watch import Watch

    def make_worker(emit: Callable[..., None]) -> FakeWorker:
        worker = FakeWorker(emit)
        watches.append(Watch(started, {"imported_s": imported}))
        return worker

    watches: list[Watch] = []
    return run((), make_worker)


def summary(runs: list[dict[str, Any]]) -> str:
    """The figures of several starts, in lines."""
    first, best = runs[0], runs[-1]
    usable = [run["usable_s"] for run in runs]
    found, shown = (sorted(best[name]) for name in ("found_ms", "shown_ms"))
    worked = statistics.median(run["usable_cpu_s"] for run in runs)
    lines = [
        f"start to a painted window that took a key: {' '.join(f'{each:.2f}' for each in usable)} s"
        f" (median {statistics.median(usable):.2f}; of it imports {best['imported_s']:.2f}; processor {worked:.2f})",
        f"{len(found)} searches, asked to answered: median {statistics.median(found):.0f} ms, worst {found[-1]:.0f} ms",
        f"typed to painted, with the wait for more letters: median {statistics.median(shown):.0f} ms, "
        f"worst {shown[-1]:.0f} ms",
        f"a chat of {LONG_MESSAGES} messages opened and painted in {best['opened_s']:.2f} s"
        f" (processor {best['opened_cpu_s']:.2f} s; first start: {first['opened_s']:.2f} s)",
        f"{'ms between ticks':<18} {'median':>7} {'p99':>7} {'longest':>8}   of it the window's own work: p99, longest",
        *(
            f"{phase:<18} {gaps[0]:>7.1f} {gaps[1]:>7.1f} {gaps[2]:>8.1f}   {work[1]:>7.1f} {work[2]:>8.1f}"
            for (phase, gaps), work in zip(best["gaps"].items(), best["work"].values(), strict=True)
        ),
        f"palette over all chats open in {best['palette_s']:.2f} s",
    ]
    return "\n".join(lines)


def main() -> int:
    """Measure and print, or be the window that is measured."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--database", type=Path, help="made by an earlier run with --make")
    parser.add_argument("--make", type=Path, help="only write the database to this file")
    parser.add_argument("--starts", type=int, default=3)
    parser.add_argument("--window", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.window:
        return run_window()
    if options.make:
        make_database(options.make)
        return 0
    with tempfile.TemporaryDirectory() as folder:
        database = options.database or Path(folder) / "many.sqlite3"
        if options.database is None:
            make_database(database)
        print(summary(measure(database, options.starts)))
        print(f"load {os.getloadavg()[0]:.1f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
