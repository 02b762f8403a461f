"""A place in the conversation for one message: its height is known, or estimated until its view is made."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from app.pages import MARKDOWN_PAGE, PLAIN_FIRST
from app.records import StoredMessage
from app.views.message_view import MessageView

_LINE: Final = 23


@dataclass(slots=True)
class Slot:
    """One message and its place.

    Attributes:
        height: Pixels.
        view: None until it comes near the part that is seen, and again when it is far from it.
        laid_out: The width for which `height` is right; 0 while it is an estimate.
    """

    message: StoredMessage
    height: int
    view: MessageView | None = None
    laid_out: int = 0

    def lay_out(self, width: int) -> None:
        """Find the height for a width, if there is a view to ask."""
        if self.view is not None and self.laid_out != width:
            self.height, self.laid_out = self.view.height_for(width), width

    def discard(self) -> None:
        """Let the view go."""
        if self.view is not None:
            self.view.hide()
            self.view.deleteLater()
            self.view = None

    def can_become(self, message: StoredMessage) -> bool:
        """Whether the view can show another version of its message."""
        same_kind = self.message.role == message.role and self.message.parent_id == message.parent_id
        return self.view is not None and same_kind and not self.view.streaming and self.view.edit_box is None


def common_length(slots: Sequence[Slot], messages: Sequence[StoredMessage]) -> int:
    """How many of the first messages are in their slots already."""
    pairs = enumerate(zip(slots, messages, strict=False))
    return next((n for n, (slot, message) in pairs if slot.message.id != message.id), min(len(slots), len(messages)))


def estimated_height(message: StoredMessage, width: int) -> int:
    """About how high a message will be, in pixels, without laying it out."""
    per_line = max(20, width // 8)
    shown = message.content[: PLAIN_FIRST if message.role == "user" else MARKDOWN_PAGE]
    lines = sum(1 + len(line) // per_line for line in shown.split("\n"))
    return lines * _LINE + (46 if message.role == "user" else 40)
