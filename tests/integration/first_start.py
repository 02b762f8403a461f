"""The real window with a scripted worker, started as a program of its own on a disk or as a user that a test made.

`python -m tests.integration.first_start [--stay]` prints one JSON object a line: {"refused": SENTENCE} in place of a
window, {"started": ARGUMENTS} when the model is loaded, {"again": ARGUMENTS} when a second start handed its own over.
It ends when the model is loaded, or with --stay when it is told to.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from PySide6.QtCore import QObject, QTimer
from PySide6.QtWidgets import QApplication

from app.desktop import Desktop, run
from app.live import ModelState
from app.views.refusal_dialog import RefusalDialog
from tests.app.fake_worker import FakeWorker


def say(**what: Any) -> None:
    print(json.dumps(what), flush=True)


def read(dialog: RefusalDialog) -> int:
    """In the place of a person who reads the sentence and presses Quit."""
    dialog.show()
    say(refused=dialog.sentence)
    dialog.quit_button.click()
    return 0


def main(arguments: list[str]) -> int:
    """Run until the model is loaded, or until it is ended."""
    stays = "--stay" in arguments
    RefusalDialog.exec = read  # type: ignore[method-assign]

    class Worker(FakeWorker):
        def load(self, name: str | None, config: Any) -> Any:
            if name == "again":
                say(again=name)
            return super().load(name, config)

    def attend(desktop: Desktop) -> QObject:
        def changed(model: ModelState) -> None:
            if model.phase == "ready":
                say(started=[card.notice.sentence for card in desktop.window.notices.cards])
                if not stays:
                    QTimer.singleShot(0, QApplication.exit)

        desktop.chats.model_changed.connect(changed)
        return desktop.window

    return run([argument for argument in arguments if argument != "--stay"], Worker, attend)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
