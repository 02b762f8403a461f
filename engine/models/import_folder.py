"""Imports a Hugging Face folder with safetensors: checked, then linked or copied into Loquat's own model folder."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine.chat import RequestHandle
from engine.decoder.checkpoint import Checkpoint
from engine.errors import BadModelFile, UnsupportedModel
from engine.events import LoadStage
from engine.kernels.sources import FolderSource
from engine.models.config_sizes import Held, check_sizes
from engine.models.files import can_link, link_or_copy, need_room
from engine.models.folder_tokenizer import import_tokenizer
from engine.models.import_prequantised import (
    PrequantisedSource,
    QuantisedCheckpoint,
    read_checkpoint,
    scheme_of,
    without_scheme,
)
from engine.models.model_folder import CONFIG, WEIGHTS, WEIGHTS_INDEX, Imported, read_object, write_json
from engine.models.names import shown
from engine.models.note_quality import note_quality
from engine.models.pack_weights import pack_weights
from engine.models.prequantised import StoredTensors
from engine.models.progress import Step, stop_if_cancelled
from engine.models.safetensors_file import TensorEntry, pickle_refused, pickles_in, read_entries
from engine.models.weight_files import write_weights


@dataclass(frozen=True, slots=True)
class _Weights:
    """The weight files of a folder, checked.

    Attributes:
        files: Name in the model folder to the file.
        places: Tensor to the file.
        entries: All tensors.
        index: The index to write, None for a single file.
    """

    files: Mapping[str, Path]
    places: Mapping[str, Path]
    entries: list[TensorEntry]
    index: Mapping[str, Any] | None


def import_folder(
    source: Path, folder: Path, label: str, handle: RequestHandle, *, weights: str = ""
) -> Generator[Step, None, Imported]:
    """Bring a Hugging Face folder into an empty folder, without changing a weight; quantised ones become floats.

    Args:
        source: Folder with config.json, safetensors and a tokenizer.
        folder: Where to; it is left half-filled on an error.
        label: The model's name in progress sentences.
        handle: Cancels.
        weights: How they are to be held, one of `engine.formats.WEIGHTS`; "" takes what suits the device.

    Raises:
        BadModelFile: A part is missing or damaged.
        UnsupportedModel: An architecture that transformers does not know, code of its own, pickled weights, or weights
            quantised in a way that is not known.
        DiskFull: There is too little room.
        Cancelled: `handle` was cancelled.
        OSError: The disk failed.
    """
    yield Step(LoadStage.IMPORT, 0, 0, f"Reading {label}")
    config = read_object(source, CONFIG)
    _check_config(source, config)
    scheme = scheme_of(source, config)
    stored = _weights(source)
    target = _Target(source, folder, label, handle, weights)
    if scheme is not None:
        tensors = StoredTensors(source.name, stored.places, stored.entries)
        return (yield from _unpack(read_checkpoint(tensors, scheme, config), config, target))
    held = Held.of({entry.name: entry.shape for entry in stored.entries})
    check_sizes(config, held)
    # What is copied, and each weight in packed form, which is about a byte at most.
    need_room(
        folder, _copied_bytes(stored, folder) + sum(entry.elements for entry in stored.entries), f"import {label}"
    )
    import_tokenizer(source, folder, config)
    write_json(folder / CONFIG, config)
    yield from _place(stored, folder, label, handle)
    _check_weights(source, folder, str(config["model_type"]), held)
    yield from pack_weights(FolderSource(Checkpoint(folder)), config, folder, label, handle, weights=weights)
    parameters = sum(entry.elements for entry in stored.entries)
    return Imported(str(config["model_type"]), parameters, source.resolve().name)


@dataclass(frozen=True, slots=True)
class _Target:
    """What an import was asked for; see `import_folder`."""

    source: Path
    folder: Path
    label: str
    handle: RequestHandle
    weights: str


def _unpack(
    checkpoint: QuantisedCheckpoint, config: Mapping[str, Any], target: _Target
) -> Generator[Step, None, Imported]:
    """Import weights that came quantised."""
    folder, label, handle = target.folder, target.label, target.handle
    weights = target.weights or checkpoint.suits
    held = Held.of({weight.name: weight.shape for weight, _ in checkpoint.weights})
    plain = without_scheme(config, checkpoint.dtype)
    check_sizes(plain, held)
    need_room(folder, checkpoint.nbytes + checkpoint.parameters, f"import {label}")
    import_tokenizer(target.source, folder, plain)
    write_json(folder / CONFIG, plain)
    yield from write_weights(checkpoint.weights, folder, label, handle)
    _check_weights(target.source, folder, str(config["model_type"]), held)
    packing = PrequantisedSource(folder, checkpoint.quantised)
    yield from pack_weights(packing, plain, folder, label, handle, weights=weights)
    yield from note_quality(folder, weights, checkpoint.parameters, label, handle)
    return Imported(str(config["model_type"]), checkpoint.parameters, target.source.resolve().name, weights)


def _check_config(source: Path, config: dict[str, Any]) -> None:
    # Imported here: it takes seconds, and a GGUF file does not need it.
    from transformers.models.auto.modeling_auto import MODEL_FOR_CAUSAL_LM_MAPPING_NAMES

    model_type = str(config.get("model_type"))
    known, named = model_type in MODEL_FOR_CAUSAL_LM_MAPPING_NAMES, shown(model_type)
    # Code that came before transformers knew the architecture is named in many a config.json still, and left alone.
    if config.pop("auto_map", None) is not None and not known:
        raise UnsupportedModel(f"The model {source.name} needs code of its own, which Loquat does not run.")
    if not known:
        raise UnsupportedModel(f"The model {source.name} is of the architecture {named}, which is not supported.")


def _check_weights(source: Path, folder: Path, model_type: str, held: Held) -> None:
    """See that the weights are those of the architecture, before the model can be chosen."""
    from engine.hf_runner import lacking_weights

    try:
        lacking = lacking_weights(folder, held.most_numbers, held.most_modules)
    except (OSError, ImportError) as error:
        sentence = f"The model {source.name} is of the architecture {model_type}, which cannot be read from it."
        raise BadModelFile(sentence, str(error)) from error
    if lacking:
        raise BadModelFile(
            f"The weights in {source.name} are not those of the architecture {model_type} that its config.json names; "
            "get the model again.",
            str(lacking),
        )


def _weights(source: Path) -> _Weights:
    if (source / WEIGHTS_INDEX).is_file():
        return _sharded(source)
    single = _single(source)
    entries = read_entries(single)
    return _Weights({WEIGHTS: single}, dict.fromkeys((entry.name for entry in entries), single), entries, None)


def _single(source: Path) -> Path:
    if (source / WEIGHTS).is_file():
        return source / WEIGHTS
    found = [path for path in source.glob("*.safetensors") if not path.name.startswith("adapter")]
    if len(found) == 1:
        return found[0]
    if (pickles := pickles_in(source)) and not found:
        raise pickle_refused(pickles[0])
    raise BadModelFile(f"The folder {source.name} holds no {WEIGHTS}, so its weights are missing.")


def _sharded(source: Path) -> _Weights:
    index = read_object(source, WEIGHTS_INDEX)
    places = index.get("weight_map")
    if not isinstance(places, dict) or not all(isinstance(name, str) for name in places.values()):
        raise BadModelFile(f"The file {WEIGHTS_INDEX} in {source.name} cannot be read; get it again.")
    files = {name: _shard(source, name) for name in sorted(set(places.values()))}
    entries = {name: read_entries(path) for name, path in files.items()}
    held = {entry.name: name for name, shard in entries.items() for entry in shard}
    missing = [tensor for tensor, name in places.items() if held.get(tensor) != name]
    if missing:
        lost = shown(missing[0])
        raise BadModelFile(f"The weights in {source.name} are incomplete ({lost} is missing); get them again.")
    paths = {tensor: files[name] for tensor, name in held.items()}
    return _Weights(files, paths, [entry for shard in entries.values() for entry in shard], index)


def _shard(source: Path, name: str) -> Path:
    """A shard that the index names; an index cannot name a file elsewhere."""
    path = source / name
    if Path(name).name != name or path.suffix != ".safetensors" or not path.is_file():
        raise BadModelFile(f"The folder {source.name} lacks a part of its weights ({shown(name)}); get it again.")
    return path


def _copied_bytes(weights: _Weights, folder: Path) -> int:
    """Bytes of the weights that cannot be linked; those that can take none."""
    return sum(path.stat().st_size for path in weights.files.values() if not can_link(path, folder))


def _place(weights: _Weights, folder: Path, label: str, handle: RequestHandle) -> Generator[Step, None, None]:
    total = sum(path.stat().st_size for path in weights.files.values())
    before = 0
    for name, path in weights.files.items():
        for done in link_or_copy(path, folder / name):
            stop_if_cancelled(handle)
            share = 100 * (before + done) // total
            yield Step(LoadStage.IMPORT, before + done, total, f"Copying {label}: {share} %")
        stop_if_cancelled(handle)
        before += path.stat().st_size
    if weights.index is not None:
        write_json(folder / WEIGHTS_INDEX, weights.index)
