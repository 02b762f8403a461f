"""Loquat's own JSON: complete, so that what is exported and imported again is equal. Pure.

    {"format": "loquat", "version": 1, "folders": [...], "conversations": [...]}

A conversation has the fields of `app.records.Conversation` and its messages, parents before their children, with the
fields of `app.records.StoredMessage` and, as "trace", how it was made (the JSON of `engine.explain.trace` as text).
"""

from __future__ import annotations

import dataclasses
import json
from typing import Any, Final

from app.records import (
    ROLES,
    STATUSES,
    Attachment,
    ChatOptions,
    Conversation,
    Folder,
    Status,
    StoredMessage,
    new_id,
    stats_from_json,
)
from app.transfer.trees import Tree
from app.transfer.values import date, day, listing, mapping, number, seconds, text
from engine.chat import Role
from engine.stats import TurnStats

FORMAT: Final = "loquat"
VERSION: Final = 1
_LARGEST_ID: Final = 2**32 - 1


def header() -> dict[str, Any]:
    """What a file says of itself."""
    return {"format": FORMAT, "version": VERSION}


def folder_to(folder: Folder) -> dict[str, Any]:
    """A folder as an object."""
    return dataclasses.asdict(folder)


def tree_to(tree: Tree) -> dict[str, Any]:
    """A conversation with all its branches as an object."""
    talk = {f.name: getattr(tree.conversation, f.name) for f in dataclasses.fields(tree.conversation)}
    options = tree.conversation.options
    sampling = {name: value for name, value in options.sampling.items() if _is_json(value)}
    talk["options"] = {"assistant": options.assistant, "sampling": sampling}
    return {**talk, "messages": [_message_to(message, tree.traces.get(message.id)) for message in tree.messages]}


def _message_to(message: StoredMessage, trace: str | None) -> dict[str, Any]:
    found = {**dataclasses.asdict(message), "trace": trace}
    del found["conversation_id"]
    return {name: value for name, value in found.items() if value is not None and (name != "stats" or _is_json(value))}


def _is_json(value: object) -> bool:
    """Whether JSON can hold a value: it knows no infinity, and a file with one could not be read again."""
    try:
        json.dumps(value, allow_nan=False)
    except ValueError:
        return False
    return True


def is_loquat(value: dict[str, Any]) -> bool:
    """Whether an object is a conversation of this format."""
    return isinstance(value.get("messages"), list) and {"id", "leaf_id", "started_on"} <= value.keys()


def folder_from(value: object) -> Folder | None:
    """A folder, or None for what is none."""
    found = mapping(value)
    name, folder_id = text(found.get("name")), text(found.get("id"))
    return Folder(name, folder_id, seconds(found.get("created_at")) or 0.0) if name and folder_id else None


def tree_from(value: dict[str, Any]) -> Tree:
    """The inverse of `tree_to`; what is missing or of another kind has its default."""
    talk_id = text(value.get("id")) or new_id()
    found = {text(mapping(message).get("id")): mapping(message) for message in listing(value.get("messages"))}
    found.pop("", None)
    ordered = _parents_first(found)
    messages = tuple(_message_from(talk_id, found[at], parent) for at, parent in ordered.items())
    traces = {at: text(found[at].get("trace")) for at in ordered if text(found[at].get("trace"))}
    return Tree(_conversation_from(talk_id, value, found), messages, traces)


def _conversation_from(talk_id: str, value: dict[str, Any], messages: dict[str, Any]) -> Conversation:
    created = seconds(value.get("created_at")) or 0.0
    updated = seconds(value.get("updated_at"))
    leaf = text(value.get("leaf_id"))
    options = mapping(value.get("options"))
    return Conversation(
        talk_id,
        text(value.get("title")),
        created,
        created if updated is None else updated,
        day(value.get("started_on")) or date(created),
        text(value.get("system_prompt")),
        leaf if leaf in messages else None,
        value.get("pinned") is True,
        text(value.get("folder_id")) or None,
        seconds(value.get("archived_at")),
        value.get("titled") is not False,
        ChatOptions(text(options.get("assistant")), _sampling(options.get("sampling"))),
    )


def _sampling(value: object) -> dict[str, float | int | None]:
    found = {text(name): _number_as_it_is(each) for name, each in mapping(value).items()}
    return {name: each for name, each in found.items() if each is not None or mapping(value).get(name) is None}


def _number_as_it_is(value: object) -> float | int | None:
    return value if isinstance(value, int) and abs(value) < 2**63 else number(value)


def _message_from(talk_id: str, value: dict[str, Any], parent: str | None) -> StoredMessage:
    left_out = _number_as_it_is(value.get("left_out"))
    role: Role = next((role for role in ROLES if role == value.get("role")), "assistant")
    status: Status = next((status for status in STATUSES if status == value.get("status")), "complete")
    return StoredMessage(
        talk_id,
        role,
        text(value.get("content")),
        text(value.get("id")),
        parent,
        _ids(value.get("token_ids")),
        status,
        text(value.get("model")),
        _stats(value.get("stats")),
        seconds(value.get("created_at")) or 0.0,
        left_out if isinstance(left_out, int) else 0,
        tuple(_attachment(mapping(file)) for file in listing(value.get("attachments"))),
        number(value.get("thinking_s")),
    )


def _parents_first(found: dict[str, dict[str, Any]]) -> dict[str, str | None]:
    """The ids in the order of the file, but none before its parent, with the parents; in a cycle one has none."""
    ordered: dict[str, str | None] = {}
    for message_id in found:
        chain: dict[str, None] = {}  # a list would be looked through again and again
        at = message_id
        while at in found and at not in ordered and at not in chain:
            chain[at] = None
            at = text(found[at].get("parent_id"))
        for each in reversed(chain):
            parent = text(found[each].get("parent_id"))
            ordered[each] = parent if parent in ordered else None
    return ordered


def _ids(value: object) -> tuple[int, ...] | None:
    if not isinstance(value, list):
        return None
    whole = all(isinstance(each, int) and 0 <= each <= _LARGEST_ID for each in value)
    return tuple(value) if whole else None


def _attachment(value: dict[str, Any]) -> Attachment:
    return Attachment(text(value.get("name"), "file"), text(value.get("text")))


def _stats(value: object) -> TurnStats | None:
    if not isinstance(value, dict):
        return None
    try:
        return stats_from_json(json.dumps(value, default=float))
    except (TypeError, ValueError, KeyError, OverflowError):
        return None
