"""Quantised checkpoints that are damaged or not read: a sentence says which; and odd ones that come in all the same."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file

from engine.errors import BadModelFile, UnsupportedModel
from tests.engine.models.quantised_folders import (
    DOWN,
    UP,
    Made,
    awq,
    bnb_4bit,
    bnb_8bit,
    compressed,
    gptq,
    run_import,
)

TinyModel = Callable[..., Path]


@pytest.fixture(scope="module")
def source(tiny_model: TinyModel) -> Path:
    return tiny_model("llama")


def refused(made: Made, source: Path, tmp_path: Path) -> str:
    """The sentence of an import that fails."""
    folder = made.write(source, tmp_path / "My Model")
    with pytest.raises((BadModelFile, UnsupportedModel)) as caught:
        run_import(folder, tmp_path / "imported")
    assert caught.value.sentence.endswith(".")
    return caught.value.sentence


@pytest.mark.parametrize(
    ("config", "named"),
    [
        ({"quant_method": "hqq"}, "quantised by hqq"),
        ({"quant_method": "mxfp4"}, "quantised by mxfp4"),
        ({"bits": 4}, "an unknown method"),
        ("odd", "an unknown method"),
    ],
)
def test_an_unknown_scheme_is_refused_by_its_name(config: Any, named: str, source: Path, tmp_path: Path) -> None:
    made = gptq(source)
    made.config = config
    sentence = refused(made, source, tmp_path)
    assert named in sentence and "get it as GPTQ, AWQ or bitsandbytes" in sentence


@pytest.mark.parametrize(
    ("make", "change", "named"),
    [
        (gptq, {"checkpoint_format": "marlin"}, "the GPTQ format marlin"),
        (awq, {"version": "gemv_fast"}, "AWQ gemv_fast in 4 bits"),
        (awq, {"bits": 3}, "AWQ gemm in 3 bits"),
        (compressed, {"format": "float-quantized"}, "compressed-tensors float-quantized"),
        (compressed, {"sparsity_config": {"format": "sparse-24-bitmask"}}, "sparse-24-bitmask"),
        (gptq, {"group_size": "many"}, "makes no sense"),
    ],
)
def test_a_variant_that_is_not_read_is_named(
    make: Callable[[Path], Made], change: dict[str, Any], named: str, source: Path, tmp_path: Path
) -> None:
    made = make(source)
    made.config |= change
    assert named in refused(made, source, tmp_path)


MISSING = [
    (gptq, f"{DOWN}.scales"),
    (gptq, f"{DOWN}.qzeros"),
    (awq, f"{DOWN}.scales"),
    (awq, f"{DOWN}.qzeros"),
    (bnb_4bit, f"{DOWN}.weight.absmax"),
    (bnb_4bit, f"{DOWN}.weight.quant_map"),
    (bnb_4bit, f"{DOWN}.weight.nested_absmax"),
    (bnb_4bit, f"{DOWN}.weight"),
    (bnb_8bit, f"{DOWN}.weight"),
    (compressed, f"{DOWN}.weight_scale"),
    (compressed, f"{DOWN}.weight_shape"),
]


@pytest.mark.parametrize(("make", "part"), MISSING, ids=lambda value: getattr(value, "__name__", value))
def test_a_missing_part_is_named(make: Callable[[Path], Made], part: str, source: Path, tmp_path: Path) -> None:
    made = make(source)
    del made.tensors[part]
    sentence = refused(made, source, tmp_path)
    assert f"lacks a part of its quantised weights ({part})" in sentence


@pytest.mark.parametrize("part", ["qweight", "qzeros", "scales", "g_idx"])
@pytest.mark.parametrize("cut", [lambda t: t[:-1], lambda t: t.flatten()[:0], lambda t: t.double()])
def test_odd_shapes_of_gptq(part: str, cut: Callable[..., torch.Tensor], source: Path, tmp_path: Path) -> None:
    made = gptq(source)
    made.tensors[f"{DOWN}.{part}"] = cut(made.tensors[f"{DOWN}.{part}"])
    if part == "scales" and made.tensors[f"{DOWN}.scales"].dtype == torch.float64:
        run_import(made.write(source, tmp_path / "My Model"), tmp_path / "imported")  # more precise, and as good
        return
    assert "do not fit each other" in refused(made, source, tmp_path)


@pytest.mark.parametrize("part", ["qweight", "qzeros", "scales"])
def test_odd_shapes_of_awq(part: str, source: Path, tmp_path: Path) -> None:
    made = awq(source)
    made.tensors[f"{DOWN}.{part}"] = made.tensors[f"{DOWN}.{part}"][:, :-1]
    assert "do not fit each other" in refused(made, source, tmp_path)


ODD_BNB: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "weight": lambda tensor: tensor[:-1],
    "weight.absmax": lambda tensor: tensor[:-1],
    "weight.quant_map": lambda tensor: tensor[:-1],
    "weight.nested_absmax": lambda tensor: torch.cat([tensor, tensor]),
    "weight.nested_quant_map": lambda tensor: tensor[:200],
    "weight.quant_state.bitsandbytes__nf4": lambda tensor: tensor[:-2],
}


@pytest.mark.parametrize("part", ODD_BNB)
def test_odd_shapes_of_bitsandbytes(part: str, source: Path, tmp_path: Path) -> None:
    made = bnb_4bit(source)
    made.tensors[f"{DOWN}.{part}"] = ODD_BNB[part](made.tensors[f"{DOWN}.{part}"])
    assert "do not fit each other" in refused(made, source, tmp_path)


@pytest.mark.parametrize(
    "said",
    [
        {"shape": [64, 128], "blocksize": 0},
        {"shape": [-64, 128], "blocksize": 64},
        {"shape": [64], "blocksize": 64},
        {"shape": "wide", "blocksize": 64},
        {"shape": [2**60, 2**60], "blocksize": 64},
        {"shape": [64, 128], "blocksize": 64, "nested_blocksize": 256, "nested_offset": float("nan")},
        [],
        None,
    ],
)
def test_a_state_of_bitsandbytes_that_lies(said: Any, source: Path, tmp_path: Path) -> None:
    made = bnb_4bit(source)
    text = json.dumps(said).encode()
    made.tensors[f"{DOWN}.weight.quant_state.bitsandbytes__nf4"] = torch.tensor(list(text), dtype=torch.uint8)
    assert "do not fit each other" in refused(made, source, tmp_path)


def test_a_state_that_does_not_say_how_its_scales_are_nested(source: Path, tmp_path: Path) -> None:
    made = bnb_4bit(source)
    text = json.dumps({"shape": [64, 128], "blocksize": 64}).encode()
    made.tensors[f"{DOWN}.weight.quant_state.bitsandbytes__nf4"] = torch.tensor(list(text), dtype=torch.uint8)
    made.tensors[f"{DOWN}.weight.nested_absmax"] = torch.ones(128)
    assert "do not fit each other" in refused(made, source, tmp_path)


def test_a_long_name_makes_no_long_sentence(source: Path, tmp_path: Path) -> None:
    made = gptq(source)
    made.config["checkpoint_format"] = "marlin" * 1000
    assert len(refused(made, source, tmp_path)) < 250


def test_a_matrix_of_another_size_than_the_architecture_has(source: Path, tmp_path: Path) -> None:
    made = gptq(source)
    for part in ("qweight", "qzeros", "scales", "g_idx"):
        made.tensors[f"{DOWN}.{part}"] = made.tensors[f"{UP}.{part}"].clone()
    assert "do not fit together" in refused(made, source, tmp_path)


@pytest.mark.parametrize("make", [gptq, awq, compressed, bnb_8bit])
def test_matrices_of_nothing(make: Callable[[Path], Made], source: Path, tmp_path: Path) -> None:
    made = make(source)
    for name in [name for name in made.tensors if name.startswith(f"{DOWN}.") and not name.endswith("_format")]:
        made.tensors[name] = made.tensors[name][:0]
    refused(made, source, tmp_path)


def test_a_weight_that_is_there_twice_is_taken_quantised(source: Path, tmp_path: Path) -> None:
    made = gptq(source)
    made.tensors[f"{DOWN}.weight"] = torch.zeros(64, 128)
    run_import(made.write(source, tmp_path / "tiny"), tmp_path / "model")
    ours = load_file(tmp_path / "model" / "model.safetensors")
    assert torch.equal(ours[f"{DOWN}.weight"], made.floats[f"{DOWN}.weight"])


@pytest.mark.parametrize("group", [-1, 4, 2**31 - 1])
def test_groups_that_are_not_there(group: int, source: Path, tmp_path: Path) -> None:
    made = gptq(source)
    made.tensors[f"{DOWN}.g_idx"][7] = group
    assert "name groups that are not there" in refused(made, source, tmp_path)


@pytest.mark.parametrize("make", [gptq, awq])
def test_groups_that_do_not_divide_a_row(make: Callable[[Path], Made], source: Path, tmp_path: Path) -> None:
    made = make(source)
    made.config["group_size"] = 48
    for name in [name for name in made.tensors if name.endswith(".g_idx")]:
        del made.tensors[name]
    assert "groups of 48 in rows of 128" in refused(made, source, tmp_path)


def test_columns_in_order_need_no_list_of_groups(source: Path, tmp_path: Path) -> None:
    made = gptq(source)
    for name in [name for name in made.tensors if name.endswith(".g_idx")]:
        del made.tensors[name]
    run_import(made.write(source, tmp_path / "tiny"), tmp_path / "model")
    ours = load_file(tmp_path / "model" / "model.safetensors")
    assert torch.equal(ours[f"{DOWN}.weight"], made.floats[f"{DOWN}.weight"])


def test_other_numbers_of_bits_are_named(source: Path, tmp_path: Path) -> None:
    made = gptq(source)
    made.tensors[f"{DOWN}.qzeros"] = made.tensors[f"{DOWN}.qzeros"][:, :4]
    assert "by GPTQ in 2 bits" in refused(made, source, tmp_path)


@pytest.mark.parametrize("make", [gptq, awq])
def test_scales_that_are_no_numbers(make: Callable[[Path], Made], source: Path, tmp_path: Path) -> None:
    made = make(source)
    made.tensors[f"{DOWN}.scales"][0, 0] = float("inf")
    assert f"are damaged ({DOWN}.weight)" in refused(made, source, tmp_path)


def test_weights_that_are_not_quantised_after_all(source: Path, tmp_path: Path) -> None:
    made = Made(gptq(source).config, load_file(source / "model.safetensors"))
    assert "none of its weights is" in refused(made, source, tmp_path)


def test_scaled_activations_are_refused(source: Path, tmp_path: Path) -> None:
    made = awq(source)
    made.tensors["model.layers.0.mlp.act.scales"] = torch.ones(128)
    assert "scales its activations" in refused(made, source, tmp_path)


def test_codes_in_the_order_of_a_gpu_are_refused(source: Path, tmp_path: Path) -> None:
    made = bnb_8bit(source)
    made.tensors[f"{DOWN}.weight_format"] = torch.tensor(2, dtype=torch.uint8)
    assert "order of one kind of GPU" in refused(made, source, tmp_path)
