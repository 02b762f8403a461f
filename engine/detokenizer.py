"""Token ids -> printable text, one token at a time, never half a character."""

from __future__ import annotations

from collections.abc import Callable, Sequence

# A character is at most four bytes, so at most three more byte tokens can complete it.
_MAX_PENDING = 4
_HALF = "\ufffd"
_SEAM = 16  # tokens; the text of a token depends on few of those before it

Decode = Callable[[Sequence[int]], str]


class Detokenizer:
    """Gives the text that each new token makes printable.

    A token is decoded together with the ones of the last step, because the text of a token can depend on its
    neighbour (leading spaces, bytes of one character); only what is new is returned. The method is that of
    text-generation-inference (prefix and read offsets).

    Args:
        decode: ids -> text of the model's tokenizer, special tokens left out.
        begun: Ids whose text is known already, for a text that goes on.
    """

    def __init__(self, decode: Decode, begun: Sequence[int] = ()) -> None:
        self._decode = decode
        self._ids: list[int] = []
        self._prefix = 0
        self._read = 0
        for token_id in begun[-_SEAM:]:
            self.push(token_id)

    def push(self, token_id: int) -> str:
        """The text that became printable with this token, "" while a character is incomplete."""
        self._ids.append(token_id)
        text = self._decode(self._ids[self._prefix :])
        if text.endswith(_HALF) and len(self._ids) - self._read < _MAX_PENDING:
            return ""
        return self._advance(text)

    def flush(self) -> str:
        """What is still held back at the end, without the half character it may end in."""
        if self._read == len(self._ids):
            return ""
        return self._advance(self._decode(self._ids[self._prefix :]).rstrip(_HALF))

    def _advance(self, text: str) -> str:
        known = self._decode(self._ids[self._prefix : self._read])
        self._prefix, self._read = self._read, len(self._ids)
        return text[len(known) :]


class StopStrings:
    """Holds text back while it could still become a stop string.

    Args:
        stops: Strings that end the text; none is ever let through, in whole or in part.
        trim: Whether blanks that the text begins with are left out.
    """

    def __init__(self, stops: Sequence[str], *, trim: bool = False) -> None:
        self._stops = tuple(stops)
        self._trim = trim
        self._held = ""
        self.hit = False

    def push(self, text: str) -> str:
        """The text that is safe to show now; sets `hit` once a stop string is complete."""
        if self.hit:
            return ""
        self._held += text
        if self._trim:
            self._held = self._held.lstrip()
            self._trim = not self._held
        found = [at for stop in self._stops if (at := self._held.find(stop)) >= 0]
        if found:
            self.hit = True
            shown, self._held = self._held[: min(found)], ""
            return shown
        keep = max((_overlap(self._held, stop) for stop in self._stops), default=0)
        cut = len(self._held) - keep
        shown, self._held = self._held[:cut], self._held[cut:]
        return shown

    def flush(self) -> str:
        """What was held back and turned out to be no stop string."""
        shown, self._held = self._held, ""
        return shown


def never_shown(decode: Decode, ids: Sequence[int], shown: str, stops: Sequence[str]) -> str:
    """Text of a reply's ids that was held back when it was cut off, and has to come before what it goes on with."""
    text = decode(ids).rstrip(_HALF)
    owed = text[len(shown) :] if text.startswith(shown) else ""
    return "" if any(stop in owed for stop in stops) else owed


def _overlap(text: str, stop: str) -> int:
    """Length of the longest end of `text` that is a beginning of `stop`."""
    longest = min(len(text), len(stop) - 1)
    return next((n for n in range(longest, 0, -1) if stop.startswith(text[-n:])), 0)
