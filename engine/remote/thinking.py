"""Some servers send what a model thinks beside its answer; here it stands before it, between the usual tags."""

from __future__ import annotations

from typing import Any, Final

OPEN: Final = "<think>\n"
CLOSE: Final = "\n</think>\n\n"


class Joined:
    """Puts the two streams of one reply together."""

    def __init__(self) -> None:
        self._thinking = False

    def text(self, delta: Any) -> str:  # noqa: ANN401 - an object of the `openai` client, with what a server added
        """What a piece of a reply adds to its text."""
        thought = _first_text(delta, "reasoning_content", "reasoning")  # as vLLM and others name it
        said = _first_text(delta, "content")
        opened = OPEN if thought and not self._thinking else ""
        closed = CLOSE if said and (self._thinking or thought) else ""
        self._thinking = bool(thought or self._thinking) and not said
        return f"{opened}{thought}{closed}{said}"


def _first_text(delta: Any, *names: str) -> str:  # noqa: ANN401 - as above
    values = (getattr(delta, name, None) for name in names)
    return next((value for value in values if isinstance(value, str) and value), "")
