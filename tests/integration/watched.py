"""The real window with a scripted worker, and a way to ask where something is on the screen: for real mouse clicks.

`python -m tests.integration.watched` reads one JSON object a line and answers each with one: {"find": "Edit"} gives the
rectangle of the widget with that text or accessible name, {"row": "Title"} that of a row of a list, {"text": NAME} what
stands in a field, {"says": TEXT} whether that is written anywhere. Nothing is done to the window through it.
`tests.integration.person` asks.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import traceback
from typing import Any

from PySide6.QtCore import QObject, QPoint, QRect, Qt, Signal
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QApplication,
    QLabel,
    QLineEdit,
    QPlainTextEdit,
    QWidget,
)

from app.desktop import run
from tests.app.fake_worker import FakeWorker, Reply

WORDS = tuple(f"word{number} " for number in range(400))


def replies() -> tuple[Reply, ...]:
    """As the test asks for them: a number is an answer of so many words, one every 20 ms."""
    return tuple(Reply(WORDS[: int(count)], delay_s=0.02) for count in os.environ["WATCHED_REPLIES"].split(","))


class Eyes(QObject):
    """Answers on the window's thread what was asked on standard input."""

    _asked = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self._asked.connect(self._answer, Qt.ConnectionType.QueuedConnection)
        threading.Thread(target=self._read, daemon=True, name="eyes").start()

    def _read(self) -> None:
        for line in sys.stdin:
            self._asked.emit(line)

    def _answer(self, line: str) -> None:
        ((what, wanted),) = json.loads(line).items()
        try:
            answer = getattr(self, f"_{what}")(wanted)
        except Exception:
            print(json.dumps({"fault": traceback.format_exc()}), flush=True)  # it must not wait for ever
            raise
        print(json.dumps(answer), flush=True)

    def _find(self, name: str) -> list[int] | None:
        """What can be seen of the lowest widget with this name: in a conversation, the newest one."""
        named = [widget for widget in _visible() if name in (widget.accessibleName(), _text(widget))]
        seen = [(widget, widget.visibleRegion().boundingRect()) for widget in named]
        return max((_box(widget, rect) for widget, rect in seen if not rect.isEmpty()), key=_bottom, default=None)

    def _row(self, title: str) -> list[int] | None:
        for view in (widget for widget in _visible() if isinstance(widget, QAbstractItemView)):
            model = view.model()
            for number in range(model.rowCount()):
                index = model.index(number, 0)
                if title in str(index.data(Qt.ItemDataRole.DisplayRole)):
                    return _box(view.viewport(), view.visualRect(index))
        return None

    def _text(self, name: str) -> str | None:
        """What stands in the field that has the keyboard, if that is its name."""
        field = QApplication.focusWidget()
        if field is None or field.accessibleName() != name:
            return None
        return field.toPlainText() if isinstance(field, QPlainTextEdit) else _text(field)

    def _says(self, text: str) -> bool:
        """Whether these words stand anywhere on the screen."""
        return any(text in _text(widget) or text in widget.accessibleName() for widget in _visible())


def _visible() -> list[QWidget]:
    return [widget for widget in QApplication.allWidgets() if widget.isVisible()]


def _text(widget: QWidget) -> str:
    return widget.text() if isinstance(widget, QLabel | QAbstractButton | QLineEdit) else ""


def _box(widget: QWidget, rect: QRect) -> list[int]:
    corner = widget.mapToGlobal(QPoint(rect.x(), rect.y()))
    return [corner.x(), corner.y(), rect.width(), rect.height()]


def _bottom(box: list[int]) -> int:
    return box[1] + box[3]


def main() -> int:
    """Run until the window is closed."""
    eyes: list[Eyes] = []

    def make_worker(emit: Any) -> FakeWorker:
        eyes.append(Eyes())
        return FakeWorker(emit, replies())

    return run((), make_worker)


if __name__ == "__main__":
    sys.exit(main())
