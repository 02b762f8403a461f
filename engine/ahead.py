"""Reads in idle time what the next request will begin with, so that it has less to wait for.

Nothing of it is ever shown: it only fills the conversation's KV cache.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import psutil

from engine.chat import ChatRequest, RequestHandle
from engine.estimate import about_tokens
from engine.generate import prefill
from engine.loader import LoadedModel
from engine.turn import fit_to_context

_WORTH_READING = 8  # tokens


def prefill_ahead(
    model: LoadedModel, request: ChatRequest, handle: RequestHandle, between: Callable[[], None] = lambda: None
) -> int:
    """Prefill the part of a request that will not change any more.

    Args:
        model: Whose cache is filled.
        request: Its last message is a draft, and may be empty.
        handle: Cancelled when something real comes; what was read stays in the cache.
        between: Called after each chunk, for what cannot wait until all is read.

    Returns:
        Tokens read.
    """
    fitted = fit_to_context(model, request)
    if about_tokens(fitted.messages, model.runner.context_limit):
        return 0  # it cannot fit, and tokenising it would take long
    ids = model.prompt.stable_prefix(dataclasses.replace(request, messages=fitted.messages))
    if handle.cancelled or on_battery() or not _worthwhile(model, request, ids):
        return 0
    cache = model.store.begin(request.conversation_id, ids).cache
    before = len(ids) - len(cache.reuse(ids))
    for _ in prefill(cache, ids[before:], model.pacer, lambda: handle.cancelled):
        between()
    model.store.end(request.conversation_id, lambda: handle.cancelled)
    return len(cache.ids) - before


def on_battery() -> bool:
    """Whether the machine runs on its battery, where reading ahead would cost what nobody asked for."""
    try:
        battery = psutil.sensors_battery() if hasattr(psutil, "sensors_battery") else None
    except OSError:  # a container may have no /sys, and then it has no battery either
        return False
    return battery is not None and battery.power_plugged is False  # None where the system does not say


def _worthwhile(model: LoadedModel, request: ChatRequest, ids: list[int]) -> bool:
    # What another conversation holds, or the disk, counts as missing: it is brought here before it is needed.
    held = model.store.held(request.conversation_id, ids)
    return len(ids) - held >= _WORTH_READING and len(ids) < model.runner.context_limit
