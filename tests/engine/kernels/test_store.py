"""Packed weights go to the disk as they are made: the same as when all are made first, and nothing is left of half."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors import safe_open
from safetensors.torch import load_file, save_file

from engine.decoder.checkpoint import Checkpoint, read_json
from engine.decoder.config import DecoderConfig
from engine.errors import BadModelFile
from engine.kernels.formats import TILE, Kind, gather
from engine.kernels.packing import pack, pack_to
from engine.kernels.quantize import quantize
from engine.kernels.sources import FolderSource
from engine.kernels.store import load_packed, save_packed
from engine.kernels.weights import NORMS, KernelWeights
from engine.models.safetensors_file import TensorEntry, write_header

TinyModel = Callable[..., Path]


def opened(folder: Path) -> tuple[DecoderConfig, FolderSource]:
    return DecoderConfig.from_json(read_json(folder / "config.json")), FolderSource(Checkpoint(folder))


def arrays(weights: KernelWeights) -> list[np.ndarray]:
    found = [weights.embedding.data, weights.head.matrix.data, weights.norm]
    for layer in weights.layers:
        linears = (layer.qkv, layer.output, layer.gate_up, layer.down)
        found += [linear.matrix.data for linear in linears]
        found += [linear.bias for linear in linears]
        found += [getattr(layer, name) for name in NORMS]
    return found


@pytest.mark.parametrize("kind", [Kind.Q4A, Kind.Q8])
@pytest.mark.parametrize("family", ["qwen2", "gemma3_text", "phi3"])
def test_what_is_packed_onto_the_disk_is_what_is_packed_in_memory(
    family: str, kind: Kind, tiny_model: TinyModel, tmp_path: Path
) -> None:
    config, source = opened(tiny_model(family))
    made = pack(config, source, kind)
    assert list(pack_to(tmp_path / "streamed", config, source, kind)) == [*range(1, len(config.layers) + 1)]
    save_packed(made, tmp_path / "saved")
    for path in (tmp_path / "streamed", tmp_path / "saved"):
        for ours, theirs in zip(arrays(load_packed(path, config)), arrays(made), strict=True):
            if theirs is None:
                assert ours is None
            else:
                np.testing.assert_array_equal(ours, theirs)
    assert (tmp_path / "streamed").read_bytes() == (tmp_path / "saved").read_bytes()


def test_nothing_is_left_of_one_that_was_given_up(tiny_model: TinyModel, tmp_path: Path) -> None:
    config, source = opened(tiny_model("llama"))
    steps = pack_to(tmp_path / "packed", config, source, Kind.Q4A)
    next(steps)
    assert [path.name for path in tmp_path.iterdir()] == ["packed.partial"]
    steps.close()
    assert list(tmp_path.iterdir()) == []


def rewritten(path: Path, change: Callable[[dict[str, torch.Tensor], dict[str, str]], None]) -> None:
    """The packed file with other tensors or another description."""
    with safe_open(path, "pt") as file:
        about = dict(file.metadata())
    tensors = load_file(path)
    change(tensors, about)
    save_file({name: tensor.contiguous() for name, tensor in tensors.items()}, path, about)


def shorter(name: str) -> Callable[[dict[str, torch.Tensor], dict[str, str]], None]:
    return lambda tensors, _: tensors.update({name: tensors[name][:-1].clone()})


def missing(name: str) -> Callable[[dict[str, torch.Tensor], dict[str, str]], None]:
    return lambda tensors, _: tensors.pop(name)


def doubled(name: str) -> Callable[[dict[str, torch.Tensor], dict[str, str]], None]:
    return lambda tensors, _: tensors.update({name: tensors[name].double()})


def fewer_rows(tensors: dict[str, torch.Tensor], about: dict[str, str]) -> None:
    """An embedding of its own, and whole, but for fewer tokens than there are."""
    kind, _, columns = json.loads(about["matrices"])["head"]
    about["matrices"] = json.dumps({**json.loads(about["matrices"]), "embedding": (kind, TILE, columns)})
    tensors["embedding"] = tensors["head"][:1].clone()


@pytest.mark.parametrize(
    ("family", "change"),
    [
        ("qwen3", shorter("norm")),
        ("qwen3", shorter("layers.1.mlp_norm")),
        ("qwen3", shorter("layers.0.qk_norm")),
        ("qwen3", doubled("layers.0.attention_norm")),
        ("qwen3", missing("layers.0.qk_norm")),
        ("qwen2", shorter("layers.0.qkv.bias")),
        ("qwen2", missing("layers.0.qkv.bias")),
        ("gemma3_text", missing("layers.0.mlp_post_norm")),
        ("llama", fewer_rows),
    ],
)
def test_sizes_that_the_kernels_would_trust_are_checked(
    family: str, change: Callable[..., None], tiny_model: TinyModel, tmp_path: Path
) -> None:
    config, source = opened(tiny_model(family))
    path = tmp_path / "packed.safetensors"
    save_packed(pack(config, source, Kind.Q4A), path)
    load_packed(path, config)
    rewritten(path, change)
    with pytest.raises(BadModelFile, match="cannot be used"):
        load_packed(path, config)


def test_parts_are_put_together_and_what_does_not_belong_is_refused() -> None:
    values = np.random.default_rng(0).normal(size=(3 * TILE + 5, 64)).astype(np.float32)
    parts = [quantize(Kind.Q8, values[: 2 * TILE]), quantize(Kind.Q8, values[2 * TILE :])]
    whole = gather(Kind.Q8, len(values), 64, parts)
    np.testing.assert_array_equal(whole.data, quantize(Kind.Q8, values).data)
    with pytest.raises(ValueError, match="2 tiles of rows were given where 4 are needed"):
        gather(Kind.Q8, len(values), 64, parts[:1])
    with pytest.raises(ValueError, match="cannot be put together"):
        gather(Kind.Q4A, len(values), 64, parts)


def test_a_header_fills_its_room_or_is_refused() -> None:
    entries, file = [TensorEntry("a", "F32", (4,))], io.BytesIO()
    write_header(file, entries, room=512)
    assert len(file.getvalue()) == 512
    with pytest.raises(ValueError, match="bytes in 64"):
        write_header(io.BytesIO(), entries, room=64)
