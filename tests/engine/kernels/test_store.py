"""Packed weights go to the disk as they are made: the same as when all are made first, and nothing is left of half."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from engine.decoder.checkpoint import Checkpoint, read_json
from engine.decoder.config import DecoderConfig
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
