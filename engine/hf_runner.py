"""A forward pass through transformers: any causal language model, no speed beyond what transformers gives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
import transformers
from torch import Tensor

from engine.device import DeviceChoice
from engine.errors import BadModelFile, UnsupportedModel

_DEFAULT_CONTEXT = 2048


class HfCache:
    """transformers' DynamicCache, made without a configuration so that sliding-window layers can be cropped."""

    def __init__(self) -> None:
        self.inner: Any = transformers.DynamicCache()

    @property
    def length(self) -> int:
        """Tokens held."""
        return int(self.inner.get_seq_length())

    @property
    def nbytes(self) -> int:
        """Memory held, in bytes."""
        tensors = (t for layer in self.inner.layers for t in (layer.keys, layer.values) if t is not None)
        return sum(t.numel() * t.element_size() for t in tensors)

    def crop(self, length: int) -> bool:
        """Forget all but the first `length` tokens."""
        self.inner.crop(length)
        return True

    def compact(self) -> None:
        """Nothing to do: this cache has no spare room."""

    def export(self, length: int | None = None) -> dict[str, Tensor]:
        """Views [kv_heads, length, head_dim] of each layer, `0.keys`, `0.values` and so on."""
        return {
            f"{n}.{side}": tensor[0, :, :length]
            for n, layer in enumerate(self.inner.layers)
            for side, tensor in (("keys", layer.keys), ("values", layer.values))
        }


class HfRunner:
    """Implements `engine.runner.Runner` over a transformers model.

    Args:
        model: In evaluation mode, on its device.
        choice: Where it runs.
        max_context: Limits the context further, in tokens.
    """

    description = "transformers"
    croppable = True

    def __init__(self, model: Any, choice: DeviceChoice, max_context: int | None = None) -> None:  # noqa: ANN401
        self._model = model
        self._device = choice.device
        config = model.config.get_text_config()
        self.vocab_size = int(config.vocab_size)
        longest = int(getattr(config, "max_position_embeddings", 0) or _DEFAULT_CONTEXT)
        self.context_limit = min(longest, max_context or longest)
        self._layers = int(config.num_hidden_layers)
        self.cache_format = f"transformers {choice.dtype}"
        self.weight_bytes = sum(p.numel() * p.element_size() for p in model.parameters())
        self.kv_bytes_per_token = _kv_bytes_per_token(config, choice.dtype)

    def new_cache(self) -> HfCache:
        """An empty cache."""
        return HfCache()

    def restore_cache(self, tensors: Mapping[str, Tensor]) -> HfCache:
        """The cache whose `export` these tensors are; they are copied.

        Raises:
            BadModelFile: They are no cache of this model.
        """
        if set(tensors) != {f"{n}.{side}" for n in range(self._layers) for side in ("keys", "values")}:
            raise BadModelFile("A saved cache does not fit this model.", f"{len(tensors)} tensors")
        cache = HfCache()
        for n in range(self._layers):
            keys, values = (tensors[f"{n}.{side}"][None].to(self._device, copy=True) for side in ("keys", "values"))
            cache.inner.update(keys, values, n)
        return cache

    def prefill(self, ids: Sequence[int], cache: HfCache, keep: int = 1) -> Tensor:
        """Read `ids` in parallel; logits of the last `keep`, float32 [keep, vocab_size] on the CPU."""
        with torch.inference_mode():
            output = self._model(
                input_ids=torch.tensor([list(ids)], device=self._device),
                past_key_values=cache.inner,
                use_cache=True,
                logits_to_keep=keep,
            )
            logits: Tensor = output.logits[0, -keep:].float().cpu()
        return logits

    def decode(self, token_id: int, cache: HfCache) -> Tensor:
        """Read one token; its logits, float32 [vocab_size] on the CPU."""
        return self.prefill([token_id], cache)[0]


def load_hf_runner(folder: Path, choice: DeviceChoice, max_context: int | None = None) -> HfRunner:
    """Load a model folder through transformers: safetensors only, no remote code, no network.

    Raises:
        UnsupportedModel: transformers has no such causal language model.
        BadModelFile: The weights cannot be read.
    """
    model: Any
    try:
        model = transformers.AutoModelForCausalLM.from_pretrained(
            folder, dtype=choice.dtype, use_safetensors=True, local_files_only=True, trust_remote_code=False
        )
    except ValueError as error:
        raise UnsupportedModel(
            f"The model {folder.name} has an architecture that is not supported.", str(error)
        ) from error
    except (OSError, RuntimeError) as error:
        raise BadModelFile(
            f"The model {folder.name} cannot be read; remove it and add it again.", str(error)
        ) from error
    return HfRunner(model.to(choice.device).eval(), choice, max_context)


def _kv_bytes_per_token(config: Any, dtype: torch.dtype) -> int:  # noqa: ANN401
    heads = int(config.num_attention_heads)
    kv_heads = int(getattr(config, "num_key_value_heads", None) or heads)
    head_dim = int(getattr(config, "head_dim", None) or config.hidden_size // heads)
    return 2 * int(config.num_hidden_layers) * kv_heads * head_dim * dtype.itemsize
