"""GGUF files made from tiny transformers models, the way llama.cpp's converter makes them: the other direction.

Names come from gguf's own map; the row order of query and key heads and Gemma's norms are those of llama.cpp's
conversion script, written down here independently of the importer.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Generator, Mapping
from pathlib import Path
from typing import Any, TypeVar

import gguf
import numpy as np
from gguf.constants import GGMLQuantizationType
from safetensors.numpy import load_file

from tests.engine.models.gguf_blocks import packed

ARCH = {
    "llama": "llama",
    "mistral": "llama",
    "qwen2": "qwen2",
    "qwen3": "qwen3",
    "gemma2": "gemma2",
    "gemma3_text": "gemma3",
    "phi3": "phi3",
    "smollm3": "smollm3",
    "granite": "granite",
}
INTERLEAVED = ("llama", "smollm3", "granite")
Result = TypeVar("Result")
Packing = GGMLQuantizationType | Callable[[str], GGMLQuantizationType]


def finish(steps: Generator[Any, None, Result]) -> Result:
    """Run a generator to its end; its return value."""
    while True:
        try:
            next(steps)
        except StopIteration as stop:
            return stop.value


def write_gguf(
    source: Path,
    target: Path,
    packing: Packing = GGMLQuantizationType.F32,
    tokenizer: Callable[[gguf.GGUFWriter, int], None] | None = None,
    extra: Mapping[str, np.ndarray] | None = None,
    *,
    tensors_per_part: int = 0,
) -> Path:
    """Convert the transformers folder `source` to the GGUF file `target`.

    Matrices are packed as `packing`, or as it says of each by its name.
    With `tensors_per_part` it becomes several files, and the first is returned.
    """
    config = json.loads((source / "config.json").read_text())
    arch = ARCH[config["model_type"]]
    writer = gguf.GGUFWriter(target, arch, split_max_tensors=tensors_per_part)
    _write_config(writer, config)
    (tokenizer or byte_level(source))(writer, config["vocab_size"])
    for name, values in {**_tensors(source, arch, config), **(extra or {})}.items():
        _write_tensor(writer, name, values, packing if isinstance(packing, GGMLQuantizationType) else packing(name))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    parts = sorted(target.parent.glob(f"{target.stem}-00001-of-*.gguf"))
    return parts[0] if tensors_per_part else target


def _write_tensor(writer: gguf.GGUFWriter, name: str, values: np.ndarray, packing: GGMLQuantizationType) -> None:
    if values.ndim == 1 or packing is GGMLQuantizationType.F32:
        writer.add_tensor(name, values.astype(np.float32))
    elif packing is GGMLQuantizationType.F16:
        writer.add_tensor(name, values.astype(np.float16))
    else:
        writer.add_tensor(name, packed(values, packing), raw_dtype=packing)


def _write_config(writer: gguf.GGUFWriter, config: Mapping[str, Any]) -> None:
    writer.add_name("Tiny Model")
    writer.add_context_length(config["max_position_embeddings"])
    writer.add_embedding_length(config["hidden_size"])
    writer.add_block_count(config["num_hidden_layers"])
    writer.add_feed_forward_length(config["intermediate_size"])
    writer.add_head_count(config["num_attention_heads"])
    writer.add_head_count_kv(config["num_key_value_heads"])
    writer.add_layer_norm_rms_eps(config["rms_norm_eps"])
    head_dim = config.get("head_dim") or config["hidden_size"] // config["num_attention_heads"]
    writer.add_key_length(head_dim)
    writer.add_value_length(head_dim)
    rope = config["rope_parameters"].get("full_attention", config["rope_parameters"])
    writer.add_rope_dimension_count(int(head_dim * rope.get("partial_rotary_factor", 1.0)))
    writer.add_rope_freq_base(rope["rope_theta"])
    _write_special(writer, config, rope)


def _write_special(writer: gguf.GGUFWriter, config: Mapping[str, Any], rope: Mapping[str, Any]) -> None:
    """What only some families have."""
    if config.get("sliding_window"):
        writer.add_sliding_window(config["sliding_window"])
    if config["model_type"] == "gemma2":
        writer.add_attn_logit_softcapping(config["attn_logit_softcapping"])
        writer.add_final_logit_softcapping(config["final_logit_softcapping"])
    if config["model_type"] == "gemma3_text":
        writer.add_sliding_window_pattern([kind == "sliding_attention" for kind in config["layer_types"]])
    if config["model_type"] == "granite":
        writer.add_attention_scale(config["attention_multiplier"])
        writer.add_embedding_scale(config["embedding_multiplier"])
        writer.add_residual_scale(config["residual_multiplier"])
        writer.add_logit_scale(config["logits_scaling"])
    if rope.get("rope_type") in ("linear", "yarn"):
        writer.add_rope_scaling_type(gguf.RopeScalingType(rope["rope_type"]))
        writer.add_rope_scaling_factor(rope["factor"])
    if "original_max_position_embeddings" in rope and rope["rope_type"] != "llama3":
        writer.add_rope_scaling_orig_ctx_len(rope["original_max_position_embeddings"])


def _tensors(source: Path, arch: str, config: Mapping[str, Any]) -> dict[str, np.ndarray]:
    wanted = next(key for key, name in gguf.MODEL_ARCH_NAMES.items() if name == arch)
    names = gguf.get_tensor_name_map(wanted, config["num_hidden_layers"])
    made: dict[str, np.ndarray] = {}
    for name, values in load_file(source / "model.safetensors").items():
        changed = values
        if arch in INTERLEAVED and ".q_proj." in name:
            changed = interleave(values, config["num_attention_heads"])
        if arch in INTERLEAVED and ".k_proj." in name:
            changed = interleave(values, config["num_key_value_heads"])
        if arch.startswith("gemma") and name.endswith("norm.weight"):
            changed = values + 1
        made[names.get_name(name, try_suffixes=(".weight", ".bias"))] = changed
    return made


def interleave(values: np.ndarray, heads: int) -> np.ndarray:
    """`permute` of llama.cpp's conversion script."""
    halves = values.reshape(heads, 2, values.shape[0] // heads // 2, *values.shape[1:])
    return halves.swapaxes(1, 2).reshape(values.shape)


def byte_level(source: Path, pre: str = "gpt-2") -> Callable[[gguf.GGUFWriter, int], None]:
    """The tokenizer.json of `source` as a GGUF has it, padded to the size of the embedding."""
    about = json.loads((source / "tokenizer.json").read_text(encoding="utf-8"))
    words = sorted(about["model"]["vocab"], key=about["model"]["vocab"].get)
    special = {added["content"] for added in about["added_tokens"]}

    def write(writer: gguf.GGUFWriter, size: int) -> None:
        tokens = [*words, *(f"[PAD{index}]" for index in range(len(words), size))]
        types = [_type(token, special) for token in tokens]
        writer.add_tokenizer_model("gpt2")
        writer.add_tokenizer_pre(pre)
        writer.add_token_list(tokens)
        writer.add_token_types(types)
        writer.add_token_merges([" ".join(pair) for pair in about["model"]["merges"]])
        writer.add_bos_token_id(0)
        writer.add_eos_token_id(2)
        writer.add_pad_token_id(0)
        writer.add_chat_template((source / "chat_template.jinja").read_text(encoding="utf-8"))

    return write


def _type(token: str, special: set[str]) -> gguf.TokenType:
    if token.startswith("[PAD"):
        return gguf.TokenType.UNUSED
    return gguf.TokenType.CONTROL if token in special else gguf.TokenType.NORMAL
