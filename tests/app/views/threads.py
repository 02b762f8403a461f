"""Messages for the tests of a conversation's view."""

from __future__ import annotations

from typing import Any

from app.live import LiveTurn, ModelState
from app.records import StoredMessage
from app.views.chat_view import ChatView
from engine.stats import TurnStats
from tests.app.views.conftest import DOCUMENT

READY = ModelState("ready")
STATS = TurnStats(653, 612, 41, 103, 0.001, 0.003, 0.2, 0.21, 54.2, None, 1, 2.1)


def question(text: str = "What about it?", **values: Any) -> StoredMessage:
    return StoredMessage("c", "user", text, **values)


def answer(text: str = DOCUMENT, **values: Any) -> StoredMessage:
    return StoredMessage("c", "assistant", text, **values)


def begin_answer(chat: ChatView) -> StoredMessage:
    """An answer whose first word is there."""
    reply = answer("", status="partial")
    live = LiveTurn("decode", message_id="", completion_tokens=1)
    chat.show_turn(live, READY)
    chat.add_message(reply)
    chat.show_turn(LiveTurn("decode", message_id=reply.id), READY)
    return reply
