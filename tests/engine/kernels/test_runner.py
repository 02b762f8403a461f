from __future__ import annotations

import pytest
import torch

from engine.errors import BadModelFile, BadRequest, ContextFull, UnsupportedModel
from engine.kernels.cache import CacheShape, KernelCache
from engine.kernels.formats import Kind
from tests.tiny_models import FAMILIES

# The kernels and torch add floats in different orders. Where a sum falls on the other side of a half, a code
# of 15 bits or a cached float16 differs by one, and the logits by about this share of their spread.
TIGHT = 1e-3


def _distances(got: torch.Tensor, expected: torch.Tensor) -> torch.Tensor:
    """Root mean square of each row's difference, in units of the logits' spread."""
    return (got - expected).std(1) / expected.std()


@pytest.mark.parametrize("family", FAMILIES)
def test_prefill_equals_the_torch_decoder(pair, family):
    models = pair(family)
    runner, ids = models.kernels(), models.ids
    got = runner.prefill(ids, runner.new_cache(), keep=len(ids))
    expected = models.reference.prefill(ids, models.reference.new_cache(), keep=len(ids))
    distances = _distances(got, expected)
    assert got.shape == expected.shape
    assert distances.max() < TIGHT


@pytest.mark.parametrize("family", FAMILIES)
def test_a_step_on_the_same_cache_equals_the_torch_decoder(pair, family):
    """At positions before and behind window and span borders, each from one cache, so that no difference adds up."""
    models = pair(family)
    runner, ids = models.kernels(), models.ids
    cache = runner.new_cache()
    runner.prefill(ids, cache)
    distances = []
    for position in (1, 15, 16, 17, 60, 127, 128, 129, 255, 256, 299):
        cache.crop(position)
        held = models.reference.restore_cache(cache.export())
        got = runner.decode(ids[position], cache)
        distances.append(_distances(got[None], models.reference.decode(ids[position], held)[None]))
    assert torch.cat(distances).max() < TIGHT


@pytest.mark.parametrize("kind", [Kind.Q4A, Kind.Q8])
@pytest.mark.parametrize("family", ["llama", "gemma3_text", "qwen2"])
def test_decode_gives_the_bits_of_prefill(pair, family, kind):
    models = pair(family, kind)
    runner, ids = models.kernels(), models.ids[:200]
    expected = runner.prefill(ids, runner.new_cache(), keep=len(ids))
    cache = runner.new_cache()
    for index, token in enumerate(ids):
        assert torch.equal(runner.decode(token, cache), expected[index])
    assert cache.length == len(ids)


@pytest.mark.parametrize("sizes", [(1, 2, 3, 4, 5, 6, 7, 8), (16, 100), (127, 2), (128, 129)])
def test_the_size_of_chunks_changes_no_bit(pair, sizes):
    models = pair("gemma3_text")
    runner, cache, done = models.kernels(), models.kernels().new_cache(), 0
    for size in sizes:
        chunk = models.ids[done : done + size]
        got = runner.prefill(chunk, cache)
        done += size
        assert torch.equal(got, runner.prefill(models.ids[:done], runner.new_cache()))


def test_threads_change_no_bit(pair):
    models = pair("qwen2")
    results = []
    for threads in (1, 2, 3):
        runner = models.kernels(threads)
        cache = runner.new_cache()
        results.append((runner.prefill(models.ids, cache), runner.decode(5, cache)))
    for prefill, decode in results[1:]:
        assert torch.equal(prefill, results[0][0])
        assert torch.equal(decode, results[0][1])


@pytest.mark.parametrize("family", ["llama", "gemma2"])
def test_a_cropped_cache_continues_like_a_fresh_one(pair, family):
    models = pair(family)
    runner, ids = models.kernels(), models.ids
    cache = runner.new_cache()
    runner.prefill(ids, cache)
    for length in (140, 37, 0):
        assert cache.crop(length)
        continued = runner.prefill(ids[length:150][::-1], cache)
        assert torch.equal(continued, runner.prefill(ids[:length] + ids[length:150][::-1], runner.new_cache()))


def test_a_cache_comes_back_from_its_export(pair):
    models = pair("llama")
    runner, cache = models.kernels(), models.kernels().new_cache()
    runner.prefill(models.ids[:141], cache)
    exported = cache.export()
    assert {tuple(tensor.shape) for tensor in exported.values()} == {(2, 141, 16)}
    restored = runner.restore_cache({name: tensor.clone() for name, tensor in exported.items()})
    part = runner.restore_cache(cache.export(50))
    cache.compact()
    expected = runner.decode(7, cache)
    assert torch.equal(runner.decode(7, restored), expected)
    cache.crop(50)
    assert torch.equal(runner.decode(7, part), runner.decode(7, cache))
    del exported["0.keys"]
    with pytest.raises(BadModelFile):
        runner.restore_cache(exported)


def test_two_caches_do_not_disturb_each_other(pair):
    models = pair("llama")
    runner = models.kernels()
    one, other = runner.new_cache(), runner.new_cache()
    runner.prefill(models.ids[:40], one)
    runner.prefill(models.ids[40:200], other)
    got = runner.decode(3, one)
    assert torch.equal(got, runner.prefill([*models.ids[:40], 3], runner.new_cache())[0])


def test_logits_stay_as_they_were_given(pair):
    runner = pair("llama").kernels()
    cache = runner.new_cache()
    first = runner.decode(3, cache)
    kept = first.clone()
    runner.decode(4, cache)
    assert torch.equal(first, kept)


def test_a_full_context_is_refused_and_changes_nothing(pair):
    models = pair("llama")
    runner = models.kernels(max_context=20)
    cache = runner.new_cache()
    runner.prefill(models.ids[:20], cache)
    with pytest.raises(ContextFull, match=r"longer than the 20 tokens this model can read\.$"):
        runner.decode(1, cache)
    assert cache.length == 20


@pytest.mark.parametrize("ids", [[], [-1], [300]])
def test_what_cannot_be_read_is_refused(pair, ids):
    runner = pair("llama").kernels()
    with pytest.raises(BadRequest):
        runner.prefill(ids, runner.new_cache())


def test_keep_gives_that_many_rows(pair):
    models = pair("llama")
    runner = models.kernels()
    rows = runner.prefill(models.ids, runner.new_cache(), keep=200)
    assert rows.shape == (200, 300)
    assert torch.equal(runner.prefill(models.ids, runner.new_cache(), keep=3), rows[-3:])
    assert runner.prefill(models.ids, runner.new_cache(), keep=0).shape == (0, 300)


def test_sizes_that_blocks_do_not_divide_are_refused_with_the_reason(pair):
    with pytest.raises(UnsupportedModel, match="MLP size that 32 divides, and this model has 120"):
        pair("llama", intermediate_size=120)


def test_a_cache_can_pretend_to_hold_tokens_in_memory_of_their_own() -> None:
    cache = KernelCache(CacheShape(layers=2, kv_heads=1, head_dim=16, context_limit=512))
    cache.pretend(300)
    assert cache.length == 300
    assert all(part.all() for part in (*cache.keys, *cache.values))  # written, so that the pages are really there
    with pytest.raises(ContextFull):
        cache.pretend(213)
    assert cache.length == 300
