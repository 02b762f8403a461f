"""What nobody should put into the window, put into it whole: no freeze, no crash, nothing executed, nothing lost."""

from __future__ import annotations

import json
import socket
import sqlite3
import stat
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import (
    QDesktopServices,
    QDragEnterEvent,
    QDropEvent,
    QGuiApplication,
    QKeySequence,
)
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget

from app import db_writer
from app.db_writer import connect
from app.desktop import Desktop
from app.migrations import STEPS, StoreTooNew
from app.records import StoredMessage
from app.store import Store
from app.views.import_dialog import ImportDialog
from engine.paths import Paths
from tests.app.fake_worker import Reply
from tests.app.many import fill
from tests.integration.whole_window import PATIENCE_MS, answers, ask, no_freeze, said, shut

# -- the database ------------------------------------------------------------------------------------------------------


@pytest.mark.expects_log("the database is damaged")
def test_a_damaged_database_is_told_and_what_can_be_read_is_there(
    open_window: Callable[..., Desktop], loquat_home: Paths, qtbot: Any
) -> None:
    loquat_home.data.mkdir(parents=True)
    fill(loquat_home.database, 30, 10)
    content = bytearray(loquat_home.database.read_bytes())
    content[:4096] = b"\xff" * 4096  # the header and the schema
    loquat_home.database.write_bytes(content)
    desktop = open_window()
    assert len(desktop.chats.conversations()) >= 25
    assert any("damaged" in sentence for sentence in said(desktop)), said(desktop)
    kept = [file for file in loquat_home.data.iterdir() if file.read_bytes() == bytes(content)]
    assert kept, "the damaged file is kept beside the new one"
    ask(desktop, qtbot)
    assert answers(loquat_home)[-1] == ("complete", "You said: Well?")


def test_a_newer_database_is_refused_and_not_touched(open_window: Callable[..., Desktop], loquat_home: Paths) -> None:
    Store(loquat_home.database).close()
    db = sqlite3.connect(loquat_home.database)
    db.execute(f"PRAGMA user_version = {len(STEPS) + 1}")
    db.close()
    before = {file: file.read_bytes() for file in loquat_home.data.iterdir()}
    with pytest.raises(StoreTooNew, match="newer version"):
        open_window()
    assert {file: file.read_bytes() for file in loquat_home.data.iterdir()} == before


# -- imports -----------------------------------------------------------------------------------------------------------


def chatgpt_export(path: Path, conversations: int, words: int) -> None:
    """A file as ChatGPT exports it."""
    text = "some words of an answer " * (words // 5)
    with path.open("w", encoding="utf-8") as file:
        file.write("[")
        for number in range(conversations):
            nodes = {
                f"n{number}-{at}": {
                    "id": f"n{number}-{at}",
                    "parent": f"n{number}-{at - 1}" if at else None,
                    "children": [f"n{number}-{at + 1}"] if at < 9 else [],
                    "message": {
                        "id": f"m{number}-{at}",
                        "author": {"role": "assistant" if at % 2 else "user"},
                        "create_time": 1.7e9 + at,
                        "content": {"content_type": "text", "parts": [f"{number} {at} {text}"]},
                    },
                }
                for at in range(10)
            }
            talk = {"title": f"Chat {number}", "create_time": 1.7e9, "mapping": nodes, "current_node": f"n{number}-9"}
            file.write(("," if number else "") + json.dumps(talk))
        file.write("]")


def take_file(desktop: Desktop, path: Path) -> ImportDialog:
    """Choose a file in the dialog and press its button."""
    desktop.conductor.transfers.import_chats(str(path))
    dialog = desktop.window.findChild(ImportDialog)
    assert dialog is not None
    dialog.action_button.click()
    return dialog


@pytest.mark.slow
@pytest.mark.timeout(400)
def test_two_hundred_megabytes_are_imported_while_one_types(
    open_window: Callable[..., Desktop], tmp_path: Path, qtbot: Any
) -> None:
    path = tmp_path / "conversations.json"
    chatgpt_export(path, 2100, 2000)
    assert path.stat().st_size > 200e6
    desktop = open_window()
    editor = desktop.window.composer.editor
    typed = 0
    with no_freeze():
        dialog = take_file(desktop, path)
        deadline = time.monotonic() + 240
        while dialog.working:
            assert time.monotonic() < deadline
            QTest.keyClick(editor, Qt.Key.Key_A)
            typed += 1
            QTest.qWait(50)
        qtbot.waitUntil(lambda: len(desktop.chats.conversations()) == 2100, timeout=PATIENCE_MS)
    assert editor.toPlainText() == "a" * typed
    dialog.close()


@pytest.mark.parametrize("content", [b"", b"no json", b"{}", b'[{"a": 1}]', bytes(range(256)) * 100, b"[" * 100_000])
def test_a_file_of_the_wrong_kind_is_refused_with_a_sentence(
    open_window: Callable[..., Desktop], tmp_path: Path, qtbot: Any, content: bytes
) -> None:
    path = tmp_path / "conversations.json"
    path.write_bytes(content)
    desktop = open_window()
    with no_freeze():
        dialog = take_file(desktop, path)
        qtbot.waitUntil(lambda: not dialog.working, timeout=PATIENCE_MS)
    assert dialog.sentence_shown.endswith(".")
    assert desktop.chats.conversations() == ()
    dialog.close()


# -- what is pasted and dropped ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["many words ", "x", "line\n", "推理", "مرحبا "], ids=repr)
def test_five_megabytes_are_pasted(open_window: Callable[..., Desktop], qtbot: Any, text: str) -> None:
    desktop = open_window(Reply(("Fine.",)))
    editor = desktop.window.composer.editor
    QGuiApplication.clipboard().setText(text * (4_900_000 // len(text.encode())))
    with no_freeze():
        QTest.keySequence(editor, QKeySequence.StandardKey.Paste)
        qtbot.waitUntil(lambda: bool(desktop.window.composer.attachments), timeout=PATIENCE_MS)
        QTest.keyClicks(editor, "why")
        ask_button = desktop.window.composer.button
        qtbot.mouseClick(ask_button, Qt.MouseButton.LeftButton)
        session = desktop.chats.current
        assert session is not None
        qtbot.waitUntil(lambda: len(session.messages()) == 2 and not session.busy, timeout=PATIENCE_MS)
    assert len(session.messages()[0].attachments[0].text) > 1_000_000


def drop(widget: QWidget, mime: QMimeData) -> None:
    """Drop something on the middle of a widget; Qt delivers a drop only where what is dragged has entered before."""
    middle, keys, buttons = widget.rect().center(), Qt.KeyboardModifier.NoModifier, Qt.MouseButton.LeftButton
    entered = QDragEnterEvent(middle, Qt.DropAction.CopyAction, mime, buttons, keys)
    QApplication.sendEvent(widget, entered)
    assert entered.isAccepted()
    QApplication.sendEvent(widget, QDropEvent(QPointF(middle), Qt.DropAction.CopyAction, mime, buttons, keys))


@pytest.mark.parametrize("target", ["window", "editor"])
def test_a_binary_file_is_refused_and_nothing_of_it_is_run(
    open_window: Callable[..., Desktop], tmp_path: Path, qtbot: Any, target: str
) -> None:
    path = tmp_path / "program"
    path.write_bytes(b"#!/bin/sh\ntouch " + str(tmp_path / "ran").encode() + b"\n" + bytes(range(256)) * 4000)
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    desktop = open_window()
    mime = QMimeData()
    mime.setUrls([QUrl.fromLocalFile(str(path))])
    with no_freeze():
        drop(desktop.window if target == "window" else desktop.window.composer.editor.viewport(), mime)
        qtbot.waitUntil(lambda: bool(said(desktop)), timeout=PATIENCE_MS)
    assert "program" in said(desktop)[0]
    assert desktop.window.composer.attachments == ()
    assert path.exists()
    assert not (tmp_path / "ran").exists()


# -- what an answer may say --------------------------------------------------------------------------------------------

HOSTILE = """<script>alert(1)</script> <img src="http://127.0.0.1:{port}/a.png"> <iframe src="file://{secret}"></iframe>

![picture](http://127.0.0.1:{port}/b.png) ![own](file://{secret}) ![own]({secret})

[web](http://127.0.0.1:{port}/c) [file](file://{secret}) [script](javascript:alert(1)) [data](data:text/html,x)

<object data="file://{secret}"></object> <link rel="stylesheet" href="http://127.0.0.1:{port}/d.css">
<style>@import url("http://127.0.0.1:{port}/e.css")</style> <a href="file://{secret}">here</a>

| <img src="file://{secret}"> | ![x](http://127.0.0.1:{port}/f.png) |
|--|--|
| <b>bold</b> | $\\includegraphics{{{secret}}}$ $\\input{{{secret}}}$ |

```html
<img src="http://127.0.0.1:{port}/g.png">
```
"""


@pytest.fixture
def watched_secret(tmp_path: Path) -> Iterator[tuple[Path, list[str]]]:
    """A file, and which of the program's own accesses named it or another address, as the interpreter audits them."""
    secret = tmp_path / "secret.png"
    secret.write_bytes(b"nothing")
    seen: list[str] = []
    watching = [True]

    def hook(event: str, arguments: tuple[object, ...]) -> None:
        if watching and (
            event in ("socket.connect", "socket.getaddrinfo", "subprocess.Popen", "os.system", "webbrowser.open")
            or (event == "open" and str(secret) in str(arguments[0]))
        ):
            seen.append(f"{event} {arguments}")

    sys.addaudithook(hook)  # hooks cannot be taken away again; this one looks no more after the test
    yield secret, seen
    watching.clear()


def test_html_and_links_in_an_answer_do_nothing(
    open_window: Callable[..., Desktop],
    watched_secret: tuple[Path, list[str]],
    qtbot: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    opened: list[str] = []
    monkeypatch.setattr(QDesktopServices, "openUrl", lambda url: opened.append(url.toString()))
    secret, seen = watched_secret
    read_before = secret.stat().st_atime_ns
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.setblocking(False)
        text = HOSTILE.format(port=server.getsockname()[1], secret=secret)
        desktop = open_window(Reply(tuple(text[at : at + 7] for at in range(0, len(text), 7))))
        with no_freeze():
            ask(desktop, qtbot)
            QTest.qWait(300)  # formulas are drawn and pictures would be fetched behind the window
        with pytest.raises(BlockingIOError):
            server.accept()  # nobody came
    desktop.window.chat.message_views()[-1].action_row.plain_copy_requested.emit()
    assert "<script>alert(1)</script>" in QGuiApplication.clipboard().text(), "it is shown as it was written"
    assert opened == []
    assert seen == []
    assert secret.stat().st_atime_ns == read_before
    assert desktop.store.tree(desktop.chats.conversations()[0].id).thread()[-1].content == text


@pytest.mark.parametrize(
    "text",
    [
        "x" * 10_000,
        "`" + "y" * 10_000 + "`",
        "https://example.org/" + "z" * 10_000,
        "```\n" + "w" * 10_000 + "\n```",
        "| a | b |\n|--|--|\n| " + "v" * 10_000 + " | " + "推" * 10_000 + " |",
        "مرحبا بالعالم، هذا جواب طويل. " * 400,
        "שלום 123 (world) `code` **עולם** " * 400,
        "\u202eoverride\u202c \u200f\u200e " * 500,
        "🙂👩‍👩‍👧‍👦é" * 2000,
        "> " * 2000 + "deep",
        "- " * 1000 + "deep",
        "*" * 20_000,
        "[" * 2_000 + "](" * 2_000,
        "$" * 5_000 + "\\frac{" * 2000,
        "\x00\x01\x1b[31m\ud800 \ufffe" * 500,
    ],
    ids=lambda text: ascii(text[:12]),
)
def test_any_answer_is_shown_without_a_freeze_and_kept(
    open_window: Callable[..., Desktop], loquat_home: Paths, qtbot: Any, text: str
) -> None:
    desktop = open_window(Reply(tuple(text[at : at + 200] for at in range(0, len(text), 200)), delay_s=0.005))
    with no_freeze():
        ask(desktop, qtbot, text[:5000].strip() or "?")
        desktop.window.resize(420, 600)
        QTest.qWait(50)
        desktop.window.resize(1300, 800)
        QTest.qWait(50)
    column = desktop.window.chat.viewport().width()
    assert all(view.width() <= column for view in desktop.window.chat.message_views())
    status, kept = answers(loquat_home)[-1]
    assert status == "complete"
    assert kept == text.replace("\ud800", "?")


# -- the disk ----------------------------------------------------------------------------------------------------------


@pytest.mark.expects_log("a save failed")
def test_a_disk_that_is_full_in_mid_stream_is_told_and_nothing_is_lost(
    open_window: Callable[..., Desktop], loquat_home: Paths, qtbot: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = Store(loquat_home.database)
    filler = first.create("filler")
    first.add_message(StoredMessage(filler.id, "user", "f " * 400_000))
    assert first.close()

    def connect_to_a_small_disk(path: Path) -> sqlite3.Connection:
        db = connect(path)
        pages = db.execute("PRAGMA page_count").fetchone()[0]
        db.execute(f"PRAGMA max_page_count = {pages + 20}")
        return db

    monkeypatch.setattr(db_writer, "connect", connect_to_a_small_disk)
    piece = "words that fill the disk " * 100
    desktop = open_window(Reply((piece,) * 80, delay_s=0.03))
    desktop.store._writer._retry_s = 0.1
    desktop.chats.new()
    with no_freeze():
        ask(desktop, qtbot)
        qtbot.waitUntil(lambda: any("disk is full" in sentence for sentence in said(desktop)), timeout=PATIENCE_MS)
    room = connect(loquat_home.database)
    room.execute("UPDATE message SET content = '' WHERE conversation_id = ?", (filler.id,))
    room.close()
    qtbot.waitUntil(lambda: "Everything is saved again." in said(desktop), timeout=PATIENCE_MS)
    assert desktop.store.flush(10)
    assert answers(loquat_home)[-1] == ("complete", piece * 80)


@pytest.mark.expects_log("a save failed", "not everything could be saved")
def test_a_database_that_can_only_be_read_is_told_and_the_answer_is_shown(
    open_window: Callable[..., Desktop], qtbot: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For root no folder is read-only, so that SQLite is told to refuse every write."""

    def connect_to_read(path: Path) -> sqlite3.Connection:
        db = connect(path)
        db.execute("PRAGMA query_only = ON")
        return db

    monkeypatch.setattr(db_writer, "connect", connect_to_read)
    desktop = open_window()
    ask(desktop, qtbot)
    qtbot.waitUntil(lambda: bool(said(desktop)), timeout=PATIENCE_MS)
    session = desktop.chats.current
    assert session is not None
    assert session.messages()[-1].content == "You said: Well?"


@pytest.mark.expects_log("settings could not be read", "assistants could not be read")
def test_damaged_settings_and_assistants_are_put_aside_and_told(
    open_window: Callable[..., Desktop], loquat_home: Paths, qtbot: Any
) -> None:
    loquat_home.config.mkdir(parents=True)
    for name in ("settings.json", "assistants.json"):
        (loquat_home.config / name).write_bytes(b'{"theme": "da\xff\x00')
    desktop = open_window()
    assert len(said(desktop)) == 2
    ask(desktop, qtbot)
    assert answers(loquat_home)[-1][0] == "complete"
    kept = [file for file in loquat_home.config.iterdir() if file.read_bytes() == b'{"theme": "da\xff\x00']
    assert len(kept) == 2


def test_a_place_off_every_screen_opens_within_reach(open_window: Callable[..., Desktop], loquat_home: Paths) -> None:
    desktop = open_window()
    desktop.window.move(QPoint(90_000, -50_000))
    desktop.settings.set("window_geometry", desktop.window.geometry_to_keep())
    shut(desktop)
    again = open_window()
    assert again.window.screen().availableGeometry().intersects(again.window.frameGeometry())
