"""With and without the cache: the same tokens both ways, through the worker, cancellable; nothing kept is touched."""

from __future__ import annotations

import dataclasses
import shutil
import threading
from collections.abc import Sequence

import pytest

from engine.chat import ChatRequest, Message, RequestHandle
from engine.config import EngineConfig
from engine.engine import Engine
from engine.errors import BadRequest, Cancelled, ContextFull
from engine.events import Compared, CompareProgress, Failed, Finished, Profiled
from engine.explain import measure
from engine.explain.measure import machine_profile
from engine.explain.profile import FOLDER
from engine.models.registry import Registry
from tests.engine.fakes import FakeRunner, engine_with
from tests.engine.running import Running, ask

QUESTION = (Message("user", "Why is the sky blue?"),)


def compared(engine, tokens: int = 6, handle: RequestHandle | None = None) -> list:
    return list(engine.compare_cache(ChatRequest("x", QUESTION), handle or RequestHandle("x"), tokens))


def test_both_runs_make_the_same_tokens_and_are_told_one_by_one():
    runner = FakeRunner()
    events = compared(engine_with(runner))
    assert [(e.cached, e.index) for e in events[:-1]] == [(True, n) for n in range(6)] + [(False, n) for n in range(6)]
    found = events[-1].comparison
    assert found.equal and len(found.cached_ms) == len(found.fresh_ms) == 6
    # With the cache every token is read once, without it each step reads the whole sequence.
    n = found.prompt_tokens
    assert runner.computed == (n + 5) + sum(n + index for index in range(6))


def test_the_two_steps_in_detail():
    found = compared(engine_with(FakeRunner()))[-1].comparison
    assert (found.prefill.read, found.step.read) == (found.prompt_tokens, 1)
    assert found.step.nbytes - found.prefill.nbytes == 8
    best = found.prefill.candidates[0]
    assert len(found.prefill.candidates) == 5
    assert 0 < best.probability <= 1 and best.probability >= found.prefill.candidates[1].probability
    assert (found.prefill.shape, found.prefill.layers) == ((), 0)  # the fake model has no layers


def test_shapes_of_a_real_decoder(tiny_model, loquat_home):
    shutil.copytree(tiny_model("llama", max_position_embeddings=2048), loquat_home.models / "tiny-llama")
    engine = Engine(EngineConfig(device="cpu", dtype="float32", save_caches=False), loquat_home.cache)
    engine.load(Registry(loquat_home.models).find("tiny-llama"))
    found = compared(engine)[-1].comparison
    facts = engine._explainer._model_facts(engine._model)
    assert found.equal
    assert found.prefill.shape == (1, facts.kv_heads, found.prompt_tokens, facts.head_dim)
    assert found.step.shape[2] == found.prompt_tokens + 1
    assert found.prefill.layers == facts.layers > 0
    engine.unload()


def test_kept_caches_are_left_alone():
    engine = engine_with(FakeRunner())
    *_, last = engine.stream(ask("a"))
    held = engine._model.store.tokens_of("c")
    compared(engine)
    assert engine._model.store.tokens_of("c") == held
    assert isinstance(last, Finished)


def test_it_is_cancelled_between_two_tokens():
    handle = RequestHandle("x")
    steps = engine_with(FakeRunner()).compare_cache(ChatRequest("x", QUESTION), handle)
    assert next(steps).cached
    handle.cancel()
    with pytest.raises(Cancelled):
        next(steps)


def test_what_cannot_be_tried_is_refused():
    with pytest.raises(ContextFull):
        compared(engine_with(FakeRunner(context_limit=40)))
    with pytest.raises(BadRequest):
        list(engine_with(FakeRunner()).compare_cache(ChatRequest("x", ()), RequestHandle("x")))


def test_the_worker_tells_of_it(loquat_home):
    with Running(loquat_home, FakeRunner()) as running:
        handle = running.worker.compare_cache(QUESTION)
        *progress, last = running.until(Compared, Failed)
    assert isinstance(last, Compared) and last.request_id == handle.id
    assert len(progress) == 64 and all(isinstance(event, CompareProgress) for event in progress)


def test_the_worker_profiles_in_idle_time_and_keeps_the_profile(loquat_home):
    with Running(loquat_home, FakeRunner()) as running:
        running.worker.measure_profile()
        first = running.until(Profiled)[-1].profile
        running.worker.measure_profile()
        again = running.until(Profiled)[-1].profile
    assert first == again
    assert first.step_s > 0 and all(each.per_s > 1e8 for each in first.bandwidths)


def test_a_profile_is_kept_for_each_setting(tmp_path):
    model = engine_with(FakeRunner())._model
    profile = machine_profile(model, tmp_path)
    assert machine_profile(model, tmp_path) == profile
    other = dataclasses.replace(model, info=dataclasses.replace(model.info, threads=2))
    machine_profile(other, tmp_path)
    assert len(list((tmp_path / FOLDER).iterdir())) == 2


def test_measuring_gives_way(tmp_path):
    assert machine_profile(engine_with(FakeRunner())._model, tmp_path, lambda: True) is None
    assert not (tmp_path / FOLDER).exists()


class Clock:
    """Time that passes with what the fake model reads, 2 ms a token, and what was done since it was last polled."""

    def __init__(self) -> None:
        self.now = self.polled = self.longest = 0.0

    def __call__(self) -> float:
        return self.now

    def read(self, ids: Sequence[int]) -> None:
        self.now += 0.002 * len(ids)

    def poll(self) -> bool:
        self.longest = max(self.longest, self.now - self.polled)
        self.polled = self.now
        return False


def test_a_question_waits_for_no_more_than_a_moment_of_measuring(tmp_path, monkeypatch):
    clock = Clock()
    monkeypatch.setattr(measure.time, "perf_counter", clock)
    model = engine_with(FakeRunner(before=clock.read))._model
    profile = machine_profile(model, tmp_path, clock.poll)
    assert profile.step_s == pytest.approx(0.002)
    assert 0 < clock.longest <= 0.05


def test_what_is_asked_while_the_machine_is_measured_takes_over_at_once(loquat_home):
    measuring, asked = threading.Event(), threading.Event()
    passes = []

    def before(ids: Sequence[int]) -> None:
        passes.append(len(ids))
        measuring.set()
        assert asked.wait(10)

    with Running(loquat_home, FakeRunner(before=before)) as running:
        running.worker.measure_profile()
        assert measuring.wait(10)
        running.worker.submit(ask("a"))
        asked.set()
        seen = running.until(Finished)
        assert not [event for event in seen if isinstance(event, Profiled)]
        prompt = seen[-1].stats.prompt_tokens
        assert passes[:3] == [8, min(16, prompt), min(16, prompt - 16)], "not one pass more before the question's own"
        running.until(Profiled)  # when there is time again
