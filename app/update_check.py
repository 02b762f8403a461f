"""Tells of a new version, if the person asked to be told: at most one look a day, and nothing is ever downloaded."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from typing import Final

from PySide6.QtCore import QObject, QTimer, Signal

from app.i18n import translate
from app.live import Notice
from app.settings import Settings
from engine.updates import NoRelease, Release, Source, is_newer, newest

log = logging.getLogger(__name__)

WANTED: Final = "tell_of_updates"
LOOKED: Final = "updates_looked_at"  # seconds since the epoch
DAY_S: Final = 86_400.0
FIRST_LOOK_MS: Final = 20_000  # after the start, which has enough to do
LOOK_MS: Final = 3_600_000  # how often it is looked whether a day has gone by


class UpdateCheck(QObject):
    """Asks on a thread of its own, which holds nothing when the program ends.

    Args:
        source: Where this build asks; None never asks.
        version: Of this program.
        open_page: Shows a page's address to the person, who may open it.
        ask: Asks which version is the newest.
        clock: Seconds since the epoch.
    """

    notice = Signal(object)  # Notice
    _answered = Signal(object)  # Release, from the thread

    def __init__(
        self,
        settings: Settings,
        source: Source | None,
        version: str,
        open_page: Callable[[str], None],
        *,
        ask: Callable[[Source], Release] = newest,
        clock: Callable[[], float] = time.time,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._settings = settings
        self._source = source
        self._version = version
        self._open_page = open_page
        self._ask = ask
        self._clock = clock
        self._closed = False
        self._timer = QTimer(self)
        self._timer.timeout.connect(self._look)
        self._answered.connect(self._tell)
        settings.changed.connect(self._setting_changed)

    def begin(self) -> None:
        """Look in a while, and then each day."""
        if self._source is not None:
            self._timer.start(FIRST_LOOK_MS)

    def close(self) -> None:
        """Tell nothing any more."""
        self._closed = True
        self._timer.stop()

    def _setting_changed(self, name: str) -> None:
        if name == WANTED and self._settings.get(WANTED):
            self._look()

    def _look(self) -> None:
        if self._timer.isActive():
            self._timer.start(LOOK_MS)
        if self._source is None or not self._settings.get(WANTED):
            return
        since = self._clock() - self._settings.get(LOOKED)
        if 0 <= since < DAY_S:  # a clock that was set back counts as another day
            return
        self._settings.set(LOOKED, self._clock())  # whatever comes of it, so that a server in trouble is left alone
        threading.Thread(target=self._run, args=(self._source,), name="update-check", daemon=True).start()

    def _run(self, source: Source) -> None:
        try:
            release = self._ask(source)
        except NoRelease as error:  # no network is no news; the log says which
            log.info("%s %s", error.sentence, error.detail)
            return
        if not self._closed:
            self._answered.emit(release)

    def _tell(self, release: Release) -> None:
        if self._closed or not is_newer(release.version, self._version):
            return
        sentence = translate("update_check", "Loquat {version} is out; you have {current}.")
        self.notice.emit(
            Notice(
                sentence.format(version=release.version, current=self._version),
                action_label=translate("update_check", "Read about it"),
                action=lambda: self._open_page(release.page),
            )
        )
