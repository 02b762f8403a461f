"""LoRA adapters merged into a model's weights as they are read, so that they cost nothing afterwards.

Source: Hu et al. 2021, "LoRA", section 4.1; for magnitudes Liu et al. 2024, "DoRA", equation 5.
"""

from __future__ import annotations

from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor

from engine.errors import BadModelFile
from engine.models.adapter_file import WEIGHTS, Adapter, Target, plain_name
from engine.models.adapters import merge_key, merged_adapters


class Merge:
    """The adapters that are switched on for one model.

    Args:
        adapters: In the order in which they are merged.

    Attributes:
        key: Names what is merged, for what is kept of the result; "" where nothing is.
    """

    def __init__(self, adapters: list[Adapter]) -> None:
        self._adapters = adapters
        self.key = merge_key(adapters)

    @classmethod
    def of(cls, folder: Path) -> Merge:
        """What is switched on for the model in `folder`.

        Raises:
            BadModelFile: An adapter is gone or damaged.
        """
        return cls(merged_adapters(folder))

    def apply(self, name: str, weight: Tensor) -> Tensor:
        """A weight with what the adapters add to it, in its own dtype; itself where that is nothing.

        Args:
            name: The weight's, with or without its model's prefix.
            weight: As stored, [rows, columns].

        Raises:
            BadModelFile: An adapter is damaged, or is no number.
        """
        for adapter in self._adapters:
            target = adapter.targets.get(plain_name(name))
            if target is not None:
                weight = _merged(adapter, target, weight)
        return weight


def _merged(adapter: Adapter, target: Target, weight: Tensor) -> Tensor:
    delta = target.scale * (_tensor(adapter, target.up) @ _tensor(adapter, target.down))
    merged = weight.float() + (delta.T if target.transposed else delta)
    if target.magnitude:
        length = torch.linalg.vector_norm(merged, dim=0 if target.transposed else 1, keepdim=True)
        merged = merged * (_tensor(adapter, target.magnitude).reshape(length.shape) / length)
    if not merged.isfinite().all():
        raise BadModelFile(f"The adapter {adapter.folder.name} holds what is no number; switch it off or get it again.")
    return merged.to(weight.dtype)


def _tensor(adapter: Adapter, name: str) -> Tensor:
    """One tensor of an adapter, as float32."""
    try:
        with safe_open(adapter.folder / WEIGHTS, framework="pt") as file:
            tensor: Tensor = file.get_tensor(name)
    except (OSError, SafetensorError) as error:
        raise BadModelFile(
            f"The adapter {adapter.folder.name} cannot be read; switch it off or add it again.", repr(error)
        ) from error
    return tensor.float()
