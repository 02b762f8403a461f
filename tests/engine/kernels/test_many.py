"""Several sequences in one pass get the bits that each would get alone."""

from __future__ import annotations

import pytest
import torch

from engine.errors import BadRequest, ContextFull
from engine.kernels.formats import Kind
from tests.tiny_models import FAMILIES


@pytest.mark.parametrize("family", FAMILIES)
def test_each_sequence_gets_the_bits_of_decoding_alone(pair, family):
    """Sequences of unlike lengths, before and behind window and span borders."""
    models = pair(family)
    runner, ids = models.kernels(), models.ids
    lengths = (1, 15, 16, 127, 128, 130, 250)
    alone, together = [], []
    for length in lengths:
        caches = (runner.new_cache(), runner.new_cache())
        for cache in caches:
            runner.prefill(ids[:length], cache)
        alone.append(caches[0])
        together.append(caches[1])
    for step in range(4):
        tokens = [ids[length + step] for length in lengths]
        expected = torch.stack([runner.decode(token, cache) for token, cache in zip(tokens, alone, strict=True)])
        got = runner.decode_many(tokens, together)
        assert torch.equal(got, expected)
    for one, other in zip(alone, together, strict=True):
        assert one.length == other.length
        exported = other.export()
        assert all(torch.equal(tensor, exported[name]) for name, tensor in one.export().items())


@pytest.mark.parametrize("kind", [Kind.Q4A, Kind.Q8])
@pytest.mark.parametrize("count", [1, 2, 3, 5, 8, 9, 17, 128])
def test_the_number_of_sequences_changes_no_bit(pair, kind, count):
    models = pair("llama", kind)
    runner, ids = models.kernels(), models.ids
    alone = runner.new_cache()
    runner.prefill(ids[:9], alone)
    expected = runner.decode(ids[9], alone)
    caches = [runner.new_cache() for _ in range(count)]
    for cache in caches:
        runner.prefill(ids[:9], cache)
    got = runner.decode_many([ids[9]] * count, caches)
    assert got.shape == (count, runner.vocab_size)
    assert torch.equal(got, expected.expand(count, -1))


def test_what_cannot_be_read_changes_no_cache(pair):
    runner = pair("llama").kernels(max_context=32)
    caches = [runner.new_cache(), runner.new_cache()]
    runner.prefill(list(range(1, 33)), caches[0])
    runner.prefill([1, 2], caches[1])
    with pytest.raises(ContextFull):
        runner.decode_many([3, 3], caches)
    with pytest.raises(BadRequest):
        runner.decode_many([3, runner.vocab_size], caches[1:] * 2)
    assert [cache.length for cache in caches] == [32, 2]
