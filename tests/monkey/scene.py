"""The whole window in a home of its own, which can be closed and started again, and what an action needs of it."""

from __future__ import annotations

import time
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

from PySide6.QtCore import QCoreApplication, QEvent
from PySide6.QtGui import QDesktopServices
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QFileDialog

from app.chats import Chats
from app.collector import Collector
from app.desktop import Desktop
from app.live import Notice
from app.records import Conversation, StoredMessage
from engine.paths import default_paths
from tests.app.model_commands import Commands
from tests.monkey.shown import difference, listed, said
from tests.monkey.watch import Watch
from tests.monkey.worker import RandomWorker

TRANSFER_PATIENCE_S = 20.0


class Scene:
    """What the actions act on.

    Attributes:
        desktop: The program of now.
        notices: What it has told since it was started.
    """

    def __init__(self, app: QApplication, home: Path, random: Random, watch: Watch) -> None:
        self.home = home
        self.paths = default_paths()
        self.random = random
        self.watch = watch
        self._app = app
        self._collecting = Collector()
        _nobody_answers_outside()
        self.notices: list[Notice] = []
        self.desktop = self._start()

    @property
    def chats(self) -> Chats:
        return self.desktop.chats

    def close(self) -> None:
        """End the program, as a person does who closes its window."""
        self.desktop.window.close()
        if not self.desktop.close():
            self.watch.fault("the worker did not end")
        self.desktop.window.deleteLater()
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)

    def restart(self) -> None:
        """End the program and start it again; what was there must be there."""
        self._end_transfers()
        self.close()
        list_before, current = listed(self.chats), self.chats.current
        before = said(current)
        self.notices = []
        self.desktop = self._start()
        list_now = listed(self.chats)
        if list_before != list_now:
            self.watch.fault("a restart shows another list", difference(list_before, list_now))
        elif current is not None and current.stored:
            self.chats.open(current.conversation.id)
            now = said(self.chats.current)
            if before != now:
                self.watch.fault("a restart shows another conversation", f"before: {before}; after: {now}")

    def leave_dialogs(self) -> None:
        """Close about every other dialog that stands in the way."""
        for window in QApplication.topLevelWidgets():
            if window.isModal() and window.isVisible() and self.random.random() < 0.5:
                window.close()

    def any_chat(self) -> Conversation | None:
        """One of all conversations."""
        all_chats = (*self.chats.conversations(), *self.chats.archived())
        return self.random.choice(all_chats) if all_chats else None

    def any_message(self, role: str = "") -> StoredMessage | None:
        """One of the messages on view, of a role if one is named."""
        current = self.chats.current
        found = [message for message in current.messages() if role in ("", message.role)] if current else []
        return self.random.choice(found) if found else None

    def _end_transfers(self) -> None:
        """Wait for imports: one that is done while the program ends is not in the list of before."""
        end = time.monotonic() + TRANSFER_PATIENCE_S
        while self.desktop.conductor.transfers._jobs:
            if time.monotonic() > end:
                self.watch.fault("an import or an export does not end")
                return
            QTest.qWait(10)

    def _start(self) -> Desktop:
        desktop = Desktop(self._app, self.paths, partial(RandomWorker, random=Random(self.random.random())))
        desktop.shelf.jobs.program = self._model_commands().program
        desktop.chats.notice.connect(self.notices.append)
        desktop.show()
        return desktop

    def _model_commands(self) -> Commands:
        folder = self.home / "model-commands"
        folder.mkdir(exist_ok=True)
        commands = Commands(folder)
        commands.say("catalogue", {"models": []})
        commands.say("search", {"models": [{"label": "L", "repo": "a/b"}]})
        commands.say("add", {"event": "failed", "kind": "not_found", "sentence": "No."}, {"exit": 2})
        going_on = {"event": "progress", "stage": "download", "done": 1, "total": 3, "sentence": "s"}
        endless: tuple[dict[str, Any], ...] = (going_on, {"wait": "never"})
        commands.say("get", *(endless if self.random.random() < 0.7 else ({"event": "done", "name": "m"},)))
        return commands


def _nobody_answers_outside() -> None:
    """Dialogs of the system are cancelled, and no other program is opened; for all of this process."""
    nothing: dict[str, Any] = {
        "getOpenFileName": ("", ""),
        "getSaveFileName": ("", ""),
        "getOpenFileNames": ([], ""),
        "getExistingDirectory": "",
    }
    for name, answer in nothing.items():
        setattr(QFileDialog, name, staticmethod(lambda *_, answer=answer, **__: answer))
    setattr(QDesktopServices, "openUrl", staticmethod(lambda *_: True))  # noqa: B010 - mypy allows no assignment
