"""The worker's thread: order, cancellation, errors as events, models listed and removed, an end in time."""

from __future__ import annotations

import torch

from engine.chat import Message
from engine.config import EngineConfig
from engine.errors import BadRequest, Cancelled, ModelNotFound
from engine.events import (
    UPGRADE,
    Checked,
    CheckProgress,
    Failed,
    Finished,
    FinishReason,
    ModelsListed,
    PrefillProgress,
    TextDelta,
    Unloaded,
)
from engine.kv_cache import Snapshot
from engine.kv_disk import KVDisk
from engine.kv_folder import FOLDER
from engine.verify import REPLY_TOKENS
from engine.worker import Worker
from tests.engine.fakes import FakeRunner
from tests.engine.running import PATIENCE_S, Running, a_model, ask


def test_requests_are_answered_in_order(loquat_home):
    with Running(loquat_home, FakeRunner()) as running:
        for name in "abc":
            running.worker.submit(ask(name))
        done = [running.until(Finished)[-1].request_id for _ in range(3)]
    assert done == ["a", "b", "c"]


def test_an_error_is_an_event_and_the_worker_goes_on(loquat_home):
    with Running(loquat_home, FakeRunner()) as running:
        running.worker.submit(ask("bad", "   "))
        failed = running.until(Failed)[-1]
        assert isinstance(failed.error, BadRequest)
        assert not failed.bug
        running.worker.submit(ask("good"))
        assert running.until(Finished)[-1].request_id == "good"


def test_a_bug_is_marked_and_carries_its_traceback(loquat_home):
    def explode(ids):
        raise KeyError("injected")

    with Running(loquat_home, FakeRunner(before=explode)) as running:
        running.worker.submit(ask("a"))
        failed = running.until(Failed)[-1]
    assert failed.bug
    assert "injected" in failed.error.detail
    assert "Traceback" in failed.error.detail


def test_memory_that_runs_out_is_a_sentence(loquat_home):
    def explode(ids):
        raise RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried to allocate 1 bytes")

    with Running(loquat_home, FakeRunner(before=explode)) as running:
        running.worker.submit(ask("a"))
        failed = running.until(Failed)[-1]
    assert not failed.bug
    assert "Memory ran out" in failed.error.sentence


def test_cancel_from_another_thread_stops_the_reply(loquat_home):
    with Running(loquat_home, FakeRunner()) as running:
        handle = running.worker.submit(ask("a", tokens=4000))
        running.until(TextDelta)
        handle.cancel()
        done = running.until(Finished)[-1]
    assert done.reason is FinishReason.CANCELLED
    assert len(done.token_ids) < 4000


def test_a_request_cancelled_while_it_waits_is_still_finished(loquat_home):
    with Running(loquat_home, FakeRunner()) as running:
        first = running.worker.submit(ask("a", tokens=4000))
        second = running.worker.submit(ask("b"))
        second.cancel()
        running.until(TextDelta)
        first.cancel()
        assert running.until(Finished)[-1].request_id == "a"
        done = running.until(Finished)[-1]
    assert (done.request_id, done.reason, done.token_ids) == ("b", FinishReason.CANCELLED, ())


def test_closing_stops_everything_in_time(loquat_home):
    running = Running(loquat_home, FakeRunner())
    running.worker.submit(ask("a", tokens=4000))
    running.worker.submit(ask("b", tokens=4000))
    running.until(TextDelta)
    assert running.worker.close(PATIENCE_S)
    finished = []
    while not running.events.empty():
        event = running.events.get()
        finished += [event] if isinstance(event, Finished) else []
    assert [(f.request_id, f.reason) for f in finished] == [("a", "cancelled"), ("b", "cancelled")]


def test_closing_a_worker_that_never_started(loquat_home):
    assert Worker(lambda event: None, EngineConfig(), loquat_home).close()


def test_a_model_that_is_not_known_is_a_sentence(loquat_home):
    with Running(loquat_home) as running:
        running.worker.load("nothing-of-that-name")
        failed = running.until(Failed)[-1]
    assert isinstance(failed.error, ModelNotFound)
    assert "nothing-of-that-name" in failed.error.sentence


def test_a_load_cancelled_early_is_silent(loquat_home):
    with Running(loquat_home) as running:
        running.worker.load(None).cancel()
        assert isinstance(running.until(Failed)[-1].error, Cancelled)


def test_prefill_is_reported_before_the_first_token(loquat_home):
    with Running(loquat_home, FakeRunner()) as running:
        running.worker.submit(ask("a", "x" * 200))
        kinds = [type(event) for event in running.until(Finished)]
    assert kinds.index(PrefillProgress) < kinds.index(TextDelta)


TALK = (Message("user", "Hello there"), Message("assistant", "A reply"), Message("user", "Go on"))


def test_a_chat_is_checked_question_by_question(loquat_home):
    with Running(loquat_home, FakeRunner()) as running:
        running.worker.check(TALK)
        *progress, done = running.until(Checked, Failed)
    assert [(step.done, step.total) for step in progress] == [(0, 2), (1, 2), (2, 2)]
    assert done.equal
    assert done.tokens == done.equal_tokens == 2 * REPLY_TOKENS


def test_a_check_can_be_cancelled_and_leaves_the_worker_well(loquat_home):
    with Running(loquat_home, FakeRunner()) as running:
        handle = running.worker.check(TALK * 50)
        running.until(CheckProgress)
        handle.cancel()
        assert isinstance(running.until(Failed)[-1].error, Cancelled)
        running.worker.submit(ask("a"))
        running.until(Finished)


def test_a_chat_that_was_deleted_leaves_no_cache(loquat_home):
    with Running(loquat_home, FakeRunner()) as running:
        running.worker.submit(ask("a", conversation="gone"))
        running.until(Finished)
        foreign = KVDisk(loquat_home.cache / FOLDER, "another model", 1 << 30)
        assert foreign.write("gone", Snapshot([1, 2, 3], {"t": torch.zeros(1, 3)}), lambda: False)
        foreign.close()
        running.worker.forget("gone")
        running.worker.submit(ask("b", conversation="other"))
        running.until(Finished)
        assert "gone" not in running.worker._engine._model.store._caches
    assert not list((loquat_home.cache / FOLDER).rglob("*.safetensors"))


def test_models_are_listed_chosen_and_removed(loquat_home):
    for name in ("large", "small"):
        a_model(loquat_home, name)
    with Running(loquat_home, FakeRunner()) as running:
        running.worker.list_models()
        listed = running.until(ModelsListed)[-1].models
        assert [(m.name, m.label, m.parameters) for m in listed] == [("large", "Large", 7), ("small", "Small", 7)]
        running.worker.set_default_model("small")
        assert [m.name for m in running.until(ModelsListed)[-1].models if m.default] == ["small"]
        running.worker.remove_model("small")
        assert [m.name for m in running.until(ModelsListed)[-1].models] == ["large"]
        running.worker.set_default_model("nothing")
        assert isinstance(running.until(Failed)[-1].error, ModelNotFound)
    assert [folder.name for folder in loquat_home.models.iterdir() if folder.is_dir()] == ["large"]


def test_the_loaded_model_gives_its_memory_back_before_it_is_removed(loquat_home):
    entry = a_model(loquat_home, "large")
    with Running(loquat_home, FakeRunner()) as running:
        running.worker._engine._entry = entry
        handle = running.worker.remove_model("large")
        events = running.until(ModelsListed)
        assert events == [Unloaded(handle.id, "large"), ModelsListed(handle.id, ())]
        running.worker.submit(ask("a"))
        assert isinstance(running.until(Failed)[-1].error, ModelNotFound)
    assert not entry.folder.exists()


def test_a_model_that_is_renamed_is_called_so_at_once(loquat_home):
    entry = a_model(loquat_home, "large")
    with Running(loquat_home, FakeRunner()) as running:
        running.worker._engine._entry = entry
        running.worker.rename_model("large", "  My  model ")
        loaded, listed = running.until(ModelsListed)
        assert loaded.request_id == UPGRADE
        assert loaded.info.label == listed.models[0].label == "My model"
        running.worker.rename_model("large", "x" * 81)
        assert "at most 80 characters" in running.until(Failed)[-1].error.sentence
        running.worker.rename_model("large", "")
        assert running.until(ModelsListed)[-1].models[0].label == "Large"
