"""Which tensor of a GGUF file becomes which weight of the transformers model, with its shape and what was baked in.

Two things are undone: llama.cpp's converter interleaves the rows of each query and key head for its rotary
embedding (`LlamaModel.permute` in its conversion script), and it adds one to Gemma's norm weights.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from math import prod
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from gguf.constants import GGML_QUANT_SIZES, GGMLQuantizationType
from gguf.quants import dequantize

from engine.errors import BadModelFile, UnsupportedModel
from engine.models.gguf_reader import GgufFile, GgufTensor
from engine.models.names import shown

# Numbers dequantised at once; bounds the memory an import needs beyond the file's own.
_CHUNK_ELEMENTS: Final = 4 * 1024 * 1024


class Change(Enum):
    """What is undone on the way."""

    NONE = "none"
    QUERY_ROWS = "rows of the query heads"
    KEY_ROWS = "rows of the key heads"
    ADDED_ONE = "one was added"


_HALVED: Final = (Change.QUERY_ROWS, Change.KEY_ROWS)  # what comes as two halves of each head


@dataclass(frozen=True, slots=True)
class _Slot:
    """A weight: its name in the file and in transformers, its shape in words of `_sizes`."""

    gguf: str
    hf: str
    shape: tuple[str, ...]
    change: Change = Change.NONE
    optional: bool = False


@dataclass(frozen=True, slots=True)
class Weight:
    """One weight of the model folder, still packed in the GGUF file.

    Attributes:
        name: transformers' name.
        shape: transformers' shape.
        tensor: Where it comes from.
        rows: Row i of the weight is row rows[i] of the tensor; None keeps the order. Rows hold whole blocks,
            so this also holds for the packed bytes.
        minus_one: Whether one is subtracted.
    """

    name: str
    shape: tuple[int, ...]
    tensor: GgufTensor
    rows: npt.NDArray[np.intp] | None
    minus_one: bool

    @property
    def elements(self) -> int:
        """Numbers held."""
        return prod(self.shape)

    def blocks(self, start: int, stop: int) -> npt.NDArray[np.uint8]:
        """The packed bytes of rows start to stop, shape [stop - start, bytes per row]; a vector has rows of one."""
        packed = self.tensor.blocks.reshape(self.shape[0], -1)
        return packed[start:stop] if self.rows is None else packed[self.rows[start:stop]]

    def chunks(self) -> Iterator[npt.NDArray[np.float32]]:
        """The weight as float32, a few rows at a time, each of shape [rows, columns].

        Raises:
            BadModelFile: It holds infinity, or what is no number.
        """
        total = self.shape[0]
        step = max(1, _CHUNK_ELEMENTS // (self.elements // total))
        for start in range(0, total, step):
            with np.errstate(all="ignore"):
                values = np.asarray(dequantize(self.blocks(start, min(start + step, total)), self.tensor.ggml_type))
            if not np.isfinite(values).all():
                raise BadModelFile(f"The model's weights are damaged ({self.tensor.name}); get the file again.")
            yield values - np.float32(1.0) if self.minus_one else values
            self.tensor.forget()


def _attention(change: bool = False) -> tuple[_Slot, ...]:
    return (
        _layer("attn_q.weight", "self_attn.q_proj.weight", ("q", "hidden"), _query(change)),
        _layer("attn_k.weight", "self_attn.k_proj.weight", ("kv", "hidden"), _key(change)),
        _layer("attn_v.weight", "self_attn.v_proj.weight", ("kv", "hidden")),
        _layer("attn_output.weight", "self_attn.o_proj.weight", ("hidden", "q")),
    )


def _attention_biases(change: bool = False) -> tuple[_Slot, ...]:
    return (
        _layer("attn_q.bias", "self_attn.q_proj.bias", ("q",), _query(change)),
        _layer("attn_k.bias", "self_attn.k_proj.bias", ("kv",), _key(change)),
        _layer("attn_v.bias", "self_attn.v_proj.bias", ("kv",)),
    )


def _query(change: bool) -> Change:
    return Change.QUERY_ROWS if change else Change.NONE


def _key(change: bool) -> Change:
    return Change.KEY_ROWS if change else Change.NONE


def _layer(gguf: str, hf: str, shape: tuple[str, ...], change: Change = Change.NONE) -> _Slot:
    return _Slot(f"blk.{{i}}.{gguf}", f"model.layers.{{i}}.{hf}", shape, change)


def _norm(gguf: str, hf: str, change: Change = Change.NONE, shape: str = "hidden") -> _Slot:
    return _layer(f"{gguf}.weight", f"{hf}.weight", (shape,), change)


_EMBEDDING: Final = _Slot("token_embd.weight", "model.embed_tokens.weight", ("vocab", "hidden"))
_HEAD: Final = _Slot("output.weight", "lm_head.weight", ("vocab", "hidden"), optional=True)
_FINAL_NORM: Final = _Slot("output_norm.weight", "model.norm.weight", ("hidden",))
_MLP: Final = (
    _layer("ffn_gate.weight", "mlp.gate_proj.weight", ("ffn", "hidden")),
    _layer("ffn_up.weight", "mlp.up_proj.weight", ("ffn", "hidden")),
    _layer("ffn_down.weight", "mlp.down_proj.weight", ("hidden", "ffn")),
)
_NORMS: Final = (_norm("attn_norm", "input_layernorm"), _norm("ffn_norm", "post_attention_layernorm"))
_HEAD_NORMS: Final = (
    _norm("attn_q_norm", "self_attn.q_norm", shape="head_dim"),
    _norm("attn_k_norm", "self_attn.k_norm", shape="head_dim"),
)
_GEMMA_NORMS: Final = (
    _norm("attn_norm", "input_layernorm", Change.ADDED_ONE),
    _norm("post_attention_norm", "post_attention_layernorm", Change.ADDED_ONE),
    _norm("ffn_norm", "pre_feedforward_layernorm", Change.ADDED_ONE),
    _norm("post_ffw_norm", "post_feedforward_layernorm", Change.ADDED_ONE),
)
_GEMMA_HEAD_NORMS: Final = (
    _norm("attn_q_norm", "self_attn.q_norm", Change.ADDED_ONE, "head_dim"),
    _norm("attn_k_norm", "self_attn.k_norm", Change.ADDED_ONE, "head_dim"),
)
_GEMMA_FINAL_NORM: Final = _Slot("output_norm.weight", "model.norm.weight", ("hidden",), Change.ADDED_ONE)
_PLAIN: Final = (_EMBEDDING, _FINAL_NORM, _HEAD)
_LLAMA: Final = (*_PLAIN, *_attention(change=True), *_MLP, *_NORMS)
_GEMMA: Final = (_EMBEDDING, _GEMMA_FINAL_NORM, _HEAD, *_attention(), *_MLP, *_GEMMA_NORMS)
_FUSED: Final = (
    _layer("attn_qkv.weight", "self_attn.qkv_proj.weight", ("qkv", "hidden")),
    _layer("attn_output.weight", "self_attn.o_proj.weight", ("hidden", "q")),
    _layer("ffn_up.weight", "mlp.gate_up_proj.weight", ("ffn2", "hidden")),
    _layer("ffn_down.weight", "mlp.down_proj.weight", ("hidden", "ffn")),
)
_OUTPUT_BIAS: Final = _layer("attn_output.bias", "self_attn.o_proj.bias", ("hidden",))
_MLP_BIASES: Final = (
    _layer("ffn_gate.bias", "mlp.gate_proj.bias", ("ffn",)),
    _layer("ffn_up.bias", "mlp.up_proj.bias", ("ffn",)),
    _layer("ffn_down.bias", "mlp.down_proj.bias", ("hidden",)),
)
_SLOTS: Final[Mapping[str, tuple[_Slot, ...]]] = {
    "llama": _LLAMA,
    "mistral": _LLAMA,
    "smollm3": _LLAMA,
    "granite": _LLAMA,
    "qwen2": (*_PLAIN, *_attention(), *_attention_biases(), *_MLP, *_NORMS),
    "qwen3": (*_PLAIN, *_attention(), *_MLP, *_NORMS, *_HEAD_NORMS),
    "gemma2": _GEMMA,
    "gemma3_text": (*_GEMMA, *_GEMMA_HEAD_NORMS),
    "phi3": (*_PLAIN, *_FUSED, *_NORMS),
}
# What `dequantize` can unpack.
READABLE: Final = frozenset(
    GGMLQuantizationType[name]
    for name in (
        *("F32", "F16", "BF16", "Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q8_0", "Q2_K", "Q3_K", "Q4_K", "Q5_K", "Q6_K"),
        *("IQ1_S", "IQ1_M", "IQ2_XXS", "IQ2_XS", "IQ2_S", "IQ3_XXS", "IQ3_S", "IQ4_NL", "IQ4_XS"),
    )
)
# Tensors that went into config.json instead.
_IN_CONFIG: Final = frozenset({"rope_freqs.weight", "rope_factors_long.weight", "rope_factors_short.weight"})


def weights_of(file: GgufFile, config: Mapping[str, Any]) -> list[Weight]:
    """All weights of the model, none missing, none left over, each of the shape that `config` asks for.

    Raises:
        BadModelFile: A tensor is missing or has the wrong shape.
        UnsupportedModel: The file holds a tensor that this architecture has no place for, or packs one in a way
            that cannot be read.
    """
    weights = [weight for slot in _slots(config) for weight in _fill(slot, file, config)]
    _refuse_left_overs(file, weights)
    _refuse_unknown_packing(file, weights)
    return weights


def _slots(config: Mapping[str, Any]) -> tuple[_Slot, ...]:
    slots = _SLOTS[config["model_type"]]
    if config.get("attention_bias"):
        slots += (*_attention_biases(change=True), _OUTPUT_BIAS)
    return slots + _MLP_BIASES if config.get("mlp_bias") else slots


def _fill(slot: _Slot, file: GgufFile, config: Mapping[str, Any]) -> Iterator[Weight]:
    sizes = _sizes(config)
    shape = tuple(sizes[word] for word in slot.shape)
    for i in range(config["num_hidden_layers"] if "{i}" in slot.gguf else 1):
        name = slot.gguf.format(i=i)
        if name not in file.tensors and slot.optional:
            continue
        tensor = _tensor(file, name, shape)  # before the rows: a shape that lies must not take memory
        if slot.change in _HALVED and sizes["head_dim"] % 2:
            raise _misshapen(file, name, f"head_dim={sizes['head_dim']}")
        rows = _rows(slot.change, config, shape[0])
        yield Weight(slot.hf.format(i=i), shape, tensor, rows, slot.change is Change.ADDED_ONE)


def _tensor(file: GgufFile, name: str, shape: tuple[int, ...]) -> GgufTensor:
    tensor = file.tensors.get(name)
    if tensor is None:
        raise BadModelFile(f"The file {file.path.name} lacks a part of its model ({name}); get it again.")
    if tensor.shape != shape:
        raise _misshapen(file, name, f"{tensor.shape} != {shape}")
    return tensor


def _misshapen(file: GgufFile, name: str, detail: str) -> BadModelFile:
    return BadModelFile(f"The file {file.path.name} contradicts itself (the shape of {name}); get it again.", detail)


def _sizes(config: Mapping[str, Any]) -> dict[str, int]:
    heads, kv_heads = config["num_attention_heads"], config["num_key_value_heads"]
    head_dim = config.get("head_dim") or config["hidden_size"] // heads
    return {
        "hidden": config["hidden_size"],
        "vocab": config["vocab_size"],
        "ffn": config["intermediate_size"],
        "ffn2": 2 * config["intermediate_size"],
        "head_dim": head_dim,
        "q": heads * head_dim,
        "kv": kv_heads * head_dim,
        "qkv": (heads + 2 * kv_heads) * head_dim,
    }


def _rows(change: Change, config: Mapping[str, Any], rows: int) -> npt.NDArray[np.intp] | None:
    """Where each row lies in the file: there a head's two halves are interleaved, here one follows the other."""
    if change not in _HALVED:
        return None
    heads = config["num_attention_heads"] if change is Change.QUERY_ROWS else config["num_key_value_heads"]
    return np.arange(rows).reshape(heads, rows // heads // 2, 2).swapaxes(1, 2).reshape(-1)


def _refuse_left_overs(file: GgufFile, weights: list[Weight]) -> None:
    left = file.tensors.keys() - {weight.tensor.name for weight in weights} - _IN_CONFIG
    if left:
        raise UnsupportedModel(
            f"The model in {file.path.name} has a part that is not supported ({shown(min(left))}).",
            ", ".join(sorted(left)),
        )


def _refuse_unknown_packing(file: GgufFile, weights: list[Weight]) -> None:
    for tensor in (weight.tensor for weight in weights):
        packed_vector = len(tensor.shape) == 1 and GGML_QUANT_SIZES[tensor.ggml_type][0] > 1
        if packed_vector or tensor.ggml_type not in READABLE:
            raise UnsupportedModel(
                f"The model in {file.path.name} is packed as {tensor.ggml_type.name}, which is not supported.",
                tensor.name,
            )
