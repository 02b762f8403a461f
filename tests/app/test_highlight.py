"""Code to coloured pieces."""

from __future__ import annotations

import pytest

from app.highlight import LONGEST, highlight
from app.theme import Tokens

CODE = 'def f(x):  # why\n    return "a" if x else None'


def test_pieces_name_tokens_of_the_theme_and_lie_where_the_words_are() -> None:
    pieces = {CODE[piece.start : piece.start + piece.length]: piece.token for piece in highlight(CODE, "python")}
    assert pieces["def"] == pieces["return"] == "code_keyword"
    assert pieces["f"] == "code_name"
    assert pieces["# why"] == "code_comment"
    assert pieces["None"] == "code_literal"
    assert set(pieces.values()) <= Tokens.load("light").values.keys()


@pytest.mark.parametrize(
    ("code", "language"), [(CODE, ""), (CODE, "no-such-language"), ("x = 1\n" * LONGEST, "python")]
)
def test_what_cannot_be_coloured_stays_plain(code: str, language: str) -> None:
    assert highlight(code, language) == ()
