"""Tensors of a model folder's safetensors files, memory-mapped."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from safetensors import SafetensorError, safe_open
from torch import Tensor

from engine.decoder.merge import Merge
from engine.errors import BadModelFile

SINGLE: Final = "model.safetensors"
INDEX: Final = "model.safetensors.index.json"
PREFIXES: Final = ("model.", "model.language_model.", "language_model.model.", "")


def read_json(path: Path) -> dict[str, Any]:
    """The object in a JSON file.

    Raises:
        BadModelFile: There is no such file, or no object in it.
    """
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise BadModelFile(f"The model lacks a readable {path.name}; get the model again.", repr(error)) from error
    if not isinstance(data, dict):
        raise BadModelFile(f"The model's {path.name} is damaged; get the model again.", type(data).__name__)
    return data


class Checkpoint:
    """Which file of a folder holds which tensor.

    Each tensor read has its own mapping of the file, so that the pages of one that was only copied from leave
    memory with it.

    Args:
        folder: The model folder.
        poll: Called before each tensor that is read; what it raises ends the reading.
        merge: Adapters that are merged into each tensor as it is read.

    Raises:
        BadModelFile: The weights' files are missing or damaged.
    """

    def __init__(self, folder: Path, poll: Callable[[], None] = lambda: None, merge: Merge | None = None) -> None:
        self._folder = folder
        self._poll = poll
        self._merge = merge
        self._files = _tensor_files(folder)

    def __contains__(self, name: str) -> bool:
        return name in self._files

    def decoder(self, name: str, shape: tuple[int, ...]) -> Tensor:
        """A tensor of the decoder itself, `layers.0.mlp.down_proj.weight` for example; see `tensor`."""
        return self.tensor(self._prefix + name, shape)

    def tensor(self, name: str, shape: tuple[int, ...]) -> Tensor:
        """The tensor of this name in its stored dtype, memory-mapped unless something is merged into it.

        Raises:
            BadModelFile: It is missing, of another shape, or the file is damaged.
        """
        self._poll()
        if name not in self._files:
            raise BadModelFile("The model lacks a part of its weights; get the model again.", f"no tensor {name}")
        path = self._folder / self._files[name]
        try:
            with safe_open(path, framework="pt") as file:
                tensor: Tensor = file.get_tensor(name)
        except (OSError, SafetensorError, RuntimeError) as error:
            raise _damaged(path, error) from error
        if tuple(tensor.shape) != shape or not tensor.is_floating_point():
            detail = f"{name}: {tensor.dtype} {tuple(tensor.shape)}, expected a floating-point {shape}"
            raise BadModelFile("The model's weights do not fit its config.json; get the model again.", detail)
        return self._merge.apply(name, tensor) if self._merge else tensor

    def head(self, shape: tuple[int, ...]) -> Tensor:
        """The matrix from hidden states to logits, where it is not the embedding; see `tensor`."""
        nested = "language_model.lm_head.weight"
        return self.tensor(nested if nested in self._files else "lm_head.weight", shape)

    @functools.cached_property
    def _prefix(self) -> str:
        """What stands before a decoder's own names; architectures that only transformers runs have other names."""
        for prefix in PREFIXES:
            if f"{prefix}embed_tokens.weight" in self._files:
                return prefix
        raise BadModelFile("The model lacks a part of its weights; get the model again.", "no tensor embed_tokens")


def _damaged(path: Path, error: Exception) -> BadModelFile:
    return BadModelFile(f"The model's file {path.name} is missing or damaged; get the model again.", repr(error))


def _tensor_files(folder: Path) -> Mapping[str, str]:
    """File name by tensor name."""
    if (folder / INDEX).exists():
        files = read_json(folder / INDEX).get("weight_map")
        if not isinstance(files, dict) or any(Path(str(name)).name != name for name in files.values()):
            raise BadModelFile(f"The model's {INDEX} is damaged; get the model again.")
        return files
    try:
        with safe_open(folder / SINGLE, framework="pt") as file:
            return dict.fromkeys(file.keys(), SINGLE)
    except (OSError, SafetensorError) as error:
        raise _damaged(folder / SINGLE, error) from error
