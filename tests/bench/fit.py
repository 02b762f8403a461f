"""What is foretold of models beside what they take and do: memory and decode rate, for some models and contexts.

    python -m tests.bench.fit [--model NAME ...] [--context N ...] [--memory] [--json]

Models are those of LOQUAT_HOME where one of that name is there, else the catalogue's shape with random weights, made in
a temporary folder. Each model and context has a process of its own. A conversation of that length is held in memory,
its end is really read, and some tokens are decoded; steps and the machine's own profile are measured in turns, so that
other programs meet both alike.
"""

from __future__ import annotations

import argparse
import gc
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from engine.bench.process import child_environment

if TYPE_CHECKING:
    from engine.kernels.cache import KernelCache
    from engine.kernels.runner import KernelRunner

MODELS = ("smollm2-135m-instruct", "gemma-3-270m-it", "qwen2.5-0.5b-instruct", "qwen3-0.6b", "llama-3.2-1b-instruct")
CONTEXTS = (512, 2048, 8192)
MEMORY_LIMIT, RATE_LIMIT = 0.08, 0.25
READ = 128  # tokens of the conversation's end that are really read
STEPS, TURNS = 16, 3
SPARE = STEPS * TURNS + 8


@dataclass(frozen=True, slots=True)
class Measured:
    """One model with one context.

    Attributes:
        model: Its name.
        context: Tokens.
        foretold_bytes, taken_bytes: Resident memory of the whole process.
        foretold_s, taken_s: Of a decode step; 0 where only memory was asked for.
    """

    model: str
    context: int
    foretold_bytes: int
    taken_bytes: int
    foretold_s: float
    taken_s: float

    @property
    def memory_error(self) -> float:
        """Foretold beside taken, as a share."""
        return self.foretold_bytes / self.taken_bytes - 1

    @property
    def rate_error(self) -> float:
        """Foretold tokens a second beside real ones, as a share."""
        return self.taken_s / self.foretold_s - 1 if self.foretold_s else 0.0


def measure(folder: Path, context: int, rates: bool) -> Measured:
    """Load a model in this process, hold a conversation, and measure; memory alone if rates are not wanted."""
    from engine.budget import footprint_of, runnable
    from engine.config import EngineConfig
    from engine.device import choose_device
    from engine.heap import release_memory
    from engine.loader import load_model
    from engine.machine import measure_machine, resident
    from engine.memory import plan
    from engine.models.registry import Registry
    from engine.paths import default_paths

    entry = Registry(folder.parent).find(folder.name)
    config = EngineConfig(device="cpu", save_caches=False, max_context=context)
    choice = choose_device(config)
    held = runnable(entry, choice.format)
    footprint, machine = footprint_of(entry, held, config.prefill_chunk), measure_machine("cpu")
    foretold = plan(footprint, machine, context=context)
    model = load_model(entry, config, default_paths().cache)
    runner = model.runner
    gc.collect()
    release_memory()
    cache = runner.new_cache()
    cache.reserve(context)
    for part in (*cache.keys, *cache.values):
        part[...] = 0.01
    cache.advance(context - READ - SPARE)
    runner.prefill([(7 * n + 3) % runner.vocab_size for n in range(READ)], cache)
    runner.decode(5, cache)
    taken = resident()
    needs = foretold.allowed - foretold.left
    foretold_s, taken_s = _rates(runner, cache, entry.folder, context) if rates else (0.0, 0.0)
    return Measured(entry.name, context, needs, taken, foretold_s, taken_s)


def _rates(runner: KernelRunner, cache: KernelCache, folder: Path, context: int) -> tuple[float, float]:
    """Seconds of a decode step, foretold and taken."""
    from engine.formats import choose_format
    from engine.models.quick_profile import measure_kernels
    from engine.models.shape import read_shape
    from engine.models.speed import decode_s

    steps, profiles = [], []
    for _ in range(TURNS):
        for _ in range(STEPS):
            began = time.perf_counter()
            runner.decode(5, cache)
            steps.append(time.perf_counter() - began)
        profiles.append(measure_kernels())
    profile = min(filter(None, profiles), key=lambda one: one.step_s or 1.0)
    held = choose_format("cpu", "int4")[0]
    return decode_s(profile, read_shape(folder), held, context), min(steps)


def compile_kernels() -> None:
    """Compile them and keep them: a process that compiles takes 200 MiB more."""
    from engine.kernels.cache_folder import kernels_root, use_cache
    from engine.paths import default_paths

    use_cache(kernels_root(default_paths().cache))
    from engine.kernels.warm import warm_up

    warm_up()


def measure_all(models: Sequence[str], contexts: Sequence[int], rates: bool = True) -> list[Measured]:
    """Each in a process of its own."""
    code = "from tests.bench.fit import compile_kernels; compile_kernels()"
    subprocess.run([sys.executable, "-c", code], env=child_environment(), check=True)
    results = []
    with tempfile.TemporaryDirectory() as made:
        for name in models:
            folder = _folder(name, Path(made))
            for context in contexts:
                command = [sys.executable, "-m", "tests.bench.fit", "--child", str(folder), "--context", str(context)]
                command += [] if rates else ["--memory"]
                done = subprocess.run(
                    command, env=child_environment(), capture_output=True, text=True, check=False, encoding="utf-8"
                )
                if done.returncode:
                    raise SystemExit(done.stderr)
                results.append(Measured(**json.loads(done.stdout.splitlines()[-1])))
                print(_line(results[-1]), file=sys.stderr, flush=True)
    return results


def _folder(name: str, made: Path) -> Path:
    from engine.models.catalogue import find
    from engine.paths import default_paths
    from tests.bench.random_models import write_random_model

    here = default_paths().models / name
    if (here / "loquat.json").is_file():
        return here
    entry = find(name)
    if entry is None:
        raise SystemExit(f"There is no model {name}, here or in the catalogue.")
    write_random_model(entry, made / name)
    return made / name


def _line(one: Measured) -> str:
    memory = (
        f"{one.taken_bytes / 2**20:7.0f} MiB, foretold {one.foretold_bytes / 2**20:7.0f} ({one.memory_error:+6.1%})"
    )
    rate = ""
    if one.taken_s:
        rate = f"{1 / one.taken_s:6.1f} tok/s, foretold {1 / one.foretold_s:6.1f} ({one.rate_error:+6.1%})"
    return f"{one.model:26} {one.context:6,} tokens  {memory}   {rate}"


def main() -> int:
    """Returns 1 where a promise is not kept."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", action="append", metavar="NAME")
    parser.add_argument("--context", action="append", type=int, metavar="N")
    parser.add_argument("--memory", action="store_true", help="leave the rates out, which want a quiet machine")
    parser.add_argument("--child", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    if options.child:
        print(json.dumps(asdict(measure(options.child, options.context[0], not options.memory))))
        return 0
    results = measure_all(options.model or MODELS, options.context or CONTEXTS, not options.memory)
    memory = max(abs(one.memory_error) for one in results)
    rate = max(abs(one.rate_error) for one in results)
    if options.json:
        print(json.dumps([asdict(one) for one in results], indent=1))
    print(f"largest errors: memory {memory:.1%} (limit {MEMORY_LIMIT:.0%}), rate {rate:.1%} (limit {RATE_LIMIT:.0%})")
    return int(memory > MEMORY_LIMIT or rate > RATE_LIMIT)


if __name__ == "__main__":
    raise SystemExit(main())
