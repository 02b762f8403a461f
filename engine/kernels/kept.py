"""The packed weights of a model folder: as the import left them, or packed now and kept for the next time."""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path

from engine.decoder import DecoderConfig
from engine.decoder.checkpoint import Checkpoint
from engine.decoder.merge import Merge
from engine.errors import BadModelFile
from engine.kernels.formats import Kind
from engine.kernels.packing import pack
from engine.kernels.sources import FolderSource
from engine.kernels.store import load_packed, packed_path, save_packed
from engine.kernels.weights import KernelWeights

_log = logging.getLogger(__name__)


def packed_weights(folder: Path, name: str, decoder: DecoderConfig, poll: Callable[[], None]) -> KernelWeights:
    """A model's weights for the kernels, with the adapters that are switched on merged in.

    Args:
        folder: The model folder.
        name: The format, "int4" or "int8".
        decoder: From its config.json.
        poll: Called before each tensor that is read; what it raises ends the load.

    Raises:
        BadModelFile: The weights or an adapter are missing or damaged.
    """
    merge = Merge.of(folder)
    path = packed_path(folder, f"{name}-{merge.key}" if merge.key else name)
    if path.is_file():
        try:
            return load_packed(path, decoder)
        except BadModelFile as error:
            _log.warning("%s They are packed again. %s", error.sentence, error.detail)
    source = FolderSource(Checkpoint(folder, poll, merge))
    return _keep(pack(decoder, source, Kind.Q4A if name == "int4" else Kind.Q8), path, name, decoder)


def _keep(weights: KernelWeights, path: Path, name: str, decoder: DecoderConfig) -> KernelWeights:
    """The same weights, memory-mapped from the disk if it takes them; one set with adapters is kept, the newest."""
    try:
        if path != packed_path(path.parent, name):
            for older in path.parent.glob(f"{packed_path(path.parent, name).stem}-*.safetensors"):
                older.unlink()
        save_packed(weights, path)
    except OSError as error:
        _log.warning("The packed weights could not be kept and will be packed again next time: %s", error)
        return weights
    return load_packed(path, decoder)
