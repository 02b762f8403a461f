"""Text as the search index sees it: case, accents and width folded, scripts without spaces cut into characters. Pure.

FTS5's tokenizer takes a run of Chinese, Japanese, Korean or Thai as one word, so that nothing inside it could be found.
Here each of their characters becomes a word of its own; any run of them is then a phrase.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

PIECE: Final = 8_192  # characters folded at a time: a long text must not hold the interpreter lock for long
# Thai and Lao, Myanmar, Hangul jamo, Khmer, CJK radicals, kana, bopomofo, ideographs, Hangul, the supplementary planes
UNSPACED: Final = (
    "\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u2e80-\u2fdf\u3005-\u3007\u3021-\u3035\u3040-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\U00020000-\U0003ffff"
)
# Accents, Hebrew and Arabic vowel points, soft hyphens and joiners
_MARKS: Final = re.compile("[\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c7\u064b-\u065f\u0670\u00ad\u200c\u200d]")
_UNSPACED: Final = re.compile(f"[{UNSPACED}]")


def fold(text: str) -> str:
    """A text in which letters that people take for the same are the same: é and e, ß and ss, wide and narrow."""
    if text.isascii():
        return text.lower()
    plain = _MARKS.sub("", unicodedata.normalize("NFKD", text).casefold())
    return unicodedata.normalize("NFC", plain)


def segment(text: str | None) -> str:
    """A text for the index: folded, with spaces around each character of a script that has none."""
    if text is None or text.isascii():
        return text or ""  # the tokenizer folds ASCII by itself
    pieces = (text[start : start + PIECE] for start in range(0, len(text), PIECE))
    return "".join(_UNSPACED.sub(r" \g<0> ", fold(piece)) for piece in pieces)
