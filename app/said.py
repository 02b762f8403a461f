"""What a question says to the model: its files, named and fenced, then its own words. Pure, and the same every time."""

from __future__ import annotations

import re

from app.records import Attachment, StoredMessage

_FENCE = "```"


def said(message: StoredMessage) -> str:
    """The content of a message as the model reads it."""
    if not message.attachments:
        return message.content
    parts = [_fenced(attachment) for attachment in message.attachments]
    return "\n\n".join([*parts, message.content] if message.content.strip() else parts)


def sound(text: str) -> str:
    """Text without unpaired surrogates, which Qt can hold and UTF-8 cannot."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def sound_file(attachment: Attachment) -> Attachment:
    """A file whose name and text are sound."""
    return Attachment(sound(attachment.name), sound(attachment.text))


def _fenced(attachment: Attachment) -> str:
    """A file under its name, in a fence that is longer than any in it."""
    name = " ".join(attachment.name.split())
    fence, end = _fence_around(attachment.text), "" if attachment.text.endswith("\n") else "\n"
    return f"{name}:\n{fence}\n{attachment.text}{end}{fence}"


def _fence_around(text: str) -> str:
    if _FENCE not in text:  # a file can have megabytes
        return _FENCE
    return "`" * (1 + max(len(run) for run in re.findall("`{3,}", text)))
