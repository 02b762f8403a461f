"""From GGUF metadata to the config.json that transformers 5 expects: one small function per architecture."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from gguf.constants import GGMLQuantizationType
from gguf.quants import dequantize

from engine.errors import BadModelFile, UnsupportedModel
from engine.models.gguf_metadata import Metadata
from engine.models.gguf_reader import GgufFile, GgufTensor
from engine.models.names import shown

Config = dict[str, Any]

# The frequency scaling of Llama 3.1 and later (Llama 3.1 model card and reference code): only the factor differs.
_LLAMA3_LOW: Final = 1.0
_LLAMA3_HIGH: Final = 4.0
_LLAMA3_CONTEXT: Final = 8192
# Gemma's 27 B models scale attention by the width of a head as hidden/heads; all others by head_dim
# (llama.cpp keeps this in code, by the number of layers, not in the file).
_GEMMA_27B_LAYERS: Final = {"gemma2": 46, "gemma3": 62}
_GEMMA3_PATTERN: Final = 6
_SMOLLM3_NO_ROPE_EVERY: Final = 4
_UNPACKED: Final = (GGMLQuantizationType.F32, GGMLQuantizationType.F16, GGMLQuantizationType.BF16)


@dataclass(frozen=True, slots=True)
class _Source:
    """A GGUF file with its architecture's key prefix.

    Attributes:
        arch: `general.architecture`, the prefix of its keys.
        metadata: The file's.
        tensors: The file's, by name.
    """

    arch: str
    metadata: Metadata
    tensors: Mapping[str, GgufTensor]

    def has(self, key: str) -> bool:
        return f"{self.arch}.{key}" in self.metadata

    def positive(self, key: str, default: int | None = None) -> int:
        return self.metadata.positive(f"{self.arch}.{key}", default)

    def number(self, key: str, default: float | None = None) -> float:
        return self.metadata.number(f"{self.arch}.{key}", default)

    @property
    def heads(self) -> int:
        return self.positive("attention.head_count")

    @property
    def hidden(self) -> int:
        return self.positive("embedding_length")

    @property
    def head_dim(self) -> int:
        return self.positive("attention.key_length", max(1, self.hidden // self.heads))

    @property
    def layers(self) -> int:
        layers = self.positive("block_count")
        if layers > len(self.tensors):
            raise BadModelFile(
                f"The file {self.metadata.file_name} contradicts itself (the number of layers); get it again.",
                f"{layers} layers, {len(self.tensors)} tensors",
            )
        return layers

    @property
    def context(self) -> int:
        return self.positive("context_length")


def _common(source: _Source, model_type: str, class_name: str) -> Config:
    """What all decoders share."""
    vocab = source.tensors["token_embd.weight"].shape[0] if "token_embd.weight" in source.tensors else 0
    return {
        "architectures": [class_name],
        "model_type": model_type,
        "vocab_size": vocab,
        "hidden_size": source.hidden,
        "intermediate_size": source.positive("feed_forward_length"),
        "num_hidden_layers": source.layers,
        "num_attention_heads": source.heads,
        "num_key_value_heads": source.positive("attention.head_count_kv", source.heads),
        "head_dim": source.head_dim,
        "max_position_embeddings": source.context,
        "rms_norm_eps": source.number("attention.layer_norm_rms_epsilon"),
        "rope_parameters": _rope(source),
        "tie_word_embeddings": "output.weight" not in source.tensors,
        "bos_token_id": None,
        "eos_token_id": None,
        "pad_token_id": None,
    }


def _rope(source: _Source) -> Config:
    """Rotary embedding: base frequency and, where the file has one, the scaling for long contexts."""
    theta = {"rope_theta": source.number("rope.freq_base", 10000.0)}
    if "rope_freqs.weight" in source.tensors:
        return theta | _llama3_scaling(source, theta["rope_theta"])
    kind = source.metadata.text(f"{source.arch}.rope.scaling.type", "none")
    if kind == "none" or (kind == "linear" and source.number("rope.scaling.factor", 1.0) == 1.0):
        return theta | {"rope_type": "default"}
    if kind == "linear":
        return theta | {"rope_type": "linear", "factor": source.number("rope.scaling.factor")}
    if kind == "yarn":
        return theta | {
            "rope_type": "yarn",
            "factor": source.number("rope.scaling.factor"),
            "original_max_position_embeddings": source.positive("rope.scaling.original_context_length"),
        }
    raise UnsupportedModel(
        f"The model in {source.metadata.file_name} scales its positions in a way that is not supported ({shown(kind)})."
    )


def _llama3_scaling(source: _Source, theta: float) -> Config:
    """The file holds the finished factors; find the parameters they were made from, and check them."""
    stored = _floats(source, "rope_freqs.weight")
    factor = float(stored.max())
    if len(stored) != source.head_dim // 2 or not np.allclose(
        stored, _llama3_factors(theta, source.head_dim, factor), rtol=1e-3
    ):
        raise UnsupportedModel(
            f"The model in {source.metadata.file_name} scales its positions in a way that is not supported.",
            f"rope_freqs.weight = {stored.tolist()}",
        )
    return {
        "rope_type": "llama3",
        "factor": factor,
        "low_freq_factor": _LLAMA3_LOW,
        "high_freq_factor": _LLAMA3_HIGH,
        "original_max_position_embeddings": _LLAMA3_CONTEXT,
    }


def _llama3_factors(theta: float, head_dim: int, factor: float) -> npt.NDArray[np.float64]:
    """By how much each frequency is divided, shape [head_dim / 2] (Llama 3.1 reference code, `apply_scaling`)."""
    wavelength = 2 * np.pi * theta ** (np.arange(0, head_dim, 2) / head_dim)
    turns = _LLAMA3_CONTEXT / wavelength
    smooth = np.clip((turns - _LLAMA3_LOW) / (_LLAMA3_HIGH - _LLAMA3_LOW), 0.0, 1.0)
    return np.asarray(1.0 / ((1.0 - smooth) / factor + smooth))


def _floats(source: _Source, name: str) -> npt.NDArray[np.float32]:
    """A tensor of a factor for each frequency, which belongs to the configuration, shape [n]."""
    tensor = source.tensors[name]
    if tensor.elements > source.head_dim or tensor.ggml_type not in _UNPACKED:
        raise BadModelFile(
            f"The file {source.metadata.file_name} contradicts itself (the shape of {name}); get it again.",
            f"{tensor.elements} numbers in {tensor.ggml_type.name}, {source.head_dim} in a head",
        )
    values = np.asarray(dequantize(tensor.blocks, tensor.ggml_type), np.float32).reshape(-1)
    if not np.isfinite(values).all():
        raise BadModelFile(f"The model's weights are damaged ({name}); get the file again.")
    return values


def _llama(source: _Source) -> Config:
    config = _common(source, "llama", "LlamaForCausalLM")
    config["head_dim"] = source.positive(
        "attention.key_length", source.positive("rope.dimension_count", source.head_dim)
    )
    config["attention_bias"] = "blk.0.attn_output.bias" in source.tensors
    config["mlp_bias"] = "blk.0.ffn_gate.bias" in source.tensors
    return config


def _mistral(source: _Source) -> Config:
    window = source.positive("attention.sliding_window", source.context)
    return _common(source, "mistral", "MistralForCausalLM") | {
        "sliding_window": window if window < source.context else None
    }


def _qwen2(source: _Source) -> Config:
    return _common(source, "qwen2", "Qwen2ForCausalLM") | {"use_sliding_window": False}


def _qwen3(source: _Source) -> Config:
    return _common(source, "qwen3", "Qwen3ForCausalLM") | {"use_sliding_window": False, "attention_bias": False}


def _gemma(source: _Source) -> Config:
    """What Gemma 2 and 3 share."""
    wide = source.layers == _GEMMA_27B_LAYERS[source.arch]
    return {
        "hidden_activation": "gelu_pytorch_tanh",
        "query_pre_attn_scalar": source.hidden // source.heads if wide else source.head_dim,
        "sliding_window": source.positive("attention.sliding_window", 4096),
        "attention_bias": False,
    }


def _gemma2(source: _Source) -> Config:
    return (
        _common(source, "gemma2", "Gemma2ForCausalLM")
        | _gemma(source)
        | {
            "attn_logit_softcapping": source.number("attn_logit_softcapping", 50.0),
            "final_logit_softcapping": source.number("final_logit_softcapping", 30.0),
            "layer_types": _layer_types(source.layers, 2),
        }
    )


def _gemma3(source: _Source) -> Config:
    config = _common(source, "gemma3_text", "Gemma3ForCausalLM") | _gemma(source)
    full = config["rope_parameters"] | {"rope_theta": source.number("rope.freq_base", 1_000_000.0)}
    local = {"rope_type": "default", "rope_theta": source.number("rope.freq_base_swa", 10_000.0)}
    return config | {
        "rope_parameters": {"full_attention": full, "sliding_attention": local},
        "layer_types": _gemma3_layer_types(source),
        "attn_logit_softcapping": None,
        "final_logit_softcapping": source.number("final_logit_softcapping")
        if source.has("final_logit_softcapping")
        else None,
    }


def _gemma3_layer_types(source: _Source) -> list[str]:
    """Which layers slide: newer files say so, as a period or layer by layer."""
    key = "gemma3.attention.sliding_window_pattern"
    if isinstance(source.metadata.values.get(key), np.ndarray):
        return ["sliding_attention" if slides else "full_attention" for slides in source.metadata.numbers(key)]
    return _layer_types(source.layers, source.metadata.positive(key, _GEMMA3_PATTERN))


def _layer_types(layers: int, every: int) -> list[str]:
    """Each `every`-th layer sees the whole context, the others a sliding window."""
    return ["sliding_attention" if (i + 1) % every else "full_attention" for i in range(layers)]


def _phi3(source: _Source) -> Config:
    config = _common(source, "phi3", "Phi3ForCausalLM")
    window = source.positive("attention.sliding_window", source.context)
    rotary = source.positive("rope.dimension_count", source.head_dim) / source.head_dim
    del config["head_dim"]  # Phi3 takes hidden_size / num_attention_heads
    return config | {
        "rope_parameters": _phi3_rope(source) | {"partial_rotary_factor": rotary},
        "original_max_position_embeddings": source.positive("rope.scaling.original_context_length", source.context),
        "sliding_window": window if window < source.context else None,
    }


def _phi3_rope(source: _Source) -> Config:
    """Phi-3's long models hold two sets of factors, for prompts below and above the original context (LongRoPE)."""
    if "rope_factors_long.weight" not in source.tensors or "rope_factors_short.weight" not in source.tensors:
        return _rope(source)
    original = source.positive("rope.scaling.original_context_length")
    scale = source.context / original
    default = math.sqrt(1 + math.log(scale) / math.log(original)) if scale > 1 < original else 1.0
    return {
        "rope_type": "longrope",
        "rope_theta": source.number("rope.freq_base", 10000.0),
        "long_factor": _floats(source, "rope_factors_long.weight").tolist(),
        "short_factor": _floats(source, "rope_factors_short.weight").tolist(),
        "original_max_position_embeddings": original,
        "factor": scale,
        "attention_factor": source.number("rope.scaling.attn_factor", default),
    }


def _smollm3(source: _Source) -> Config:
    config = _common(source, "smollm3", "SmolLM3ForCausalLM")
    rope_layers = [int((i + 1) % _SMOLLM3_NO_ROPE_EVERY != 0) for i in range(source.layers)]
    return config | {"no_rope_layers": rope_layers, "use_sliding_window": False, "sliding_window": None}


def _granite(source: _Source) -> Config:
    return _common(source, "granite", "GraniteForCausalLM") | {
        "attention_multiplier": source.number("attention.scale", source.head_dim**-0.5),
        "embedding_multiplier": source.number("embedding_scale", 1.0),
        "residual_multiplier": source.number("residual_scale", 1.0),
        "logits_scaling": source.number("logit_scale", 1.0),
    }


ARCHITECTURES: Final[Mapping[str, Callable[[_Source], Config]]] = {
    "llama": _llama,
    "mistral": _mistral,
    "qwen2": _qwen2,
    "qwen3": _qwen3,
    "gemma2": _gemma2,
    "gemma3": _gemma3,
    "phi3": _phi3,
    "smollm3": _smollm3,
    "granite": _granite,
}


def config_of(file: GgufFile) -> Config:
    """The config.json of a GGUF file's model, without token ids and dtype.

    Raises:
        UnsupportedModel: An architecture, or a variant of one, that is not supported.
        BadModelFile: The file lacks a value that its model needs.
    """
    arch = file.metadata.text("general.architecture")
    if arch not in ARCHITECTURES:
        raise UnsupportedModel(
            f"The model in {file.path.name} is of the architecture {shown(arch)}, which is not supported; "
            f"supported are {', '.join(ARCHITECTURES)}."
        )
    if file.metadata.integer(f"{arch}.expert_count", 0) > 0:
        raise UnsupportedModel(f"The model in {file.path.name} is a mixture of experts, which is not supported.")
    return ARCHITECTURES[arch](_Source(arch, file.metadata, file.tensors))
