"""The cache of a transformers model: keys and values that can be cropped, states that cannot."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch
import transformers
from torch import Tensor
from transformers.cache_utils import (
    DummyLayer,
    DynamicLayer,
    DynamicSlidingWindowLayer,
    LinearAttentionAndFullAttentionLayer,
    LinearAttentionAndSlidingWindowAttentionLayer,
    LinearAttentionLayer,
)

from engine.errors import BadModelFile, UnsupportedModel

_KNOWN = (DynamicLayer, LinearAttentionLayer, LinearAttentionAndFullAttentionLayer, DummyLayer)


def cache_layers(config: Any) -> list[Any]:  # noqa: ANN401
    """The cache layers of transformers for a model's configuration, made so that all keys and values are kept.

    A layer that sees a window only would drop what lies before it, and could not be cropped: the mask alone keeps
    to the window here.

    Raises:
        UnsupportedModel: A layer is of a kind that is not known.
    """
    try:
        layers = [_unbounded(layer) for layer in transformers.DynamicCache(config=config).layers]
    except KeyError as error:
        raise _unsupported(str(error)) from error
    unknown = {type(layer).__name__ for layer in layers if type(layer) not in _KNOWN}
    if unknown:
        raise _unsupported(str(unknown))
    return layers


def keeps_states(layers: Sequence[Any]) -> bool:
    """Whether any layer sums up all tokens in a state, so that none of them can be taken back."""
    return any(isinstance(layer, LinearAttentionLayer) for layer in layers)


class HfCache:
    """A `SequenceCache`, and a `StatefulCache` where the model keeps states.

    Args:
        layers: From `cache_layers`.
        devices: Where each layer's tensors are.

    Attributes:
        inner: What the model's forward pass takes.
        length: Tokens held; whoever runs the model counts them.
    """

    def __init__(self, layers: list[Any], devices: Sequence[torch.device]) -> None:
        self.inner: Any = transformers.DynamicCache()
        self.inner.layers, self.inner.layer_class_to_replicate = layers, None
        self.length = 0
        self._devices = devices

    @property
    def layers(self) -> list[Any]:
        """One for each of the model's."""
        layers: list[Any] = self.inner.layers
        return layers

    @property
    def nbytes(self) -> int:
        """Memory held, in bytes."""
        tensors = (*self._keys_and_values().values(), *self._states().values())
        return sum(tensor.untyped_storage().nbytes() for tensor in tensors)  # cropping leaves a view

    @property
    def complete(self) -> bool:
        """Whether, after a pass, every layer that remembers something has it here."""
        states = {name.split(".")[0] for name in self._states()}
        return all(str(n) in states for n, layer in enumerate(self.layers) if isinstance(layer, LinearAttentionLayer))

    @property
    def has_recurrent_states(self) -> bool:
        """Whether there are states that sum up all tokens, not only the last few."""
        return any(".recurrent." in name for name in self._states())

    @torch.inference_mode()
    def crop(self, length: int) -> bool:
        """Forget all but the first `length` tokens; False where there are states."""
        if keeps_states(self.layers):
            return False
        self._crop(length)
        return True

    @torch.inference_mode()
    def compact(self) -> None:
        """Give back what cropping left."""
        for layer in self._attention_layers():
            if layer.keys.untyped_storage().nbytes() > layer.keys.nbytes:
                layer.keys, layer.values = layer.keys.clone(), layer.values.clone()

    def export(self, length: int | None = None) -> dict[str, Tensor]:
        """All tensors without their batch dimension, which is one; with states all tokens, whatever `length` says.

        `0.keys`, `0.values` [kv_heads, length, head_dim]; `0.conv.0`, `0.recurrent.0` as the model has them.
        """
        if keeps_states(self.layers):
            tensors = {**self._keys_and_values(), **self._states()}
            return {"length": torch.tensor([self.length]), **{name: tensor[0] for name, tensor in tensors.items()}}
        return {name: tensor[0, :, :length] for name, tensor in self._keys_and_values().items()}

    @torch.inference_mode()
    def state(self) -> dict[str, Tensor]:
        """Copies of the states."""
        return {name: tensor[0].clone() for name, tensor in self._states().items()}

    @torch.inference_mode()
    def rewind(self, length: int, state: Mapping[str, Tensor]) -> None:
        """Return to the `length` tokens after which `state` was taken."""
        self._crop(length)
        self._put_states(state)

    @torch.inference_mode()
    def fill(self, tensors: Mapping[str, Tensor]) -> None:
        """Take over, as copies, what `export` gave; for an empty cache.

        Raises:
            BadModelFile: They are of another model.
        """
        for n, layer in enumerate(self.layers):
            if isinstance(layer, DynamicLayer) and f"{n}.keys" in tensors and f"{n}.values" in tensors:
                layer.update(*(tensors[f"{n}.{side}"][None].to(self._devices[n]) for side in ("keys", "values")))
        self._put_states(tensors)
        lengths = {layer.keys.shape[2] for layer in self._attention_layers()}
        if keeps_states(self.layers):
            lengths.add(int(tensors.get("length", torch.tensor([0]))))
        missing = set(tensors) - {"length", *self._keys_and_values(), *self._states()}
        if len(lengths) != 1 or missing or not self.complete:
            raise BadModelFile("A saved cache does not fit this model.", f"{len(tensors)} tensors of {lengths} tokens")
        self.length = lengths.pop()

    @torch.inference_mode()
    def zero_recurrent_states(self) -> None:
        """Forget all but what the attention and convolution layers keep, for finding out whether that matters."""
        for name, tensor in self._states().items():
            if ".recurrent." in name:
                tensor.zero_()

    def _crop(self, length: int) -> None:
        for layer in self._attention_layers():
            layer.keys, layer.values = layer.keys[:, :, :length], layer.values[:, :, :length]
        self.length = length

    def _attention_layers(self) -> list[Any]:
        return [layer for layer in self.layers if isinstance(layer, DynamicLayer) and layer.is_initialized]

    def _keys_and_values(self) -> dict[str, Tensor]:
        return {
            f"{n}.{side}": tensor
            for n, layer in enumerate(self.layers)
            if isinstance(layer, DynamicLayer) and layer.is_initialized
            for side, tensor in (("keys", layer.keys), ("values", layer.values))
            if tensor is not None
        }

    def _states(self) -> dict[str, Tensor]:
        return {
            f"{n}.{kind}.{i}": tensor
            for n, layer in enumerate(self.layers)
            if isinstance(layer, LinearAttentionLayer)
            for kind, states in (("conv", layer.conv_states), ("recurrent", layer.recurrent_states))
            for i, tensor in states.items()
            if tensor is not None
        }

    def _put_states(self, states: Mapping[str, Tensor]) -> None:
        for n, layer in enumerate(self.layers):
            if isinstance(layer, LinearAttentionLayer):
                for i in range(layer.number_of_states):
                    conv, recurrent = (states.get(f"{n}.{kind}.{i}") for kind in ("conv", "recurrent"))
                    _put_state(layer, i, self._devices[n], conv, recurrent)


def _put_state(
    layer: Any,  # noqa: ANN401
    index: int,
    device: torch.device,
    conv: Tensor | None,
    recurrent: Tensor | None,
) -> None:
    if conv is not None:
        held = conv[None].to(device)
        LinearAttentionLayer.lazy_initialization(layer, conv_states=held, state_idx=index)
        layer.conv_states[index].copy_(held)
    if recurrent is not None:
        held = recurrent[None].to(device)
        LinearAttentionLayer.lazy_initialization(layer, recurrent_states=held, state_idx=index)
        layer.recurrent_states[index].copy_(held)
    layer.has_previous_state[index] = conv is not None or recurrent is not None


def _unbounded(layer: Any) -> Any:  # noqa: ANN401
    """The layer that keeps all tokens in place of one that keeps a window."""
    if isinstance(layer, LinearAttentionAndSlidingWindowAttentionLayer):
        return LinearAttentionAndFullAttentionLayer(number_of_states=layer.number_of_states)
    return DynamicLayer() if type(layer) is DynamicSlidingWindowLayer else layer  # type: ignore[no-untyped-call]


def _unsupported(detail: str) -> UnsupportedModel:
    return UnsupportedModel("This model keeps its cache in a way that is not supported; choose another one.", detail)
