"""The worker's thread: order, cancellation, errors as events, idle work that gives way, an end in time."""

from __future__ import annotations

import queue
import threading
from dataclasses import asdict

import pytest
import torch

from engine.chat import ChatRequest, Message, RequestHandle
from engine.commands import Command, CommandQueue, Idle
from engine.config import EngineConfig, SamplingParams
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
    Previewed,
    TextDelta,
    Titled,
    Unloaded,
)
from engine.kv_cache import Snapshot
from engine.kv_disk import KVDisk
from engine.kv_folder import FOLDER
from engine.models.model_folder import FORMAT, MANIFEST, Manifest, write_json
from engine.models.registry import Registry
from engine.verify import REPLY_TOKENS
from engine.worker import Worker
from tests.engine.fakes import FakeRunner, engine_with

PATIENCE_S = 20.0


class Running:
    """A worker around a fake model, and its events."""

    def __init__(self, paths, runner: FakeRunner | None = None) -> None:
        self.events: queue.SimpleQueue = queue.SimpleQueue()
        self.worker = Worker(self.events.put, EngineConfig(), paths)
        if runner:
            self.worker._engine = engine_with(runner, folder=paths.cache)
        self.worker.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        assert self.worker.close(PATIENCE_S)

    def until(self, *kinds):
        """Events up to and with the first of these kinds."""
        seen = []
        while not seen or not isinstance(seen[-1], kinds):
            seen.append(self.events.get(timeout=PATIENCE_S))
        return seen


def ask(name: str, text: str = "q", tokens: int = 5, conversation: str = "c") -> ChatRequest:
    params = SamplingParams(temperature=0.0, max_tokens=tokens)
    return ChatRequest(name, (Message("user", text),), params, conversation)


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


def test_reading_ahead_gives_way_to_a_request(loquat_home):
    reading = threading.Event()
    go_on = threading.Event()

    def slow(ids):
        if len(ids) == 16:
            reading.set()
            assert go_on.wait(PATIENCE_S)

    with Running(loquat_home, FakeRunner(before=slow)) as running:
        ahead = running.worker.prefill_ahead(ask("ahead", "x" * 3000))
        assert reading.wait(PATIENCE_S)
        running.worker.submit(ask("real", "y", conversation="d"))
        assert ahead.cancelled
        go_on.set()
        assert running.until(Finished)[-1].request_id == "real"


def test_reading_ahead_is_heard_of_only_in_the_figures(loquat_home):
    with Running(loquat_home, FakeRunner()) as running:
        running.worker.prefill_ahead(ask("ahead", "x" * 300))
        # A second one takes the first one's place, so the queue is drained when a request comes through.
        running.worker.submit(ask("other", conversation="d"))
        running.until(Finished)
        assert running.events.empty()


class Held:
    """Holds a fake model up in the middle of a forward pass of at least so many tokens, once."""

    def __init__(self, tokens: int = 16) -> None:
        self.reached = threading.Event()
        self.go_on = threading.Event()
        self._tokens = tokens

    def __call__(self, ids) -> None:
        if len(ids) >= self._tokens and not self.reached.is_set():
            self.reached.set()
            assert self.go_on.wait(PATIENCE_S)


def test_a_preview_is_not_starved_by_reading_ahead_and_only_the_newest_is_done(loquat_home):
    held = Held()
    with Running(loquat_home, FakeRunner(before=held)) as running:
        ahead = running.worker.prefill_ahead(ask("ahead", "x" * 600))
        assert held.reached.wait(PATIENCE_S)
        for name in ("old", "new"):
            running.worker.preview(ask(name, "draft"))
        held.go_on.set()
        told = running.until(Previewed)
        assert [event.request_id for event in told] == ["new"]
        assert not ahead.cancelled
        read = 0
        for _ in range(600 // 16):  # each may be told in between two chunks
            running.worker.preview(ask("after", "x" * 600))
            read = max(read, running.until(Previewed)[-1].cached_tokens)
        assert read > 600, "it went on reading until all was read"


def test_a_preview_does_not_wait_for_the_end_of_an_answer(loquat_home):
    with Running(loquat_home, FakeRunner()) as running:
        handle = running.worker.submit(ask("long", tokens=4000))
        running.until(TextDelta)
        running.worker.preview(ask("p", conversation="other"))
        assert isinstance(running.until(Previewed, Finished)[-1], Previewed)
        handle.cancel()
        running.until(Finished)


def test_without_a_model_there_is_no_preview_and_an_empty_title(loquat_home):
    with Running(loquat_home) as running:
        running.worker.preview(ask("p"))
        running.worker.make_title(ask("t"))
        assert running.until(Titled) == [Titled("t", "")]


def test_a_preview_of_messages_that_the_template_refuses_is_silent(loquat_home):
    with Running(loquat_home, FakeRunner()) as running:
        running.worker._engine._model.prompt._template = None  # any failure of a template is one of the model's
        running.worker.preview(ask("p"))
        running.worker.list_models()
        assert isinstance(running.until(ModelsListed)[0], ModelsListed)


def test_a_title_gives_way_to_a_request_and_comes_after_it(loquat_home):
    said = (Message("user", "q"), Message("assistant", "an answer"))
    held = Held(100)
    with Running(loquat_home, FakeRunner(before=held)) as running:
        running.worker.submit(ask("a"))
        done = running.until(Finished)[-1]
        said = (Message("user", "q"), Message("assistant", done.text, done.token_ids))
        running.worker.make_title(ChatRequest("t", said, conversation_id="c"))
        running.worker.submit(ask("b"))
        held.go_on.set()
        events = running.until(Titled)
        kinds = [(event.request_id, type(event)) for event in events if isinstance(event, Finished | Titled)]
        assert kinds == [("b", Finished), ("t", Titled)]


def test_a_title_that_was_cancelled_does_not_come(loquat_home):
    with Running(loquat_home, FakeRunner()) as running:
        running.worker.submit(ask("a"))
        running.until(Finished)
        running.worker.make_title(ask("t")).cancel()
        running.worker.preview(ask("p"))
        running.worker.submit(ask("b"))
        running.until(Finished)
        running.worker.make_title(ask("u"))
        assert [e.request_id for e in running.until(Titled) if isinstance(e, Titled)] == ["u"]


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
        folder = loquat_home.models / name
        folder.mkdir(parents=True)
        write_json(
            folder / MANIFEST, asdict(Manifest(FORMAT, name, name.title(), "llama", 7, 9, "f.gguf", "", "2026-01-01"))
        )
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


def a_model(home, name):
    """A model of that name in the registry; its weights are not there."""
    folder = home.models / name
    folder.mkdir(parents=True)
    write_json(
        folder / MANIFEST, asdict(Manifest(FORMAT, name, name.title(), "llama", 7, 9, "f.gguf", "", "2026-01-01"))
    )
    return Registry(home.models).find(name)


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


class TestCommandQueue:
    def command(self, name: str) -> Command:
        return Command(RequestHandle(name), lambda: iter(()))

    def test_idle_work_waits_for_real_work(self):
        commands = CommandQueue()
        idle, real = self.command("idle"), self.command("real")
        commands.put(real)
        commands.put_idle(idle)
        assert commands.get() is real
        assert commands.get() is idle

    def test_only_the_newest_idle_command_stays(self):
        commands = CommandQueue()
        old, new = self.command("old"), self.command("new")
        commands.put_idle(old)
        commands.put_idle(new)
        assert commands.get() is new
        commands.put_idle(self.command("newer"))
        assert new.handle.cancelled

    def test_idle_work_is_done_in_the_order_of_its_kinds(self):
        commands = CommandQueue()
        made = {kind: self.command(kind.name) for kind in reversed(Idle)}
        for kind, command in made.items():
            commands.put_idle(command, kind)
        assert [commands.get() for _ in Idle] == [made[kind] for kind in Idle]

    def test_a_real_command_takes_the_place_of_reading_ahead_alone(self):
        commands = CommandQueue()
        ahead, title, preview = (self.command(name) for name in ("ahead", "title", "preview"))
        commands.put_idle(ahead)
        commands.put_idle(title, Idle.TITLE)
        commands.put_idle(preview, Idle.PREVIEW)
        real = self.command("real")
        commands.put(real)
        assert [commands.get() for _ in range(3)] == [real, preview, title]
        assert ahead.handle.cancelled
        assert not title.handle.cancelled

    def test_a_title_is_pressed_by_anything_but_a_preview(self):
        commands = CommandQueue()
        title = self.command("title")
        commands.put_idle(title, Idle.TITLE)
        assert commands.get() is title
        commands.put_idle(self.command("preview"), Idle.PREVIEW)
        assert not commands.pressed()
        commands.put_idle(self.command("ahead"))
        assert commands.pressed()
        assert not title.handle.cancelled
        commands.put_back(title, Idle.TITLE)
        newer = self.command("newer")
        commands.put_idle(newer, Idle.TITLE)
        commands.put_back(title, Idle.TITLE)
        assert commands.take(Idle.TITLE) is newer

    def test_what_is_taken_in_between_does_not_come_again(self):
        commands = CommandQueue()
        preview = self.command("preview")
        commands.put_idle(preview, Idle.PREVIEW)
        assert commands.take(Idle.PREVIEW) is preview
        assert commands.take(Idle.PREVIEW) is None

    def test_a_real_command_is_never_cancelled_by_another(self):
        commands = CommandQueue()
        real = self.command("real")
        commands.put(real)
        assert commands.get() is real
        commands.put(self.command("next"))
        commands.put_idle(self.command("idle"))
        assert not real.handle.cancelled

    @pytest.mark.parametrize("late", [False, True])
    def test_closed_it_hands_out_what_waits_cancelled(self, late):
        commands = CommandQueue()
        if late:
            commands.close()
        real = self.command("real")
        commands.put(real)
        commands.put_idle(self.command("idle"))
        if not late:
            commands.close()
        assert commands.get() is real
        assert real.handle.cancelled
        assert commands.get() is None
