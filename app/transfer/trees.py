"""Nodes of another program's conversation to a tree in which questions and answers take turns."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from app.records import Attachment, Conversation, StoredMessage
from app.transfer.values import date

Speaker = Literal["user", "assistant"]


@dataclass(frozen=True, slots=True)
class Tree:
    """A conversation with all its branches.

    Attributes:
        messages: Parents before their children, versions in their order.
        traces: How replies were made, as JSON by message id.
    """

    conversation: Conversation
    messages: tuple[StoredMessage, ...]
    traces: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Node:
    """A place in another program's tree.

    Attributes:
        role: None for what is not shown: its children follow its parent.
        created_at: Seconds since the epoch; None where it is not known.
    """

    id: str
    parent_id: str | None
    role: Speaker | None
    text: str = ""
    created_at: float | None = None
    model: str = ""
    attachments: tuple[Attachment, ...] = ()
    thinking_s: float | None = None


@dataclass(frozen=True, slots=True)
class _Run:
    """Nodes of one role below one another: they become one message."""

    parent_id: str | None = None
    role: Speaker | None = None
    nodes: tuple[Node, ...] = ()


def build(talk: Conversation, nodes: Iterable[Node], current: str | None) -> Tree:
    """A tree out of nodes in any order, with cycles and missing parents as they may be.

    Args:
        talk: The conversation; its leaf is set here.
        nodes: Children stand in the order of their versions.
        current: The node that is shown last.
    """
    known = {node.id: node for node in nodes}
    talk = talk if talk.created_at else _dated(talk, known.values())
    weaver = _Weaver(talk)
    weaver.weave(known)
    leaf, seen = current, set()
    while leaf in known and leaf not in weaver.message_of and leaf not in seen:
        seen.add(leaf)
        leaf = known[leaf].parent_id
    return Tree(replace(talk, leaf_id=weaver.message_of.get(leaf or "")), tuple(weaver.messages.values()))


def _dated(talk: Conversation, nodes: Iterable[Node]) -> Conversation:
    """A conversation that says nothing of its time, by that of its messages; or else it is from now."""
    times = [node.created_at for node in nodes if node.created_at is not None]
    first, last = min(times, default=time.time()), max(times, default=time.time())
    archived = None if talk.archived_at is None else last
    return replace(talk, created_at=first, updated_at=last, started_on=date(first), archived_at=archived)


class _Weaver:
    def __init__(self, talk: Conversation) -> None:
        self._talk = talk
        self.messages: dict[str, StoredMessage] = {}
        self.message_of: dict[str, str] = {}

    def weave(self, known: Mapping[str, Node]) -> None:
        children: dict[str, list[str]] = {}
        for node in known.values():
            if node.parent_id is not None and node.parent_id in known:
                children.setdefault(node.parent_id, []).append(node.id)
        visited: set[str] = set()
        roots = [node.id for node in known.values() if node.parent_id not in known]
        for root in (*roots, *known):  # what stands in a cycle has no root
            waiting = [(root, _Run())]
            while waiting:
                at, run = waiting.pop()
                if at in visited:
                    continue
                visited.add(at)
                run = self._enter(known[at], run)
                below = [child for child in children.get(at, ()) if child not in visited]
                if not below:
                    self._emit(run)
                waiting.extend((child, run) for child in reversed(below))

    def _enter(self, node: Node, run: _Run) -> _Run:
        said = bool(node.text.strip() or node.attachments)
        if node.role is not None and node.role == run.role and (said or node.thinking_s is not None):
            return replace(run, nodes=(*run.nodes, node))
        if node.role is None or not said:
            return run
        return _Run(self._emit(run), node.role, (node,))

    def _emit(self, run: _Run) -> str | None:
        """The id of the message of a run; several branches may follow it."""
        if run.role is None:
            return run.parent_id
        last = run.nodes[-1]
        if last.id not in self.messages:
            for node in run.nodes:
                self.message_of.setdefault(node.id, last.id)
            self.messages[last.id] = self._message(run, last.id, run.role)
        return last.id

    def _message(self, run: _Run, message_id: str, role: Speaker) -> StoredMessage:
        times = [node.thinking_s for node in run.nodes if node.thinking_s is not None]
        return StoredMessage(
            self._talk.id,
            role,
            "\n\n".join(node.text for node in run.nodes if node.text.strip()),
            id=message_id,
            parent_id=run.parent_id,
            model=next((node.model for node in reversed(run.nodes) if node.model), ""),
            created_at=next(
                (node.created_at for node in run.nodes if node.created_at is not None), self._talk.created_at
            ),
            attachments=tuple(attachment for node in run.nodes for attachment in node.attachments),
            thinking_s=sum(times) if times else None,
        )
