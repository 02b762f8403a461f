"""The whole program in a home of its own, with a scripted worker in place of the engine's, and pictures of it."""

from __future__ import annotations

import gc
import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final, Literal

from PySide6.QtCore import QDeadlineTimer, QEvent, QEventLoop, QObject, QPoint, QSize, Qt
from PySide6.QtGui import QPainter, QPixmap
from PySide6.QtWidgets import QApplication, QWidget

from app.desktop import Desktop
from app.theme import ThemeChoice
from app.views.main_window import MainWindow
from engine.chat import RequestHandle
from engine.events import Profiled
from engine.explain.profile import Bandwidth, MachineProfile
from engine.explain.trace import TurnTrace
from engine.paths import Paths
from tests.app.fake_worker import FakeWorker, Load, Reply
from tests.app.model_commands import Commands
from tests.pictures.examples import MODEL, MODELS, TALK, add_examples

SIZES: Final[dict[str, QSize]] = {"wide": QSize(1440, 900), "narrow": QSize(640, 800)}
PROFILE: Final = MachineProfile(
    processor="an example", device="cpu", threads=2, format="int4", path="kernels",
    bandwidths=(Bandwidth(100_000_000, 10.2e9),), matrix_rate=60e9, step_s=0.0176, step_bytes=76_000_000,
)  # fmt: skip
PATIENCE_S: Final = 20.0


@dataclass(frozen=True)
class Scene:
    """What one picture shows.

    Attributes:
        name: Also of the file.
        play: Brings it about, in a window that is on view with its model ready.
        talk: Question and answer by turns, in the conversation on view; without any there are no conversations.
        traces: Of the answers among them.
        reply: What the worker answers; without one it answers at once.
        held: What the scene lets come by and by: the tokens of the reply, its prompt, or the model.
        prepare: Done with the program before its window is shown.
        settings: That differ from the defaults.
        sizes: In which the picture is made.
    """

    name: str
    play: Callable[[Stage], None]
    talk: tuple[str, ...] = TALK
    traces: tuple[TurnTrace, ...] = ()
    reply: Reply | None = None
    held: Literal["", "tokens", "prompt", "model"] = ""
    prepare: Callable[[Desktop], None] | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    sizes: tuple[str, ...] = ("wide", "narrow")


class Worker(FakeWorker):
    """Knows a machine's profile and two models."""

    def measure_profile(self) -> RequestHandle:
        handle = RequestHandle("profile")
        return self._put(handle, iter((Profiled(handle.id, PROFILE),)))


class Stage:
    """The program with example conversations.

    Attributes:
        subject: What the picture is of, where it is not the window.
        commands: In place of the model commands.
    """

    def __init__(self, app: QApplication, home: Path, scene: Scene, language: str, size: QSize) -> None:
        self.gate = threading.Semaphore(0)
        self.subject: QWidget | None = None
        paths = Paths(*(home / name for name in ("config", "data", "cache", "logs")))
        paths.config.mkdir()
        settings = {"language": language, "theme": "light", **scene.settings}
        (paths.config / "settings.json").write_text(json.dumps(settings), encoding="utf-8")
        self.desktop = Desktop(app, paths, lambda emit: self._make_worker(emit, scene))
        (home / "commands").mkdir()
        self.commands = Commands(home / "commands")
        self.desktop.shelf.jobs.program = self.commands.program
        if scene.talk:
            add_examples(self.desktop.store, scene.talk, scene.traces)
        if scene.prepare is not None:
            scene.prepare(self.desktop)
        self.window.resize(size)
        self.desktop.show()
        if scene.held != "model":
            wait_for(lambda: self.desktop.chats.model.phase == "ready")
        settle()

    def _make_worker(self, emit: Callable[[Any], None], scene: Scene) -> FakeWorker:
        gates = {"tokens": {"gate": self.gate}, "prompt": {"prefill_gate": self.gate}}
        replies = () if scene.reply is None else (replace(scene.reply, **gates.get(scene.held, {})),)
        self.worker = Worker(emit, replies, (Load(MODEL, gate=self.gate if scene.held == "model" else None),))
        self.worker.models = list(MODELS)
        return self.worker

    @property
    def window(self) -> MainWindow:
        """The window of now: a change of the language or the sizes makes it anew."""
        return self.desktop.window

    def ask(self, text: str, until: Callable[[], bool] | None = None) -> None:
        """Ask, and wait for the answer or for something else."""
        self.window.composer.set_text(text)
        self.window.composer.button.click()
        wait_for(until or (lambda: not self.desktop.chats.current.busy))

    def run(self, action: str, argument: str = "") -> None:
        """Do what a shortcut or the palette would do."""
        self.desktop.conductor.commands.run(action, argument)
        settle()

    def of(self, kind: type[QWidget]) -> Any:
        """The one view of a kind that is on view."""
        return next(each for each in self.window.findChildren(kind) if each.isVisible())

    def close(self) -> None:
        """End it all, whatever it is in the middle of."""
        self.gate.release(10_000)
        self.window.close()
        self.desktop.close()
        for thing in (self.window, self.desktop.theme):
            thing.deleteLater()
        settle()
        gc.unfreeze()  # the program exempts what is alive when a model is ready; here another program follows


def settle(milliseconds: int = 60) -> None:
    """Let queued signals, layouts and deferred deletions happen."""
    loop, deadline = QEventLoop(), QDeadlineTimer(milliseconds)
    while not deadline.hasExpired():
        loop.processEvents(QEventLoop.ProcessEventsFlag.AllEvents, 10)
        QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)


def wait_for(condition: Callable[[], Any]) -> None:
    """Let things happen until a condition holds."""
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline, "the scene did not come about"
        settle(10)


@contextmanager
def staged(app: QApplication, home: Path, scene: Scene, language: str, size: QSize) -> Iterator[Stage]:
    """A scene, played in a home of its own."""
    stage = Stage(app, home, scene, language, size)
    try:
        scene.play(stage)
        yield stage
    finally:
        stage.close()


def picture(stage: Stage, theme: ThemeChoice) -> QPixmap:
    """The window in a theme, with what lies over it: dialogs and menus; or the subject of the scene alone."""
    stage.desktop.theme.set_choice(theme)
    settle(150)
    if stage.subject is not None:
        return stage.subject.grab()
    image = stage.window.grab()
    painter = QPainter(image)
    painter.setPen(stage.desktop.theme.color("line"))
    for dialog in _dialogs(stage.window):
        place = (stage.window.size() - dialog.size()) / 2
        painter.drawPixmap(place.width(), place.height(), dialog.grab())
        painter.drawRect(place.width() - 1, place.height() - 1, dialog.width() + 1, dialog.height() + 1)
    popup = QApplication.activePopupWidget()
    if popup is not None:
        painter.drawPixmap(popup.mapToGlobal(QPoint()) - stage.window.mapToGlobal(QPoint()), popup.grab())
    painter.end()
    return image


def _dialogs(parent: QObject) -> Iterator[QWidget]:
    """The windows over a window, the lowest first."""
    for child in parent.findChildren(QWidget, options=Qt.FindChildOption.FindDirectChildrenOnly):
        if child.isWindow() and child.isVisible() and child.windowType() != Qt.WindowType.Popup:
            yield child
            yield from _dialogs(child)
