"""A forward pass through transformers: any causal language model, no speed beyond what transformers gives."""

from __future__ import annotations

import inspect
import itertools
import weakref
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import torch
import transformers
from torch import Tensor

from engine.bounded_build import bounded_build
from engine.decoder.config import SIZES_REFUSED
from engine.decoder.merge import Merge
from engine.device import DeviceChoice
from engine.device_faults import is_device_fault
from engine.errors import BadModelFile, EngineError, UnsupportedModel
from engine.hf_cache import HfCache, cache_layers, keeps_states

_DEFAULT_CONTEXT: Final = 2048
_PROBE: Final = 4  # tokens
_DETAIL: Final = 2_000  # characters of a library's error


class HfRunner:
    """Implements `engine.runner.Runner` over a transformers model.

    Args:
        model: In evaluation mode, on its device.
        choice: Where it runs.
        max_context: Limits the context further, in tokens.

    Attributes:
        kv_shape: Layers, KV heads and head size, where that is how keys and values are cached; zeros where it is not.
        kv_dtype: What they are cached in.

    Raises:
        UnsupportedModel: What the model keeps of a conversation is not in its cache, or in none that is known.
    """

    def __init__(self, model: Any, choice: DeviceChoice, max_context: int | None = None) -> None:  # noqa: ANN401
        self._model = model
        weakref.finalize(self, _let_go, model).atexit = False
        self._device = choice.device
        config = model.config.get_text_config(decoder=True)
        self._takes_positions = "position_ids" in _parameters(model)
        self.vocab_size = int(config.vocab_size)
        self.context_limit = min(_longest_context(config), max_context or _longest_context(config))
        held = sorted({str(weight.dtype) for weight in model.parameters()})  # quantised weights, other keys and values
        self.cache_format = f"transformers-{transformers.__version__} {choice.dtype} {'+'.join(held)}"
        self.weight_bytes = sum(p.numel() * p.element_size() for p in model.parameters())
        self.croppable = not keeps_states(self.new_cache().layers)
        self.kv_bytes_per_token = self._measured_bytes_per_token()
        self.kv_dtype = str(choice.dtype).removeprefix("torch.")
        self.kv_shape = self._kv_shape(config, choice.dtype.itemsize)
        self._one_by_one = not self.croppable and self._forgets_states()
        self.description = "transformers" + (", token by token" if self._one_by_one else "")

    def new_cache(self) -> HfCache:
        """An empty cache.

        Raises:
            UnsupportedModel: The model keeps something of a kind that is not known.
        """
        layers = cache_layers(self._model.config)
        return HfCache(layers, [self._device_of(n) for n in range(len(layers))])

    def restore_cache(self, tensors: Mapping[str, Tensor]) -> HfCache:
        """The cache whose `export` these tensors are; they are copied.

        Raises:
            BadModelFile: They are no cache of this model.
        """
        cache = self.new_cache()
        cache.fill(tensors)
        return cache

    def prefill(self, ids: Sequence[int], cache: HfCache, keep: int = 1) -> Tensor:
        """Read `ids` in parallel; logits of the last `keep`, float32 [keep, vocab_size] on the CPU."""
        if self._one_by_one and cache.length:
            every = [self._forward((token_id,), cache, 1) for token_id in ids]
            return torch.cat(every[-keep:])
        return self._forward(ids, cache, keep)

    def decode(self, token_id: int, cache: HfCache) -> Tensor:
        """Read one token; its logits, float32 [vocab_size] on the CPU."""
        return self._forward((token_id,), cache, 1)[0]

    @torch.inference_mode()
    def _forward(self, ids: Sequence[int], cache: HfCache, keep: int) -> Tensor:
        # Positions are given because some models (Bamba) would count from zero in every call.
        positions = torch.arange(cache.length, cache.length + len(ids), device=self._device)[None]
        output = self._model(
            input_ids=torch.tensor([list(ids)], device=self._device),
            cache=cache.inner,
            use_cache=True,
            logits_to_keep=keep,
            **({"position_ids": positions} if self._takes_positions else {}),
        )
        cache.length += len(ids)
        logits: Tensor = output.logits[0, -keep:].float().cpu()
        return logits

    def _device_of(self, layer: int) -> torch.device:
        """Where a layer computes, and so keeps its keys and values: all on one device, unless they were spread.

        What was left in RAM computes on the device that leads.
        """
        spread: Mapping[str, int | str] = getattr(self._model, "hf_device_map", {})
        places = {place for name, place in spread.items() if f".{layer}." in f".{name}." and isinstance(place, int)}
        return torch.device("cuda", places.pop()) if len(places) == 1 else self._device

    def _measured_bytes_per_token(self) -> int:
        """Read one token and then another: what grew is what a token costs.

        Raises:
            UnsupportedModel: The cache does not hold what the model remembers.
        """
        cache = self.new_cache()
        self._forward((0,), cache, 1)
        if not cache.complete:
            raise UnsupportedModel("This model keeps its state in a way that is not supported; choose another one.")
        first = cache.nbytes
        self._forward((0,), cache, 1)
        return cache.nbytes - first

    def _kv_shape(self, config: Any, item: int) -> tuple[int, int, int]:  # noqa: ANN401
        """Layers, KV heads and head size, where that is how keys and values are cached; zeros where it is not."""
        heads = int(getattr(config, "num_attention_heads", 0) or 0)
        layers, kv_heads = int(config.num_hidden_layers), int(getattr(config, "num_key_value_heads", 0) or heads)
        head_dim = int(getattr(config, "head_dim", 0) or (config.hidden_size // heads if heads else 0))
        plain = 2 * layers * kv_heads * head_dim * item == self.kv_bytes_per_token
        return (layers, kv_heads, head_dim) if plain else (0, 0, 0)

    def _forgets_states(self) -> bool:
        """Whether a pass over several tokens ignores the states that earlier ones left.

        transformers computes Mamba, FalconMamba, Jamba and Zamba so: right for a whole prompt and for single
        tokens, wrong for a prompt in chunks. Such a model reads later chunks token by token.
        """
        ids = [n % self.vocab_size for n in range(1, _PROBE + 1)]
        logits = []
        for kept in (True, False):
            cache = self.new_cache()
            self._forward(ids, cache, 1)
            if not kept:
                cache.zero_recurrent_states()
            logits.append(self._forward(ids, cache, _PROBE))
        return cache.has_recurrent_states and torch.equal(*logits)


def load_hf_runner(
    folder: Path,
    choice: DeviceChoice,
    max_context: int | None = None,
    *,
    quantized: str | None = None,
    device_map: Mapping[str, int | str] | None = None,
) -> HfRunner:
    """Load a model folder through transformers: safetensors only, no remote code, no network.

    Args:
        folder: The model folder.
        choice: Where it runs, and the dtype of activations.
        max_context: Limits the context in tokens; None takes the model's own.
        quantized: "nf4" or "int8" quantises the weights by bitsandbytes while they are loaded.
        device_map: Which part goes where, as accelerate has it; None for all on the device of `choice`.

    Raises:
        UnsupportedModel: transformers has no such causal language model, or it is of no known kind.
        BadModelFile: The weights cannot be read, or some are missing.
    """
    try:
        model, lacking = _from_pretrained(
            folder, dtype=choice.dtype, **_quantization(quantized, choice), **_mapping(device_map)
        )
    except ValueError as error:
        raise UnsupportedModel(
            f"The model {folder.name} has an architecture that is not supported.", str(error)
        ) from error
    except (OSError, RuntimeError) as error:
        if is_device_fault(choice.device.type, error):
            raise
        raise BadModelFile(
            f"The model {folder.name} cannot be read; remove it and add it again.", str(error)
        ) from error
    if lacking:
        raise BadModelFile(
            f"The model {folder.name} lacks some of its weights; remove it and add it again.", str(lacking)
        )
    if "cache" not in _parameters(model):
        raise UnsupportedModel(f"The model {folder.name} has an architecture that is not supported.", "no cache")
    _merge_adapters(model, Merge.of(folder))
    placed = model if quantized or device_map else model.to(choice.device)
    return HfRunner(placed.eval(), choice, max_context)


@torch.no_grad()
def _merge_adapters(model: Any, merge: Merge) -> None:  # noqa: ANN401
    """Change a model's weights in place, where adapters are switched on."""
    if merge.key:
        for name, weight in model.named_parameters():
            weight.copy_(merge.apply(name, weight))


def lacking_weights(folder: Path, numbers: int, modules: int) -> list[str]:
    """Names of the weights that a model folder's architecture has and its files lack, or hold in another shape.

    Nothing is read but the files' headers.

    Args:
        folder: The model folder.
        numbers: Most that the model may have in its weights.
        modules: Most parts that it may have.

    Raises:
        BadModelFile: Its config.json asks for more than that, or cannot be made a model of.
        OSError, ImportError: A file cannot be read, or transformers lacks what it needs for this architecture.
    """
    try:
        with bounded_build(numbers, modules):
            return _from_pretrained(folder, device_map="meta")[1]
    except (EngineError, OSError, ImportError):
        raise
    except (RuntimeError, ArithmeticError) as error:  # shapes of torch; a division by a size
        raise BadModelFile(SIZES_REFUSED, repr(error)[:_DETAIL]) from error
    except Exception as error:  # what a library makes of a value that it did not expect can be anything
        raise BadModelFile(
            "The model's config.json is incomplete or damaged; get the model again.", repr(error)[:_DETAIL]
        ) from error


def _from_pretrained(folder: Path, **options: Any) -> tuple[Any, list[str]]:  # noqa: ANN401
    """The model, and the weights it lacks, which transformers makes up."""
    # It would draw bars and give advice on the terminal; what matters of it is in what we return.
    output: Any = transformers.utils.logging
    output.disable_progress_bar()
    output.set_verbosity_error()
    load: Any = transformers.AutoModelForCausalLM.from_pretrained
    model, found = load(
        folder,
        use_safetensors=True,
        local_files_only=True,
        trust_remote_code=False,
        output_loading_info=True,
        **options,
    )
    return model, [*map(str, found["missing_keys"]), *map(str, found["mismatched_keys"])]


def _quantization(name: str | None, choice: DeviceChoice) -> dict[str, Any]:
    """What from_pretrained needs to quantise: NF4 with double quantisation (Dettmers et al. 2023, QLoRA), or int8."""
    if name is None:
        return {}
    nf4 = {
        "load_in_4bit": True,
        "bnb_4bit_quant_type": "nf4",
        "bnb_4bit_use_double_quant": True,
        "bnb_4bit_compute_dtype": choice.dtype,
    }
    make: Any = transformers.BitsAndBytesConfig
    config = make(load_in_8bit=True) if name == "int8" else make(**nf4)
    return {"quantization_config": config, "device_map": {"": choice.device}}


def _let_go(model: Any) -> None:  # noqa: ANN401 - a transformers model
    """Give a model's memory back now, also where its parts hold one another.

    It would wait for a garbage collection, and of those the window exempts all that is there with the model.
    """
    for part in model.modules():
        # What accelerate puts around each part of a spread model, through which the part holds itself.
        for name in [name for name, value in vars(part).items() if callable(value) or name == "_hf_hook"]:
            del vars(part)[name]
    for weight in itertools.chain(model.parameters(), model.buffers()):
        if not weight.is_meta:  # what is moved in for each pass is elsewhere
            weight.data = torch.empty(0, dtype=weight.dtype, device=weight.device)


def _mapping(device_map: Mapping[str, int | str] | None) -> dict[str, Any]:
    return {"device_map": dict(device_map)} if device_map else {}


def _parameters(model: Any) -> Mapping[str, inspect.Parameter]:  # noqa: ANN401
    return inspect.signature(model.forward).parameters


def _longest_context(config: Any) -> int:  # noqa: ANN401
    """Tokens the model can read with one set of position embeddings.

    LongRoPE and dynamic scaling change all of them once a conversation passes a length, so that what was cached
    before is no longer what computing afresh would give; the context ends there.
    """
    longest = int(getattr(config, "max_position_embeddings", 0) or _DEFAULT_CONTEXT)
    ropes = getattr(config, "rope_parameters", None) or {}
    for rope in itertools.chain([ropes], ropes.values()):
        if isinstance(rope, Mapping) and rope.get("rope_type") in ("longrope", "dynamic"):
            longest = min(longest, int(rope.get("original_max_position_embeddings") or longest))
    return longest
