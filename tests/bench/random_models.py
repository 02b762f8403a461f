"""Models of real shapes with random weights, packed as the CPU kernels read them: for memory and speed, not for words.

The floats that a model folder keeps beside the packed weights are left out: the file has their header and a hole in
their place, so a model takes the disk of its packed weights and is read as any other.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path

import numpy as np
import tokenizers
from tokenizers import decoders, models, pre_tokenizers

from engine.decoder.config import DecoderConfig
from engine.kernels.random_weights import random_weights
from engine.kernels.store import packed_path, save_packed
from engine.models.catalogue import CatalogueEntry
from engine.models.model_folder import CONFIG, FORMAT, MANIFEST, WEIGHTS, Manifest, write_json
from engine.models.safetensors_file import TensorEntry, write_header

_MADE_OF = 3000  # words that the others are put together from
_DEFAULTS = {"rms_norm_eps": 1e-6, "rope_theta": 10_000.0, "original_max_position_embeddings": 4096}


def write_random_model(entry: CatalogueEntry, folder: Path) -> None:
    """Write a model with the shape of one of the catalogue into a folder of its name."""
    folder.mkdir(parents=True)
    config = {**_DEFAULTS, **entry.config}
    write_json(folder / CONFIG, config)
    write_json(folder / "generation_config.json", {"eos_token_id": 0})
    _write_tokenizer(folder, config["vocab_size"])
    decoder = DecoderConfig.from_json(config)
    save_packed(random_weights(decoder), packed_path(folder, "int4"))
    _write_hole(decoder, folder / WEIGHTS)
    about = Manifest(FORMAT, folder.name, entry.label, decoder.family, entry.parameters, 0, folder.name, "", "")
    write_json(folder / MANIFEST, asdict(about))


def _write_hole(config: DecoderConfig, path: Path) -> None:
    """A weight file whose header tells of all tensors and whose numbers are a hole."""
    entries = list(_float_entries(config))
    with path.open("wb") as file:
        write_header(file, entries)
        file.truncate(file.tell() + sum(entry.nbytes for entry in entries))


def _float_entries(config: DecoderConfig) -> Iterator[TensorEntry]:
    hidden, inner, attended = config.hidden_size, config.intermediate_size, config.heads * config.head_dim
    yield TensorEntry("model.embed_tokens.weight", "BF16", (config.vocab_size, hidden))
    if not config.tied:
        yield TensorEntry("lm_head.weight", "BF16", (config.vocab_size, hidden))
    for index in range(len(config.layers)):
        sizes: Mapping[str, tuple[int, ...]] = {
            "self_attn.qkv_proj": (sum(config.qkv_sizes), hidden),
            "self_attn.o_proj": (hidden, attended),
            "mlp.gate_up_proj": (2 * inner, hidden),
            "mlp.down_proj": (hidden, inner),
        }
        for name, shape in sizes.items():
            yield TensorEntry(f"model.layers.{index}.{name}.weight", "BF16", shape)


def _write_tokenizer(folder: Path, words: int) -> None:
    """A byte-level BPE of as many words as the model has, put together from one another as real ones are."""
    random = np.random.default_rng(2)
    alphabet = ["<|end|>", *sorted(pre_tokenizers.ByteLevel.alphabet())]
    known, merges = dict.fromkeys(alphabet), []
    order = list(alphabet)
    while len(order) < words:
        left, right = (order[1 + int(n)] for n in random.integers(0, min(_MADE_OF, len(order) - 1), 2))
        if left + right not in known:
            known[left + right] = None
            order.append(left + right)
            merges.append((left, right))
    vocabulary = {word: index for index, word in enumerate(order)}
    tokenizer = tokenizers.Tokenizer(models.BPE(vocab=vocabulary, merges=merges))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.save(str(folder / "tokenizer.json"))
    about = {"tokenizer_class": "PreTrainedTokenizerFast", "eos_token": "<|end|>"}
    (folder / "tokenizer_config.json").write_text(json.dumps(about), encoding="utf-8")
