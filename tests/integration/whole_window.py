"""What tests of the whole window share: the program over a home, what it says, and that it never stands still."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from app.desktop import Desktop
from app.gui_probe import GuiProbe
from engine.paths import Paths

GAP_MS = 250  # what a person would call a freeze
PATIENCE_MS = 20_000


def shut(desktop: Desktop) -> None:
    """Close the window and the program behind it."""
    desktop.window.close()
    assert desktop.close()
    desktop.window.deleteLater()
    desktop.theme.deleteLater()


@contextmanager
def no_freeze() -> Iterator[None]:
    """What happens inside never holds the window up for as long as a person would notice.

    What the window's thread itself works between two ticks counts: other tests share this machine.
    """
    probe = GuiProbe(clock=time.thread_time)
    probe.start("inside")
    yield
    QTest.qWait(20)  # the tick that ends the last gap
    probe.stop()
    assert probe.longest()[1] < GAP_MS


def said(desktop: Desktop) -> list[str]:
    """The notices on view."""
    return [card.notice.sentence for card in desktop.window.notices.cards]


def answers(home: Paths) -> list[tuple[str, str]]:
    """Status and text of all answers on the disk."""
    db = sqlite3.connect(f"{home.database.as_uri()}?mode=ro", uri=True)
    found = db.execute("SELECT status, content FROM message WHERE role = 'assistant' ORDER BY key").fetchall()
    db.close()
    return found


def ask(desktop: Desktop, qtbot: Any, question: str = "Well?") -> None:
    """Type a question, press Enter, and wait for the end of its answer."""
    editor = desktop.window.composer.editor
    editor.setPlainText(question)
    qtbot.keyClick(editor, Qt.Key.Key_Return)
    session = desktop.chats.current
    assert session is not None
    qtbot.waitUntil(lambda: session.live.phase == "idle" and not session.busy, timeout=PATIENCE_MS)
