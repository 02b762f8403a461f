"""The branch of a conversation that is shown, as Markdown for people. Pure."""

from __future__ import annotations

import re
import time
from typing import Final

from app.i18n import translate
from app.records import Attachment, Conversation, StoredMessage

_UNFIT: Final = re.compile(r'[\x00-\x1f<>:"/\\|?*]+')
_RESERVED: Final = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.IGNORECASE)  # by Windows
NAME_LENGTH: Final = 60


def document(talk: Conversation, thread: list[StoredMessage]) -> str:
    """One conversation as a document: its title, when it was, its instructions, then questions and answers."""
    parts = [f"# {_line(talk.title) or translate('transfer', 'Untitled')}"]
    parts.append(f"*{time.strftime('%Y-%m-%d %H:%M', time.localtime(talk.created_at))}*")
    if talk.system_prompt:
        parts.append("\n".join(f"> {line}".rstrip() for line in talk.system_prompt.splitlines()))
    for message in thread:
        parts.append(f"## {_speaker(message)}")
        parts += [_file(attachment) for attachment in message.attachments]
        parts.append(message.content.strip("\n"))
    return "\n\n".join(part for part in parts if part) + "\n"


def file_name(talk: Conversation) -> str:
    """A name for a conversation's file that every system takes, without its ending."""
    name = _UNFIT.sub(" ", _line(talk.title))[:NAME_LENGTH].strip(" .") or translate("transfer", "Untitled")
    return f"{name}_" if _RESERVED.fullmatch(name) else name


def _speaker(message: StoredMessage) -> str:
    if message.role == "user":
        return translate("transfer", "Question")
    return _line(message.model) or translate("transfer", "Answer")


def _file(attachment: Attachment) -> str:
    longest = max((len(run) for run in re.findall("`+", attachment.text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"**{_line(attachment.name)}**\n\n{fence}\n{attachment.text}\n{fence}"


def _line(text: str) -> str:
    return " ".join(text.split())
