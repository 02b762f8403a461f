"""A reply that was cut off goes on: as if it had never been cut, with no half character and no space lost between."""

from __future__ import annotations

from dataclasses import replace

import pytest

from engine.chat import ChatRequest, Message, after_reply, joined
from engine.config import SamplingParams
from engine.detokenizer import Detokenizer, never_shown
from engine.errors import BadRequest
from engine.events import Finished, FinishReason, PrefillProgress, TextDelta
from engine.kv_cache import common_prefix
from tests.engine.fakes import END, FakeRunner, engine_with, loquat_tokenizer

TOKENIZER = loquat_tokenizer()
END_ID = next(iter(TOKENIZER.end_ids))
QUESTION = Message("user", "Go")


def params(tokens: int, **more) -> SamplingParams:
    return SamplingParams(temperature=0.0, max_tokens=tokens, **more)


def asked(tokens: int, **more) -> ChatRequest:
    return ChatRequest("r", (QUESTION,), params(tokens, **more), "c")


def going_on(request: ChatRequest, text: str, ids: tuple[int, ...] | None, tokens: int) -> ChatRequest:
    messages = (*request.messages, Message("assistant", text, ids))
    return replace(request, messages=messages, params=replace(request.params, max_tokens=tokens), continue_reply=True)


def last(engine, request: ChatRequest) -> Finished:
    done = list(engine.stream(request))[-1]
    assert isinstance(done, Finished)
    return done


@pytest.mark.parametrize("reuse", [True, False])
@pytest.mark.parametrize("croppable", [True, False])
def test_a_continued_reply_is_the_one_that_was_never_cut(reuse, croppable):
    whole = last(engine_with(FakeRunner()), asked(40))
    engine = engine_with(FakeRunner(croppable=croppable))
    first = last(engine, asked(17))
    second = last(engine, replace(going_on(asked(17), first.text, first.token_ids, 23), reuse=reuse))
    assert first.token_ids + second.token_ids == whole.token_ids
    assert first.text + second.text == whole.text
    assert (second.stats.cached_tokens > 0) is reuse


def test_only_what_is_new_comes_up_and_the_cache_spares_all_but_the_last_token():
    engine = engine_with(FakeRunner())
    first = last(engine, asked(17))
    events = list(engine.stream(going_on(asked(17), first.text, first.token_ids, 5)))
    deltas = [event for event in events if isinstance(event, TextDelta)]
    assert [event.total for event in events if isinstance(event, PrefillProgress)] == [1, 1]
    assert tuple(token for delta in deltas for token in delta.token_ids) == events[-1].token_ids
    assert len(events[-1].token_ids) == 5
    assert "".join(delta.text for delta in deltas) == events[-1].text


def test_the_end_token_gives_way_to_what_follows():
    script = [*TOKENIZER.encode("Yes."), END_ID, *TOKENIZER.encode(" And"), END_ID]
    engine = engine_with(FakeRunner(script=script), chunk=64)
    first = last(engine, asked(40))
    request = going_on(asked(40), first.text, first.token_ids, 40)
    prompt = engine._model.prompt.encode(request)
    assert prompt[-4:] == TOKENIZER.encode("Yes.")
    assert last(engine, request).text == " And"


@pytest.mark.parametrize("cut", range(1, 11))
def test_no_character_is_lost_wherever_it_was_cut(cut):
    text = "né 🦜 ok"
    ids = TOKENIZER.encode(text)
    engine = engine_with(FakeRunner(script=ids), chunk=64)
    first = last(engine, asked(cut))
    second = last(engine, going_on(asked(cut), first.text, first.token_ids, len(ids) - cut))
    assert first.text + second.text == text


def test_text_that_was_held_back_as_a_possible_stop_string_is_not_lost():
    ids = TOKENIZER.encode("one, two, three")
    engine = engine_with(FakeRunner(script=ids), chunk=64)
    request = asked(9, stop=("two, four",))
    shown = "".join(
        event.text for event in list(engine.stream(request))[:-2] if isinstance(event, TextDelta)
    )  # as Stop leaves it: without what the end would have let go
    assert shown == "one, "
    second = last(engine, going_on(request, shown, tuple(ids[:9]), 6))
    assert shown + second.text == "one, two, three"


def test_a_stop_string_that_ended_the_reply_does_not_end_it_again():
    assert never_shown(TOKENIZER.decode, TOKENIZER.encode("one, two"), "one", (", t",)) == ""


def test_a_reply_of_another_model_goes_on_from_its_text():
    engine = engine_with(FakeRunner())
    told = "A reply with <|im_end|> in it"
    request = going_on(asked(1), told, None, 6)
    prompt = engine._model.prompt.encode(request)
    assert TOKENIZER.decode(prompt[-len(told) :]) == told
    assert prompt.count(END_ID) == 1, "that of the question"
    assert last(engine, request).stats.completion_tokens == 6


def test_the_seam_of_words_keeps_its_space():
    """A tokenizer that marks words, not spaces: alone, a word's text has no space before it."""
    words = {1: "Hello", 2: "there", 3: "you"}

    def decode(ids):
        return " ".join(words[token_id] for token_id in ids)

    assert Detokenizer(decode, [1, 2]).push(3) == " you"


def test_what_is_read_ahead_afterwards_is_the_whole_reply():
    engine = engine_with(FakeRunner())
    first = last(engine, asked(9))
    request = going_on(asked(9), first.text, first.token_ids, 9)
    second = last(engine, request)
    whole = last(engine_with(FakeRunner()), asked(18))
    ahead = after_reply(request, second.text, second.token_ids)
    assert ahead.messages == after_reply(asked(18), whole.text, whole.token_ids).messages
    assert not ahead.continue_reply
    ids = engine._model.prompt.stable_prefix(ahead)
    assert common_prefix(engine._model.store._caches["c"].ids, ids) == len(engine._model.store._caches["c"].ids)


def test_ids_are_known_only_where_those_of_the_beginning_are():
    assert joined(Message("assistant", "a", (1,)), "b", (2,)) == Message("assistant", "ab", (1, 2))
    assert joined(Message("assistant", "a"), "b", (2,)) == Message("assistant", "ab")


def test_the_reply_ends_where_the_context_does():
    engine = engine_with(FakeRunner(context_limit=128))
    first = last(engine, asked(20))
    second = last(engine, going_on(asked(20), first.text, first.token_ids, 4000))
    assert second.reason is FinishReason.LENGTH
    assert second.stats.prompt_tokens + len(second.token_ids) == 128


@pytest.mark.parametrize(
    "messages", [(), (QUESTION,), (Message("assistant", END),), (Message("user", " "), Message("assistant", "a"))]
)
def test_without_a_reply_to_a_question_there_is_nothing_to_continue(messages):
    request = replace(asked(5), messages=messages, continue_reply=True)
    with pytest.raises(BadRequest):
        list(engine_with(FakeRunner()).stream(request))
