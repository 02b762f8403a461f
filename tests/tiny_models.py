"""Tiny random models of each supported family, with a byte-level tokenizer and a ChatML template, as real checkpoints.

They answer nonsense, but every property of caches, decoding and loading holds for them as for large ones, in
milliseconds. The weights are the same in every run.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

CHAT_TEMPLATE = (
    "{% for message in messages %}<|im_start|>{{ message['role'] }}\n{{ message['content'] }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
SPECIAL = ("<|endoftext|>", "<|im_start|>", "<|im_end|>")
MERGES = (("h", "e"), ("i", "n"), ("a", "n"), ("e", "r"), ("Ġ", "t"), ("Ġt", "he"), ("o", "u"), ("t", "h"))
VOCABULARY = 300  # a few ids more than the tokenizer has words, as real models have

COMMON: dict[str, Any] = {
    "vocab_size": VOCABULARY,
    "hidden_size": 64,
    "intermediate_size": 128,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 512,
    "initializer_range": 0.1,  # wide enough that the likeliest token is never a tie
    "bos_token_id": 0,
    "eos_token_id": 2,
    "pad_token_id": 0,
}
FAMILIES: dict[str, dict[str, Any]] = {
    "llama": {"tie_word_embeddings": True},
    "qwen2": {"tie_word_embeddings": True},
    "qwen3": {"head_dim": 32, "tie_word_embeddings": True},
    "gemma2": {"head_dim": 16, "query_pre_attn_scalar": 16, "sliding_window": 16, "num_hidden_layers": 4},
    "gemma3_text": {"head_dim": 16, "query_pre_attn_scalar": 16, "sliding_window": 16, "num_hidden_layers": 4},
    "mistral": {"head_dim": 16, "sliding_window": None},
    "phi3": {},
    "granite": {
        "attention_multiplier": 0.25,
        "embedding_multiplier": 2.0,
        "logits_scaling": 2.0,
        "residual_multiplier": 0.5,
    },
    "smollm3": {"no_rope_layer_interval": 3},
}

# Models that keep states besides or in place of keys and values; only transformers runs them.
_FELT: dict[str, Any] = {
    "time_step_min": 0.1,
    "time_step_max": 0.9,
    "initializer_range": 0.3,
}  # or states hardly matter
STATEFUL: dict[str, dict[str, Any]] = {
    "mamba": {"state_size": 8, "time_step_rank": 8, **_FELT},
    "mamba2": {"state_size": 16, "num_heads": 8, "head_dim": 16, "n_groups": 1, "chunk_size": 32, **_FELT},
    "lfm2": {"layer_types": ["conv", "full_attention", "conv"], "block_auto_adjust_ff_dim": False},
    "falcon_h1": {
        "mamba_d_ssm": 64,
        "mamba_n_heads": 4,
        "mamba_d_head": 16,
        "mamba_d_state": 16,
        "mamba_chunk_size": 32,
    },
    "bamba": {
        "attn_layer_indices": [1],
        "mamba_n_heads": 8,
        "mamba_d_head": 16,
        "mamba_d_state": 16,
        "mamba_chunk_size": 32,
    },
    "jamba": {
        "num_experts": 2,
        "attn_layer_period": 2,
        "attn_layer_offset": 1,
        "expert_layer_period": 2,
        "expert_layer_offset": 1,
        "mamba_d_state": 8,
        "mamba_dt_rank": 4,
    },
    "recurrent_gemma": {"attention_window_size": 16},
}


def make_tiny_model(architecture: str, folder: Path, **config: Any) -> Path:
    """Write a tiny model of a family to `folder`, with config values changed as wished; returns the folder."""
    import torch
    from transformers import AutoConfig, AutoModelForCausalLM

    from engine.models.model_folder import FORMAT, MANIFEST, Manifest, write_json

    values = {**COMMON, **{**FAMILIES, **STATEFUL}.get(architecture, {}), **config}
    if architecture.startswith("gemma") and "layer_types" not in values:
        # The last layer sees everything, the others a window: both kinds in four layers.
        layers = values["num_hidden_layers"]
        values["layer_types"] = ["sliding_attention"] * (layers - 1) + ["full_attention"]
    settings = AutoConfig.for_model(architecture, **values)
    with torch.random.fork_rng():
        torch.manual_seed(1)
        model = AutoModelForCausalLM.from_config(settings, dtype=torch.float32)
        with torch.no_grad():
            for name, weight in model.named_parameters():
                noise = torch.randn_like(weight)
                if name == "model.norm.weight":  # no scale of mean one: tied embeddings would echo the last token
                    weight.add_(noise - 1)
                elif weight.ndim == 1:  # norms of exactly one would hide a forgotten norm weight, zero biases a bias
                    weight.add_(0.1 * noise)
    model.generation_config.update(do_sample=False, eos_token_id=2, bos_token_id=0, pad_token_id=0)
    model.save_pretrained(folder)
    write_tokenizer(folder)
    about = Manifest(FORMAT, folder.name, folder.name, architecture, model.num_parameters(), 0, folder.name, "", "")
    write_json(folder / MANIFEST, asdict(about))
    return folder


def write_tokenizer(folder: Path) -> None:
    """Write tokenizer.json, tokenizer_config.json and chat_template.jinja of a byte-level BPE with a few merges."""
    from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers

    words = [*SPECIAL, *sorted(pre_tokenizers.ByteLevel.alphabet()), *(left + right for left, right in MERGES)]
    vocabulary = {word: index for index, word in enumerate(words)}
    tokenizer = Tokenizer(models.BPE(vocab=vocabulary, merges=list(MERGES)))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens([AddedToken(word, special=True) for word in SPECIAL])
    tokenizer.save(str(folder / "tokenizer.json"))
    about = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "bos_token": SPECIAL[0],
        "eos_token": SPECIAL[2],
        "pad_token": SPECIAL[0],
        "model_max_length": COMMON["max_position_embeddings"],
        "clean_up_tokenization_spaces": False,
    }
    (folder / "tokenizer_config.json").write_text(json.dumps(about, indent=1), encoding="utf-8")
    (folder / "chat_template.jinja").write_text(CHAT_TEMPLATE, encoding="utf-8")
