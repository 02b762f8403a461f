from __future__ import annotations

import numpy as np
import pytest
from gguf import GGMLQuantizationType as Type
from gguf import quants
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.errors import BadModelFile
from engine.kernels import quantize
from engine.kernels.formats import Kind, stack


def _weights(rows: int, columns: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(0, 0.05, (rows, columns)).astype(np.float32)


@pytest.mark.parametrize(
    ("type_", "repack", "kind"),
    [
        (Type.Q4_0, quantize.from_q4_0, Kind.Q4S),
        (Type.Q4_1, quantize.from_q4_1, Kind.Q4A),
        (Type.Q8_0, quantize.from_q8_0, Kind.Q8),
    ],
)
@pytest.mark.parametrize("rows", [16, 48, 37])
def test_gguf_blocks_are_repacked_exactly(type_, repack, kind, rows):
    blocks = quants.quantize(_weights(rows, 96), type_)
    matrix = repack(blocks, rows, 96)
    assert matrix.kind is kind
    np.testing.assert_array_equal(matrix.dequantize(), quants.dequantize(blocks, type_))


def test_q4_k_is_repacked_to_float16_scales():
    rng = np.random.default_rng(1)
    blocks = rng.integers(0, 256, (20, 2 * 144), dtype=np.uint8)
    blocks.reshape(20, 2, 144)[..., :4] = rng.uniform(0.001, 0.01, (20, 2, 2)).astype(np.float16).view(np.uint8)
    matrix = quantize.from_q4_k(blocks, 20, 512)
    expected = quants.dequantize(blocks, Type.Q4_K)
    # Half a unit in the last place of float16, for a scale times 15 and for an offset of up to 63 * 0.01.
    np.testing.assert_allclose(matrix.dequantize(), expected, atol=15 * 63 * 0.01 * 2**-11 + 63 * 0.01 * 2**-11)
    assert np.abs(matrix.dequantize() - expected).mean() < 1e-3 * np.abs(expected).mean()


@given(st.integers(1, 40), st.integers(1, 70), st.integers(0, 1000))
@settings(max_examples=25, deadline=None)
def test_any_shape_is_quantized_within_half_a_step(rows, columns, seed):
    weights = _weights(rows, columns, seed)
    span = weights.max() - min(weights.min(), 0) if columns % 32 else np.ptp(weights)
    assert np.abs(quantize.quantize_4(weights).dequantize() - weights).max() <= max(span, 0.05) / 15 * 0.75
    # A scale below what float16 holds in full precision is off by half of its smallest step.
    tiny = 127 * 2**-25
    error = np.abs(quantize.quantize_8(weights).dequantize() - weights).max()
    assert error <= np.abs(weights).max() / 127 * 0.52 + tiny


def test_least_squares_is_better_than_minimum_and_maximum():
    weights = _weights(64, 256)
    groups = weights.reshape(64, 8, 32)
    low, step = groups.min(2, keepdims=True), np.ptp(groups, axis=2, keepdims=True) / 15
    plain = (np.rint((groups - low) / step) * step + low - groups).std()
    assert (quantize.quantize_4(weights).dequantize() - weights).std() < 0.99 * plain


def test_zeros_stay_zero():
    zeros = np.zeros((5, 40), np.float32)
    assert not quantize.quantize_4(zeros).dequantize().any()
    assert not quantize.quantize_8(zeros).dequantize().any()


@pytest.mark.parametrize("bad", [np.nan, np.inf, 1e9])
def test_weights_that_cannot_be_held_are_refused(bad):
    weights = _weights(4, 32)
    weights[2, 5] = bad
    for make in (quantize.quantize_4, quantize.quantize_8):
        with pytest.raises(BadModelFile) as error:
            make(weights)
        assert error.value.sentence.endswith(".")


def test_matrices_of_different_formats_are_stacked_without_loss_where_all_have_four_bits():
    weights = _weights(32, 64)
    symmetric = quantize.from_q4_0(quants.quantize(weights, Type.Q4_0), 32, 64)
    affine = quantize.from_q4_1(quants.quantize(weights, Type.Q4_1), 32, 64)
    matrix = stack(quantize.unify([symmetric, affine]))
    assert matrix.kind is Kind.Q4A
    np.testing.assert_array_equal(matrix.dequantize(), np.concatenate([symmetric.dequantize(), affine.dequantize()]))


def test_four_bits_beside_eight_become_eight():
    weights = _weights(32, 64)
    four, eight = quantize.quantize_4(weights), quantize.quantize_8(weights)
    matrix = stack(quantize.unify([four, eight]))
    assert matrix.kind is Kind.Q8
    expected = np.concatenate([four.dequantize(), eight.dequantize()])
    assert np.abs(matrix.dequantize() - expected).max() <= np.abs(expected).max() / 127 * 0.52


def test_a_tile_never_holds_rows_of_two_matrices():
    odd = quantize.quantize_8(_weights(17, 32))
    with pytest.raises(ValueError, match="cannot be stacked"):
        stack([odd, odd])
