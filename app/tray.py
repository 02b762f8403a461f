"""The icon in the system's tray, where there is one, and the notification when a long answer ends unseen.

Stock GNOME shows no tray icon, so this is never the only way to anything: a second start of the program brings the
window back, and notifications go through the desktop's own service where there is no tray to send them.
"""

from __future__ import annotations

import logging
import shutil
from typing import Final

from PySide6.QtCore import QObject, QProcess, QTimer, Signal
from PySide6.QtGui import QIcon
from PySide6.QtWidgets import QMenu, QSystemTrayIcon

from app.i18n import translate

log = logging.getLogger(__name__)

LONG_ANSWER_S: Final = 10.0
NOTIFY_MS: Final = 10_000
PATIENCE_MS: Final = 5_000
TRIES: Final = 12
_NOTIFIER: Final = "notify-send"  # of libnotify, on every Linux desktop


class Tray(QObject):
    """Open, quick ask, new chat and quit from the tray; tells when a long answer is done.

    Args:
        icon: The program's.
    """

    open_requested = Signal()
    quick_ask_requested = Signal()
    new_chat_requested = Signal()
    quit_requested = Signal()
    chat_requested = Signal(str)  # the id of the conversation whose notification was clicked

    def __init__(self, icon: QIcon, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._told = ""
        self._menu = QMenu()
        self._icon = QSystemTrayIcon(icon, self)
        self._icon.setToolTip("Loquat")
        self._icon.setContextMenu(self._menu)
        self._icon.activated.connect(self._activated)
        self._icon.messageClicked.connect(self._clicked)
        self._tries = 0
        self._wait = QTimer(self)
        self._wait.setSingleShot(True)
        self._wait.setInterval(PATIENCE_MS)
        self._wait.timeout.connect(self._look)
        self.name_actions()

    @property
    def menu(self) -> QMenu:
        """What the icon offers."""
        return self._menu

    @property
    def present(self) -> bool:
        """Whether the icon is wanted and there is a tray that shows it; only then may the window hide."""
        return self._icon.isVisible() and QSystemTrayIcon.isSystemTrayAvailable()

    def name_actions(self) -> None:
        """Write the menu, in the language in force."""
        self._menu.clear()
        for label, asked in (
            (translate("tray", "Open Loquat"), self.open_requested),
            (translate("tray", "Quick ask"), self.quick_ask_requested),
            (translate("tray", "New chat"), self.new_chat_requested),
        ):
            self._menu.addAction(label).triggered.connect(asked)
        self._menu.addSeparator()
        self._menu.addAction(translate("tray", "Quit")).triggered.connect(self.quit_requested)

    def set_wanted(self, wanted: bool) -> None:
        """Show the icon, or take it away. A tray that starts after the program is waited for, for a minute."""
        self._tries = TRIES if wanted else 0
        self._look()

    def tell_finished(self, conversation_id: str, title: str, seconds: float) -> bool:
        """Say that an answer is done, if it took long; whether that was said.

        Args:
            conversation_id: The chat to be opened when the notification is clicked.
            title: Of the chat; may be empty.
            seconds: From Enter to its end.
        """
        if seconds < LONG_ANSWER_S:
            return False
        self._told = conversation_id
        return self._notify(translate("tray", "The answer is there"), title or translate("tray", "Untitled chat"))

    def close(self) -> None:
        """Take the icon away for good."""
        self.set_wanted(False)
        self._menu.deleteLater()

    def _look(self) -> None:
        """Show the icon once there is a tray: where there is none, Qt would try to be one of X11's."""
        there = QSystemTrayIcon.isSystemTrayAvailable()
        if self._tries and not there:
            self._tries -= 1
            self._wait.start()
        else:
            self._wait.stop()
        self._icon.setVisible(bool(self._tries) and there)

    def _notify(self, title: str, text: str) -> bool:
        if self.present and QSystemTrayIcon.supportsMessages():
            self._icon.showMessage(title, text, self._icon.icon(), NOTIFY_MS)
            return True
        program = shutil.which(_NOTIFIER)
        if program is None:
            log.info("there is nothing to show a notification with")
            return False
        return bool(QProcess.startDetached(program, ["--app-name=Loquat", "--icon=loquat", "--", title, text])[0])

    def _activated(self, reason: QSystemTrayIcon.ActivationReason) -> None:
        if reason in (QSystemTrayIcon.ActivationReason.Trigger, QSystemTrayIcon.ActivationReason.DoubleClick):
            self.open_requested.emit()

    def _clicked(self) -> None:
        self.open_requested.emit()
        if self._told:
            self.chat_requested.emit(self._told)
