"""Sentences about chats that depend on numbers. Pure."""

from __future__ import annotations

from app.i18n import translate


def left_out(count: int) -> str:
    """So many of the oldest messages were not read."""
    one = translate(
        "chat_words",
        "This chat is longer than the model can hold: the oldest message was not read for the last answer.",
    )
    many = translate(
        "chat_words",
        "This chat is longer than the model can hold: the %Ln oldest messages were not read for the last answer.",
        count,
    )
    return one if count == 1 else many


def deleted(count: int) -> str:
    """So many messages were deleted."""
    many = translate("chat_words", "%Ln messages were deleted.", count)
    return translate("chat_words", "The message was deleted.") if count == 1 else many
