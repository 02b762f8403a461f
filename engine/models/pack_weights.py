"""The last step of an import: the weights once more, packed as the CPU kernels read them."""

from __future__ import annotations

import logging
from collections.abc import Generator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any, Final

from engine.chat import RequestHandle
from engine.decoder.config import DecoderConfig
from engine.errors import UnsupportedModel
from engine.events import LoadStage
from engine.kernels.formats import Kind
from engine.kernels.packing import pack_to
from engine.kernels.sources import Source
from engine.kernels.store import packed_path
from engine.models.progress import Step, stop_if_cancelled

_log = logging.getLogger(__name__)

_KINDS: Final[Mapping[str, Kind]] = {"int4": Kind.Q4A, "int8": Kind.Q8}


def pack_weights(
    source: Source, config: Mapping[str, Any], folder: Path, label: str, handle: RequestHandle, *, weights: str = ""
) -> Generator[Step, None, None]:
    """Write the packed weights of a model into its folder; a model that the kernels cannot run is left as it is.

    Args:
        source: Where the weights come from.
        config: The model's config.json.
        folder: The model's.
        label: The model's name in progress sentences.
        handle: Cancels.
        weights: In how many bits, one of `engine.formats.WEIGHTS`: "none" packs nothing, "" takes 4.

    Raises:
        BadModelFile: A weight is missing or no number.
        Cancelled: `handle` was cancelled.
        OSError: The disk refused.
    """
    if weights == "none":
        return
    name = weights or "int4"
    try:
        decoder = DecoderConfig.from_json(config)
        with closing(pack_to(packed_path(folder, name), decoder, source, _KINDS[name])) as steps:
            for done in steps:
                stop_if_cancelled(handle)
                yield Step(LoadStage.IMPORT, done, len(decoder.layers), f"Packing {label} for this processor")
    except UnsupportedModel as error:
        _log.info("Not packed for the CPU kernels: %s", error.sentence)
