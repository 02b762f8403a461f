"""Reading ahead: less to wait for, the same answer, and it gives way at once."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pytest

import engine.ahead
from engine.chat import ChatRequest, Message, RequestHandle, after_reply
from engine.config import SamplingParams
from engine.kv_disk import KVDisk
from engine.kv_store import KVStore
from tests.engine.fakes import FakeRunner, engine_with

PARAMS = SamplingParams(temperature=0.0, max_tokens=6)
on_battery = engine.ahead.on_battery  # itself: the tests take it away
LONG = "A pasted text that is long enough to be worth reading before it is sent. " * 4


@pytest.fixture(autouse=True)
def _mains(monkeypatch):
    monkeypatch.setattr(engine.ahead, "on_battery", lambda: False)


def request(*texts: str) -> ChatRequest:
    roles = ("user", "assistant")
    return ChatRequest("r", tuple(Message(roles[n % 2], t) for n, t in enumerate(texts)), PARAMS, "c")


def answer(engine, asked: ChatRequest):
    return list(engine.stream(asked))[-1]


def test_what_was_typed_is_cached_when_it_is_sent():
    engine = engine_with(FakeRunner())
    read = engine.prefill_ahead(request(LONG), RequestHandle("a"))
    assert read > len(LONG) // 2
    done = answer(engine, request(LONG + "And one more word?"))
    assert done.stats.cached_tokens == read
    assert done.token_ids == answer(engine_with(FakeRunner()), request(LONG + "And one more word?")).token_ids


def test_a_draft_that_was_changed_costs_only_the_change():
    engine = engine_with(FakeRunner())
    engine.prefill_ahead(request(LONG), RequestHandle("a"))
    changed = LONG[:100] + "?" + LONG[100:]
    done = answer(engine, request(changed))
    assert 90 < done.stats.cached_tokens < 150
    assert done.token_ids == answer(engine_with(FakeRunner()), request(changed)).token_ids


def test_cancelling_keeps_what_was_read():
    handle = RequestHandle("a")
    runner = FakeRunner(before=lambda ids: handle.cancel())
    engine = engine_with(runner)
    assert engine.prefill_ahead(request(LONG), handle) == 16
    runner._before = None
    assert answer(engine, request(LONG)).stats.cached_tokens == 16


def test_a_few_letters_are_not_worth_reading():
    engine = engine_with(FakeRunner())
    first = answer(engine, request("Hello there"))
    history = after_reply(request("Hello there"), first.text, first.token_ids)
    engine.prefill_ahead(history, RequestHandle("a"))
    before = engine._model.runner.computed
    draft = replace(history, messages=(*history.messages[:-1], Message("user", "ab")))
    assert engine.prefill_ahead(draft, RequestHandle("b")) == 0
    assert engine._model.runner.computed == before


def test_what_lies_on_disk_is_brought_back_before_it_is_needed(tmp_path):
    disk = KVDisk(tmp_path, "fake", 1 << 30)
    runner = FakeRunner()
    engine = engine_with(runner)
    engine._model = replace(engine._model, store=KVStore(runner, 1 << 20, disk))
    done = answer(engine, request(LONG))
    history = after_reply(request(LONG), done.text, done.token_ids)
    store = engine._model.store
    assert store.settle()
    store.drop_memory()
    before = runner.computed
    engine.prefill_ahead(history, RequestHandle("opened"))
    assert runner.computed - before < 16, "restored, not computed"
    assert store.held("c", history_ids(engine, history)) > len(LONG)
    store.close()


def history_ids(engine, asked: ChatRequest) -> list[int]:
    return engine._model.prompt.stable_prefix(asked)


def test_a_machine_that_tells_of_no_batteries_has_none(monkeypatch):
    def no_sys() -> None:
        raise FileNotFoundError(2, "No such file or directory", "/sys/class/power_supply")

    monkeypatch.setattr(engine.ahead.psutil, "sensors_battery", no_sys, raising=False)
    assert on_battery() is False


@pytest.mark.parametrize(("plugged", "runs_on_it"), [(True, False), (False, True), (None, False)])
def test_a_battery_of_which_the_system_does_not_say_whether_it_is_used_is_not(monkeypatch, plugged, runs_on_it):
    battery = SimpleNamespace(power_plugged=plugged)
    monkeypatch.setattr(engine.ahead.psutil, "sensors_battery", lambda: battery, raising=False)
    assert on_battery() is runs_on_it


def test_on_battery_nothing_is_read(monkeypatch):
    monkeypatch.setattr(engine.ahead, "on_battery", lambda: True)
    assert engine_with(FakeRunner()).prefill_ahead(request(LONG), RequestHandle("a")) == 0


def test_after_an_overflow_the_shortened_history_is_read_in_idle_time():
    engine = engine_with(FakeRunner(context_limit=2048))
    messages: list[Message] = []
    prefilled = []
    for n in range(40):
        messages.append(Message("user", f"question {n} " + "x" * 40))
        asked = ChatRequest(f"t{n}", tuple(messages), PARAMS, "c")
        done = answer(engine, asked)
        prefilled.append(done.stats.prefill_tokens)
        engine.prefill_ahead(after_reply(asked, done.text, done.token_ids), RequestHandle("idle"))
        messages.append(Message("assistant", done.text, done.token_ids))
    assert done.left_out
    assert max(prefilled) < 100  # its own question, whatever was left out before it


def test_nothing_is_left_out_of_what_is_read_where_the_chat_is_to_stop_instead():
    engine = engine_with(FakeRunner(context_limit=512))
    messages = (*request("question " + "x" * 200, "answer " + "y" * 200).messages, Message("user", ""))
    asked = ChatRequest("r", messages, PARAMS, "c", overflow="stop")
    assert engine.preview(replace(asked, overflow="drop_oldest")).left_out
    engine.prefill_ahead(asked, RequestHandle("idle"))
    question = replace(asked, messages=(*messages[:-1], Message("user", "why?")))
    assert answer(engine, question).stats.cached_tokens > 400
