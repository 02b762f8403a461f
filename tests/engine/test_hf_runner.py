"""The transformers runner over tiny models of many kinds: chunks, cuts, returns and copies change no logits."""

from __future__ import annotations

import dataclasses
import gc
import json
import shutil
import weakref

import pytest
import torch
from safetensors.torch import load_file, save_file

from engine.config import EngineConfig
from engine.device import choose_device
from engine.errors import BadModelFile, UnsupportedModel
from engine.hf_runner import HfRunner, load_hf_runner
from engine.kv_cache import KVCache

CROPPABLE = ["llama", "qwen3", "gemma3_text", "mistral"]
STATEFUL = ["mamba", "mamba2", "lfm2", "falcon_h1", "bamba", "jamba"]
IDS = torch.randint(3, 300, (60,), generator=torch.Generator().manual_seed(0)).tolist()
CLOSE = {"atol": 1e-4, "rtol": 1e-4}
CPU = EngineConfig(device="cpu", dtype="float32", threads=1)


@pytest.fixture(scope="module")
def runners(tiny_model):
    made: dict[str, HfRunner] = {}

    def get(architecture: str) -> HfRunner:
        if architecture not in made:
            made[architecture] = load_hf_runner(tiny_model(architecture), choose_device(CPU))
        return made[architecture]

    return get


@pytest.fixture(params=CROPPABLE + STATEFUL)
def runner(request, runners) -> HfRunner:
    return runners(request.param)


def whole(runner: HfRunner, ids=IDS) -> torch.Tensor:
    """Logits of every position, by transformers alone and without a cache."""
    with torch.inference_mode():
        return runner._model(input_ids=torch.tensor([ids]), use_cache=False).logits[0]


@pytest.mark.parametrize(("kind", "raised"), [("cuda", torch.AcceleratorError), ("cpu", BadModelFile)])
def test_a_device_that_fails_is_not_taken_for_a_damaged_file(tiny_model, monkeypatch, kind, raised):
    def broken(*_, **__):
        raise torch.AcceleratorError("CUDA error: an illegal memory access was encountered", 700)

    monkeypatch.setattr("engine.hf_runner._from_pretrained", broken)
    choice = dataclasses.replace(choose_device(CPU), device=torch.device(kind))
    with pytest.raises(raised):
        load_hf_runner(tiny_model("llama"), choice)


def test_which_caches_can_be_cropped(runners):
    assert all(runners(name).croppable for name in CROPPABLE)
    assert not any(runners(name).croppable for name in STATEFUL)


@pytest.mark.parametrize("sizes", [[60], [20, 40], [1] * 60, [2, 1, 30, 1, 26], [16, 16, 16, 12]], ids=str)
def test_any_way_to_read_a_prompt_gives_the_same_logits(runner, sizes):
    cache, parts, done = runner.new_cache(), [], 0
    for size in sizes:
        parts.append(runner.prefill(IDS[done : done + size], cache, keep=size))
        done += size
        assert cache.length == done
    torch.testing.assert_close(torch.cat(parts), whole(runner), **CLOSE)


def test_only_the_last_logits_are_given_if_so_wished(runner):
    cache = runner.new_cache()
    torch.testing.assert_close(runner.prefill(IDS[:50], cache, keep=2), whole(runner)[48:50], **CLOSE)
    torch.testing.assert_close(runner.prefill(IDS[50:], cache, keep=3), whole(runner)[57:], **CLOSE)
    torch.testing.assert_close(runner.decode(IDS[0], cache), whole(runner, [*IDS, IDS[0]])[-1], **CLOSE)


@pytest.mark.parametrize("length", [1, 15, 16, 17, 40])
def test_after_going_back_it_goes_on_as_if_it_had_never_read_further(runner, length):
    cache = runner.new_cache()
    runner.prefill(IDS[:length], cache)
    state = {} if runner.croppable else cache.state()
    runner.prefill(IDS[length:], cache)
    if runner.croppable:
        assert cache.crop(length)
    else:
        assert not cache.crop(length)
        cache.rewind(length, state)
    assert cache.length == length
    other = [7, 8, 9, *IDS[:20]]
    found = runner.prefill(other, cache, keep=len(other))
    torch.testing.assert_close(found, whole(runner, IDS[:length] + other)[length:], **CLOSE)


@pytest.mark.parametrize("architecture", STATEFUL)
def test_a_kept_state_can_be_returned_to_again_and_again(runners, architecture):
    runner = runners(architecture)
    cache = runner.new_cache()
    runner.prefill(IDS[:20], cache)
    state = cache.state()
    for _ in range(3):
        runner.prefill(IDS[20:], cache)
        cache.rewind(20, state)
        found = runner.prefill([5, 6], cache, keep=2)
        torch.testing.assert_close(found, whole(runner, [*IDS[:20], 5, 6])[20:], **CLOSE)
        cache.rewind(20, state)


def test_a_restored_cache_goes_on_and_shares_nothing(runner):
    cache = runner.new_cache()
    runner.prefill(IDS[:40], cache)
    exported = {name: tensor.clone() for name, tensor in cache.export().items()}
    again = runner.restore_cache(exported)
    assert (again.length, again.nbytes) == (40, cache.nbytes)
    found = runner.prefill(IDS[40:], again, keep=20)
    torch.testing.assert_close(found, whole(runner)[40:], **CLOSE)
    assert all(torch.equal(exported[name], tensor) for name, tensor in cache.export().items())
    assert cache.length == 40


def test_a_beginning_can_be_exported_where_cropping_is_possible(runners):
    runner = runners("gemma3_text")
    cache = runner.new_cache()
    runner.prefill(IDS, cache)
    part = runner.restore_cache(cache.export(25))
    assert part.length == 25
    torch.testing.assert_close(runner.prefill(IDS[25:], part, keep=35), whole(runner)[25:], **CLOSE)


def test_tensors_of_another_model_are_refused(runner, runners):
    other = runners("qwen3" if runner is not runners("qwen3") else "mamba")
    cache = other.new_cache()
    other.prefill(IDS[:5], cache)
    tensors = {f"{int(name[0]) + 2}{name[1:]}" if name[0].isdigit() else name: t for name, t in cache.export().items()}
    with pytest.raises(BadModelFile):
        runner.restore_cache(tensors)
    with pytest.raises(BadModelFile):
        runner.restore_cache({})


def test_a_cache_that_lacks_a_layer_is_refused(runner):
    cache = runner.new_cache()
    runner.prefill(IDS[:5], cache)
    for lost in cache.export():
        if lost != "length" and "conv" not in lost and "recurrent" not in lost:
            rest = {name: tensor for name, tensor in cache.export().items() if name != lost}
            with pytest.raises(BadModelFile):
                runner.restore_cache(rest)


def test_what_a_token_costs_is_measured(runner):
    cache = runner.new_cache()
    runner.prefill(IDS[:30], cache)
    before = cache.nbytes
    runner.prefill(IDS[30:], cache)
    assert cache.nbytes - before == 30 * runner.kv_bytes_per_token
    assert (runner.kv_bytes_per_token > 0) == bool(cache._attention_layers())


def test_what_cropping_left_is_given_back(runners):
    runner = runners("llama")
    cache = runner.new_cache()
    runner.prefill(IDS, cache)
    cache.crop(10)
    cache.compact()
    assert cache.nbytes == 10 * runner.kv_bytes_per_token
    torch.testing.assert_close(runner.prefill(IDS[10:], cache, keep=50), whole(runner)[10:], **CLOSE)


def test_asking_again_recomputes_one_token_also_where_states_are_kept(runner):
    cache = KVCache(runner)
    cache.prefill(cache.reuse(IDS)[:-1])
    cache.mark()
    first = cache.prefill(IDS[-1:])
    for token_id in (9, 8, 7):
        cache.decode(token_id)
    assert cache.reuse(IDS) == IDS[-1:]
    torch.testing.assert_close(cache.prefill(IDS[-1:]), first, **CLOSE)


def test_a_model_that_forgets_between_chunks_reads_token_by_token(runners):
    assert [name for name in STATEFUL if "token by token" in runners(name).description] == ["mamba", "jamba"]


def test_a_model_with_states_outside_its_cache_is_refused(tiny_model):
    with pytest.raises(UnsupportedModel, match="keeps its state"):
        load_hf_runner(tiny_model("recurrent_gemma"), choose_device(CPU))


def test_a_model_of_no_known_kind_is_refused(tiny_model, tmp_path):
    config = json.loads((tiny_model("llama") / "config.json").read_text())
    (tmp_path / "config.json").write_text(json.dumps({**config, "model_type": "nothing"}))
    with pytest.raises(UnsupportedModel):
        load_hf_runner(tmp_path, choose_device(CPU))


def test_a_model_without_weights_is_refused(tiny_model, tmp_path):
    (tmp_path / "config.json").write_text((tiny_model("llama") / "config.json").read_text())
    with pytest.raises(BadModelFile):
        load_hf_runner(tmp_path, choose_device(CPU))


@pytest.mark.parametrize("architecture", ["llama", "lfm2"])
def test_a_model_that_lacks_a_weight_is_refused(tiny_model, tmp_path, architecture):
    folder = shutil.copytree(tiny_model(architecture), tmp_path / "model")
    weights = load_file(folder / "model.safetensors")
    lost = next(name for name in weights if "layers.1" in name)
    save_file({name: t for name, t in weights.items() if name != lost}, folder / "model.safetensors", {"format": "pt"})
    with pytest.raises(BadModelFile, match="lacks some of its weights") as raised:
        load_hf_runner(folder, choose_device(CPU))
    assert lost in raised.value.detail


@pytest.mark.expects_log("offloaded to the cpu")
def test_a_spread_model_goes_with_its_runner_though_its_parts_hold_themselves(tiny_model):
    from accelerate import dispatch_model

    runner = load_hf_runner(tiny_model("llama"), choose_device(EngineConfig(device="cpu")))
    runner._model = dispatch_model(runner._model, {"model": "cpu", "lm_head": "cpu"}, force_hooks=True)
    whole(runner)
    gone = weakref.ref(next(runner._model.parameters()))
    gc.disable()
    try:
        del runner
        assert gone() is None
    finally:
        gc.enable()


@pytest.mark.parametrize("architecture", CROPPABLE + STATEFUL)
def test_the_memory_of_a_model_goes_with_its_runner_whatever_its_parts_hold(tiny_model, architecture):
    runner = load_hf_runner(tiny_model(architecture), choose_device(CPU))
    whole(runner)
    weights = [weakref.ref(weight) for weight in runner._model.parameters()]
    gc.freeze()
    gc.disable()
    try:
        del runner
        assert sum(weight.numel() for made in weights if (weight := made()) is not None) == 0
    finally:
        gc.enable()
        gc.unfreeze()


def test_nothing_is_written_to_the_terminal(tiny_model, capfd):
    runner = load_hf_runner(tiny_model("mamba2"), choose_device(CPU))
    runner.prefill(IDS, runner.new_cache())
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("limit", [None, 64])
def test_the_context_ends_where_position_embeddings_change(tiny_model, limit):
    rope = {
        "rope_type": "longrope",
        "short_factor": [1.0] * 8,
        "long_factor": [4.0] * 8,
        "original_max_position_embeddings": 128,
        "rope_theta": 10_000.0,
    }
    folder = tiny_model("phi3", rope_parameters=rope, original_max_position_embeddings=128)
    assert load_hf_runner(folder, choose_device(CPU), limit).context_limit == (limit or 128)
