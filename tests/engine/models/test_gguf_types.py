"""Every type of tensor that GGUF files come in: the floats are gguf's own, the packed weights are near them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import gguf
import numpy as np
import pytest
from gguf.constants import GGMLQuantizationType
from gguf.quants import dequantize
from safetensors.numpy import load_file

from engine.chat import RequestHandle
from engine.decoder.config import DecoderConfig
from engine.errors import UnsupportedModel
from engine.kernels.store import load_packed, packed_path
from engine.kernels.weights import KernelWeights
from engine.models.gguf_weights import READABLE
from engine.models.import_gguf import import_gguf
from engine.models.model_folder import read_object
from tests.engine.models.gguf_files import finish, interleave, write_gguf

TinyModel = Callable[..., Path]
HEADS = 4
QUERY_AND_KEY = ("self_attn.q_proj", "self_attn.k_proj")
# Rows of a multiple of 256, as K-quants want them; query and key rows change place on the way in.
SIZES = {"hidden_size": 256, "intermediate_size": 512, "num_hidden_layers": 2, "head_dim": 64}
# How far the packed weights may be from the file's, as a share of their size: nothing where codes are taken over as
# they are, a rounding of scales to float16 for Q4_K, 8 bits for what has more than 4, 4 bits for plain floats.
NEAR = {
    **dict.fromkeys(("Q4_0", "Q4_1", "Q8_0"), 1e-6),
    "Q4_K": 1e-3,
    **dict.fromkeys(("F32", "F16", "BF16"), 0.12),
}
EIGHT_BITS = 0.008


@pytest.fixture(scope="module")
def source(tiny_model: TinyModel) -> Path:
    return tiny_model("llama", **SIZES)


def run_import(file: Path, folder: Path) -> dict[str, np.ndarray]:
    folder.mkdir()
    finish(import_gguf(file, folder, "Tiny", RequestHandle("test")))
    return load_file(folder / "model.safetensors")


def packed_weights(folder: Path) -> KernelWeights:
    return load_packed(packed_path(folder, "int4"), DecoderConfig.from_json(read_object(folder, "config.json")))


def stored(file: Path) -> dict[str, np.ndarray]:
    """The floats of the file as gguf's own reader and its arithmetic have them."""
    tensors = gguf.GGUFReader(file).tensors
    return {tensor.name: dequantize(tensor.data, tensor.tensor_type) for tensor in tensors}


def distance(ours: np.ndarray, theirs: np.ndarray) -> float:
    return float(np.sqrt(np.square(ours - theirs).mean() / np.square(theirs).mean()))


@pytest.mark.parametrize("name", sorted(packing.name for packing in READABLE))
def test_a_model_of_every_type_comes_in(name: str, source: Path, tmp_path: Path) -> None:
    file = write_gguf(source, tmp_path / f"tiny {name}.gguf", GGMLQuantizationType[name])
    floats, theirs = run_import(file, tmp_path / "model"), stored(file)
    down, query, key = (floats[f"model.layers.1.{part}.weight"] for part in ("mlp.down_proj", *QUERY_AND_KEY))
    assert np.abs(down).max() > 0.01
    np.testing.assert_array_equal(down, theirs["blk.1.ffn_down.weight"])
    np.testing.assert_array_equal(interleave(query, HEADS), theirs["blk.1.attn_q.weight"])
    np.testing.assert_array_equal(interleave(key, 2), theirs["blk.1.attn_k.weight"])
    np.testing.assert_array_equal(floats["model.embed_tokens.weight"], theirs["token_embd.weight"])

    layer, near = packed_weights(tmp_path / "model").layers[1], NEAR.get(name, EIGHT_BITS)
    assert distance(layer.down.matrix.dequantize(), down) <= near
    assert distance(layer.qkv.matrix.dequantize()[: len(query)], query) <= near


def test_the_types_that_people_use_are_all_among_them() -> None:
    plain = ("F32", "F16", "BF16", "Q8_0", "Q4_0", "Q4_1", "Q5_0", "Q5_1")
    wanted = (*plain, "Q2_K", "Q3_K", "Q4_K", "Q5_K", "Q6_K", "IQ4_NL", "IQ4_XS")
    assert {GGMLQuantizationType[name] for name in wanted} <= READABLE


def test_types_may_differ_from_tensor_to_tensor(source: Path, tmp_path: Path) -> None:
    """As in Q4_K_M files, where some of the matrices that are computed together have more bits."""
    types = {"attn_v": "Q6_K", "ffn_down": "Q5_0", "token_embd": "Q8_0", "ffn_up": "Q4_0"}

    def packing(name: str) -> GGMLQuantizationType:
        return GGMLQuantizationType[next((kind for part, kind in types.items() if part in name), "Q4_K")]

    file = write_gguf(source, tmp_path / "mixed.gguf", packing)
    floats, weights = run_import(file, tmp_path / "model"), packed_weights(tmp_path / "model")
    for index, layer in enumerate(weights.layers):
        of = {name: floats[f"model.layers.{index}.{name}.weight"] for name in (*QUERY_AND_KEY, "self_attn.v_proj")}
        assert distance(layer.qkv.matrix.dequantize(), np.concatenate(list(of.values()))) < EIGHT_BITS
        both = [floats[f"model.layers.{index}.mlp.{name}_proj.weight"] for name in ("gate", "up")]
        assert distance(layer.gate_up.matrix.dequantize(), np.concatenate(both)) < 1e-3, "both have 4 bits"
    assert distance(weights.embedding.dequantize(), floats["model.embed_tokens.weight"]) < 1e-6


@pytest.mark.parametrize("name", ["TQ1_0", "TQ2_0", "MXFP4"])
def test_a_type_that_cannot_be_read_is_named(name: str, source: Path, tmp_path: Path) -> None:
    file = write_gguf(source, tmp_path / "odd.gguf", GGMLQuantizationType[name])
    with pytest.raises(UnsupportedModel, match=rf"The model in odd\.gguf is packed as {name}, which is not supported"):
        run_import(file, tmp_path / "model")
