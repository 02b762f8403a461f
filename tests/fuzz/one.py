"""`python -m tests.fuzz.one TARGET` fuzzes one reader in this process and writes a JSON line of what came of it.

Guided by coverage where atheris is installed; `--plain` changes the seeds at random instead, the same way each time.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import tempfile
import time
from pathlib import Path
from random import Random

LONGEST = 128 * 1024
PATIENCE_S = 20  # for one file: a hang, however busy the machine


def main() -> None:
    """Fuzz until the time or the runs are over."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("target")
    parser.add_argument("--findings", type=Path, required=True)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--runs", type=int, default=sys.maxsize)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--plain", action="store_true")
    options = parser.parse_args()
    options.findings.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        (_plain if options.plain else _guided)(options, Path(folder))


class _Session:
    """Counts, and ends in time."""

    def __init__(self, options: argparse.Namespace, folder: Path) -> None:
        # Imported here: atheris instruments what is imported after it.
        from tests.fuzz.guard import Guard, limit_memory
        from tests.fuzz.targets import TARGETS

        self.options = options
        self.target = TARGETS[options.target]
        self.seeds = self.target.seeds(folder)
        self.guard = Guard(self.target, folder, options.findings)
        for seed in self.seeds:
            self.guard.run(seed)
        limit_memory()
        self.start = time.monotonic()

    def over(self) -> bool:
        return time.monotonic() - self.start > self.options.seconds or self.guard.runs >= self.options.runs

    def tell(self) -> None:
        guard = self.guard
        told = {"target": self.options.target, "runs": guard.runs, "sound": guard.sound, "found": sorted(guard.found)}
        print(json.dumps(told | {"seconds": round(time.monotonic() - self.start, 1)}), flush=True)


def _plain(options: argparse.Namespace, folder: Path) -> None:
    session = _Session(options, folder)
    random = Random(options.seed)
    while not session.over():
        session.guard.run(session.target.mutate(random.choice(session.seeds), random)[:LONGEST])
    session.tell()


def _guided(options: argparse.Namespace, folder: Path) -> None:
    import atheris

    with atheris.instrument_imports(include=["engine.models", "engine.decoder.checkpoint"]):
        session = _Session(options, folder)
    corpus = folder / "corpus"
    corpus.mkdir()
    for number, seed in enumerate(session.seeds):
        (corpus / str(number)).write_bytes(seed)

    def run(data: bytes) -> None:
        session.guard.run(data)
        if session.over():
            session.tell()
            shutil.rmtree(folder)
            os._exit(0)  # libFuzzer has no other end for one that counts by itself

    def mutate(data: bytes, longest: int, seed: int) -> bytes:
        random = Random(seed)
        if random.random() < 0.3:
            return bytes(atheris.Mutate(data, longest))
        # Most of what libFuzzer keeps is broken; a sound file again and again leads to what lies behind the checks.
        return session.target.mutate(random.choice((data, random.choice(session.seeds))), random)[:longest]

    limits = [
        f"-timeout={PATIENCE_S}",
        f"-report_slow_units={PATIENCE_S}",
        f"-max_len={LONGEST}",
        "-len_control=0",
        "-rss_limit_mb=0",
    ]
    kept = f"-artifact_prefix={options.findings}/"
    atheris.Setup([sys.argv[0], f"-seed={options.seed}", *limits, kept, str(corpus)], run, custom_mutator=mutate)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
