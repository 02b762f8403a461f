"""How a model's makers sample it, as its generation_config.json says, or the catalogue."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from engine.config import SamplingParams
from engine.models.catalogue import find
from engine.models.model_folder import GENERATION
from engine.tokenizer import read_json

_NAMES: Final = ("temperature", "top_k", "top_p", "min_p", "repetition_penalty")


def own_sampling(folder: Path, name: str = "") -> tuple[tuple[str, float], ...]:
    """The makers' values by the names of `SamplingParams`; empty where they name none, or none that can be used.

    Args:
        folder: Of the model.
        name: In the registry: what the catalogue knows of it stands for a file that says nothing.

    Raises:
        BadModelFile: The file cannot be read.
    """
    given = read_json(folder / GENERATION)
    known = find(name)
    if known is not None and not any(key in given for key in _NAMES):
        return known.sampling
    if given.get("do_sample") is False:
        return ()
    named = ((name, given.get(name)) for name in _NAMES)
    found = {name: value for name, value in named if isinstance(value, int | float) and not isinstance(value, bool)}
    try:
        SamplingParams(**found)  # type: ignore[arg-type]
    except ValueError:
        return ()
    return tuple(found.items())
