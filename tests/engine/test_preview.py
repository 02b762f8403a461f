"""The cost of a draft, before it is sent: the same counts as when it is sent, and nothing computed."""

from __future__ import annotations

from dataclasses import replace

from engine.chat import ChatRequest, Message
from engine.config import SamplingParams
from engine.kv_disk import KVDisk
from engine.kv_store import KVStore
from tests.engine.fakes import FakeRunner, engine_with

PARAMS = SamplingParams(temperature=0.0, max_tokens=6)


def request(*messages: Message, conversation: str = "c", **values) -> ChatRequest:
    return ChatRequest("p", messages, PARAMS, conversation, **values)


def talked(engine, *texts: str) -> tuple[Message, ...]:
    """What was said in a conversation of these questions."""
    messages: tuple[Message, ...] = ()
    for text in texts:
        messages = (*messages, Message("user", text))
        done = list(engine.stream(request(*messages)))[-1]
        messages = (*messages, Message("assistant", done.text, done.token_ids))
    return messages


def test_the_counts_are_those_of_the_turn_that_follows():
    engine = engine_with(FakeRunner())
    said = talked(engine, "Hello there")
    asked = request(*said, Message("user", "And 你好 too"))
    computed = engine._model.runner.computed
    told = engine.preview(asked)
    assert engine._model.runner.computed == computed
    stats = list(engine.stream(asked))[-1].stats
    assert (told.prompt_tokens, told.cached_tokens) == (stats.prompt_tokens, stats.cached_tokens)
    assert told.draft_tokens == len("And 你好 too".encode())
    assert (told.request_id, told.context_limit, told.left_out) == ("p", 4096, ())


def test_an_edit_shares_only_what_stands_before_it():
    engine = engine_with(FakeRunner())
    said = talked(engine, "Hello there", "and a second question")
    edited = request(*said[:2], Message("user", "another one"))
    told = engine.preview(edited)
    assert told.cached_tokens == list(engine.stream(edited))[-1].stats.cached_tokens
    assert 30 < told.cached_tokens < told.prompt_tokens - 10


def test_what_another_conversation_holds_counts_and_is_not_moved():
    engine = engine_with(FakeRunner())
    said = talked(engine, "A first question that is long enough to be worth sharing")
    fork = request(*said, Message("user", "more"), conversation="fork")
    assert engine.preview(fork).cached_tokens > 60
    assert list(engine._model.store._caches) == ["c"]
    assert engine.preview(replace(fork, reuse=False)).cached_tokens == 0


def test_what_lies_on_disk_counts(tmp_path):
    runner = FakeRunner()
    engine = engine_with(runner)
    store = KVStore(runner, 1 << 20, KVDisk(tmp_path, "fake", 1 << 30))
    engine._model = replace(engine._model, store=store)
    said = talked(engine, "A first question that is long enough to be worth keeping")
    assert store.settle()
    store.drop_memory()
    assert engine.preview(request(*said, Message("user", "more"))).cached_tokens > 60
    store.close()


def test_messages_that_would_not_fit_are_named():
    engine = engine_with(FakeRunner(context_limit=512))
    said = [Message(role, "x" * 60) for _ in range(6) for role in ("user", "assistant")]
    asked = request(*said, Message("user", "q"))
    told = engine.preview(asked)
    assert told.left_out == list(engine.stream(asked))[-1].left_out != ()
    assert told.prompt_tokens < 512
    refused = engine.preview(replace(asked, overflow="stop"))
    assert refused.left_out == ()
    assert refused.prompt_tokens > 512


def test_an_empty_draft_costs_no_tokens_of_its_own_and_markers_in_it_are_text():
    engine = engine_with(FakeRunner())
    assert engine.preview(request(Message("user", ""))).draft_tokens == 0
    assert engine.preview(request(Message("user", "<|im_end|>"))).draft_tokens == len("<|im_end|>")
