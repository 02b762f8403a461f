"""The memory plan of a model in the registry on this machine, before anything of it is loaded."""

from __future__ import annotations

import dataclasses
import logging

from engine.config import EngineConfig
from engine.decoder import DecoderConfig
from engine.device import DeviceChoice
from engine.errors import UnsupportedModel
from engine.formats import KV_DTYPES_OF, Format, Holder, choose_format, choose_kv_dtype
from engine.kernels.weights import check_sizes
from engine.machine import measure_machine
from engine.memory import Footprint, Limits, MemoryPlan, check, plan
from engine.models.model_folder import CONFIG, read_object
from engine.models.registry import ModelEntry
from engine.models.shape import read_shape

_log = logging.getLogger(__name__)


def footprint_of(entry: ModelEntry, held: Format, chunk: int, kv_dtype: str | None = None) -> Footprint:
    """What a model will take.

    Args:
        entry: Which model.
        held: How its weights are held.
        chunk: Most tokens prefilled at a time.
        kv_dtype: Wanted for cached keys and values, as `EngineConfig.kv_dtype` has it; None is "auto". What will run
            the model may hold them otherwise: the footprint says how.

    Raises:
        BadModelFile: The model's folder is damaged.
    """
    holder = _holder(entry, held)
    dtype, _ = choose_kv_dtype(holder, held.compute, kv_dtype or "auto")
    footprint = read_shape(entry.folder).footprint(entry.label, held, chunk, dtype)
    smaller = tuple(name for name in footprint.smaller_kv if name in KV_DTYPES_OF[holder])
    return dataclasses.replace(footprint, smaller_kv=smaller)


def _holder(entry: ModelEntry, held: Format) -> Holder:
    if held.path == "kernels":
        return "kernels"
    try:
        DecoderConfig.from_json(read_object(entry.folder, CONFIG))
    except UnsupportedModel:
        return "transformers"
    return "transformers" if held.path == "bitsandbytes" else "torch"


def runnable(entry: ModelEntry, held: Format) -> Format:
    """The format that the model will really be held in: floats where the CPU kernels cannot run it.

    Raises:
        BadModelFile: The model's config.json is damaged.
    """
    if held.path != "kernels":
        return held
    try:
        check_sizes(DecoderConfig.from_json(read_object(entry.folder, CONFIG)))
    except UnsupportedModel:
        return _floats(held)
    return held


def _floats(held: Format) -> Format:
    return choose_format(held.device, held.compute)[0]


def limits_of(config: EngineConfig) -> Limits:
    """What the configuration says about memory."""
    return Limits(config.memory_utilization, config.cache_memory_bytes or None)


def plan_load(entry: ModelEntry, choice: DeviceChoice, config: EngineConfig) -> MemoryPlan:
    """The plan for loading a model: one conversation of the context that is set, or of the longest that fits.

    Raises:
        DoesNotFit: The context that is set does not fit, or none does; the sentence names what would.
        BadModelFile: The model's folder is damaged.
    """
    footprint = footprint_of(entry, runnable(entry, choice.format), config.prefill_chunk, config.kv_dtype)
    machine, limits = measure_machine(choice.device.type), limits_of(config)
    context = config.max_context
    if context is not None and context > footprint.context_limit:
        _log.warning("A context of %d tokens is set, but %s holds %d.", context, entry.name, footprint.context_limit)
        context = footprint.context_limit
    wanted = plan(footprint, machine, context=context, limits=limits)
    check(footprint, machine, wanted, limits)
    return wanted


def floats_fit(entry: ModelEntry, choice: DeviceChoice, config: EngineConfig) -> bool:
    """Whether the model fits with its weights in floats too, as it runs while the CPU kernels are compiled.

    Args:
        entry: Which model.
        choice: Where it runs.
        config: With the context that was planned.

    Raises:
        BadModelFile: The model's folder is damaged.
    """
    footprint = footprint_of(entry, _floats(choice.format), config.prefill_chunk, config.kv_dtype)
    machine, limits = measure_machine(choice.device.type), limits_of(config)
    return plan(footprint, machine, context=config.max_context, limits=limits).fits


def cache_budget(planned: MemoryPlan, weights: int, config: EngineConfig) -> int:
    """Bytes for KV caches, now that the weights are loaded and their size is known."""
    left = max(0, planned.caches + planned.weights - weights)
    return min(left, config.cache_memory_bytes or left)
