"""What is kept of a conversation, as frozen values: the store returns them and the views draw them."""

from __future__ import annotations

import dataclasses
import json
import struct
import time
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal, get_args

from engine.chat import Role
from engine.stats import ItlMs, TurnStats

Status = Literal["complete", "partial", "cancelled", "length"]
STATUSES: Final[tuple[Status, ...]] = get_args(Status)
ROLES: Final[tuple[Role, ...]] = ("system", "user", "assistant")  # of messages that are kept
TITLE_LENGTH: Final = 40


def new_id() -> str:
    """A fresh id for a conversation, a message or a request."""
    return uuid.uuid4().hex


def _today() -> str:
    return time.strftime("%Y-%m-%d")


@dataclass(frozen=True, slots=True)
class Folder:
    """A place in the list that conversations can be put into.

    Attributes:
        created_at: Seconds since the epoch.
    """

    name: str
    id: str = field(default_factory=new_id)
    created_at: float = field(default_factory=time.time)


@dataclass(frozen=True, slots=True)
class Attachment:
    """A text file that goes with a question: its name, and its whole text as it is said to the model."""

    name: str
    text: str


@dataclass(frozen=True, slots=True)
class ChatOptions:
    """What one conversation does otherwise than the settings say.

    Attributes:
        assistant: The id of its assistant; empty for none.
        sampling: Values by the names of the settings ("temperature", "top_p", "seed", ...); only those that differ.
    """

    assistant: str = ""
    sampling: Mapping[str, float | int | None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Conversation:
    """One conversation without its messages.

    Attributes:
        title: May be empty until the first question.
        created_at, updated_at: Seconds since the epoch.
        started_on: Local ISO date of its beginning, kept as text so that a change of time zone cannot alter the prompt.
        system_prompt: As it was when the conversation began; a later change of the setting leaves the prompt as it is.
        leaf_id: The last message of the branch that is shown; None while there is none.
        pinned: Whether it stands above all others.
        folder_id: The folder it lies in; None for none.
        archived_at: When it was put out of the list, kept and searchable; None while it is in the list.
        titled: Whether the person or the model named it; otherwise the title is the beginning of its first question.
    """

    id: str = field(default_factory=new_id)
    title: str = ""
    created_at: float = field(default_factory=time.time)
    updated_at: float = field(default_factory=time.time)
    started_on: str = field(default_factory=_today)
    system_prompt: str = ""
    leaf_id: str | None = None
    pinned: bool = False
    folder_id: str | None = None
    archived_at: float | None = None
    titled: bool = False
    options: ChatOptions = field(default_factory=ChatOptions)


@dataclass(frozen=True, slots=True)
class StoredMessage:
    """One message of a conversation's tree.

    Attributes:
        parent_id: The message before it; None for the first.
        token_ids: Ids of a generated reply; valid only for the model that `model` names.
        status: "partial" while it streams and when the program ended before the reply did.
        stats: The figures of the turn that made it.
        created_at: Seconds since the epoch.
        left_out: How many messages at the beginning of its branch did not fit the context and were not read for it.
        attachments: Files that go with a question; their text is said to the model before `content`.
        thinking_s: Seconds from the beginning of a reply's thinking block to its end; None where there is none.
    """

    conversation_id: str
    role: Role
    content: str
    id: str = field(default_factory=new_id)
    parent_id: str | None = None
    token_ids: tuple[int, ...] | None = None
    status: Status = "complete"
    model: str = ""
    stats: TurnStats | None = None
    created_at: float = field(default_factory=time.time)
    left_out: int = 0
    attachments: tuple[Attachment, ...] = ()
    thinking_s: float | None = None


@dataclass(frozen=True, slots=True)
class Version:
    """Which of the versions of a message is shown.

    Attributes:
        number: From 1.
        of: How many there are.
    """

    number: int = 1
    of: int = 1


def title_from(text: str) -> str:
    """The first words of a question, at most about 40 characters, cut at a word where there is one."""
    words = " ".join(text.split())
    if len(words) <= TITLE_LENGTH:
        return words
    cut = words[: TITLE_LENGTH + 1].rfind(" ")
    return words[: cut if cut > TITLE_LENGTH // 2 else TITLE_LENGTH].rstrip(" ,;:") + "…"


def pack_ids(ids: tuple[int, ...] | None) -> bytes | None:
    """Token ids as 4 little-endian bytes each."""
    return None if ids is None else struct.pack(f"<{len(ids)}I", *ids)


def unpack_ids(data: bytes | None) -> tuple[int, ...] | None:
    """The inverse of `pack_ids`."""
    if data is None:
        return None
    return struct.unpack(f"<{len(data) // 4}I", data)


def stats_to_json(stats: TurnStats | None) -> str | None:
    """Stats as one JSON object, so that a new figure needs no migration."""
    return None if stats is None else json.dumps(dataclasses.asdict(stats))


def stats_from_json(text: str | None) -> TurnStats | None:
    """Stats of a reply, or None where there are none or another version wrote figures that do not fit.

    Figures that came later have defaults, so that older stats can be read.
    """
    if not text:
        return None
    values = json.loads(text)
    fields = dataclasses.fields(TurnStats)
    if any(field.name not in values and field.default is dataclasses.MISSING for field in fields):
        return None
    known = {field.name: _frozen(values[field.name]) for field in fields if field.name in values}
    try:
        known["itl_ms"] = None if known["itl_ms"] is None else ItlMs(**known["itl_ms"])
    except TypeError:
        return None
    return TurnStats(**known)


def _frozen(value: Any) -> Any:  # noqa: ANN401 - any JSON value
    """A value as it was before JSON made lists of its tuples."""
    return tuple(value) if isinstance(value, list) else value


def options_to_json(options: ChatOptions) -> str | None:
    """What a conversation does otherwise as one JSON object; None where that is nothing."""
    if options == ChatOptions():
        return None
    return json.dumps({"assistant": options.assistant, "sampling": dict(options.sampling)})


def options_from_json(text: str | None) -> ChatOptions:
    """The inverse of `options_to_json`."""
    if not text:
        return ChatOptions()
    values: dict[str, Any] = json.loads(text)
    return ChatOptions(values["assistant"], values["sampling"])


def attachments_to_json(attachments: Sequence[Attachment]) -> str | None:
    """Files as a JSON list of objects; None where there are none."""
    if not attachments:
        return None
    return json.dumps([dataclasses.asdict(attachment) for attachment in attachments], ensure_ascii=False)


def attachments_from_json(text: str | None) -> tuple[Attachment, ...]:
    """The inverse of `attachments_to_json`."""
    return tuple(Attachment(**values) for values in json.loads(text)) if text else ()
