"""What can be read of a damaged database, written into a fresh one. The damaged file is only read."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final, TypeVar

from app.db_writer import connect
from app.i18n import translate
from app.migrations import migrate
from app.records import ROLES, STATUSES, Conversation, Folder, StoredMessage, title_from
from app.rows import ADD_FOLDER, SAVE_DRAFT, conversation_from, message_from, tree_statements
from app.sqlite_pages import Pages, Value
from app.transfer.values import number, seconds

Made = TypeVar("Made")

_DATE: Final = re.compile(r"(\d{4}-\d\d-\d\d)?")
_TEXT: Final = (str,)
_NUMBER: Final = (int, float)
_NONE: Final = type(None)
# The columns of a row in the file, in the order in which the steps of `app.migrations` made them. An older row ends
# earlier. The column that is the rowid reads as None.
_CONVERSATION: Final = (
    *(_TEXT, _TEXT, _NUMBER, _NUMBER, _TEXT, _TEXT, (_NONE, *_NUMBER), (_NONE, str)),
    *((int,), (_NONE, str), (_NONE, *_NUMBER), (int,), (_NONE, str), (_NONE, int)),
)
_MESSAGE: Final = (
    *((_NONE,), _TEXT, _TEXT, (_NONE, str), _TEXT, _TEXT, (_NONE, bytes), _TEXT, _TEXT, (_NONE, str), _NUMBER),
    *((int,), (_NONE, str), (_NONE, *_NUMBER), (_NONE, *_NUMBER), (int,)),
)
_CONVERSATION_SINCE: Final = 8  # columns of the first version
_MESSAGE_SINCE: Final = 11


@dataclass(frozen=True, slots=True)
class Rescue:
    """What came out of a damaged file.

    Attributes:
        lost: Messages that are known to be lost, because another row names them; there may be more.
    """

    conversations: int
    messages: int
    lost: int


@dataclass(slots=True)
class Recovered:
    """What was found in a damaged file, by id.

    Attributes:
        messages: With their keys, which give their order.
        gone: Ids of conversations that were deleted.
        removed: Ids of messages that were deleted.
    """

    conversations: dict[str, Conversation] = field(default_factory=dict)
    messages: dict[str, tuple[int, StoredMessage]] = field(default_factory=dict)
    folders: dict[str, Folder] = field(default_factory=dict)
    drafts: dict[str, tuple[str, str | None]] = field(default_factory=dict)
    traces: dict[str, str] = field(default_factory=dict)
    gone: set[str] = field(default_factory=set)
    removed: set[str] = field(default_factory=set)

    def take(self, rowid: int, row: list[Value]) -> None:
        """Keep a row if it is one of ours, known by the kinds of its columns."""
        if _fits(row, _MESSAGE, _MESSAGE_SINCE) and row[4] in ROLES and row[7] in STATUSES:
            self._take_message(rowid, row)
        elif _fits(row, _CONVERSATION, _CONVERSATION_SINCE) and _DATE.fullmatch(str(row[4])):
            self._take_conversation(row)
        elif _fits(row, (_TEXT, _TEXT, _NUMBER), 3):
            self.folders.setdefault(str(row[0]), Folder(str(row[1]), str(row[0]), _time(row[2])))
        elif _fits(row, (_TEXT, _TEXT, (_NONE, str)), 3):
            self.drafts[str(row[0])] = str(row[1]), _json_or_none(row[2])
        elif _fits(row, (_TEXT, _TEXT), 2) and _json_or_none(row[1]):
            self.traces[str(row[0])] = str(row[1])

    def _take_message(self, rowid: int, row: list[Value]) -> None:
        row = _padded(row, _MESSAGE_SINCE, (0, None, None, None))
        _, message_id, owner, parent, role, content, ids, status, model, stats, created, left_out = row[:12]
        attachments, thinking, deleted = row[12:15]
        if deleted is not None or not message_id:
            self.removed.add(str(message_id))
            return
        whole_ids = ids if isinstance(ids, bytes) and len(ids) % 4 == 0 else None
        values = (owner, role, content, message_id, parent, whole_ids, status, model)
        more = (_json_or_none(stats), _time(created), left_out, _json_or_none(attachments), number(thinking))
        message = _or_none(message_from, (*values, *more)) or message_from(
            (*values, None, _time(created), left_out, None, None)
        )
        self.messages[message.id] = (rowid, message)

    def _take_conversation(self, row: list[Value]) -> None:
        row = _padded(row, _CONVERSATION_SINCE, (0, None, None, 1, None))
        if row[6] is not None:
            self.gone.add(str(row[0]))
            return
        pinned, folder, archived, titled = row[8:12]
        kept = (*row[:2], _time(row[2]), _time(row[3]), *row[4:6], row[7], pinned, folder, seconds(archived), titled)
        talk = _or_none(conversation_from, (*kept, _json_or_none(row[12]))) or conversation_from((*kept, None))
        self.conversations[talk.id] = talk

    def trees(self) -> list[tuple[Conversation, list[StoredMessage]]]:
        """Whole conversations: a message whose parent is lost follows the one before it."""
        messages: dict[str, list[StoredMessage]] = {}
        for _, message in sorted(self.messages.values(), key=lambda found: found[0]):
            if message.conversation_id not in self.gone:
                messages.setdefault(message.conversation_id, []).append(message)
        owners = {**{owner: _owner(owner, found) for owner, found in messages.items()}, **self.conversations}
        return [self._whole(talk, messages.get(talk.id, [])) for talk in owners.values()]

    def lost(self) -> int:
        """How many messages are named by another row, as its parent or as the last one, and are not there."""
        kept = (message for _, message in self.messages.values() if message.conversation_id not in self.gone)
        named = {message.parent_id for message in kept} | {talk.leaf_id for talk in self.conversations.values()}
        return len(named - {None} - self.messages.keys() - self.removed)

    def _whole(self, talk: Conversation, messages: list[StoredMessage]) -> tuple[Conversation, list[StoredMessage]]:
        known: dict[str, StoredMessage] = {}
        for message in messages:
            lost = message.parent_id is not None and message.parent_id not in known
            known[message.id] = replace(message, parent_id=next(reversed(known), None)) if lost else message
        folder = talk.folder_id if talk.folder_id in self.folders else None
        leaf = talk.leaf_id if talk.leaf_id in known else next(reversed(known), None)
        return replace(talk, folder_id=folder, leaf_id=leaf), list(known.values())


def recover(damaged: Path, fresh: Path) -> Rescue:
    """Write what can be read of a database, and of the log beside it, into a new one.

    Args:
        damaged: Only read.
        fresh: Must not exist.

    Raises:
        OSError: The damaged file cannot be read.
        sqlite3.Error: The new one cannot be written.
    """
    found = Recovered()
    log = damaged.with_name(f"{damaged.name}-wal")
    for rowid, row in Pages(damaged.read_bytes(), log.read_bytes() if log.exists() else b"").rows():
        found.take(rowid, row)
    trees = found.trees()
    db = connect(fresh)
    try:
        migrate(db)
        db.execute("BEGIN IMMEDIATE")
        for folder in found.folders.values():
            db.execute(ADD_FOLDER, (folder.id, folder.name, folder.created_at))
        for talk, messages in trees:
            for statement, values in tree_statements(talk, messages, _traces(found.traces, messages)):
                db.execute(statement, values)
        kept = {"", *(talk.id for talk, _ in trees)}
        for owner, draft in found.drafts.items():
            if owner in kept:
                db.execute(SAVE_DRAFT, (owner, *draft))
        db.execute("COMMIT")
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")  # from the log into the file, which alone will be renamed
    finally:
        db.close()
    return Rescue(len(trees), sum(len(messages) for _, messages in trees), found.lost())


def sentence_about(rescue: Rescue, aside: Path) -> str:
    """How much is here again and how much is not, as far as a damaged file can tell."""
    if not rescue.conversations:
        sentence = translate(
            "recover",
            "The saved chats were damaged and could not be read. The damaged file was kept as {file}.",
        )
        return sentence.format(file=aside)
    sentence = translate(
        "recover",
        "The saved chats were damaged. {conversations} with {messages} could be read and are here; {lost}. "
        "The damaged file was kept as {file}.",
    )
    lost = translate("recover", "others may be missing")
    if rescue.lost:
        lost = translate("recover", "at least %Ln messages are lost", rescue.lost)
    return sentence.format(
        conversations=translate("recover", "%Ln chats", rescue.conversations),
        messages=translate("recover", "%Ln messages", rescue.messages),
        lost=lost,
        file=aside,
    )


def _traces(traces: Mapping[str, str], messages: list[StoredMessage]) -> dict[str, str]:
    return {message.id: traces[message.id] for message in messages if message.id in traces}


def _owner(conversation_id: str, messages: list[StoredMessage]) -> Conversation:
    """The conversation that messages belonged to, where only they are left."""
    asked = next((message.content for message in messages if message.role == "user"), "")
    title = title_from(asked) or translate("recover", "Recovered chat")
    times = [message.created_at for message in messages]
    return Conversation(conversation_id, title, min(times), max(times), started_on="", titled=True)


def _fits(row: list[Value], kinds: tuple[tuple[type, ...], ...], least: int) -> bool:
    return least <= len(row) <= len(kinds) and all(
        isinstance(value, kind) for value, kind in zip(row, kinds, strict=False)
    )


def _padded(row: list[Value], since: int, defaults: tuple[Value, ...]) -> list[Value]:
    """A row with the values of the columns that came later."""
    return [*row, *defaults[len(row) - since :]] if len(row) < since + len(defaults) else row


def _time(value: Value) -> float:
    """A time that can be shown: a flipped bit makes one of the year 10^300."""
    return seconds(value) or 0.0


def _json_or_none(value: Value) -> str | None:
    try:
        json.loads(str(value))
    except ValueError:
        return None
    return str(value)


def _or_none(make: Callable[[tuple[Any, ...]], Made], row: tuple[Any, ...]) -> Made | None:
    """A value from a row, or None where a damaged column holds something else than it should."""
    try:
        return make(row)
    except (TypeError, ValueError, KeyError, AttributeError):
        return None
