"""What the worker does in idle time: it gives way at once, and is done again where it matters."""

from __future__ import annotations

import threading

from engine.chat import ChatRequest, Message
from engine.events import Finished, ModelsListed, Previewed, TextDelta, Titled
from tests.engine.fakes import FakeRunner
from tests.engine.running import PATIENCE_S, Running, ask


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
    held = Held(8)
    with Running(loquat_home, FakeRunner()) as running:
        running.worker.submit(ask("a"))
        done = running.until(Finished)[-1]
        said = (Message("user", "q"), Message("assistant", done.text, done.token_ids))
        running.worker._engine._model.runner._before = held
        running.worker.make_title(ChatRequest("t", said, conversation_id="c"))
        assert held.reached.wait(PATIENCE_S)
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
