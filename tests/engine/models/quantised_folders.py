"""Packs a tiny model the way other programs do, written straight from the definitions of their formats.

Nothing here is shared with what reads them: codes are put into words one by one.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from bitsandbytes import functional as bnb
from safetensors.torch import load_file, save_file

from engine.chat import RequestHandle
from engine.models.import_folder import import_folder
from engine.models.model_folder import Imported
from tests.engine.models.gguf_files import finish

LINEARS = ("q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj")
# Linears of the tiny model's last layer.
DOWN = "model.layers.1.mlp.down_proj"
GATE, UP = "model.layers.1.mlp.gate_proj", "model.layers.1.mlp.up_proj"
AWQ_ORDER = (0, 2, 4, 6, 1, 3, 5, 7)  # which output is in which four bits of a word, the lowest first

Tensors = dict[str, torch.Tensor]


@dataclass
class Made:
    """A checkpoint of one scheme.

    Attributes:
        config: Its `quantization_config`.
        tensors: Of all weights.
        floats: The same weights unpacked, by transformers' names.
    """

    config: dict[str, Any]
    tensors: Tensors = field(default_factory=dict)
    floats: Tensors = field(default_factory=dict)

    def write(self, source: Path, target: Path) -> Path:
        """A folder with these weights and what else is in `source`."""
        shutil.copytree(source, target, ignore=shutil.ignore_patterns("*.safetensors"))
        save_file({name: tensor.contiguous() for name, tensor in self.tensors.items()}, target / "model.safetensors")
        said = json.loads((target / "config.json").read_text())
        (target / "config.json").write_text(json.dumps(said | {"quantization_config": self.config}))
        return target

    def write_floats(self, source: Path, target: Path) -> Path:
        """A folder with the unpacked weights."""
        shutil.copytree(source, target, ignore=shutil.ignore_patterns("*.safetensors"))
        save_file({name: tensor.contiguous() for name, tensor in self.floats.items()}, target / "model.safetensors")
        return target


Packer = Callable[[str, torch.Tensor, Made], torch.Tensor]


def quantise(source: Path, config: Mapping[str, Any], pack: Packer) -> Made:
    """Every linear of a model packed; `pack` adds its tensors and returns the numbers that they stand for."""
    made = Made(dict(config))
    for name, tensor in load_file(source / "model.safetensors").items():
        module = name.removesuffix(".weight").rpartition(".")[2]
        if module in LINEARS and name.endswith(".weight"):
            made.floats[name] = pack(name.removesuffix(".weight"), tensor.float(), made)
        else:
            made.tensors[name] = made.floats[name] = tensor
    return made


def into_words(codes: np.ndarray, bits: int) -> np.ndarray:
    """[rows, n] codes -> [rows, n * bits / 32] int32, the first code in the lowest bits."""
    per = 32 // bits
    words = np.zeros((codes.shape[0], -(-codes.shape[1] // per)), np.uint32)
    for column in range(codes.shape[1]):
        words[:, column // per] |= codes[:, column].astype(np.uint32) << np.uint32(bits * (column % per))
    return words.view(np.int32)


@dataclass(frozen=True)
class Grid:
    """A matrix [rows, columns] on a grid: codes, and for each group of columns a scale and a zero point."""

    codes: np.ndarray
    scales: np.ndarray
    zeros: np.ndarray
    groups: np.ndarray

    def floats(self) -> torch.Tensor:
        """scale * (code - zero)."""
        scales, zeros = self.scales.astype(np.float32)[:, self.groups], self.zeros[:, self.groups]
        return torch.from_numpy(scales * (self.codes.astype(np.float32) - zeros))


def grid(weight: torch.Tensor, bits: int, groups: np.ndarray, *, symmetric: bool) -> Grid:
    """Round a matrix to the nearest grid, with float16 scales."""
    values, top = weight.numpy(), 2**bits - 1
    count = groups.max() + 1
    scales = np.zeros((len(values), count), np.float16)
    zeros = np.zeros((len(values), count), np.int64)
    for group in range(count):
        part = values[:, groups == group]
        low, high = np.minimum(part.min(1), 0), np.maximum(part.max(1), 0)
        if symmetric:
            high = np.maximum(-low, high)
            low = -high
        scales[:, group] = (high - low) / top
        middle = np.full(len(values), 2 ** (bits - 1))
        zeros[:, group] = middle if symmetric else np.clip(np.rint(-low / scales[:, group]), 0, top)
    codes = np.clip(np.rint(values / scales[:, groups].astype(np.float32)) + zeros[:, groups], 0, top)
    return Grid(codes.astype(np.int64), scales, zeros, groups)


def gptq(
    source: Path, *, bits: int = 4, size: int = 32, symmetric: bool = False, act_order: bool = False, version: int = 1
) -> Made:
    """As AutoGPTQ (version 1) and GPTQModel (version 2) store it."""
    config = {
        "quant_method": "gptq",
        "bits": bits,
        "group_size": size,
        "desc_act": act_order,
        "sym": symmetric,
        "checkpoint_format": "gptq" if version == 1 else "gptq_v2",
    }

    def pack(prefix: str, weight: torch.Tensor, made: Made) -> torch.Tensor:
        columns = weight.shape[1]
        groups = np.arange(columns) // (size if size > 0 else columns)
        if act_order:
            groups = np.random.default_rng(columns).permutation(groups)
        held = grid(weight, bits, groups, symmetric=symmetric)
        stored = (held.zeros - (version == 1)) & (2**bits - 1)  # a zero point of 0 wraps around
        made.tensors |= {
            f"{prefix}.qweight": torch.from_numpy(into_words(held.codes, bits).T.copy()),
            f"{prefix}.qzeros": torch.from_numpy(into_words(stored.T, bits)),
            f"{prefix}.scales": torch.from_numpy(held.scales.T.copy()),
            f"{prefix}.g_idx": torch.from_numpy(groups.astype(np.int32)),
        }
        return held.floats()

    return quantise(source, config, pack)


def awq(source: Path, *, size: int = 32) -> Made:
    """As AutoAWQ stores it in its layout "gemm"."""
    config = {"quant_method": "awq", "bits": 4, "group_size": size, "zero_point": True, "version": "gemm"}

    def shuffled(codes: np.ndarray) -> torch.Tensor:
        order = [8 * (i // 8) + AWQ_ORDER[i % 8] for i in range(codes.shape[1])]
        return torch.from_numpy(into_words(codes[:, order], 4))

    def pack(prefix: str, weight: torch.Tensor, made: Made) -> torch.Tensor:
        held = grid(weight, 4, np.arange(weight.shape[1]) // size, symmetric=False)
        made.tensors |= {
            f"{prefix}.qweight": shuffled(held.codes.T),
            f"{prefix}.qzeros": shuffled(held.zeros.T),
            f"{prefix}.scales": torch.from_numpy(held.scales.T.copy()),
        }
        return held.floats()

    return quantise(source, config, pack)


def bnb_4bit(source: Path, *, kind: str = "nf4", nested: bool = True, block: int = 64) -> Made:
    """By bitsandbytes itself."""
    config = {
        "quant_method": "bitsandbytes",
        "load_in_4bit": True,
        "bnb_4bit_quant_type": kind,
        "bnb_4bit_use_double_quant": nested,
    }

    def pack(prefix: str, weight: torch.Tensor, made: Made) -> torch.Tensor:
        codes, state = bnb.quantize_4bit(weight, blocksize=block, compress_statistics=nested, quant_type=kind)
        made.tensors[f"{prefix}.weight"] = codes
        made.tensors |= {f"{prefix}.weight.{name}": value for name, value in state.as_dict(packed=True).items()}
        return bnb.dequantize_4bit(codes, state)

    return quantise(source, config, pack)


def bnb_8bit(source: Path) -> Made:
    """By bitsandbytes itself."""
    config = {"quant_method": "bitsandbytes", "load_in_8bit": True, "llm_int8_threshold": 6.0}

    def pack(prefix: str, weight: torch.Tensor, made: Made) -> torch.Tensor:
        codes, largest, _ = bnb.int8_vectorwise_quant(weight.half())
        made.tensors |= {
            f"{prefix}.weight": codes,
            f"{prefix}.SCB": largest,
            f"{prefix}.weight_format": torch.tensor(0, dtype=torch.uint8),
        }
        return bnb.int8_vectorwise_dequant(codes, largest)

    return quantise(source, config, pack)


def compressed(source: Path, *, bits: int = 4, size: int = 32, symmetric: bool = True, packed: bool = True) -> Made:
    """As compressed-tensors stores it."""
    config = {"quant_method": "compressed-tensors", "format": "pack-quantized" if packed else "int-quantized"}

    def pack(prefix: str, weight: torch.Tensor, made: Made) -> torch.Tensor:
        rows, columns = weight.shape
        groups = np.arange(columns) // (size if packed else columns)
        held = grid(weight, bits, groups, symmetric=symmetric)
        made.tensors[f"{prefix}.weight_scale"] = torch.from_numpy(held.scales)
        if packed:
            made.tensors[f"{prefix}.weight_packed"] = torch.from_numpy(into_words(held.codes, bits))
            made.tensors[f"{prefix}.weight_shape"] = torch.tensor([rows, columns])
        else:
            made.tensors[f"{prefix}.weight"] = torch.from_numpy((held.codes - 128).astype(np.int8))
        if not symmetric:
            made.tensors[f"{prefix}.weight_zero_point"] = torch.from_numpy(into_words(held.zeros.T, bits).T.copy())
        return held.floats()

    return quantise(source, config, pack)


SCHEMES: dict[str, Callable[[Path], Made]] = {
    "gptq": gptq,
    "gptq, symmetric": lambda source: gptq(source, symmetric=True),
    "gptq, reordered": lambda source: gptq(source, act_order=True),
    "gptq, version 2": lambda source: gptq(source, version=2),
    "gptq, groups of 64": lambda source: gptq(source, size=64),
    "gptq, a group a row": lambda source: gptq(source, size=-1),
    "gptq, 8 bits": lambda source: gptq(source, bits=8),
    "gptq, 8 bits, symmetric": lambda source: gptq(source, bits=8, symmetric=True),
    "awq": awq,
    "awq, groups of 64": lambda source: awq(source, size=64),
    "nf4": lambda source: bnb_4bit(source, nested=False),
    "nf4, doubly quantised": bnb_4bit,
    "fp4": lambda source: bnb_4bit(source, kind="fp4"),
    "bitsandbytes int8": bnb_8bit,
    "compressed-tensors": compressed,
    "compressed-tensors, zero points": lambda source: compressed(source, symmetric=False),
    "compressed-tensors, 8 bits": lambda source: compressed(source, bits=8),
    "compressed-tensors, int8": lambda source: compressed(source, bits=8, packed=False),
}


def run_import(folder: Path, target: Path, weights: str = "") -> Imported:
    """Import a folder, to its end."""
    target.mkdir()
    return finish(import_folder(folder, target, "Tiny", RequestHandle("test"), weights=weights))
