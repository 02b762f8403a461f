"""What a person's hands do at random: keys, clicks on whatever can be clicked, pastes, another size of the window."""

from __future__ import annotations

from PySide6.QtCore import QMimeData, Qt, QUrl
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication, QMenu, QWidget

from tests.monkey.scene import Scene

KEYS = (
    *(Qt.Key.Key_Tab, Qt.Key.Key_Return, Qt.Key.Key_Escape, Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_Delete),
    *(Qt.Key.Key_A, Qt.Key.Key_Slash, Qt.Key.Key_F2, Qt.Key.Key_Space, Qt.Key.Key_Home, Qt.Key.Key_End),
    *(Qt.Key.Key_PageUp, Qt.Key.Key_K),
)
MODIFIERS = (Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier)
TEXTS = ("a", "hello ", "x" * 300)


def type_text(scene: Scene) -> None:
    scene.desktop.window.composer.type(scene.random.choice(TEXTS))


def press_key(scene: Scene) -> None:
    key = scene.random.choice(KEYS)
    plain = scene.random.random() < 0.8
    modifier = Qt.KeyboardModifier.NoModifier if plain else scene.random.choice(MODIFIERS)
    scene.watch.add(f"  {modifier.name} {key.name}")
    QTest.keyClick(QApplication.focusWidget() or scene.desktop.window, key, modifier)


def attach(scene: Scene) -> None:
    mime = QMimeData()
    if scene.random.random() < 0.5:
        mime.setUrls([QUrl.fromLocalFile(scene.random.choice((__file__, str(scene.home), "/bin/ls", "/nowhere")))])
    else:
        mime.setText(scene.random.choice(("pasted", "x" * 5000, "\ud83d")))
    scene.desktop.window.composer.take_mime(mime)


def click_anything(scene: Scene) -> None:
    above = QApplication.activeModalWidget() or scene.desktop.window
    buttons = [one for one in above.findChildren(QAbstractButton) if one.isVisible() and one.isEnabled()]
    if buttons:
        button = scene.random.choice(buttons)
        scene.watch.add(f"  {button.text() or button.accessibleName() or button.objectName()}")
        button.click()
    if popup := QApplication.activePopupWidget():
        _answer(scene, popup)


def resize(scene: Scene) -> None:
    scene.desktop.window.resize(scene.random.choice((400, 640, 1200)), scene.random.choice((400, 900)))


def _answer(scene: Scene, popup: QWidget) -> None:
    """Choose something of a menu, or leave it."""
    actions = [one for one in popup.actions() if one.isEnabled() and not one.isSeparator()]
    action = scene.random.choice(actions) if isinstance(popup, QMenu) and actions else None
    popup.close()
    if action is not None and scene.random.random() < 0.6:
        scene.watch.add(f"  menu: {action.text()}")
        action.trigger()
