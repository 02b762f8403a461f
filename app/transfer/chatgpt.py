"""ChatGPT's export: conversations.json, a list of trees of nodes. The format is not documented; fields may lack."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any, Final

from app.i18n import translate
from app.records import Conversation
from app.transfer.trees import Node, Tree, build
from app.transfer.values import date, listing, mapping, moment, number, stable_id, text, title

_CITATION: Final = re.compile("\ue200[^\ue201]*\ue201")  # places on web pages that only ChatGPT can open
_SAID_TO_TOOLS: Final = ("python", "canmore")  # what was written for these is worth reading; search queries are not


def is_chatgpt(value: dict[str, Any]) -> bool:
    """Whether an object is a conversation of this format."""
    return isinstance(value.get("mapping"), dict)


def read(value: dict[str, Any]) -> Tree:
    """A conversation; answers in several parts, with what tools put in between, become one message each."""
    mapping_of_nodes = mapping(value["mapping"])
    name = title(value.get("title"))
    created = moment(value.get("create_time")) or 0.0
    updated = max(created, moment(value.get("update_time")) or created)
    named = text(value.get("conversation_id")) or text(value.get("id"))
    talk = Conversation(
        named or stable_id("chatgpt", name, *map(str, mapping_of_nodes)),
        name,
        created,
        updated,
        date(created),
        pinned=value.get("is_starred") is True,
        archived_at=updated if value.get("is_archived") is True else None,
        titled=bool(name),
    )
    return build(talk, _nodes(mapping_of_nodes), text(value.get("current_node")) or None)


def _nodes(found: dict[str, Any]) -> list[Node]:
    """All nodes, versions in the order in which their parent names them."""
    parents: dict[str, str] = {}
    order: dict[str, int] = {}
    for parent, value in found.items():
        for child in map(text, listing(mapping(value).get("children"))):
            order.setdefault(child, len(order))
            parents.setdefault(child, parent)
    nodes = []
    for node_id, value in found.items():
        above = text(mapping(value).get("parent")) or parents.get(node_id)
        nodes.append(replace(_node(mapping(mapping(value).get("message"))), id=text(node_id), parent_id=above))
    return sorted(nodes, key=lambda node: order.get(node.id, -1))


def _node(message: dict[str, Any]) -> Node:
    author, content, metadata = (mapping(message.get(name)) for name in ("author", "content", "metadata"))
    role = author.get("role")
    recipient = text(message.get("recipient")) if role == "assistant" else ""
    said = _said(content, recipient or "all", from_tool=role == "tool")
    if role == "user":
        said = "\n\n".join([*_file_notes(metadata), *([said] if said else [])])
    hidden = metadata.get("is_visually_hidden_from_conversation") is True or role not in ("user", "assistant", "tool")
    return Node(
        "",
        None,
        None if hidden else "user" if role == "user" else "assistant",
        _CITATION.sub("", said),
        moment(message.get("create_time")),
        text(metadata.get("model_slug")),
        thinking_s=number(metadata.get("finished_duration_sec")),
    )


def _said(content: dict[str, Any], recipient: str, *, from_tool: bool) -> str:
    if from_tool:
        return _from_tool(content)
    if recipient != "all":
        return _to_tool(content, recipient)
    kind = text(content.get("content_type"), "text")
    if kind == "thoughts":
        return _thoughts(content)
    if kind == "code":
        return _fenced(_code(content), text(content.get("language")).replace("unknown", ""))
    if kind == "tether_quote":
        return "\n".join(f"> {line}" for line in text(content.get("text")).splitlines())
    said = "\n\n".join(part for part in _parts(content) if part)
    return said or ("" if kind == "reasoning_recap" else text(content.get("text")))


def _thoughts(content: dict[str, Any]) -> str:
    thoughts = [mapping(thought) for thought in listing(content.get("thoughts"))]
    inside = "\n\n".join(text(thought.get("content")) or text(thought.get("summary")) for thought in thoughts)
    return f"<think>\n{inside}\n</think>" if inside.strip() else ""


def _from_tool(content: dict[str, Any]) -> str:
    """What a program printed, and pictures that were made; web pages and the like were never shown."""
    if content.get("content_type") == "execution_output":
        return _fenced(text(content.get("text")), "")
    notes = [_note(part) for part in listing(content.get("parts")) if isinstance(part, dict)]
    return "\n\n".join(notes) if content.get("content_type") == "multimodal_text" else ""


def _to_tool(content: dict[str, Any], recipient: str) -> str:
    language = "python" if recipient == "python" else ""
    return _fenced(_code(content), language) if recipient.startswith(_SAID_TO_TOOLS) else ""


def _code(content: dict[str, Any]) -> str:
    return text(content.get("text")) or "\n".join(_parts(content))


def _parts(content: dict[str, Any]) -> list[str]:
    return [text(part) if isinstance(part, str) else _note(mapping(part)) for part in listing(content.get("parts"))]


def _note(part: dict[str, Any]) -> str:
    """What is no text, in words."""
    kind = text(part.get("content_type"))
    if "text" in part:
        return text(part["text"])
    if "image" in kind:
        return translate("transfer", "[An image that was not imported]")
    if "video" in kind:
        return translate("transfer", "[A video that was not imported]")
    if "audio" in kind:
        return translate("transfer", "[A recording that was not imported]")
    return translate("transfer", "[Something that was not imported]")


def _file_notes(metadata: dict[str, Any]) -> list[str]:
    names = [text(mapping(file).get("name")) for file in listing(metadata.get("attachments"))]
    note = translate("transfer", "[The file {name} that was not imported]")
    return [note.format(name=name) for name in names if name]


def _fenced(code: str, language: str) -> str:
    if not code.strip():
        return ""
    longest = max((len(run) for run in re.findall("`+", code)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{code.rstrip()}\n{fence}"
