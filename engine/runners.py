"""A model folder -> the runner that suits it: compiled kernels, the lean decoder, or transformers."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import torch

from engine.config import EngineConfig
from engine.decoder import DecoderConfig, DecoderRunner, load_decoder
from engine.decoder.checkpoint import read_json
from engine.decoder.merge import Merge
from engine.device import DeviceChoice
from engine.errors import UnsupportedModel
from engine.events import COMPILER
from engine.formats import Holder, choose_kv_dtype
from engine.runner import AnyRunner

if TYPE_CHECKING:
    from engine.kernels.runner import KernelRunner

_log = logging.getLogger(__name__)

INTERIM: Final = "torch, while the faster CPU kernels are compiled"
_POLL_S: Final = 0.05
_READY_IN_S: Final = 2.0  # kernels that were compiled before are read in less; compiling takes much longer


@dataclass(frozen=True, slots=True)
class Choice:
    """The runner for a model.

    Attributes:
        reason: Which it is and why, in words.
        pending: Compiles the kernels that will take over; None if the runner stays.
    """

    runner: AnyRunner
    format: str
    reason: str
    pending: Warmup | None = None


class Warmup:
    """Compiles the kernels on a thread of its own."""

    def __init__(self) -> None:
        self._thread = threading.Thread(target=self._run, name=COMPILER, daemon=True)
        self.failed = False
        self._thread.start()

    def wait(self, timeout_s: float | None) -> bool:
        """Whether the kernels are there, after at most so long; None waits until they are or cannot be."""
        self._thread.join(timeout_s)
        return not self._thread.is_alive() and not self.failed

    def _run(self) -> None:
        from engine.kernels.warm import warm_up

        try:
            _log.info("The CPU kernels were ready after %.1f s", warm_up())
        except Exception:
            self.failed = True
            _log.warning("The CPU kernels could not be compiled; torch answers in their place.", exc_info=True)


def choose_runner(
    folder: Path,
    choice: DeviceChoice,
    config: EngineConfig,
    cache_folder: Path,
    *,
    wait: bool,
    poll: Callable[[], None] = lambda: None,
    device_map: Mapping[str, int | str] | None = None,
) -> Choice:
    """Load a model's weights into the fastest runner that knows it.

    Args:
        folder: The model folder.
        choice: Device and format.
        config: Limits, and how keys and values are held: where that is not to be had, the reason says so.
        cache_folder: Where compiled kernels are kept.
        wait: Wait until kernels are compiled, rather than answer through torch meanwhile.
        poll: Called before each tensor that is read, and while kernels are waited for; what it raises ends the load.
        device_map: Which part of it goes where, for a model that no single device holds; only transformers runs that.

    Raises:
        UnsupportedModel: No runner knows the architecture.
        BadModelFile: The weights cannot be read.
    """
    merge = Merge.of(folder)
    if merge.key and (device_map or choice.format.path == "bitsandbytes"):
        raise UnsupportedModel(
            "Adapters are merged into weights that are held as floats on one device; switch them off, "
            "or choose a 16-bit format."
        )
    if device_map:
        return _transformers(folder, choice, config, "through transformers", device_map)
    if choice.format.path == "bitsandbytes":
        return _transformers(folder, choice, config, f"{choice.format.words} by bitsandbytes")
    why_not = ""
    if choice.format.path == "kernels":
        try:
            return _kernels(folder, choice, config, cache_folder, wait=wait, poll=poll)
        except UnsupportedModel as error:
            why_not = f" ({error.sentence.rstrip('.')})"
    try:
        runner = _load_decoder(folder, choice, config, poll)
        return Choice(runner, _dtype_name(choice), runner.description + why_not)
    except UnsupportedModel as error:
        return _transformers(folder, choice, config, f"through transformers: {error.sentence}")


def _kernels(
    folder: Path,
    choice: DeviceChoice,
    config: EngineConfig,
    cache_folder: Path,
    *,
    wait: bool,
    poll: Callable[[], None],
) -> Choice:
    from engine.kernels.cache_folder import kernels_root, use_cache

    problem = use_cache(kernels_root(cache_folder))
    from engine.kernels.warm import available
    from engine.kernels.weights import check_sizes

    usable, why_not = available()
    if not usable:
        raise UnsupportedModel(why_not)
    check_sizes(DecoderConfig.from_json(read_json(folder / "config.json")))
    warmup = Warmup()
    if _compiled(warmup, None if wait else _READY_IN_S, poll):
        runner = _load_kernels(folder, choice, config, poll)
        reason = _joined(runner.description, problem, _kv_problem("kernels", choice, config))
        return Choice(runner, choice.format.name, reason)
    if warmup.failed:
        raise UnsupportedModel("the CPU kernels could not be compiled")
    # Nothing of Numba's may be touched now: its lock is held until all is compiled.
    meanwhile = _load_decoder(folder, choice, config, poll)
    return Choice(meanwhile, _dtype_name(choice), INTERIM, warmup)


def _compiled(warmup: Warmup, patience_s: float | None, poll: Callable[[], None]) -> bool:
    """Whether the kernels are there, after at most so long; None waits until they are or cannot be."""
    deadline = None if patience_s is None else time.monotonic() + patience_s
    while not warmup.wait(_POLL_S):
        poll()
        if warmup.failed or (deadline is not None and time.monotonic() >= deadline):
            return False
    return True


def _load_decoder(folder: Path, choice: DeviceChoice, config: EngineConfig, poll: Callable[[], None]) -> DecoderRunner:
    kv_dtype, _ = choose_kv_dtype("torch", _dtype_name(choice), config.kv_dtype)
    return load_decoder(
        folder,
        dtype=choice.dtype,
        device=choice.device,
        kv_dtype=getattr(torch, kv_dtype),
        max_context=config.max_context,
        poll=poll,
    )


def _load_kernels(folder: Path, choice: DeviceChoice, config: EngineConfig, poll: Callable[[], None]) -> KernelRunner:
    from engine.kernels.kept import packed_weights
    from engine.kernels.runner import KernelRunner

    decoder = DecoderConfig.from_json(read_json(folder / "config.json"))
    weights = packed_weights(folder, choice.format.name, decoder, poll)
    return KernelRunner(decoder, weights, threads=choice.threads, max_context=config.max_context)


def _transformers(
    folder: Path,
    choice: DeviceChoice,
    config: EngineConfig,
    reason: str,
    device_map: Mapping[str, int | str] | None = None,
) -> Choice:
    from engine.hf_runner import load_hf_runner

    quantized = choice.format.name if choice.format.path == "bitsandbytes" else None
    runner = load_hf_runner(folder, choice, config.max_context, quantized=quantized, device_map=device_map)
    problem = _kv_problem("transformers", choice, config)
    return Choice(runner, quantized or _dtype_name(choice), _joined(reason, problem))


def _kv_problem(holder: Holder, choice: DeviceChoice, config: EngineConfig) -> str:
    return choose_kv_dtype(holder, _dtype_name(choice), config.kv_dtype)[1]


def _joined(*phrases: str) -> str:
    return "; ".join(phrase.rstrip(".") for phrase in phrases if phrase)


def _dtype_name(choice: DeviceChoice) -> str:
    return str(choice.dtype).removeprefix("torch.")
