"""What is left out of a conversation that outgrows the context, and that it stays the same from turn to turn."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.chat import ChatRequest, Message
from engine.config import SamplingParams
from engine.errors import ContextFull
from engine.overflow import fit, reply_room
from tests.engine.fakes import FakeRunner, engine_with

LIMIT = 1000


def words(messages) -> int:
    """A message's content is its size; a template that adds 7 in front, whatever comes."""
    return 7 + sum(int(message.content) for message in messages)


def conversation(*sizes: int, system: int = 0) -> list[Message]:
    """Turns whose question and answer cost half of a size each, then a question."""
    head = [Message("system", str(system))] if system else []
    turns = [m for size in sizes[:-1] for m in (Message("user", str(size // 2)), Message("assistant", str(size // 2)))]
    return [*head, *turns, Message("user", str(sizes[-1]))]


def test_what_fits_is_sent_whole():
    messages = conversation(200, 200, 100)
    assert fit(messages, words, LIMIT).messages == tuple(messages)


def test_the_oldest_whole_turns_go_and_the_system_prompt_stays():
    messages = conversation(200, 200, 200, 100, system=100)
    fitted = fit(messages, words, LIMIT)
    assert fitted.left_out == (1, 2, 3, 4)
    assert fitted.messages[0].role == "system"
    assert fitted.messages[1] == messages[5]


def test_the_newest_question_always_stays():
    fitted = fit(conversation(200, 2000), words, LIMIT)
    assert [m.content for m in fitted.messages] == ["2000"]


@given(st.lists(st.integers(2, 300), min_size=2, max_size=40), st.integers(0, 124))
def test_the_length_of_the_newest_question_changes_nothing(sizes, question):
    """So what was read ahead, before the question was written, serves it."""
    unwritten, written = (fit(conversation(*sizes, size), words, LIMIT) for size in (0, question))
    assert unwritten.left_out == written.left_out


@given(st.lists(st.integers(2, 400), min_size=1, max_size=60))
def test_what_is_sent_fits_and_only_grows_out_at_the_front(sizes):
    """Turn by turn: what is left out is always a beginning, and never comes back."""
    gone: set[int] = set()
    for n in range(1, len(sizes) + 1):
        fitted = fit(conversation(*sizes[:n]), words, LIMIT)
        assert words(fitted.messages) <= LIMIT - reply_room(LIMIT)
        assert fitted.left_out == tuple(range(len(fitted.left_out)))
        assert gone <= set(fitted.left_out)
        gone = set(fitted.left_out)


def talk(engine, turns: int, **options):
    """A conversation of some turns; the last one's events and all left-out indices."""
    messages: list[Message] = []
    done = []
    for n in range(turns):
        messages.append(Message("user", f"question {n} " + "x" * 40))
        params = SamplingParams(temperature=0.0, max_tokens=10)
        done.append(list(engine.stream(ChatRequest(f"t{n}", tuple(messages), params, "c", **options)))[-1])
        messages.append(Message("assistant", done[-1].text, done[-1].token_ids))
    return done


def test_a_long_conversation_goes_on_and_says_what_was_left_out():
    done = talk(engine_with(FakeRunner(context_limit=2048)), 40)
    assert any(turn.left_out for turn in done)
    assert all(turn.stats.prompt_tokens + turn.stats.completion_tokens <= 2048 for turn in done)
    # Cutting is rare: most turns still find all of the turn before in the cache.
    reused = [turn.stats.cached_tokens > turn.stats.prefill_tokens for turn in done[1:]]
    assert sum(reused) >= len(reused) - 5


def test_the_stop_policy_refuses_with_a_sentence():
    with pytest.raises(ContextFull, match="512"):
        talk(engine_with(FakeRunner(context_limit=512)), 12, overflow="stop")
