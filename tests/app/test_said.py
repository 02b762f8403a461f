"""What a question with files says to the model."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.records import Attachment, StoredMessage
from app.said import said, sound, sound_file
from app.turn import prompt_messages


def question(text: str, *files: Attachment) -> StoredMessage:
    return StoredMessage("c", "user", text, attachments=files)


def test_files_come_first_named_and_fenced():
    told = said(question("What is wrong?", Attachment("a.py", "print(1)\n"), Attachment("log.txt", "Error")))
    assert told == "a.py:\n```\nprint(1)\n```\n\nlog.txt:\n```\nError\n```\n\nWhat is wrong?"


def test_files_alone_are_a_question():
    assert said(question("  ", Attachment("a", "b"))) == "a:\n```\nb\n```"


def test_without_files_it_is_the_text_as_it_is():
    assert said(question(" ```x``` ")) == " ```x``` "


@pytest.mark.parametrize("inside", ["```", "a\n````md\n```py\n```\n````\n", "`" * 40, "``` \n" * 3])
def test_no_fence_inside_ends_the_file(inside):
    fence, *lines, end = said(question("", Attachment("a.md", inside))).split("\n")[1:]
    assert fence == end
    assert set(fence) == {"`"}
    assert fence not in "\n".join(lines)


@given(st.text(alphabet="`\n ab", max_size=60))
def test_the_file_is_in_it_as_it_is(text):
    told = said(question("q", Attachment("n", text)))
    fence = told.split("\n")[1]
    assert told.startswith(f"n:\n{fence}\n{text}")
    assert told.endswith(f"\n{fence}\n\nq")
    assert fence not in text


def test_a_name_stays_on_its_line():
    assert said(question("q", Attachment("a\n```\nb", "t"))).startswith("a ``` b:\n```\nt")


def test_half_surrogates_harm_neither_text_nor_file():
    assert sound("a\ud83d") == "a\ufffd"
    assert sound_file(Attachment("n\udc00", "t\ud83d")) == Attachment("n\ufffd", "t\ufffd")


def test_questions_that_were_not_answered_are_joined_with_their_files():
    asked = [question("one", Attachment("a", "x")), question("two")]
    (message,) = prompt_messages("", asked, "m")
    assert message.content == "a:\n```\nx\n```\n\none\n\ntwo"
