"""What is fuzzed: a file of bytes, read as an import reads it. Only the engine's sentences may come of it."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import gguf
import numpy as np
from gguf.constants import GGMLQuantizationType
from gguf.quants import quantize
from safetensors.numpy import save

from engine.chat import RequestHandle
from engine.models.gguf_config import config_of
from engine.models.gguf_parts import open_gguf
from engine.models.gguf_tokenizer import build_tokenizer
from engine.models.gguf_weights import weights_of
from engine.models.safetensors_file import read_entries
from tests.fuzz.mutate_config import mutate_config
from tests.fuzz.mutate_gguf import mutate_gguf
from tests.fuzz.mutate_safetensors import mutate_safetensors

HIDDEN, FFN, HEADS, VOCABULARY = 32, 64, 2, 40
MODELS = ("llama", "qwen2", "qwen3", "gemma2", "gemma3", "phi3")


@dataclass(frozen=True, slots=True)
class Target:
    """One reader under test.

    Attributes:
        file: Name of the file that the bytes become.
        read: Reads it, as far as it can be read.
        mutate: Makes other bytes of some.
        seeds: Sound files to begin with.
    """

    file: str
    read: Callable[[Path], None]
    mutate: Callable[[bytes, Random], bytes]
    seeds: Callable[[Path], list[bytes]]


def read_gguf(path: Path) -> None:
    """All of a GGUF model: its structure, tensors, configuration, tokenizer and the first numbers of each weight."""
    with open_gguf(path) as file:
        for tensor in file.tensors.values():
            tensor.blocks.sum()
        weights = weights_of(file, config_of(file))
        build_tokenizer(file.metadata).encode("the naïve 你 🎉 model")
        for weight in weights:
            next(weight.chunks())


def read_safetensors(path: Path) -> None:
    """All of a safetensors file: its header, and each tensor through the library that the engine reads them with."""
    from engine.decoder.checkpoint import Checkpoint  # torch comes with it, which the other targets do not need

    entries = read_entries(path)
    checkpoint = Checkpoint(path.parent)
    for entry in entries:
        checkpoint.tensor(entry.name, entry.shape)


def gguf_seeds(folder: Path) -> list[bytes]:
    """A model of each kind of tokenizer and some architectures, a few kilobytes each, and a file of every value."""
    for name in MODELS:
        _model(folder / f"{name}.gguf", name)
    _values(folder / "values.gguf")
    return [(folder / f"{name}.gguf").read_bytes() for name in (*MODELS, "values")]


def parts_seeds(folder: Path) -> list[bytes]:
    """The second of two parts of some models; the first of one of them lies beside it."""
    for name in IN_PARTS:
        _model(folder / f"{name}.gguf", name, tensors_per_part=7)
    (folder / f"{IN_PARTS[0]}-00001-of-00002.gguf").rename(folder / PARTS[0])
    return [(folder / f"{name}-00002-of-00002.gguf").read_bytes() for name in IN_PARTS]


def safetensors_seeds(folder: Path) -> list[bytes]:
    """Two files as the library writes them."""
    vector, matrix = np.ones(4, np.float32), np.zeros((3, 4), np.float16)
    tensors = {"model.embed_tokens.weight": matrix, "model.norm.weight": vector}
    return [save(tensors, {"format": "pt"}), save({**tensors, "ids": np.arange(5), "one": np.float64(1.0)[None]})]


def read_config(path: Path) -> None:
    """The import of a folder with such a config.json, beside weights and a tokenizer of the architecture it names."""
    from engine.models.import_folder import import_folder

    source = path.parent / _configured(path)
    (source / "config.json").write_bytes(path.read_bytes())
    with TemporaryDirectory(dir=path.parent) as folder:
        for _ in import_folder(source, Path(folder), "fuzzed", RequestHandle("fuzz"), weights="int8"):
            pass


def _configured(path: Path) -> str:
    """The architecture that a config.json names, as far as it can be read; the first where it names none of ours."""
    try:
        named = json.loads(path.read_bytes()).get("model_type")
    except (OSError, ValueError, AttributeError, RecursionError):
        named = None
    return next((name for name in CONFIGURED if name == named), CONFIGURED[0])


def config_seeds(folder: Path) -> list[bytes]:
    """The config.json of a model of each of some architectures; its weights are left beside it for `read_config`."""
    from tests.tiny_models import make_tiny_model

    return [
        (make_tiny_model(name, folder / name, **CONFIGURED_AS.get(name, {})) / "config.json").read_bytes()
        for name in CONFIGURED
    ]


CONFIGURED = ("llama", "phi3", "gemma3_text", "mixtral", "gpt2", "mamba")
CONFIGURED_AS = {
    "mixtral": {"num_local_experts": 2},
    "gpt2": {"n_embd": 64, "n_layer": 2, "n_head": 2, "n_positions": 64},
}
IN_PARTS = ("llama", "qwen2", "gemma2")
PARTS = ("model-00001-of-00002.gguf", "model-00002-of-00002.gguf")
TARGETS = {
    "parts": Target(PARTS[1], read_gguf, mutate_gguf, parts_seeds),
    "gguf": Target("fuzzed.gguf", read_gguf, mutate_gguf, gguf_seeds),
    "config": Target("config.json", read_config, mutate_config, config_seeds),
    "safetensors": Target("model.safetensors", read_safetensors, mutate_safetensors, safetensors_seeds),
}


def _model(path: Path, arch: str, tensors_per_part: int = 0) -> None:
    writer = gguf.GGUFWriter(path, arch, split_max_tensors=tensors_per_part)
    writer.add_context_length(64)
    writer.add_embedding_length(HIDDEN)
    writer.add_block_count(1)
    writer.add_feed_forward_length(FFN)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(HEADS)
    writer.add_layer_norm_rms_eps(1e-6)
    writer.add_rope_freq_base(10_000.0)
    writer.add_sliding_window(16)
    writer.add_chat_template("{{ messages }}")
    _tokenizer(writer, sentencepiece=arch in ("llama", "gemma2", "gemma3"))
    for name, shape in _tensors(arch).items():
        _add(writer, name, np.linspace(-1, 1, int(np.prod(shape)), dtype=np.float32).reshape(shape))
    _close(writer)


def _tokenizer(writer: gguf.GGUFWriter, sentencepiece: bool) -> None:
    words = ["<unk>", "<s>", "</s>", "a", "b", "ab", "\u2581", "\u2581a", "the"]
    tokens = [*words, *(f"<0x{byte:02X}>" for byte in range(VOCABULARY - len(words)))]
    writer.add_tokenizer_model("llama" if sentencepiece else "gpt2")
    writer.add_token_list(tokens)
    writer.add_token_scores([-float(index) for index in range(VOCABULARY)])
    writer.add_token_types([2, 3, 3, *[1] * (len(words) - 3), *[6] * (VOCABULARY - len(words))])
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    if not sentencepiece:
        writer.add_tokenizer_pre("gpt-2")
        writer.add_token_merges(["a b"])


def _tensors(arch: str) -> dict[str, tuple[int, ...]]:
    head = HIDDEN // HEADS
    layer: dict[str, tuple[int, ...]] = {"attn_norm": (HIDDEN,), "ffn_norm": (HIDDEN,), "ffn_down": (HIDDEN, FFN)}
    layer |= {"attn_output": (HIDDEN, HIDDEN), "ffn_up": (FFN, HIDDEN), "ffn_gate": (FFN, HIDDEN)}
    layer |= dict.fromkeys(("attn_q", "attn_k", "attn_v"), (HIDDEN, HIDDEN))
    if arch.startswith("gemma"):
        layer |= {"post_attention_norm": (HIDDEN,), "post_ffw_norm": (HIDDEN,)}
    if arch in ("qwen3", "gemma3"):
        layer |= {"attn_q_norm": (head,), "attn_k_norm": (head,)}
    if arch == "phi3":
        layer = {name: shape for name, shape in layer.items() if name not in ("attn_q", "attn_k", "attn_v", "ffn_gate")}
        layer |= {"attn_qkv": (3 * HIDDEN, HIDDEN), "ffn_up": (2 * FFN, HIDDEN)}
    made = {f"blk.0.{name}.weight": shape for name, shape in layer.items()}
    if arch == "qwen2":
        made |= {f"blk.0.attn_{side}.bias": (HIDDEN,) for side in "qkv"}
    return {"token_embd.weight": (VOCABULARY, HIDDEN), "output_norm.weight": (HIDDEN,), **made}


def _add(writer: gguf.GGUFWriter, name: str, values: np.ndarray) -> None:
    if values.ndim == 1:
        writer.add_tensor(name, values)
    else:
        packing = GGMLQuantizationType.Q4_0
        writer.add_tensor(name, quantize(values, packing), raw_dtype=packing)


def _values(path: Path) -> None:
    writer = gguf.GGUFWriter(path, "llama")
    for kind in ("uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64", "float32", "float64"):
        getattr(writer, f"add_{kind}")(f"a.{kind}", 7)
    writer.add_bool("a.bool", True)
    writer.add_string("a.string", "naïve 你好 🎉")
    writer.add_array("a.strings", ["", "ab", "→"])
    writer.add_array("a.numbers", [3, -1, 2])
    writer.add_tensor("v", np.ones(32, np.float32))
    _close(writer)


def _close(writer: gguf.GGUFWriter) -> None:
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
