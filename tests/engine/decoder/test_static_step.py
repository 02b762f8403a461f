"""The decode step of static shapes equals the eager one; recording it is tested on a CPU by torch's tracer."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor
from torch.fx.experimental.proxy_tensor import make_fx

from engine.decoder import DecoderRunner, KVCache, load_decoder
from engine.decoder import cache as cache_module
from engine.decoder import layers as layers_module
from engine.decoder.cuda_graph import capture, proven
from engine.decoder.static_step import EagerDecoding, RecordedDecoding, Step
from tests.engine.decoder.conftest import Pair
from tests.engine.decoder.test_families import CASES

NEAR = 2e-5


@pytest.fixture(params=CASES.values(), ids=CASES.keys())
def case(request: pytest.FixtureRequest, pair) -> Pair:
    architecture, config = request.param
    return pair(architecture, **config)


@pytest.fixture(autouse=True)
def _inference() -> Iterator[None]:
    with torch.inference_mode():
        yield


def as_it_is(step: Step) -> Step:
    return step


def traced(step: Step) -> Step:
    """The operations of one call on the very tensors it touched, as a CUDA graph holds them: numbers are frozen."""
    with torch.inference_mode(False), torch.no_grad():
        step()
        graph = make_fx(step)()
    return graph


def recorded(runner: DecoderRunner, record=as_it_is, patience: int = 0) -> RecordedDecoding:
    return RecordedDecoding(runner._decoder, record, words="", patience=patience)


def step(decoding, token: int, cache: KVCache) -> Tensor:
    cache.reserve(1)
    logits = decoding.logits(torch.tensor([token]), cache)[0].clone()
    cache.advance(1)
    return logits


def read(runner: DecoderRunner, ids: list[int]) -> KVCache:
    """A cache without spare room, so that it has to grow at once."""
    cache = runner.new_cache()
    runner.prefill(ids, cache)
    cache.compact()
    return cache


def test_it_equals_the_eager_step_over_growth(case, monkeypatch):
    monkeypatch.setattr(cache_module, "FIRST_CAPACITY", 8)
    eager, static = (read(case.runner, case.ids[:10]) for _ in range(2))
    decoding, capacities = recorded(case.runner), []
    for token in case.ids[10:]:
        expected = step(EagerDecoding(case.runner._decoder), token, eager)
        assert (step(decoding, token, static) - expected).abs().max() < NEAR
        capacities.append(static.capacity)
    assert sorted(set(capacities)) == [20, 40, 80]
    assert all((static.export()[name] - held).abs().max() < NEAR for name, held in eager.export().items())


@pytest.mark.parametrize("kv_dtype", [torch.float16, torch.bfloat16, torch.int8])
def test_it_writes_what_the_eager_step_writes_in_every_format(pair, kv_dtype):
    runner = load_decoder(pair("gemma3_text").folder, kv_dtype=kv_dtype)
    ids = pair("gemma3_text").ids
    eager, static = (read(runner, ids[:20]) for _ in range(2))
    for token in ids[20:30]:
        expected = step(EagerDecoding(runner._decoder), token, eager)
        assert (step(recorded(runner), token, static) - expected).abs().max() < 1e-2
    for name, tensor in eager.export().items():
        assert (static.export()[name].float() - tensor.float()).abs().max() <= (
            1 if tensor.dtype == torch.int8 else 1e-2
        )


def test_what_lies_in_the_spare_room_does_not_matter(pair):
    tiny = pair("gemma2")
    cache = read(tiny.runner, tiny.ids[:10])
    cache.reserve(1)
    for rows in (*cache.keys, *cache.values):
        rows.data[:, 10:] = torch.nan
    assert tiny.far_from(step(recorded(tiny.runner), tiny.ids[10], cache)[None], 10, 11) < 1e-4


@pytest.fixture
def _norm_of_a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a CPU the norm of one row reads a number back, which no recording could."""

    def norm(x: Tensor, weight: Tensor, eps: float) -> Tensor:
        return (F.rms_norm(x.float(), (x.shape[-1],), None, eps) * weight).to(x.dtype)

    monkeypatch.setattr(layers_module, "rms_norm", norm)


@pytest.mark.usefixtures("_norm_of_a_gpu")
def test_a_recording_serves_every_token_that_follows(case):
    made: list[Step] = []

    def record(step: Step) -> Step:
        made.append(traced(step))
        return made[-1]

    cache, decoding = read(case.runner, case.ids[:10]), recorded(case.runner, record)
    for position in range(10, 50):
        logits = step(decoding, case.ids[position], cache)
        assert case.far_from(logits[None], position, position + 1) < 1e-4
    cache.crop(30)
    assert case.far_from(step(decoding, case.ids[30], cache)[None], 30, 31) < 1e-4
    assert len(made) == 1


@pytest.mark.usefixtures("_norm_of_a_gpu")
def test_another_conversation_and_room_that_moved_are_recorded_anew(pair):
    tiny, made = pair("gemma3_text"), []

    def record(step: Step) -> Step:
        made.append(1)
        return traced(step)

    decoding = recorded(tiny.runner, record)
    first, second = read(tiny.runner, tiny.ids[:10]), read(tiny.runner, tiny.ids[:20])
    for cache, position, recordings in (
        (first, 10, 1),
        (first, 11, 1),
        (second, 20, 2),
        (first, 12, 3),
        (first, 13, 3),
    ):
        assert tiny.far_from(step(decoding, tiny.ids[position], cache)[None], position, position + 1) < 1e-4
        assert len(made) == recordings
    first.compact()
    assert tiny.far_from(step(decoding, tiny.ids[14], first)[None], 14, 15) < 1e-4
    assert len(made) == 4
    tiny.runner.prefill([1] * 500, tiny.runner.new_cache())  # position tables grow and are replaced
    tiny.runner._decoder.rope_rows(0, 5000)
    assert tiny.far_from(step(decoding, tiny.ids[15], first)[None], 15, 16) < 1e-4


def test_a_few_steps_are_not_worth_a_recording(pair):
    tiny, made = pair("llama"), []

    def record(step: Step) -> Step:
        made.append(step)
        return step

    decoding, cache = recorded(tiny.runner, record, patience=3), read(tiny.runner, tiny.ids[:10])
    counts = []
    for position in range(10, 15):
        assert tiny.far_from(step(decoding, tiny.ids[position], cache)[None], position, position + 1) < 1e-4
        counts.append(len(made))
    assert counts == [0, 0, 0, 1, 1]


@pytest.mark.usefixtures("_norm_of_a_gpu")
def test_a_recording_keeps_no_cache_alive(pair):
    tiny = pair("llama")
    decoding, cache = recorded(tiny.runner, lambda step: lambda: torch.zeros(1, 3)), read(tiny.runner, tiny.ids[:10])
    step(decoding, 1, cache)
    gone = weakref.ref(cache)
    del cache
    gc.collect()
    assert gone() is None


@pytest.mark.expects_log("could not be recorded; it goes on operation by operation: no memory")
def test_a_recording_that_fails_costs_speed_only(pair):
    tiny = pair("llama")

    def fail(step: Step) -> Step:
        step()
        raise RuntimeError("no memory")

    decoding, cache = recorded(tiny.runner, fail), read(tiny.runner, tiny.ids[:10])
    for position in range(10, 14):
        assert tiny.far_from(step(decoding, tiny.ids[position], cache)[None], position, position + 1) < 1e-4


def test_a_recording_that_is_right_is_taken(pair):
    runner = pair("gemma3_text").runner
    assert proven(runner._decoder, runner.layout, as_it_is).words == "with a CUDA graph for decode"


@pytest.mark.expects_log("logits differ by")
@pytest.mark.parametrize("wrong", [lambda logits: logits + 1, lambda logits: logits * torch.nan], ids=["off", "nan"])
def test_a_recording_that_is_wrong_is_not_taken(pair, wrong):
    runner = pair("llama").runner
    chosen = proven(runner._decoder, runner.layout, lambda step: lambda: wrong(step()))
    assert chosen.words == "without a CUDA graph, which gave other logits"


@pytest.mark.expects_log("could not be recorded; .* operation not permitted")
def test_capture_that_fails_is_said(pair):
    def fail(step: Step) -> Step:
        raise RuntimeError("operation not permitted when stream is capturing")

    runner = pair("llama").runner
    assert proven(runner._decoder, runner.layout, fail).words == "without a CUDA graph, which could not be captured"


@pytest.mark.cuda
@pytest.mark.parametrize("kv_dtype", [torch.float32, torch.float16, torch.int8])
@pytest.mark.parametrize("architecture", ["llama", "gemma2", "gemma3_text", "smollm3"])
def test_a_captured_step_equals_the_eager_one(pair, architecture, kv_dtype):
    tiny = pair(architecture)
    runner = load_decoder(tiny.folder, device="cuda", kv_dtype=kv_dtype)
    assert "with a CUDA graph for decode" in runner.description
    eager, graphed = (read(runner, tiny.ids[:10]) for _ in range(2))
    decoding = RecordedDecoding(runner._decoder, capture, words="", patience=0)
    for token in (tiny.ids * 5)[10:290]:  # beyond 256, where the cache grows
        results = []
        for way, cache in ((EagerDecoding(runner._decoder), eager), (decoding, graphed)):
            cache.reserve(1)
            results.append(way.logits(torch.tensor([token], device="cuda"), cache)[0].clone())
            cache.advance(1)
        assert (results[0] - results[1]).abs().max() < (1e-4 if kv_dtype == torch.float32 else 1e-2)
