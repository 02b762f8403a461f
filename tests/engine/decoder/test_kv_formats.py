"""Keys and values in fewer bits: what is held is what was attended to, however the tokens came in."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch import Tensor

from engine.decoder import FAMILIES, CacheLayout, DecoderRunner, KVCache, load_decoder
from engine.decoder.rows import Int8Rows
from engine.errors import BadModelFile
from engine.kv_cache import Snapshot
from engine.kv_file import read_tensors, write_file
from tests.engine.decoder.conftest import TOKENS, Pair

INT8 = CacheLayout(layers=2, kv_heads=3, head_dim=8, context_limit=1000, dtype=torch.int8, device=torch.device("cpu"))
DTYPES = {"float16": torch.float16, "bfloat16": torch.bfloat16, "int8": torch.int8}
WINDOWS = {"mistral": {"sliding_window": 16}, "phi3": {"sliding_window": 20}}


@pytest.fixture(params=DTYPES.values(), ids=DTYPES.keys())
def kv_dtype(request: pytest.FixtureRequest) -> torch.dtype:
    return request.param


@pytest.fixture(params=FAMILIES)
def tiny(request: pytest.FixtureRequest, pair) -> Pair:
    return pair(request.param, **WINDOWS.get(request.param, {}))


def numbers(count: int, seed: int = 0) -> Tensor:
    return torch.randn(3, count, 8, generator=torch.Generator().manual_seed(seed)) * 3


def filled(count: int) -> KVCache:
    cache = KVCache(INT8)
    cache.reserve(count)
    for layer in range(INT8.layers):
        cache.write(layer, numbers(count, layer), numbers(count, layer + 10))
    cache.advance(count)
    return cache


def whole(runner: DecoderRunner, ids: list[int]) -> Tensor:
    return runner.prefill(ids, runner.new_cache(), keep=len(ids))


def distance(a: Tensor, b: Tensor) -> float:
    return float((a - b).abs().mean())


def test_a_row_is_rounded_to_half_a_step_of_its_own_scale():
    rows, exact = Int8Rows(INT8, 20), numbers(20)
    exact[1, 3] *= 1e4  # a head and token with large values costs the others nothing
    rows.write(0, exact)
    step = exact.abs().amax(-1, keepdim=True) / 127
    assert ((rows.read(0, 20, torch.float32) - exact).abs() <= 0.5001 * step).all()
    assert torch.equal(rows.codes.abs().amax(-1), torch.full((3, 20), 127, dtype=torch.int8))


def test_a_row_of_zeros_stays_zeros_and_one_that_is_no_number_is_not_hidden():
    rows = Int8Rows(INT8, 2)
    exact = torch.zeros(3, 2, 8)
    exact[0, 1, 0] = torch.nan
    rows.write(0, exact)
    read = rows.read(0, 2, torch.float32)
    assert torch.equal(read[:, 0], exact[:, 0])
    assert read[0, 1].isnan().all()


def test_rounding_what_was_read_changes_nothing():
    rows, again = Int8Rows(INT8, 20), Int8Rows(INT8, 20)
    rows.write(0, numbers(20))
    again.write(0, rows.read(0, 20, torch.float32))
    assert torch.equal(again.codes, rows.codes)
    assert torch.allclose(again.scales, rows.scales, rtol=1e-6)


def test_bytes_are_those_of_the_buffers_and_of_the_plan():
    cache = filled(10)
    held = sum(part.untyped_storage().nbytes() for rows in (*cache.keys, *cache.values) for part in parts(rows))
    assert cache.nbytes == held == 256 * INT8.bytes_per_token == 256 * 2 * 2 * 3 * (8 + 4)


def parts(rows: Int8Rows) -> tuple[Tensor, Tensor]:
    return rows.codes, rows.scales


def test_growing_and_compacting_keep_codes_and_scales():
    cache = filled(200)
    before = cache.export()
    kept = {name: tensor.clone() for name, tensor in before.items()}
    cache.reserve(300)
    assert cache.capacity == 512
    cache.compact()
    assert cache.capacity == 200
    assert all(torch.equal(cache.export()[name], tensor) for name, tensor in kept.items())


def test_memory_that_runs_out_between_codes_and_scales_leaves_both(monkeypatch):
    rows = Int8Rows(INT8, 4)
    rows.write(0, numbers(4))
    before = rows.read(0, 4, torch.float32)
    monkeypatch.setattr(rows, "scales", Refusing(rows.scales))
    with pytest.raises(MemoryError):
        rows.resize(8, 4)
    monkeypatch.undo()
    assert rows.capacity == 4
    assert torch.equal(rows.read(0, 4, torch.float32), before)


class Refusing:
    """Scales for which there is no more memory."""

    def __init__(self, scales: Tensor) -> None:
        self.shape = scales.shape

    def new_empty(self, shape: tuple[int, ...]) -> Tensor:
        raise MemoryError(shape)


def test_it_is_exported_with_its_scales_and_dimension_1_counts_tokens(tmp_path: Path):
    cache = filled(270)
    cache.crop(260)
    tensors = cache.export(250)
    names = {f"{layer}.{side}{part}" for layer in (0, 1) for side in ("keys", "values") for part in ("", ".scale")}
    assert set(tensors) == names
    assert all(tensor.shape[:2] == (3, 250) for tensor in tensors.values())
    assert sum(tensor.nbytes for tensor in tensors.values()) == 250 * INT8.bytes_per_token
    ids = list(range(250))
    assert write_file(tmp_path / "saved", "a chat", "print", Snapshot(ids, tensors), lambda: False)
    again = KVCache.restore(INT8, read_tensors(tmp_path / "saved", ids))
    assert again.length == 250
    assert all(torch.equal(again.export()[name], tensor) for name, tensor in tensors.items())


def test_an_empty_one_comes_back():
    assert KVCache.restore(INT8, KVCache(INT8).export()).length == 0


FOREIGN = {
    "scales missing": lambda t: {name: tensor for name, tensor in t.items() if name != "1.values.scale"},
    "scales of another length": lambda t: t | {"0.keys.scale": t["0.keys.scale"][:, :3]},
    "scales in half precision": lambda t: t | {"0.keys.scale": t["0.keys.scale"].half()},
    "codes as floats": lambda t: t | {"0.keys": t["0.keys"].float()},
}


@pytest.mark.parametrize("change", FOREIGN.values(), ids=FOREIGN.keys())
def test_tensors_of_another_cache_are_refused(change):
    with pytest.raises(BadModelFile, match="cache"):
        KVCache.restore(INT8, change(filled(5).export()))


def test_chunks_give_what_the_whole_gives(tiny, kv_dtype):
    """Keys attended in full precision inside the chunk that writes them would be as far off as rounding itself."""
    runner = load_decoder(tiny.folder, kv_dtype=kv_dtype)
    at_once, cache = whole(runner, tiny.ids), runner.new_cache()
    pieces = [runner.prefill(tiny.ids[a:b], cache, keep=b - a) for a, b in ((0, 1), (1, 18), (18, 50))]
    pieces += [runner.decode(tiny.ids[position], cache)[None] for position in range(50, TOKENS)]
    rounding = distance(at_once, whole(tiny.runner, tiny.ids))
    assert rounding > 0
    assert distance(torch.cat(pieces), at_once) < 0.1 * rounding


def test_a_cropped_cache_continues_like_a_fresh_one(tiny, kv_dtype):
    runner = load_decoder(tiny.folder, kv_dtype=kv_dtype)
    fresh, cache = whole(runner, tiny.ids), runner.new_cache()
    runner.prefill(tiny.ids[:20] + tiny.ids[:33], cache)
    cache.crop(20)
    continued = runner.prefill(tiny.ids[20:], cache, keep=TOKENS - 20)
    rounding = distance(fresh, whole(tiny.runner, tiny.ids))
    assert distance(continued, fresh[20:]) < 0.1 * rounding


def test_the_same_passes_over_a_restored_cache_give_the_same_bits(tiny, kv_dtype):
    runner = load_decoder(tiny.folder, kv_dtype=kv_dtype)
    cache = runner.new_cache()
    runner.prefill(tiny.ids[:40], cache)
    again = runner.restore_cache(cache.export())
    for position in range(40, 45):
        ids = tiny.ids[position]
        assert torch.equal(runner.decode(ids, again), runner.decode(ids, cache))


def test_eight_bits_stay_near_and_name_themselves(tiny):
    runner = load_decoder(tiny.folder, kv_dtype=torch.int8)
    exact, dense = whole(tiny.runner, tiny.ids), load_decoder(tiny.folder, kv_dtype=torch.float16)
    assert distance(whole(runner, tiny.ids), exact) < 0.05 * float(exact.std())
    assert "keys and values in int8" in runner.description
    assert len({other.cache_format for other in (runner, dense, tiny.runner)}) == 3
