from __future__ import annotations

import pytest
import torch

from engine.errors import BadRequest, ContextFull, UnsupportedModel
from engine.kernels.formats import Kind
from engine.kernels.runner import KernelRunner
from tests.tiny_models import FAMILIES

# Both sides round activations to int8; where a float differs in its last bit, a code may differ by one.
TOLERANCE = 0.02


def _distance(a: torch.Tensor, b: torch.Tensor) -> float:
    """Largest difference in units of the logits' own spread."""
    return float((a - b).abs().max() / b.std())


@pytest.mark.parametrize("family", FAMILIES)
def test_prefill_equals_the_torch_decoder(pair, family):
    models = pair(family)
    got = models.kernels.prefill(models.ids, models.kernels.new_cache(), keep=len(models.ids))
    expected = models.reference.prefill(models.ids, models.reference.new_cache(), keep=len(models.ids))
    assert got.shape == expected.shape
    assert _distance(got, expected) < TOLERANCE


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("kind", [Kind.Q4A, Kind.Q8])
def test_decode_gives_the_bits_of_prefill(pair, family, kind):
    models = pair(family, kind)
    runner, ids = models.kernels, models.ids[:160]
    expected = runner.prefill(ids, runner.new_cache(), keep=len(ids))
    cache = runner.new_cache()
    for index, token in enumerate(ids):
        assert torch.equal(runner.decode(token, cache), expected[index])
    assert cache.length == len(ids)
