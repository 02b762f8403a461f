"""One path under test in a process of its own: `python -m engine.bench.subject '{...}'`, a JSON command a line.

A process each, so that peak memory is one path's own and no thread pool disturbs another's.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from engine.config import EngineConfig
from engine.device import DeviceChoice, choose_device
from engine.generate import ChunkPacer, prefill
from engine.kv_cache import KVCache
from engine.machine import peak_resident
from engine.models.model_folder import read_manifest
from engine.paths import default_paths
from engine.runner import AnyRunner
from engine.runners import choose_runner

_NLL_CHUNK = 128


@dataclass(frozen=True, slots=True)
class Subject:
    """A loaded model and how it is prefilled.

    Attributes:
        runner: The path.
        choice: Device, dtype and threads.
        pacer: Sizes the chunks of prefill; None reads a prompt whole, as transformers does.
        load_s: Seconds the load took, imports not counted.
    """

    runner: AnyRunner
    choice: DeviceChoice
    pacer: ChunkPacer | None
    load_s: float

    def about(self) -> dict[str, Any]:
        """What runs, and the most memory it has taken so far."""
        return {
            "description": self.runner.description,
            "dtype": self.choice.format.name,
            "device": self.choice.device.type,
            "threads": self.choice.threads,
            "load_s": self.load_s,
            "weight_bytes": self.runner.weight_bytes,
            "kv_bytes_per_token": self.runner.kv_bytes_per_token,
            "peak_bytes": peak_resident(),
            "chunk": self.pacer.size if self.pacer else None,
        }

    def prefill(self, ids: Sequence[int]) -> dict[str, Any]:
        """Seconds to read `ids` into an empty cache, and the passes over the weights that took."""
        _, seconds, passes = self._read(ids)
        return {"seconds": seconds, "passes": passes}

    def decode(self, ids: Sequence[int], count: int) -> dict[str, Any]:
        """Seconds of each greedy step after `ids`, and the tokens."""
        cache, _, _ = self._read(ids[:-1])
        logits, steps, chosen = cache.decode(ids[-1]), [], []
        for _ in range(count):
            began = time.perf_counter()
            chosen.append(int(logits.argmax()))
            logits = cache.decode(chosen[-1])
            steps.append(time.perf_counter() - began)
        return {"steps": steps, "tokens": chosen}

    def nll(self, ids: Sequence[int]) -> dict[str, Any]:
        """Mean negative log likelihood in nats of each token but the first, given those before it."""
        cache, total = self.runner.new_cache(), 0.0
        for start in range(0, len(ids) - 1, _NLL_CHUNK):
            chunk = ids[start : min(start + _NLL_CHUNK, len(ids) - 1)]
            targets = torch.tensor(ids[start + 1 : start + 1 + len(chunk)])
            logits = self.runner.prefill(chunk, cache, keep=len(chunk))
            total += float(torch.nn.functional.cross_entropy(logits.double(), targets, reduction="sum"))
        return {"nll": total / (len(ids) - 1)}

    def _read(self, ids: Sequence[int]) -> tuple[KVCache, float, int]:
        cache = KVCache(self.runner)
        began = time.perf_counter()
        if self.pacer is None:
            cache.prefill(ids)
            passes = 1
        else:
            passes = sum(1 for _ in prefill(cache, ids, self.pacer, lambda: False))
        return cache, time.perf_counter() - began, passes


def load_subject(path: str, folder: Path, config: EngineConfig) -> Subject:
    """Load a path.

    Args:
        path: "loquat" for what Loquat takes on this machine, "transformers" for the model in transformers.
        folder: The model's.
        config: Device, dtype and threads.

    Raises:
        EngineError: The model cannot be loaded.
    """
    choice = choose_device(config, read_manifest(folder))
    torch.set_num_threads(choice.threads)
    if path == "transformers":
        from engine.hf_runner import load_hf_runner  # noqa: PLC0415 - its import takes seconds and memory

        began = time.perf_counter()
        runner: AnyRunner = load_hf_runner(folder, choice)
        pacer = None
    else:
        began = time.perf_counter()
        runner = choose_runner(folder, choice, config, default_paths().cache, wait=True).runner
        pacer = ChunkPacer(config.prefill_chunk)
    return Subject(runner, choice, pacer, time.perf_counter() - began)


def answer(subject: Subject, command: dict[str, Any]) -> dict[str, Any]:
    """Do what a command says: {"do": "about" | "prefill" | "decode" | "nll", ...}."""
    arguments = {name: value for name, value in command.items() if name != "do"}
    actions: dict[str, Callable[..., dict[str, Any]]] = {
        "about": subject.about,
        "prefill": subject.prefill,
        "decode": subject.decode,
        "nll": subject.nll,
    }
    return actions[command["do"]](**arguments)


def _commands() -> Iterator[dict[str, Any]]:
    for line in sys.stdin:
        yield json.loads(line)


def main(argument: str) -> None:
    """Load the path that a JSON object describes, then answer commands until standard input ends."""
    options = json.loads(argument)
    subject = load_subject(options["path"], Path(options["folder"]), EngineConfig(**options["config"]))
    print(json.dumps(subject.about()), flush=True)
    for command in _commands():
        print(json.dumps(answer(subject, command)), flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
