"""The engine over a fake model: reuse, cancellation, limits, and what comes up as events."""

from __future__ import annotations

import itertools

import pytest

from engine.chat import ChatRequest, Message, RequestHandle
from engine.config import GREEDY, SamplingParams
from engine.engine import Engine
from engine.errors import BadRequest, ContextFull, ModelNotFound
from engine.events import Finished, FinishReason, PrefillProgress, TextDelta
from tests.engine.fakes import FakeRunner, engine_with, loquat_tokenizer

numbers = itertools.count()


def ask(engine: Engine, messages: list[Message], params: SamplingParams, handle: RequestHandle | None = None):
    request = ChatRequest(f"r{next(numbers)}", tuple(messages), params, conversation_id="c")
    return list(engine.stream(request, handle))


def converse(engine: Engine, prompts: list[str], tokens: int = 12) -> list[Finished]:
    """Several turns of one conversation, greedily."""
    messages: list[Message] = []
    turns = []
    for prompt in prompts:
        messages.append(Message("user", prompt))
        done = ask(engine, messages, SamplingParams(temperature=0.0, max_tokens=tokens))[-1]
        assert isinstance(done, Finished)
        messages.append(Message("assistant", done.text, done.token_ids))
        turns.append(done)
    return turns


PROMPTS = ["Hello there", "你好 🦜 again", "And a third, longer turn that fills more than one chunk of prefill"]


def test_a_later_turn_prefills_only_what_is_new():
    turns = converse(engine_with(FakeRunner()), PROMPTS)
    for before, after in itertools.pairwise(turns):
        seen = before.stats.prompt_tokens + before.stats.completion_tokens
        assert after.stats.cached_tokens == seen - 1  # the last token of a reply is never read in its own turn
        assert after.stats.prefill_tokens == after.stats.prompt_tokens - after.stats.cached_tokens


def test_reuse_changes_no_token():
    kept = converse(engine_with(FakeRunner()), PROMPTS)
    messages: list[Message] = []
    for prompt, turn in zip(PROMPTS, kept, strict=True):
        messages.append(Message("user", prompt))
        fresh = ask(engine_with(FakeRunner()), messages, SamplingParams(temperature=0.0, max_tokens=12))[-1]
        assert fresh.token_ids == turn.token_ids
        assert fresh.stats.cached_tokens == 0
        messages.append(Message("assistant", turn.text, turn.token_ids))


def test_a_model_that_cannot_crop_computes_again_and_is_still_right():
    kept = converse(engine_with(FakeRunner()), PROMPTS)
    engine = engine_with(FakeRunner(croppable=False))
    assert [t.token_ids for t in converse(engine, PROMPTS)] == [t.token_ids for t in kept]
    edited = ask(engine, [Message("user", "Something else")], GREEDY_SHORT)[-1]
    fresh = ask(engine_with(FakeRunner()), [Message("user", "Something else")], GREEDY_SHORT)[-1]
    assert edited.token_ids == fresh.token_ids


GREEDY_SHORT = SamplingParams(temperature=0.0, max_tokens=8)


def test_deltas_join_to_the_text_and_prefill_is_reported():
    events = ask(engine_with(FakeRunner()), [Message("user", "x" * 100)], GREEDY_SHORT)
    done = events[-1]
    deltas = [e for e in events if isinstance(e, TextDelta)]
    assert "".join(d.text for d in deltas) == done.text
    assert sum((d.token_ids for d in deltas), ()) == done.token_ids
    progress = [e for e in events if isinstance(e, PrefillProgress)]
    assert progress[0].done == 0
    assert progress[-1].done == progress[-1].total == done.stats.prefill_tokens
    assert len(progress) > 3


def test_the_end_token_ends_the_reply_and_is_no_text():
    tokenizer = loquat_tokenizer()
    (end,) = tokenizer.end_ids
    runner = FakeRunner(script=[0] * 0 + [*tokenizer.encode("hi"), end])
    done = ask(engine_with(runner, chunk=4096), [Message("user", "q")], SamplingParams(temperature=0.0))[-1]
    assert (done.reason, done.text, done.token_ids[-1]) == (FinishReason.END, "hi", end)


def test_half_a_character_is_never_shown():
    tokenizer = loquat_tokenizer()
    text = "a🦜b你好"
    runner = FakeRunner(script=[*tokenizer.encode(text), *tokenizer.end_ids])
    events = ask(engine_with(runner, chunk=4096), [Message("user", "q")], SamplingParams(temperature=0.0))
    shown = [e.text for e in events if isinstance(e, TextDelta)]
    assert "".join(shown) == text
    assert not any("\ufffd" in piece for piece in shown)


def test_a_reply_cut_within_a_character_shows_no_replacement_sign():
    runner = FakeRunner(script=loquat_tokenizer().encode("a🦜")[:3])
    params = SamplingParams(temperature=0.0, max_tokens=3)
    done = ask(engine_with(runner, chunk=4096), [Message("user", "q")], params)[-1]
    assert (done.reason, done.text, len(done.token_ids)) == (FinishReason.LENGTH, "a", 3)


def test_a_stop_string_ends_the_reply_and_is_held_back():
    script = loquat_tokenizer().encode("one END two")
    params = SamplingParams(temperature=0.0, stop=("END",))
    events = ask(engine_with(FakeRunner(script=script), chunk=4096), [Message("user", "q")], params)
    assert (events[-1].reason, events[-1].text) == (FinishReason.STOP, "one ")
    assert all("E" not in e.text for e in events if isinstance(e, TextDelta))


def test_what_only_looked_like_a_stop_string_is_shown():
    script = loquat_tokenizer().encode("an EN")
    params = SamplingParams(temperature=0.0, stop=("END",), max_tokens=5)
    done = ask(engine_with(FakeRunner(script=script), chunk=4096), [Message("user", "q")], params)[-1]
    assert done.text == "an EN"


@pytest.mark.parametrize("at", [1, 3])
def test_cancelling_prefill_stops_at_the_chunk_and_keeps_what_was_read(at):
    handle = RequestHandle("r")
    calls = itertools.count(1)
    runner = FakeRunner(before=lambda ids: handle.cancel() if next(calls) == at else None)
    engine = engine_with(runner)
    done = ask(engine, [Message("user", "y" * 200)], GREEDY_SHORT, handle)[-1]
    assert (done.reason, done.text, done.token_ids) == (FinishReason.CANCELLED, "", ())
    assert done.stats.prefill_tokens == runner.computed == 16 * at
    assert done.stats.ttft_s is None
    again = ask(engine, [Message("user", "y" * 200)], GREEDY_SHORT)[-1]
    assert again.stats.cached_tokens == 16 * at
    fresh = ask(engine_with(FakeRunner()), [Message("user", "y" * 200)], GREEDY_SHORT)[-1]
    assert again.token_ids == fresh.token_ids


def test_cancelling_decode_stops_within_one_token_and_keeps_the_cache():
    handle = RequestHandle("r")
    engine = engine_with(FakeRunner())
    request = ChatRequest("r", (Message("user", "q"),), SamplingParams(temperature=0.0), conversation_id="c")
    seen = 0
    for event in engine.stream(request, handle):
        if isinstance(event, TextDelta) and event.token_ids:
            seen += 1
            if seen == 5:
                handle.cancel()
    assert isinstance(event, Finished)
    assert (event.reason, len(event.token_ids)) == (FinishReason.CANCELLED, 5)
    messages = [Message("user", "q"), Message("assistant", event.text, event.token_ids), Message("user", "go on")]
    after = ask(engine, messages, GREEDY_SHORT)[-1]
    assert after.stats.cached_tokens == event.stats.prompt_tokens + 4
    assert after.token_ids == ask(engine_with(FakeRunner()), messages, GREEDY_SHORT)[-1].token_ids


def test_cancelled_before_it_started():
    handle = RequestHandle("r")
    handle.cancel()
    done = ask(engine_with(FakeRunner()), [Message("user", "q")], GREEDY_SHORT, handle)[-1]
    assert (done.reason, done.stats.prefill_tokens) == (FinishReason.CANCELLED, 0)


def test_a_failing_forward_pass_leaves_no_wrong_cache():
    def explode(ids):
        if len(ids) == 1:
            raise RuntimeError("injected")

    runner = FakeRunner(before=explode)
    engine = engine_with(runner)
    with pytest.raises(RuntimeError, match="injected"):
        ask(engine, [Message("user", "hello")], GREEDY_SHORT)
    runner._before = None
    done = ask(engine, [Message("user", "hello")], GREEDY_SHORT)[-1]
    assert done.token_ids == ask(engine_with(FakeRunner()), [Message("user", "hello")], GREEDY_SHORT)[-1].token_ids


def test_the_reply_ends_where_the_context_does():
    done = ask(engine_with(FakeRunner(context_limit=60)), [Message("user", "q")], SamplingParams(temperature=0.0))[-1]
    assert done.reason is FinishReason.LENGTH
    assert done.stats.prompt_tokens + done.stats.completion_tokens == 60


def test_a_prompt_longer_than_the_context_is_refused():
    engine = engine_with(FakeRunner(context_limit=60))
    with pytest.raises(ContextFull, match="60"):
        ask(engine, [Message("user", "q" * 100)], GREEDY)


@pytest.mark.parametrize("messages", [[], [Message("user", "  \n")], [Message("system", "s")]])
def test_nothing_to_answer_is_refused(messages):
    with pytest.raises(BadRequest):
        ask(engine_with(FakeRunner()), messages, GREEDY)


def test_without_a_model_there_is_a_sentence(tmp_path):
    from engine.config import EngineConfig

    with pytest.raises(ModelNotFound, match="No model"):
        ask(Engine(EngineConfig(), tmp_path), [Message("user", "q")], GREEDY)


def test_a_seed_makes_sampling_reproducible():
    params = SamplingParams(seed=7, max_tokens=20)
    runs = [ask(engine_with(FakeRunner()), [Message("user", "q")], params)[-1].token_ids for _ in range(2)]
    assert runs[0] == runs[1]
    other = SamplingParams(seed=8, max_tokens=20)
    assert ask(engine_with(FakeRunner()), [Message("user", "q")], other)[-1].token_ids != runs[0]


def test_caches_of_other_conversations_go_when_the_budget_is_full():
    engine = engine_with(FakeRunner(), budget=8 * 150)
    for n in range(4):
        request = ChatRequest(f"b{n}", (Message("user", "z" * 60),), GREEDY_SHORT, conversation_id=f"c{n}")
        list(engine.stream(request))
    assert engine._model.store.nbytes <= 8 * 150
    again = list(engine.stream(ChatRequest("b9", (Message("user", "z" * 60),), GREEDY_SHORT, conversation_id="c3")))
    assert again[-1].stats.cached_tokens > 60
