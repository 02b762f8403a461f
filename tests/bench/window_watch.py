"""Inside the window that `many_chats` measures: types, searches, opens and scrolls as a person does, takes times."""

from __future__ import annotations

import json
import os
import sqlite3
import time
import traceback
from collections.abc import Iterator
from typing import Any

from PySide6.QtCore import QEvent, QObject, QPoint, QPointF, Qt, QTimer
from PySide6.QtGui import QKeyEvent, QShortcut, QWheelEvent
from PySide6.QtWidgets import QApplication, QWidget

from app.gui_probe import GuiProbe
from app.search_result import SearchResult
from app.views.main_window import MainWindow
from engine import default_paths
from tests.app.many import RARE

QUERIES = 20
SCROLLS = 150
FRAME_MS = 16
Step = Iterator[int]  # each value: go on after so many milliseconds


class Watch(QObject):
    """Does everything once, a step at a time on the window's event loop, then prints the figures and quits.

    Args:
        started: When the process was asked for, of `time.monotonic`.
        figures: What is known already.
    """

    def __init__(self, started: float, figures: dict[str, Any]) -> None:
        super().__init__()
        self._started = started
        self._figures = figures
        self._steps = self._all()
        self._painted_at = 0.0
        self._probes = {"gaps": GuiProbe(parent=self), "work": GuiProbe(parent=self, clock=time.thread_time)}
        QApplication.instance().installEventFilter(self)  # type: ignore[union-attr]

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Paint and isinstance(watched, QWidget):
            if not self._painted_at and watched.objectName() == "window":
                QTimer.singleShot(0, self, self._next)
            self._painted_at = time.perf_counter()
        return False

    def _next(self) -> None:
        try:
            QTimer.singleShot(next(self._steps), self, self._next)
        except StopIteration:
            print(json.dumps(self._figures), flush=True)
            QApplication.quit()
        except Exception:
            traceback.print_exc()
            os._exit(1)  # the program would show the fault in a dialog, and nobody is there to read it

    def _all(self) -> Step:
        self._figures["painted_s"] = time.monotonic() - self._started
        window = next(w for w in QApplication.topLevelWidgets() if isinstance(w, MainWindow))
        field = window.composer.editor
        QApplication.sendEvent(field, _key("a"))
        assert field.toPlainText() == "a"
        yield 0
        self._figures["usable_s"] = time.monotonic() - self._started
        self._figures["usable_cpu_s"] = time.process_time()
        yield 1500  # what is done after the start is over
        yield from self._search(window)
        yield from self._open(window)
        yield from self._palette(window)
        for name, probe in self._probes.items():
            self._figures[name] = {phase: [gaps.p50, gaps.p99, gaps.max] for phase, gaps in probe.gaps().items()}

    def _mark(self, phase: str) -> None:
        for probe in self._probes.values():
            probe.mark(phase)

    def _search(self, window: MainWindow) -> Step:
        asked, found = [0.0], [0.0]
        sidebar, times = window.sidebar, {"found_ms": [], "shown_ms": [], "hits": []}
        sidebar.search_changed.connect(lambda _: asked.append(time.perf_counter()))
        show = sidebar.show_results

        def shown(result: SearchResult | None) -> None:
            show(result)
            if result is not None:
                found.append(time.perf_counter())
                times["hits"].append(len(result.hits))

        sidebar.show_results = shown  # type: ignore[method-assign]
        for probe in self._probes.values():
            probe.start("search")
        for query in queries():
            before, typed = len(found), time.perf_counter()
            sidebar.search_field.setText(query)
            while len(found) == before or self._painted_at < found[-1]:
                yield 1
            times["found_ms"].append(round(1000 * (found[-1] - asked[-1]), 1))
            times["shown_ms"].append(round(1000 * (self._painted_at - typed), 1))
            yield 30
        self._figures.update(times)
        self._mark("list again")
        sidebar.search_field.setText("")
        yield 300

    def _open(self, window: MainWindow) -> Step:
        self._mark("open")
        yield 20  # a gap belongs to what went on before it
        asked, worked = time.perf_counter(), time.thread_time()
        window.sidebar.open_requested.emit("long")
        yield 0
        while self._painted_at < asked or window.header.title_field.text != "A long chat":
            yield 0
        self._figures["opened_s"] = round(self._painted_at - asked, 3)
        self._figures["opened_cpu_s"] = round(time.thread_time() - worked, 3)
        yield 500
        self._mark("scroll by wheel")
        yield 20
        for _ in range(SCROLLS):
            _wheel(window.chat.viewport(), 240)
            yield FRAME_MS
        self._mark("scroll by bar")
        yield 20
        bar = window.chat.verticalScrollBar()
        for step in range(SCROLLS):
            bar.setValue(bar.maximum() * ((step * 37) % 100) // 100)
            yield FRAME_MS
        self._mark("scroll the list")
        yield 20
        for _ in range(SCROLLS):
            _wheel(window.sidebar.list.viewport(), -480)
            yield FRAME_MS

    def _palette(self, window: MainWindow) -> Step:
        self._mark("palette")
        yield 20
        asked = time.perf_counter()
        shortcuts = {each.key().toString(): each for each in window.findChildren(QShortcut)}
        shortcuts["Ctrl+K"].activated.emit()
        yield 0
        while self._painted_at < asked:
            yield 0
        self._figures["palette_s"] = round(self._painted_at - asked, 3)
        yield 300
        for probe in self._probes.values():
            probe.stop()


def queries() -> list[str]:
    """Words that are rare, common, Chinese, several at once, and one that is nowhere."""
    db = sqlite3.connect(f"{default_paths().database.as_uri()}?mode=ro", uri=True)
    words = db.execute("SELECT content FROM message WHERE key = 1").fetchone()[0].split()
    db.close()
    fixed = [RARE, "e", "t a", "一", "一丁", "丂丄", "zz nothing", f'"{words[2]} {words[3]}"', "the", "formula"]
    return fixed + [words[n] for n in range(6)] + [f"{words[n]} {words[n + 1]}" for n in range(4)]


def _key(letter: str) -> QKeyEvent:
    return QKeyEvent(QEvent.Type.KeyPress, Qt.Key.Key_A, Qt.KeyboardModifier.NoModifier, letter)


def _wheel(widget: QWidget, delta: int) -> None:
    middle = QPointF(widget.rect().center())
    turned = QWheelEvent(
        middle,
        QPointF(widget.mapToGlobal(widget.rect().center())),
        QPoint(),
        QPoint(0, delta),
        Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    QApplication.sendEvent(widget, turned)
