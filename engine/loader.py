"""A model folder -> everything that answering with it takes."""

from __future__ import annotations

import dataclasses
import hashlib
import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import torch

from engine.budget import cache_budget, floats_fit, footprint_of, runnable
from engine.config import EngineConfig
from engine.decoder.merge import Merge
from engine.device import DeviceChoice, choose_device
from engine.device_faults import DeviceFaults, fault_words, is_device_fault, is_out_of_memory
from engine.draft_loader import Draft, load_draft, no_room
from engine.draft_model import DraftModel, ModelDrafts
from engine.errors import DoesNotFit
from engine.events import ModelInfo
from engine.explain.plan import memory_base
from engine.generate import ChunkPacer
from engine.heap import collect, release_memory
from engine.kv_disk import KVDisk
from engine.kv_folder import FOLDER
from engine.kv_store import KVStore
from engine.memory import Footprint
from engine.models.own_sampling import own_sampling
from engine.models.registry import ModelEntry
from engine.placing import Placement, place
from engine.prompt import PromptBuilder, load_prompt_builder
from engine.prompt_lookup import PromptLookup
from engine.runner import AnyRunner
from engine.runners import INTERIM, Choice, Warmup, choose_runner
from engine.speculate import Drafter, FirstGuess

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class LoadedModel:
    """Everything that belongs to one model and goes with it."""

    info: ModelInfo
    runner: AnyRunner
    prompt: PromptBuilder
    store: KVStore
    pacer: ChunkPacer
    pending: Warmup | None = None
    draft: DraftModel | None = None

    def drafter(self, prompt: Sequence[int]) -> Drafter:
        """What guesses the tokens of one reply: what the conversation said before, then the draft model if it has one.

        Args:
            prompt: Its token ids.
        """
        lookup = PromptLookup(prompt)
        if self.draft is None:
            return lookup
        return FirstGuess(lookup, ModelDrafts(self.draft, prompt, vocab_size=self.runner.vocab_size))


def staying(model: LoadedModel) -> LoadedModel:
    """The same, now that no faster kernels will take over from it, as they could not be compiled."""
    words = model.info.runner.replace(INTERIM, "torch, as the CPU kernels could not be compiled")
    return dataclasses.replace(model, pending=None, info=dataclasses.replace(model.info, runner=words, compiling=False))


def load_model(
    entry: ModelEntry,
    config: EngineConfig,
    cache_folder: Path,
    *,
    wait: bool = True,
    poll: Callable[[], None] = lambda: None,
    faults: DeviceFaults | None = None,
) -> LoadedModel:
    """Load a model for this machine; where its device fails, on the CPU, and `device_reason` says why.

    Args:
        entry: Which one.
        config: Device, dtype, threads and limits.
        cache_folder: Where conversations' caches and compiled kernels are kept.
        wait: Wait for kernels to be compiled, which takes a while on the first start; False loads what can answer at
            once, and `pending` tells when a second load will find the kernels.
        poll: Called between two steps and between two tensors; what it raises ends the load.
        faults: Devices that failed before; one that fails now is noted there.

    Raises:
        DoesNotFit: It needs more memory than is allowed; nothing was loaded.
        EngineError: The device, the tokenizer or the weights are not to be had.
    """
    poll()
    faults = faults or DeviceFaults()
    load = partial(_load_on, entry=entry, config=config, cache_folder=cache_folder, wait=wait, poll=poll)
    kind = "cuda"  # whose driver is asked more than whether it is there, and may fail at once
    try:
        choice = choose_device(config, entry, faults.known)
        kind = choice.device.type
        return load(choice)
    except (RuntimeError, AssertionError) as error:
        if not is_device_fault(kind, error):
            raise
        _log.warning("The %s device failed while a model was loaded.", kind, exc_info=True)
        failed = {**faults.known, kind: fault_words(error)}
        if not is_out_of_memory(error):  # a smaller model may have room
            faults.note(kind, error)
    # Here, where the error is gone, and with it all that was half loaded.
    return load(choose_device(config, entry, failed))


def _load_on(
    choice: DeviceChoice,
    *,
    entry: ModelEntry,
    config: EngineConfig,
    cache_folder: Path,
    wait: bool,
    poll: Callable[[], None],
) -> LoadedModel:
    began = time.perf_counter()
    torch.set_num_threads(choice.threads)
    # First: the plan below counts its memory.
    draft = load_draft(entry, choice, config, cache_folder, wait=wait, poll=poll)
    placed = _placed_beside(draft, entry, choice, config)  # before anything of the model is in memory
    if placed is None:
        draft = no_room()
        collect()
        release_memory()
        placed = place(entry, choice, config)
    choice, plan = placed.choice, placed.plan
    prompt = load_prompt_builder(entry.folder)
    poll()
    limited = dataclasses.replace(config, max_context=plan.context)
    wait = wait or not floats_fit(entry, choice, limited)  # what answers meanwhile takes more memory
    chosen = choose_runner(
        entry.folder, choice, limited, cache_folder, wait=wait, poll=poll, device_map=placed.device_map
    )
    poll()
    runner = chosen.runner
    if chosen.format == choice.format.name and choice.format.path == "kernels":
        # The kernels have threads of their own. Torch only samples then, and its idle threads would spin beside them.
        torch.set_num_threads(1)
    taken = draft.model.runner.kv_bytes_per_token * plan.context if draft.model else 0
    budget = cache_budget(plan, runner.weight_bytes + taken, config)
    choice = dataclasses.replace(choice, reason=_joined(choice.reason, placed.reason))
    pending = chosen.pending or draft.pending
    chosen = dataclasses.replace(chosen, reason=_joined(chosen.reason, draft.words), pending=pending)
    info = dataclasses.replace(
        _describe(entry, chosen, choice, time.perf_counter() - began, prompt.tokenizer.end_ids),
        memory=memory_base(plan, _footprint(entry, choice, config), runner, budget),
        tool_style=prompt.tool_style,
        template=prompt.kind,
        sampling=own_sampling(entry.folder, entry.name),
    )
    store = KVStore(runner, budget, _disk(entry, runner, config, cache_folder))
    return LoadedModel(info, runner, prompt, store, ChunkPacer(config.prefill_chunk), pending, draft.model)


def _placed_beside(draft: Draft, entry: ModelEntry, choice: DeviceChoice, config: EngineConfig) -> Placement | None:
    """Where the model runs; None where it would run better, or only, without its draft model.

    Raises:
        DoesNotFit: It fits in no way, and there is no draft model that takes its room.
    """
    try:
        placed = place(entry, choice, config)
    except DoesNotFit:
        if draft.model is None:
            raise
        return None
    return None if draft.model is not None and placed.reason else placed


def _footprint(entry: ModelEntry, choice: DeviceChoice, config: EngineConfig) -> Footprint:
    return footprint_of(entry, runnable(entry, choice.format), config.prefill_chunk, config.kv_dtype)


def _disk(entry: ModelEntry, runner: AnyRunner, config: EngineConfig, cache_folder: Path) -> KVDisk | None:
    """Where conversations' caches are saved; None where they are not to be."""
    if not config.save_caches:
        return None
    return KVDisk(cache_folder / FOLDER, fingerprint(entry.folder, runner.cache_format), config.cache_disk_bytes)


def _joined(*phrases: str) -> str:
    return "; ".join(filter(None, phrases))


def fingerprint(folder: Path, cache_format: str) -> str:
    """Names a model, its adapters, its tokenizer and a cache format; caches are exchanged only where this is equal."""
    digest = hashlib.sha256(cache_format.encode())
    for name in ("loquat.json", "config.json", "tokenizer.json"):
        file = folder / name
        digest.update(file.read_bytes() if file.is_file() else b"")
    digest.update(Merge.of(folder).key.encode())
    return digest.hexdigest()


def _describe(
    entry: ModelEntry, chosen: Choice, choice: DeviceChoice, load_s: float, end_ids: frozenset[int]
) -> ModelInfo:
    runner = chosen.runner
    return ModelInfo(
        name=entry.name,
        label=entry.label,
        architecture=entry.architecture,
        parameters=entry.parameters,
        context_limit=runner.context_limit,
        device=choice.device.type,
        device_reason=choice.reason,
        dtype=chosen.format,
        threads=choice.threads,
        weight_bytes=runner.weight_bytes,
        kv_bytes_per_token=runner.kv_bytes_per_token,
        load_s=load_s,
        runner=chosen.reason,
        end_ids=end_ids,
        compiling=chosen.pending is not None,
    )
