"""What is done at random to the program around the conversations: settings, models, transfers, what notices offer."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtTest import QTest
from PySide6.QtWidgets import QDialog
from shiboken6 import isValid

from app.model_offers import Task
from tests.monkey.scene import Scene

SETTINGS: dict[str, tuple[object, ...]] = {
    "density": ("compact", "comfortable"),
    "language": ("en", "zh_CN"),
    "theme": ("dark", "light"),
    "text_size": ("80", "120", "100"),
    "auto_title": (True, False),
    "tray": (True, False),
}


def setting(scene: Scene) -> None:
    name = scene.random.choice(tuple(SETTINGS))
    value = scene.random.choice(SETTINGS[name])
    scene.watch.add(f"  {name} = {value}")
    scene.desktop.settings.set(name, value)


def take_offer(scene: Scene) -> None:
    offers = [notice for notice in scene.notices[-6:] if notice.action]
    if offers:
        notice = scene.random.choice(offers)
        scene.watch.add(f"  {notice.action_label} ({notice.sentence})")
        if notice.action:
            notice.action()


def assistant(scene: Scene) -> None:
    scene.desktop.conductor.assisting.choose(scene.random.choice(("plain", "tutor", "code")))


def inspect(scene: Scene) -> None:
    scene.desktop.window.toggle_inspector()
    scene.desktop.window.inspector.show_page(scene.random.choice(("turn", "memory", "cache", "history")))


def search(scene: Scene) -> None:
    scene.desktop.window.sidebar.search_field.setText(scene.random.choice(("hi", "q", "", "zz", "w1")))


def get_model(scene: Scene) -> None:
    scene.desktop.shelf.queue.add(Task("m", "M", "m"))


def add_model(scene: Scene) -> None:
    scene.desktop.conductor.providing.add(Path("/nowhere/x.gguf"))


def export(scene: Scene) -> None:
    transfers = scene.desktop.conductor.transfers
    transfers.export_all()
    dialog = transfers._dialog
    transfers._export("all", "json", str(_exported(scene)))
    QTest.qWait(60)
    _close(dialog)


def import_chats(scene: Scene) -> None:
    if not _exported(scene).exists():
        return
    transfers = scene.desktop.conductor.transfers
    transfers.import_chats()
    dialog = transfers._dialog
    transfers._import(str(_exported(scene)))
    QTest.qWait(scene.random.choice((1, 80)))
    _close(dialog)


def _close(dialog: QDialog | None) -> None:
    if dialog is not None and isValid(dialog):  # the window may have been made anew meanwhile
        dialog.reject()


def _exported(scene: Scene) -> Path:
    return scene.home / "exported.json"
