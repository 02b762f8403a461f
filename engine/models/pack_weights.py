"""The last step of an import: the weights once more, packed as the CPU kernels read them."""

from __future__ import annotations

import logging
from collections.abc import Generator, Mapping
from pathlib import Path
from typing import Any

from engine.chat import RequestHandle
from engine.decoder.config import DecoderConfig
from engine.errors import UnsupportedModel
from engine.events import LoadStage
from engine.kernels.packing import pack_steps
from engine.kernels.sources import Source
from engine.kernels.store import packed_path, save_packed
from engine.models.progress import Step, stop_if_cancelled

_log = logging.getLogger(__name__)


def pack_weights(
    source: Source, config: Mapping[str, Any], folder: Path, label: str, handle: RequestHandle
) -> Generator[Step, None, None]:
    """Write the 4-bit weights of a model into its folder; a model that the kernels cannot run is left as it is.

    Raises:
        BadModelFile: A weight is missing or no number.
        Cancelled: `handle` was cancelled.
        OSError: The disk refused.
    """
    try:
        decoder = DecoderConfig.from_json(config)
        steps = pack_steps(decoder, source)
        while True:
            stop_if_cancelled(handle)
            done = next(steps)
            yield Step(LoadStage.IMPORT, done, len(decoder.layers), f"Packing {label} for this processor")
    except StopIteration as end:
        yield Step(LoadStage.IMPORT, 0, 0, f"Writing {label}")
        save_packed(end.value, packed_path(folder, "int4"))
    except UnsupportedModel as error:
        _log.info("Not packed for the CPU kernels: %s", error.sentence)
