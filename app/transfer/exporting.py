"""Conversations of the store into files."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Final, Literal

from PySide6.QtCore import QObject

from app.db_writer import reading_connection
from app.records import Folder, StoredMessage, new_id
from app.rows import CONVERSATION, MESSAGES, conversation_from, message_from
from app.store import Store, connected
from app.transfer import loquat_json
from app.transfer.job import Control, TransferJob
from app.transfer.markdown import document, file_name
from app.transfer.result import TransferResult
from app.transfer.trees import Tree
from app.tree import MessageTree

Kind = Literal["json", "markdown"]

_ALL: Final = "SELECT id FROM conversation WHERE deleted_at IS NULL ORDER BY updated_at DESC"
_ONE: Final = f"SELECT {CONVERSATION} FROM conversation WHERE id = ? AND deleted_at IS NULL"  # noqa: S608
_TRACES: Final = (
    "SELECT message_id, json FROM turn_trace WHERE message_id IN (SELECT id FROM message WHERE conversation_id = ?)"
)
_RULE: Final = "\n---\n\n"


def export_job(
    store: Store, path: Path, kind: Kind, ids: Sequence[str] | None = None, parent: QObject | None = None
) -> TransferJob:
    """A job that exports conversations; the file is there when it is complete, and not before.

    Args:
        store: Where they are.
        path: A file for all; or, for Markdown, a folder that is there, which gets one file for each.
        kind: JSON is complete and can be imported; Markdown is for reading and holds the branch that is shown.
        ids: Which ones; None for all, those in the archive too.
        parent: The job's owner.
    """
    return TransferJob(path, lambda control: _export(store, path, kind, ids, control), parent)


def _export(store: Store, path: Path, kind: Kind, ids: Sequence[str] | None, control: Control) -> TransferResult:
    store.flush()
    reader = reading_connection(store.path)
    try:
        reader.execute("BEGIN")  # all is read as it is at this moment
        wanted = [row[0] for row in reader.execute(_ALL)] if ids is None else list(ids)
        trees = _trees(reader, wanted, control)
        if kind == "json":
            folders = [Folder(*row) for row in reader.execute("SELECT name, id, created_at FROM folder")]
            count = _written(path, lambda file: _write_json(file, folders, trees))
        elif path.is_dir():
            count = _write_files(path, trees)
        else:
            count = _written(path, lambda file: _write_document(file, trees))
    finally:
        reader.close()
    return TransferResult(path, count)


def _trees(reader: sqlite3.Connection, ids: Sequence[str], control: Control) -> Iterator[Tree]:
    for number, talk_id in enumerate(ids):
        control.tick(number, len(ids))
        found = reader.execute(_ONE, (talk_id,)).fetchone()
        if found is not None:
            messages = connected(message_from(row) for row in reader.execute(MESSAGES, (talk_id,)))
            yield Tree(conversation_from(found), tuple(messages), dict(reader.execute(_TRACES, (talk_id,))))
    control.tick(len(ids), len(ids))


def _written(path: Path, write: Callable[[IO[str]], int]) -> int:
    """Write a file beside its place, then put it there."""
    part = path.with_name(f"{path.name}.{new_id()[:8]}.part")  # another export may be writing the same file now
    try:
        with part.open("w", encoding="utf-8", newline="\n") as file:
            count = write(file)
        part.replace(path)
    except BaseException:
        with suppress(OSError):
            part.unlink(missing_ok=True)
        raise
    return count


def _write_json(file: IO[str], folders: Sequence[Folder], trees: Iterator[Tree]) -> int:
    start = json.dumps(loquat_json.header())[:-1]
    kept = json.dumps([loquat_json.folder_to(folder) for folder in folders], ensure_ascii=False)
    file.write(f'{start}, "folders": {kept}, "conversations": [')
    count = 0
    for count, tree in enumerate(trees, start=1):
        file.write(",\n" if count > 1 else "\n")
        json.dump(loquat_json.tree_to(tree), file, ensure_ascii=False)
    file.write("\n]}\n")
    return count


def _write_document(file: IO[str], trees: Iterator[Tree]) -> int:
    count = 0
    for count, tree in enumerate(trees, start=1):
        file.write(_RULE if count > 1 else "")
        file.write(document(tree.conversation, _thread(tree)))
    return count


def _write_files(folder: Path, trees: Iterator[Tree]) -> int:
    made: list[Path] = []
    try:
        for tree in trees:
            made.append(_new_file(folder, file_name(tree.conversation)))
            made[-1].write_text(document(tree.conversation, _thread(tree)), encoding="utf-8", newline="\n")
    except BaseException:
        for file in made:
            with suppress(OSError):
                file.unlink(missing_ok=True)
        raise
    return len(made)


def _new_file(folder: Path, name: str) -> Path:
    """A file that was not there, empty: another export into the folder takes another one."""
    number, path = 1, folder / f"{name}.md"
    while path.exists() or not _made(path):
        number += 1
        path = folder / f"{name} ({number}).md"
    return path


def _made(path: Path) -> bool:
    """Make an empty file; whether there was none."""
    try:
        path.touch(exist_ok=False)
    except FileExistsError:
        return False
    return True


def _thread(tree: Tree) -> list[StoredMessage]:
    return MessageTree(tree.messages, tree.conversation.leaf_id).thread()
