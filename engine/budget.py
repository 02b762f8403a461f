"""The memory plan of a model in the registry on this machine, before anything of it is loaded."""

from __future__ import annotations

import logging

from engine.config import EngineConfig
from engine.device import DeviceChoice
from engine.machine import measure_machine
from engine.memory import Footprint, Limits, MemoryPlan, check, plan
from engine.models.registry import ModelEntry
from engine.models.shape import read_shape

_log = logging.getLogger(__name__)


def footprint_of(
    entry: ModelEntry, choice: DeviceChoice, chunk: int, kv_dtype: str | None = None, held: str | None = None
) -> Footprint:
    """What a model will take on a device.

    Args:
        entry: Which model.
        choice: The device, and the dtype of weights and activations.
        chunk: Most tokens prefilled at a time.
        kv_dtype: Of cached keys and values; None takes that of the activations.
        held: How the weights are held, as `ModelShape.footprint` takes it; None takes the dtype of the activations.

    Raises:
        BadModelFile: The model's folder is damaged.
    """
    dtype = str(choice.dtype).removeprefix("torch.")
    return read_shape(entry.folder).footprint(entry.label, held or dtype, kv_dtype or dtype, chunk)


def limits_of(config: EngineConfig) -> Limits:
    """What the configuration says about memory."""
    return Limits(config.memory_utilization, config.cache_memory_bytes or None)


def plan_load(entry: ModelEntry, choice: DeviceChoice, config: EngineConfig) -> MemoryPlan:
    """The plan for loading a model: one conversation of the context that is set, or of the longest that fits.

    Raises:
        DoesNotFit: The context that is set does not fit, or none does; the sentence names what would.
        BadModelFile: The model's folder is damaged.
    """
    footprint = footprint_of(entry, choice, config.prefill_chunk)
    machine, limits = measure_machine(choice.device.type), limits_of(config)
    context = config.max_context
    if context is not None and context > footprint.context_limit:
        _log.warning("A context of %d tokens is set, but %s holds %d.", context, entry.name, footprint.context_limit)
        context = footprint.context_limit
    wanted = plan(footprint, machine, context=context, limits=limits)
    check(footprint, machine, wanted, limits)
    return wanted


def cache_budget(planned: MemoryPlan, weights: int, config: EngineConfig) -> int:
    """Bytes for KV caches, now that the weights are loaded and their size is known."""
    left = max(0, planned.caches + planned.weights - weights)
    return min(left, config.cache_memory_bytes or left)
