"""Measures what this machine can do with the loaded model, in one or two seconds, on the thread that owns the model."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Final, Protocol, runtime_checkable

import numpy as np
import psutil
import torch
from numpy.typing import NDArray

from engine.explain.facts import model_facts
from engine.explain.profile import (
    HEAD_DIM,
    Bandwidth,
    MachineProfile,
    load_profile,
    processor_name,
    profile_path,
    save_profile,
)
from engine.explain.trace import ModelFacts
from engine.kernels.team import Team
from engine.loader import LoadedModel
from engine.runner import AnyRunner

_log = logging.getLogger(__name__)

_SMALL, _LARGE = 32 << 20, 256 << 20  # bytes read; larger than any processor's cache, the latter
_PIECE: Final = 16 << 20  # bytes read or written at once
_RUNS: Final = 4
_STEPS: Final = 12
_PROMPTS: Final = (8, 16, 32, 64)  # tokens
_MOMENT_S: Final = 0.05  # what a person does not feel; no step should take longer, for a question may wait for its end
_ATTENDED: Final = 4096  # tokens of the conversation that shows what attention takes,
_ATTENDED_BYTES: Final = 64 << 20  # or fewer, where its keys and values would take more than this
_ENOUGH_S: Final = 0.3  # of one measurement: then it is not repeated

Stop = Callable[[], bool]


@runtime_checkable
class Pretender(Protocol):
    """A cache that can be told to hold tokens which nobody computed."""

    def pretend(self, count: int) -> None:
        """Hold so many more."""
        ...


def machine_profile(model: LoadedModel, cache_folder: Path, stop: Stop = lambda: False) -> MachineProfile | None:
    """The profile that was kept, or one that is measured now and kept.

    Args:
        model: With no turn in progress.
        cache_folder: Where profiles are kept.
        stop: Polled between steps of about 50 ms at most, or a forward pass of a few tokens where that takes longer.

    Returns:
        None if it was stopped.
    """
    facts = model_facts(model)
    path = profile_path(cache_folder, facts, _processor(facts.device))
    profile = load_profile(path)
    if profile is None and (profile := measure_runner(model.runner, facts, stop)):
        try:
            save_profile(profile, path)
        except OSError as error:
            _log.warning("What this machine can do was not kept and will be measured again: %s", error)
    return profile


def measure_runner(runner: AnyRunner, facts: ModelFacts, stop: Stop = lambda: False) -> MachineProfile | None:
    """Measure what this machine can do with a runner; None if it was stopped.

    Args:
        runner: With no turn in progress.
        facts: What is known of its model.
        stop: As for `machine_profile`.
    """
    cache = runner.new_cache()
    runner.prefill(_ids(runner, _PROMPTS[0]), cache)  # the first pass also brings what is not in memory yet
    if stop():
        return None
    ids, first_s = _prompt(runner, stop)
    prefill_s = min(first_s, _best(lambda: runner.prefill(ids, runner.new_cache()), 2, stop))
    steps = [_timed(lambda: runner.decode(ids[0], cache)) for _ in range(_STEPS) if not stop()]
    tokens = _long(runner, facts)
    long_s = _long_step(runner, ids[0], tokens, stop)
    bandwidths = tuple(_bandwidths(facts, stop))
    if stop():
        return None
    step_s = min(steps)  # the machine may be busy now; what it can do is wanted
    rows = _seen(runner, tokens) * facts.layers * facts.kv_heads * max(1.0, facts.head_dim / HEAD_DIM)
    return MachineProfile(
        processor=_processor(facts.device),
        device=facts.device,
        threads=facts.threads,
        format=facts.dtype,
        path=facts.path,
        bandwidths=bandwidths,
        matrix_rate=2 * facts.linear_parameters * len(ids) / prefill_s if prefill_s > 0 else None,
        step_s=step_s,
        step_bytes=facts.weight_bytes_per_token,
        layers=facts.layers,
        row_s=(long_s - step_s) / rows if rows and long_s is not None and long_s > step_s else None,
    )


def _long(runner: AnyRunner, facts: ModelFacts) -> int:
    """Tokens of a long conversation."""
    room = _ATTENDED_BYTES // max(1, facts.kv_bytes_per_token)
    return max(1, min(_ATTENDED, runner.context_limit // 2, room))


def _seen(runner: AnyRunner, tokens: int) -> float:
    """How many of so many tokens a layer attends to, on average: some see a window only."""
    layers = getattr(getattr(runner, "config", None), "layers", None)
    windows = [getattr(layer, "window", None) or tokens for layer in layers] if isinstance(layers, tuple) else []
    return sum(min(tokens, window) for window in windows) / len(windows) if windows else float(tokens)


def _long_step(runner: AnyRunner, token: int, tokens: int, stop: Stop) -> float | None:
    """Seconds of a decode step in a long conversation; None where a cache cannot be filled without computing."""
    cache = runner.new_cache()
    if not isinstance(cache, Pretender) or stop():
        return None
    cache.pretend(tokens)
    steps = [_timed(lambda: runner.decode(token, cache)) for _ in range(_STEPS) if not stop()]
    return min(steps) if steps else None


def _prompt(runner: AnyRunner, stop: Stop) -> tuple[list[int], float]:
    """The longest prompt that is read in a moment, and the seconds that it took; longer ones tell more exactly."""
    for tokens in _PROMPTS:
        ids = _ids(runner, tokens)
        seconds = _timed(lambda ids=ids: runner.prefill(ids, runner.new_cache()))  # type: ignore[misc]
        if stop() or 2 * seconds > _MOMENT_S:
            break
    return ids, seconds


def _ids(runner: AnyRunner, tokens: int) -> list[int]:
    return [n % runner.vocab_size for n in range(min(tokens, runner.context_limit // 2))]


def _bandwidths(facts: ModelFacts, stop: Stop) -> Iterator[Bandwidth]:
    """Of a small run of memory, of one as large as the weights, and of a large one."""
    most = max(_SMALL, min(_LARGE, psutil.virtual_memory().available // 8))
    sizes = {min(most, max(_SMALL, size)) // 4096 * 4096 for size in (_SMALL, facts.weight_bytes_per_token, most)}
    for size in sorted(sizes):
        if stop():
            return
        pieces = _readers(facts, size, stop)
        runs = [seconds for _ in range(_RUNS) if (seconds := _in_pieces(pieces, stop)) is not None]
        if runs and min(runs) > 0:
            yield Bandwidth(size, size / min(runs))


def _readers(facts: ModelFacts, size: int, stop: Stop) -> list[Callable[[], object]]:
    """What reads so many bytes on the device piece by piece, in as many threads as compute there; none if stopped."""
    if facts.device != "cpu":
        numbers = torch.ones(size // 4, device=facts.device)
        return [lambda: numbers.max().item()]  # which waits for the device
    team = Team(max(1, facts.threads))
    readers: list[Callable[[], object]] = []
    for start in range(0, size, _PIECE):
        parts = np.array_split(np.ones(min(_PIECE, size - start) // 8, np.int64), team.threads)
        readers.append(partial(team.run, partial(_read, parts)))
        if stop():
            return []
    return readers


def _read(parts: Sequence[NDArray[np.int64]], number: int, _threads: int) -> None:
    np.maximum.reduce(parts[number])


def _in_pieces(pieces: Sequence[Callable[[], object]], stop: Stop) -> float | None:
    """Seconds of all of them; None if it was stopped."""
    seconds = 0.0
    for piece in pieces:
        seconds += _timed(piece)
        if stop():
            return None
    return seconds


def _best(action: Callable[[], object], runs: int, stop: Stop) -> float:
    """Seconds of the fastest of some runs; what took long is not repeated."""
    best = _timed(action)
    for _ in range(runs - 1):
        if best > _ENOUGH_S or stop():
            break
        best = min(best, _timed(action))
    return best


def _timed(action: Callable[[], object]) -> float:
    began = time.perf_counter()
    action()
    return time.perf_counter() - began


def _processor(device: str) -> str:
    return str(torch.cuda.get_device_name()) if device == "cuda" else processor_name()
