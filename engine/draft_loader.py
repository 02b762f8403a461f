"""Loads the draft model that was chosen for a model, if it can be had and shares its tokenizer."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from engine.config import EngineConfig
from engine.device import DeviceChoice, choose_device
from engine.device_faults import is_out_of_memory
from engine.draft_model import DraftModel
from engine.errors import Cancelled, EngineError
from engine.models.draft import check_pair
from engine.models.registry import ModelEntry, Registry
from engine.runners import Choice, Warmup, choose_runner

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Draft:
    """What became of the wish for a draft model.

    Attributes:
        model: The draft model; None where there is none, or not yet.
        words: Which it is, or why there is none; "" where none was chosen.
        pending: Compiles the kernels that it waits for; None if it waits for nothing.
    """

    model: DraftModel | None = None
    words: str = ""
    pending: Warmup | None = None


def no_room() -> Draft:
    """No draft model, as there is no memory for one."""
    return Draft(words="without its draft model: there is no memory for both")


def load_draft(
    entry: ModelEntry,
    choice: DeviceChoice,
    config: EngineConfig,
    cache_folder: Path,
    *,
    wait: bool,
    poll: Callable[[], None],
) -> Draft:
    """The draft model that was chosen for a model.

    Whatever is wrong with it, the model answers without: it only makes answers quicker.

    Args:
        entry: The model that it serves.
        choice: Where that one runs; the draft runs there too.
        config: Limits.
        cache_folder: Where compiled kernels are kept.
        wait: Wait until kernels are compiled, rather than do without a draft meanwhile.
        poll: Called between two tensors; what it raises ends the load.

    Raises:
        Cancelled: Through `poll`.
    """
    name = entry.choices.draft
    if not name:
        return Draft()
    try:
        other = Registry(entry.folder.parent).find(name)
        check_pair(entry, other)
        own = choose_device(EngineConfig(device=choice.device.type, threads=config.threads), other)
        return _ready(other, choose_runner(other.folder, own, config, cache_folder, wait=wait, poll=poll))
    except Cancelled:
        raise
    except EngineError as error:
        _log.info("Without the draft model %s: %s", name, error.sentence)
        return Draft(words=f"without its draft model: {error.sentence.rstrip('.')}")
    except (MemoryError, RuntimeError) as error:
        if not is_out_of_memory(error):
            raise
        _log.info("Without the draft model %s: %s", name, error)
        return no_room()


def _ready(other: ModelEntry, chosen: Choice) -> Draft:
    if chosen.pending is not None:
        return Draft(words=f"without {other.label} as a draft model until kernels are compiled", pending=chosen.pending)
    if not chosen.runner.croppable:
        return Draft(words=f"without its draft model: {other.label} cannot take a guess back")
    model = DraftModel(other.label, chosen.runner)
    model.cache.prefill([0, 0])  # its weights come into memory, where the plan of the large model counts them
    model.forget()
    return Draft(model, f"drafts by {other.label}")
