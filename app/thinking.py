"""The thinking of a model, which some write before their answer: `<think>...</think>`. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

OPEN: Final = "<think>"
CLOSE: Final = "</think>"


@dataclass(frozen=True, slots=True)
class Parts:
    """A reply, or a piece of one, taken apart.

    Attributes:
        thought: What was thought, without its tags.
        answer: What is said.
    """

    thought: str = ""
    answer: str = ""


class ThinkingSplitter:
    """Takes a reply in pieces, wherever they are cut, and tells thought and answer apart.

    Only a tag at the very beginning counts; anywhere else it is text like any other.
    """

    def __init__(self) -> None:
        self._held = ""  # what may be the beginning of a tag
        self._state = "before"

    @property
    def thinking(self) -> bool:
        """Whether a thought has begun and is not over."""
        return self._state == "inside"

    def feed(self, text: str) -> Parts:
        """The next piece; what may still turn out to be a tag is kept for the next one."""
        held, self._held = self._held + text, ""
        match self._state:
            case "before":
                return self._begin(held)
            case "inside":
                return self._inside(held)
            case "between":
                return self._between(held)
        return Parts(answer=held)

    def finish(self) -> Parts:
        """What was kept back, now that nothing follows."""
        held, self._held = self._held, ""
        return Parts(thought=held) if self.thinking else Parts(answer=held)

    def _begin(self, text: str) -> Parts:
        shown = text.lstrip()
        if OPEN.startswith(shown[: len(OPEN)]) and len(shown) < len(OPEN):
            self._held = text
            return Parts()
        if shown.startswith(OPEN):
            self._state = "inside"
            return self._inside(shown.removeprefix(OPEN))
        self._state = "after"
        return Parts(answer=text)

    def _inside(self, text: str) -> Parts:
        thought, tag, rest = text.partition(CLOSE)
        if tag:
            self._state = "between"
            return Parts(thought, self._between(rest).answer)
        keep = next((size for size in range(len(CLOSE) - 1, 0, -1) if text.endswith(CLOSE[:size])), 0)
        self._held = text[len(text) - keep :]
        return Parts(thought=text[: len(text) - keep])

    def _between(self, text: str) -> Parts:
        """The empty lines between a thought and its answer belong to neither."""
        answer = text.lstrip()
        if answer:
            self._state = "after"
        return Parts(answer=answer)


def split(text: str) -> Parts:
    """A whole reply taken apart; a thought without an end is all thought."""
    splitter = ThinkingSplitter()
    parts, rest = splitter.feed(text), splitter.finish()
    return Parts(parts.thought + rest.thought, parts.answer + rest.answer)
