"""A title in idle time: asked on top of the conversation's own cache, which is afterwards as it was."""

from __future__ import annotations

from dataclasses import replace

import pytest

from engine.chat import ChatRequest, Message, after_reply
from engine.config import SamplingParams
from engine.titles import BEGUN, QUESTION, clean, is_about
from tests.engine.fakes import FakeRunner, engine_with, loquat_tokenizer

TOKENIZER = loquat_tokenizer()
NEVER = lambda: False  # noqa: E731
QUESTIONED = ChatRequest(
    "r", (Message("user", "Which colours has the sky?"),), SamplingParams(temperature=0.0, max_tokens=6), "c"
)


class Talk:
    """A conversation of one turn, with its history read ahead; what is said next comes from a script."""

    def __init__(self, croppable: bool = True, context_limit: int = 4096) -> None:
        self.runner = FakeRunner(croppable=croppable, context_limit=context_limit)
        self.engine = engine_with(self.runner)
        self.engine._model.pacer.size = 512  # a script is said one token a chunk
        done = list(self.engine.stream(QUESTIONED))[-1]
        self.request = replace(
            QUESTIONED, id="t", messages=(*QUESTIONED.messages, Message("assistant", done.text, done.token_ids))
        )
        self.store = self.engine._model.store
        self.computed = self.runner.computed

    def title(self, said: str, stop=NEVER) -> str | None:
        # A cache that cannot be cropped gets its last prompt token alone.
        ids = TOKENIZER.encode(said)
        self.runner._script = [ids[0], *ids] if not self.runner.croppable else ids
        try:
            return self.engine.make_title(self.request, stop)
        finally:
            self.runner._script = []

    @property
    def held(self) -> list[int]:
        return list(self.store._caches["c"].ids)


@pytest.mark.parametrize("croppable", [True, False])
def test_the_title_is_asked_on_the_conversations_cache_which_stays_as_it_was(croppable):
    talk = Talk(croppable)
    before = talk.held
    assert talk.title('Sky Colours"') == "Sky Colours"
    assert talk.held == before
    assert talk.runner.computed - talk.computed < len(QUESTION) + len(BEGUN) + 60, "the history is not read again"
    following = (*talk.request.messages, Message("user", "and then?"))
    one = list(talk.engine.stream(replace(talk.request, messages=following)))[-1]
    other = list(engine_with(FakeRunner()).stream(replace(talk.request, messages=following)))[-1]
    assert one.token_ids == other.token_ids


def test_a_draft_that_was_read_ahead_is_read_again():
    talk = Talk()
    ahead = after_reply(QUESTIONED, talk.request.messages[-1].content, talk.request.messages[-1].token_ids)
    drafted = replace(ahead, messages=(*ahead.messages[:-1], Message("user", "a draft that is being written")))
    ids = talk.engine._model.prompt.stable_prefix(drafted)
    cache = talk.store.begin("c", ids).cache
    cache.prefill(cache.reuse(ids))
    before = talk.held
    talk.runner._script = []
    talk.engine.make_title(talk.request, NEVER)
    assert talk.held == before


@pytest.mark.parametrize("polls", [0, 1, 3])
def test_stopped_it_leaves_the_cache_valid_and_no_title(polls):
    talk = Talk()
    before = talk.held
    left = iter(range(polls))
    assert talk.title('Sky Colours"', lambda: next(left, None) is None) is None
    assert talk.held == before[: len(talk.held)]


def test_no_other_conversation_is_evicted_and_none_without_a_cache_is_named():
    talk = Talk()
    other = replace(talk.request, conversation_id="elsewhere")
    assert talk.engine.make_title(other, NEVER) == ""
    assert list(talk.store._caches) == ["c"]


def test_where_the_question_does_not_fit_there_is_no_title():
    talk = Talk(context_limit=64)
    before = talk.held
    assert talk.title('Sky"') == ""
    assert talk.held == before


def test_an_answer_that_comes_to_no_end_is_no_title():
    assert Talk().title("word " * 20) == ""


@pytest.mark.parametrize(
    ("said", "title"),
    [
        ("Sky Colours", "Sky Colours"),
        ('"Sky Colours."', "Sky Colours"),
        ("**Title:** The `sky`'s colours", "The sky's colours"),
        ("# Sky\nIt is about the sky.", "Sky"),
        ("\n\n“天空的颜色”。", "天空的颜色"),
        ("标题：天空", "天空"),
        ("Why is the sky blue?", "Why is the sky blue?"),
        ("Learning C++", "Learning C++"),
        ("- Packing List (Norway)", "Packing List (Norway)"),
        ("three fruits, described!", "Three fruits, described"),
        ("iPhone cases", "iPhone cases"),
        ("", ""),
        ("...", ""),
        ("<think>The person wants", ""),
        ("I am sorry, but I cannot give this conversation a title at all", ""),
        ("x" * 100, ""),
    ],
)
def test_what_a_model_says_is_cleaned(said, title):
    assert clean(said) == title


FRUITS = (
    Message("user", "Name three fruits and describe each."),
    Message("assistant", "1. Apple: a round fruit that is sweet and crisp.\n2. Banana: long and yellow.\n3. Mango."),
)
TOKYO = (
    Message("user", "\u6771\u4eac\u306e\u5929\u6c17\u306f\uff1f"),
    Message("assistant", "\u6674\u308c\u3067\u3059\u3002"),
)


@pytest.mark.parametrize(
    ("title", "messages", "about"),
    [
        ("The Unreliable Enemy: A Tale of Misguided Innovation", FRUITS, False),
        ("Three Things to Describe", FRUITS, False),
        ("Fruit Descriptions", FRUITS, True),
        ("Mangoes and More", FRUITS, True),
        ("APPLES", FRUITS, True),
        ("Understanding the Concept of Time", (Message("user", "What is a prime number?"), FRUITS[1]), False),
        ("Prime Numbers", (Message("system", "You are kind."), Message("user", "What is a prime number?")), True),
        ("Kindness", (Message("system", "You are kind."), Message("user", "What is a prime number?")), False),
        ("Sorting in Python", (*FRUITS, Message("user", "Sort a list in Python")), False),
        ("\u5929\u6c17\u4e88\u5831", TOKYO, True),
        ("\u6599\u7406\u306e\u672c", TOKYO, False),
        ("", FRUITS, False),
    ],
)
def test_a_title_is_about_what_was_asked_or_answered_first(title, messages, about):
    assert is_about(title, messages) is about


def test_a_title_of_something_else_is_none():
    assert Talk().title('The Unreliable Enemy"') == ""
