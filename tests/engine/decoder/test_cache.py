"""The preallocated cache: growth, cropping, honesty about memory, export and restoration."""

from __future__ import annotations

import pytest
import torch

from engine.decoder import CacheLayout, KVCache, load_decoder
from engine.errors import BadModelFile, BadRequest, ContextFull

LAYOUT = CacheLayout(
    layers=2, kv_heads=3, head_dim=4, context_limit=1000, dtype=torch.float32, device=torch.device("cpu")
)


def tokens(count: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(3, count, 4, generator=torch.Generator().manual_seed(seed))


def append(cache: KVCache, keys: torch.Tensor, values: torch.Tensor) -> None:
    cache.reserve(keys.shape[1])
    for layer in range(LAYOUT.layers):
        cache.write(layer, keys + layer, values + layer)
    cache.advance(keys.shape[1])


def held(cache: KVCache, layer: int) -> tuple[torch.Tensor, torch.Tensor]:
    return cache.read(layer, 0, cache.length, torch.float32)


def test_an_empty_cache_holds_no_memory():
    cache = KVCache(LAYOUT)
    assert (cache.length, cache.nbytes, cache.capacity) == (0, 0, 0)


def test_it_grows_by_doubling_up_to_the_context_limit_and_keeps_what_it_holds():
    cache, keys, values = KVCache(LAYOUT), tokens(1000, 1), tokens(1000, 2)
    capacities = []
    for start in range(0, 1000, 50):
        append(cache, keys[:, start : start + 50], values[:, start : start + 50])
        capacities.append(cache.capacity)
    assert sorted(set(capacities)) == [256, 512, 1000]
    for layer in range(LAYOUT.layers):
        assert torch.equal(held(cache, layer)[0], keys + layer)
        assert torch.equal(held(cache, layer)[1], values + layer)


def test_nbytes_is_what_the_buffers_take():
    cache = KVCache(LAYOUT)
    append(cache, tokens(10), tokens(10))
    assert cache.nbytes == 256 * LAYOUT.bytes_per_token == 256 * 2 * 2 * 3 * 4 * 4


def test_cropping_copies_nothing_and_what_follows_overwrites():
    cache = KVCache(LAYOUT)
    append(cache, tokens(20, 1), tokens(20, 2))
    buffers = [rows.data.data_ptr() for rows in cache.keys]
    assert cache.crop(5)
    append(cache, tokens(3, 3), tokens(3, 4))
    assert [rows.data.data_ptr() for rows in cache.keys] == buffers
    assert torch.equal(held(cache, 1)[0], torch.cat((tokens(20, 1)[:, :5], tokens(3, 3)), 1) + 1)


@pytest.mark.parametrize(("length", "expected"), [(0, 0), (-3, 0), (8, 8), (9, 8)])
def test_cropping_never_makes_it_longer_or_negative(length, expected):
    cache = KVCache(LAYOUT)
    append(cache, tokens(8), tokens(8))
    assert cache.crop(length)
    assert cache.length == expected


def test_what_a_broken_off_pass_wrote_does_not_count():
    cache = KVCache(LAYOUT)
    append(cache, tokens(4, 1), tokens(4, 2))
    cache.reserve(300)
    cache.write(0, tokens(300, 9), tokens(300, 9))  # the second layer is never reached
    assert cache.length == 4
    assert torch.equal(held(cache, 0)[0], tokens(4, 1))


def test_memory_that_runs_out_while_growing_leaves_it_usable(monkeypatch):
    cache = KVCache(LAYOUT)
    append(cache, tokens(256, 1), tokens(256, 2))
    resize = cache.values[1].resize

    def fail(capacity: int, keep: int) -> None:
        raise RuntimeError("not enough memory")

    monkeypatch.setattr(cache.values[1], "resize", fail)
    with pytest.raises(RuntimeError, match="memory"):
        cache.reserve(1)
    assert cache.capacity == 256
    assert torch.equal(held(cache, 1)[0], tokens(256, 1) + 1)
    monkeypatch.setattr(cache.values[1], "resize", resize)
    append(cache, tokens(1, 3), tokens(1, 4))
    assert torch.equal(held(cache, 0)[1], torch.cat((tokens(256, 2), tokens(1, 4)), 1))


def test_more_than_the_context_is_refused_and_nothing_changes():
    cache = KVCache(LAYOUT)
    append(cache, tokens(999), tokens(999))
    with pytest.raises(ContextFull, match=r"1,000 tokens"):
        cache.reserve(2)
    append(cache, tokens(1), tokens(1))
    assert cache.length == 1000


def test_an_exported_cache_comes_back_equal_and_its_own():
    cache = KVCache(LAYOUT)
    append(cache, tokens(300, 1), tokens(300, 2))
    cache.crop(270)
    tensors = cache.export()
    assert set(tensors) == {"0.keys", "1.keys", "0.values", "1.values"}
    assert all(tensor.shape == (3, 270, 4) for tensor in tensors.values())
    again = KVCache.restore(LAYOUT, tensors)
    assert again.length == 270
    assert all(torch.equal(again.export()[name], tensor) for name, tensor in tensors.items())


def test_compacting_gives_back_spare_room_and_loses_nothing():
    cache = KVCache(LAYOUT)
    append(cache, tokens(300, 1), tokens(300, 2))
    before = held(cache, 0)[0].clone()
    cache.compact()
    assert cache.capacity == 300
    assert torch.equal(held(cache, 0)[0], before)
    append(cache, tokens(1, 3), tokens(1, 4))
    assert cache.length == 301


def test_an_exported_cache_of_nothing_comes_back():
    assert KVCache.restore(LAYOUT, KVCache(LAYOUT).export()).length == 0


FOREIGN = {
    "a layer less": lambda t: {name: tensor for name, tensor in t.items() if name != "1.values"},
    "a tensor more": lambda t: t | {"2.keys": t["0.keys"]},
    "another head size": lambda t: {name: tensor[..., :2] for name, tensor in t.items()},
    "another dtype": lambda t: {name: tensor.half() for name, tensor in t.items()},
    "layers of different length": lambda t: t | {"0.keys": t["0.keys"][:, :3]},
    "a flat tensor": lambda t: t | {"0.keys": t["0.keys"].flatten()},
    "nothing": lambda t: {},
    "longer than the context": lambda t: {name: tensor.repeat(1, 300, 1) for name, tensor in t.items()},
}


@pytest.mark.parametrize("change", FOREIGN.values(), ids=FOREIGN.keys())
def test_tensors_of_another_cache_are_refused(change):
    cache = KVCache(LAYOUT)
    append(cache, tokens(4), tokens(4))
    with pytest.raises(BadModelFile, match="cache"):
        KVCache.restore(LAYOUT, change(cache.export()))


def test_a_restored_cache_continues_with_the_same_logits(pair):
    tiny = pair("gemma3_text")
    cache = tiny.runner.new_cache()
    tiny.runner.prefill(tiny.ids[:40], cache)
    again = KVCache.restore(tiny.runner.layout, cache.export())
    for position in range(40, 50):
        assert torch.equal(tiny.runner.decode(tiny.ids[position], again), tiny.runner.decode(tiny.ids[position], cache))


def test_a_model_reads_up_to_its_context_limit_and_not_beyond(pair):
    runner = load_decoder(pair("llama").folder, max_context=300)
    cache = runner.new_cache()
    runner.prefill([5] * 299, cache)
    before = runner.decode(6, cache)
    assert (cache.length, cache.capacity, runner.context_limit) == (300, 300, 300)
    with pytest.raises(ContextFull):
        runner.decode(7, cache)
    with pytest.raises(ContextFull):
        runner.prefill([7, 8], cache)
    cache.crop(299)
    assert torch.equal(runner.decode(6, cache), before)


@pytest.mark.parametrize("ids", [[], [-1], [3, 300]])
def test_ids_that_are_no_tokens_are_refused_and_nothing_is_read(pair, ids):
    cache = pair("llama").runner.new_cache()
    with pytest.raises(BadRequest):
        pair("llama").runner.prefill(ids, cache)
    assert cache.length == 0


@pytest.mark.parametrize(("keep", "rows"), [(0, 0), (1, 1), (5, 5), (99, 6)])
@pytest.mark.parametrize("architecture", ["gemma2", "gemma3_text"])  # with and without a soft cap on scores
def test_prefill_gives_the_rows_asked_for(pair, architecture, keep, rows):
    tiny = pair(architecture)
    cache = tiny.runner.new_cache()
    tiny.runner.prefill(tiny.ids[:20], cache)
    logits = tiny.runner.prefill(tiny.ids[20:26], cache, keep=keep)
    assert logits.shape == (rows, tiny.runner.vocab_size)
    assert cache.length == 26
    if rows:
        assert tiny.far_from(logits, 26 - rows, 26) < 1e-4
    assert tiny.far_from(tiny.runner.decode(tiny.ids[26], cache)[None], 26, 27) < 1e-4
