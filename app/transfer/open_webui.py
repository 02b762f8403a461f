"""Open WebUI's export: a list of chats, each with a tree of messages, or with a plain list of them in older ones."""

from __future__ import annotations

import html
import re
from dataclasses import replace
from typing import Any, Final

from app.i18n import translate
from app.records import Attachment, Conversation
from app.transfer.trees import Node, Speaker, Tree, build
from app.transfer.values import date, listing, mapping, moment, stable_id, text, title

# Thinking, as the program writes it into the answer
_REASONING: Final = re.compile(
    r'<details type="reasoning"([^>]*)>\s*(?:<summary>.*?</summary>)?(.*?)</details>\s*', re.DOTALL
)
_DURATION: Final = re.compile(r'duration="(\d+(?:\.\d+)?)"')
_QUOTE: Final = re.compile(r"^> ?", re.MULTILINE)


def is_open_webui(value: dict[str, Any]) -> bool:
    """Whether an object is a conversation of this format, or a plain list of messages with roles."""
    chat = _chat(value)
    return "messages" in mapping(chat.get("history")) or _is_list(chat.get("messages"))


def read(value: dict[str, Any]) -> Tree:
    """A conversation with all its branches."""
    chat = _chat(value)
    history = mapping(chat.get("history"))
    name = title(value.get("title")) or title(chat.get("title"))
    created = moment(value.get("created_at")) or moment(chat.get("timestamp")) or 0.0
    updated = max(created, moment(value.get("updated_at")) or created)
    found = _messages(history.get("messages")) or _messages(chat.get("messages"))
    named = text(value.get("id")) or text(chat.get("id"))
    said = [text(message.get("content")) for _, message in found]
    talk = Conversation(
        named or stable_id("open-webui", name, str(created), *said),
        name,
        created,
        updated,
        date(created),
        text(mapping(chat.get("params")).get("system")) or text(chat.get("system")),
        pinned=value.get("pinned") is True,
        archived_at=updated if value.get("archived") is True else None,
        titled=bool(name),
    )
    nodes = [_node(message_id or f"{talk.id}-{at}", message) for at, (message_id, message) in enumerate(found)]
    return build(talk, _chained(nodes), text(history.get("currentId")) or None)


def _chat(value: dict[str, Any]) -> dict[str, Any]:
    return value["chat"] if isinstance(value.get("chat"), dict) else value


def _is_list(messages: object) -> bool:
    return any("role" in mapping(message) for message in listing(messages))


def _messages(found: object) -> list[tuple[str, dict[str, Any]]]:
    if isinstance(found, dict):
        return [(text(key), mapping(message)) for key, message in found.items()]
    return [(text(mapping(message).get("id")), mapping(message)) for message in listing(found)]


def _chained(nodes: list[Node]) -> list[Node]:
    """Where no message names its parent, each follows the one before it."""
    if any(node.parent_id for node in nodes):
        return nodes
    before = [None, *(node.id for node in nodes)]
    return [replace(node, parent_id=above) for node, above in zip(nodes, before, strict=False)]


def _node(message_id: str, message: dict[str, Any]) -> Node:
    said, attachments = text(message.get("content")), []
    notes = [_part(mapping(part)) for part in listing(message.get("content"))]
    for file in map(mapping, listing(message.get("files"))):
        content = text(mapping(mapping(file.get("file")).get("data")).get("content"))
        if content:
            attachments.append(Attachment(text(file.get("name"), "file"), content))
        elif file:
            notes.append(_note(file))
    thinking = _REASONING.search(said)
    duration = _DURATION.search(thinking[1]) if thinking else None
    return Node(
        message_id,
        text(message.get("parentId")) or None,
        _role(message.get("role")),
        "\n\n".join(part for part in (*notes, _REASONING.sub(_think, said)) if part),
        moment(message.get("timestamp")),
        text(message.get("model")),
        tuple(attachments),
        float(duration[1]) if duration else None,
    )


def _role(role: object) -> Speaker | None:
    if role == "user":
        return "user"
    return "assistant" if role == "assistant" else None


def _think(found: re.Match[str]) -> str:
    inside = html.unescape(_QUOTE.sub("", found[2].strip()))
    return f"<think>\n{inside}\n</think>\n\n"


def _part(part: dict[str, Any]) -> str:
    return text(part.get("text")) if part.get("type", "text") == "text" else _note(part)


def _note(file: dict[str, Any]) -> str:
    """What is no text, in words."""
    if "image" in text(file.get("type")):
        return translate("transfer", "[An image that was not imported]")
    name = text(file.get("name"))
    if name:
        return translate("transfer", "[The file {name} that was not imported]").format(name=name)
    return translate("transfer", "[Something that was not imported]")
