"""Requests of other programs on the worker: they wait behind the person, give way in mid-reply, and go on the same."""

from __future__ import annotations

import queue

import pytest

from engine import worker as worker_module
from engine.chat import ChatRequest, Message, RequestHandle
from engine.commands import Command, CommandQueue
from engine.config import SamplingParams
from engine.errors import Cancelled
from engine.events import Failed, Finished, FinishReason, ModelsListed, TextDelta
from engine.models.registry import Registry
from engine.worker import Worker
from tests.engine.fakes import FakeRunner
from tests.engine.running import PATIENCE_S, Running, a_model, ask


def command(name: str, **more) -> Command:
    return Command(RequestHandle(name), lambda: iter(()), **more)


def served_events(worker: Worker, request: ChatRequest, interrupt=lambda event: None) -> list:
    """All events of a served request; `interrupt` is called with each on the worker's thread."""
    events: queue.SimpleQueue = queue.SimpleQueue()

    def sink(event):
        events.put(event)
        interrupt(event)

    worker.serve(request, sink)
    seen = [events.get(timeout=PATIENCE_S)]
    while not isinstance(seen[-1], Finished | Failed):
        seen.append(events.get(timeout=PATIENCE_S))
    return seen


def test_a_served_request_tells_its_own_sink_and_nobody_else(loquat_home):
    with Running(loquat_home, FakeRunner()) as running:
        served = served_events(running.worker, ask("s"))[-1]
        assert served.request_id == "s" and served.trace is None  # which nobody would look at
        running.worker.submit(ask("w"))
        events = running.until(Finished)
        assert {event.request_id for event in events} == {"w"} and events[-1].trace
        assert running.worker.kv_bytes > 0


def test_the_person_is_answered_in_the_middle_of_a_served_reply_which_stays_the_same(loquat_home):
    with Running(loquat_home, FakeRunner()) as running:
        alone = served_events(running.worker, ask("alone", tokens=30, conversation="alone"))[-1]
        order: list[str] = []

        def interrupt(event):
            order.append(event.request_id)
            if isinstance(event, TextDelta) and order.count("s") == 8:
                running.worker.submit(ask("w", "something else", conversation="w"))
                running.worker.submit(ask("w2", "and more", conversation="w"))

        done = served_events(running.worker, ask("s", tokens=30, conversation="s"), interrupt)[-1]
        window = [*running.until(Finished), *running.until(Finished)]
        ends = [event for event in window if isinstance(event, Finished)]
        assert [event.request_id for event in ends] == ["w", "w2"]
        assert done.token_ids == alone.token_ids
        assert done.stats.completion_tokens == 30


def test_what_waits_is_answered_person_first(loquat_home):
    order: list[str] = []
    done: queue.SimpleQueue = queue.SimpleQueue()
    worker: list[Worker] = []

    def first(ids):
        if not order and not worker[0]._commands._served:
            for name in ("s1", "s2"):
                worker[0].serve(ask(name), tell)
            worker[0].submit(ask("w2"))

    def tell(event):
        if isinstance(event, Finished):
            order.append(event.request_id)
            done.put(event)

    with Running(loquat_home, FakeRunner(before=first)) as running:
        worker.append(running.worker)
        running.worker._emit = tell
        running.worker.submit(ask("w1"))
        for _ in range(4):
            done.get(timeout=PATIENCE_S)
    assert order == ["w1", "w2", "s1", "s2"]


def test_loading_a_model_cancels_served_requests_running_and_waiting(loquat_home):
    with Running(loquat_home, FakeRunner()) as running:
        waiting: queue.SimpleQueue = queue.SimpleQueue()

        def interrupt(event):
            if isinstance(event, TextDelta) and waiting.empty():
                running.worker.serve(ask("waiting"), waiting.put)
                running.worker.load("no such model")

        done = served_events(running.worker, ask("s", tokens=2000), interrupt)[-1]
        assert done.reason is FinishReason.CANCELLED
        failed = waiting.get(timeout=PATIENCE_S)
        assert isinstance(failed.error, Cancelled)
        assert running.until(Failed)[-1].request_id.startswith("load")


@pytest.mark.parametrize(("name", "reason"), [("fake", FinishReason.CANCELLED), ("other", FinishReason.LENGTH)])
def test_only_a_model_that_answers_is_not_removed_under_a_served_reply(loquat_home, name, reason):
    for each in ("fake", "other"):
        a_model(loquat_home, each)
    with Running(loquat_home, FakeRunner()) as running:
        engine = running.worker._engine
        engine._entry, running.worker.info = Registry(loquat_home.models).find("fake"), engine.info
        asked: list[RequestHandle] = []

        def interrupt(event):
            if isinstance(event, TextDelta) and not asked:
                asked.append(running.worker.remove_model(name))

        done = served_events(running.worker, ask("s", tokens=60), interrupt)[-1]
        listed = running.until(ModelsListed)[-1]
    assert done.reason is reason
    assert name not in [model.name for model in listed.models]


def test_a_worker_that_closes_ends_both_the_interrupted_and_the_interrupting(loquat_home):
    running = Running(loquat_home, FakeRunner())

    def interrupt(event):
        if isinstance(event, TextDelta):
            running.worker.submit(ask("w", tokens=4000))

    def close(event):
        running.events.put(event)
        if isinstance(event, TextDelta):
            running.worker._commands.close()

    running.worker._emit = close
    done = served_events(running.worker, ask("s", tokens=4000), interrupt)[-1]
    assert done.reason is FinishReason.CANCELLED
    assert running.until(Finished)[-1].reason is FinishReason.CANCELLED
    assert running.worker.close(PATIENCE_S)


@pytest.mark.parametrize("between", [True, False])
def test_only_what_leaves_the_model_alone_interrupts(between):
    commands = CommandQueue()
    served = command("s", served=True)
    commands.put(served)
    assert commands.get() is served
    assert commands.urgent() is None
    pressing = command("w", between=between)
    commands.put(pressing)
    assert commands.urgent() is (pressing if between else None)
    assert served.handle.cancelled is not between


def test_a_served_request_interrupts_idle_work():
    commands = CommandQueue()
    idle = command("idle")
    commands.put_idle(idle)
    assert commands.get() is idle
    commands.put(command("s", served=True))
    assert idle.handle.cancelled
    assert commands.pressed()


def test_seeded_sampling_is_the_same_when_it_is_interrupted(loquat_home):
    params = SamplingParams(temperature=1.0, seed=5, max_tokens=20)
    request = ChatRequest("s", (Message("user", "q"),), params, "s")
    with Running(loquat_home, FakeRunner()) as running:
        alone = served_events(running.worker, request)[-1]

        def interrupt(event):
            if isinstance(event, TextDelta):
                running.worker.submit(ask("w", tokens=2))

        assert served_events(running.worker, request, interrupt)[-1].token_ids == alone.token_ids


class Client:
    """A request of another program, and what it was told."""

    def __init__(self, running: Running, number: int, tokens: int, cache: str) -> None:
        params = SamplingParams(temperature=0, max_tokens=tokens)
        request = ChatRequest(f"r{number}", (Message("user", f"question {number}"),), params, conversation_id=cache)
        self._told: queue.SimpleQueue = queue.SimpleQueue()
        self.seen: list = []
        self.handle = running.worker.serve(request, self._told.put)

    def until(self, tokens: int) -> None:
        while len(self.times) < tokens:
            self.seen.append(self._told.get(timeout=PATIENCE_S))

    def end(self) -> Finished | Failed:
        while not self.seen or not isinstance(self.seen[-1], Finished | Failed):
            self.seen.append(self._told.get(timeout=PATIENCE_S))
        return self.seen[-1]

    @property
    def times(self) -> list[float]:
        return [event.at for event in self.seen if isinstance(event, TextDelta)]


def test_several_take_turns_and_say_what_they_say_alone(loquat_home, monkeypatch):
    monkeypatch.setattr(worker_module, "TURN_S", 0.0)
    lengths = (40, 3, 25)
    alone = []
    for number, tokens in enumerate(lengths):
        with Running(loquat_home, FakeRunner()) as running:
            alone.append(Client(running, number, tokens, f"c{number}").end().token_ids)
    with Running(loquat_home, FakeRunner()) as running:
        clients = [Client(running, number, tokens, f"c{number}") for number, tokens in enumerate(lengths)]
        assert [client.end().token_ids for client in clients] == alone
    long, short, _ = clients
    assert sum(at > short.times[-1] for at in long.times) > 20, "the short one did not wait"


def test_of_two_with_one_cache_the_second_begins_when_the_first_has_ended(loquat_home, monkeypatch):
    monkeypatch.setattr(worker_module, "TURN_S", 0.0)
    with Running(loquat_home, FakeRunner()) as running:
        first, second = (Client(running, number, 20, "same") for number in range(2))
        first.end()
        second.end()
    assert max(first.times) < min(second.times)


def test_one_that_is_cancelled_between_its_turns_ends_and_the_others_go_on(loquat_home, monkeypatch):
    monkeypatch.setattr(worker_module, "TURN_S", 0.0)
    with Running(loquat_home, FakeRunner()) as running:
        first = Client(running, 0, 4_000, "a")
        first.until(tokens=5)
        second = Client(running, 1, 30, "b")
        second.until(tokens=5)
        first.handle.cancel()
        assert first.end().reason is FinishReason.CANCELLED
        assert second.end().reason is FinishReason.LENGTH
