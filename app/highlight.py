"""Code to coloured pieces, by Pygments and the theme's code tokens. Pure, no Qt."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from pygments.lexer import Lexer
from pygments.lexers import get_lexer_by_name
from pygments.token import Token, _TokenType
from pygments.util import ClassNotFound

LONGEST: Final = 200_000  # characters; a longer text stays plain

_TOKENS: Final[dict[_TokenType, str]] = {
    Token.Comment: "code_comment",
    Token.Keyword: "code_keyword",
    Token.Keyword.Constant: "code_literal",
    Token.Operator.Word: "code_keyword",
    Token.Literal.Number: "code_literal",
    Token.Literal.String: "code_string",
    Token.Literal.String.Escape: "code_literal",
    Token.Name.Function: "code_name",
    Token.Name.Class: "code_name",
    Token.Name.Decorator: "code_name",
    Token.Name.Tag: "code_keyword",
    Token.Name.Attribute: "code_name",
    Token.Generic.Deleted: "code_keyword",
    Token.Generic.Inserted: "code_string",
    Token.Generic.Heading: "code_name",
}


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of code and the theme token of its colour; positions in characters."""

    start: int
    length: int
    token: str


@lru_cache(maxsize=64)
def _lexer(language: str) -> Lexer | None:
    try:
        return get_lexer_by_name(language)
    except ClassNotFound:
        return None


@lru_cache(maxsize=256)
def _token(kind: _TokenType) -> str:
    at: _TokenType | None = kind
    while at is not None and at not in _TOKENS:
        at = at.parent
    return "" if at is None else _TOKENS[at]


def prepare(language: str) -> None:
    """Get ready for a language: the first time takes up to 0.1 s, which is better spent beside the window's thread."""
    if language:
        _lexer(language.lower())


def pieces(code: str, language: str) -> Iterator[Piece]:
    """The pieces that have a colour of their own, found as they are asked for; none for an unknown language.

    A very long text has none either.
    """
    lexer = _lexer(language.lower()) if language and len(code) <= LONGEST else None
    if lexer is None:
        return
    for at, kind, text in lexer.get_tokens_unprocessed(code):
        token = _token(kind)
        if token and text:
            yield Piece(at, len(text), token)


def highlight(code: str, language: str) -> tuple[Piece, ...]:
    """All of these pieces at once."""
    return tuple(pieces(code, language))
