"""A file of conversations into the store."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from PySide6.QtCore import QObject

from app.db_writer import reading_connection
from app.i18n import translate
from app.records import Folder, title_from
from app.store import Store
from app.transfer import chatgpt, loquat_json, open_webui
from app.transfer.job import Control, TransferJob
from app.transfer.reading import HEADER, BadFile, read_entries
from app.transfer.result import Skipped, TransferResult
from app.transfer.staging import Staging
from app.transfer.trees import Tree
from app.transfer.values import mapping, text

MOST_SKIPPED: Final = 50  # that are named
_FORMATS: Final[tuple[tuple[Callable[[dict[str, Any]], bool], Callable[[dict[str, Any]], Tree]], ...]] = (
    (loquat_json.is_loquat, loquat_json.tree_from),
    (chatgpt.is_chatgpt, chatgpt.read),
    (open_webui.is_open_webui, open_webui.read),
)


def import_job(store: Store, path: Path, parent: QObject | None = None) -> TransferJob:
    """A job that imports a file: Loquat's JSON, ChatGPT's conversations.json or archive, or Open WebUI's JSON.

    All conversations come at once at the end, or none.
    """
    return TransferJob(path, lambda control: _Import(store, path, control).run(), parent)


class _Import:
    def __init__(self, store: Store, path: Path, control: Control) -> None:
        self._store = store
        self._path = path
        self._control = control
        self._folders: list[Folder] = []
        self._already_here = 0
        self._skipped: list[Skipped] = []
        self._skipped_count = 0

    def run(self) -> TransferResult:
        with self._store.importing:
            return self._run()

    def _run(self) -> TransferResult:
        reader = reading_connection(self._store.path)
        try:
            staging = Staging(self._store, reader)
            try:
                self._read(staging)
                staging.commit(self._folders)
            except BaseException:
                staging.discard()
                raise
        finally:
            reader.close()
        return TransferResult(
            self._path,
            len(staging.added),
            self._already_here,
            tuple(self._skipped),
            self._skipped_count,
            ids=tuple(staging.added),
            folders=tuple(staging.folders),
        )

    def _read(self, staging: Staging) -> None:
        for place, value in read_entries(self._path, self._control.tick):
            if place == "folders":
                folder = loquat_json.folder_from(value)
                self._folders += [folder] if folder else []
            elif place == HEADER:
                _refuse_newer(value)
                if tree_of(value) is not None:  # a file that is one conversation
                    self._take(staging, value)
            else:
                self._take(staging, value)
        if not (staging.added or self._already_here or self._skipped_count):
            raise BadFile(_nothing_found().format(file=self._path.name))

    def _take(self, staging: Staging, value: object) -> None:
        title = text(mapping(value).get("title"))
        tree = tree_of(value)
        if tree is None:
            self._skip(title, translate("transfer", "This is no chat that Loquat knows."))
        elif not tree.messages:
            self._skip(title, translate("transfer", "This chat is empty."))
        elif staging.add(named(tree)):
            return
        else:
            self._already_here += 1

    def _skip(self, title: str, reason: str) -> None:
        self._skipped_count += 1
        if len(self._skipped) < MOST_SKIPPED:
            self._skipped.append(Skipped(title, reason))


def tree_of(value: object) -> Tree | None:
    """A conversation out of an object of any of the formats, or None where it is none of them."""
    found = mapping(value)
    for fits, read in _FORMATS:
        if fits(found):
            return read(found)
    return None


def named(tree: Tree) -> Tree:
    """A tree whose conversation has a title."""
    if tree.conversation.title:
        return tree
    asked = next((message.content for message in tree.messages if message.role == "user"), "")
    return Tree(replace(tree.conversation, title=title_from(asked)), tree.messages, tree.traces)


def _refuse_newer(header: dict[str, Any]) -> None:
    version = header.get("version")
    if header.get("format") == loquat_json.FORMAT and isinstance(version, int) and version > loquat_json.VERSION:
        sentence = translate("transfer", "This file was exported by a newer version of Loquat. Please update Loquat.")
        raise BadFile(sentence, f"version {version}")


def _nothing_found() -> str:
    return translate(
        "transfer",
        "There are no chats in {file}. Loquat reads its own exports, ChatGPT's and Open WebUI's.",
    )
