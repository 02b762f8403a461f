"""Something that takes its time: which step, how far, how fast, and Cancel. The composer stays usable beside it."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

from PySide6.QtCore import QRectF, Qt, QTimer, Signal
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from app.engine_sentences import translated
from app.i18n import translate
from app.live import CheckState, ModelState
from app.model_offers import Task
from app.theme import Theme
from app.views import words
from app.views.controls import ElidedLabel, Label, make_push_button
from app.views.models import model_words
from engine.events import LoadProgress, LoadStage

_SWEEP_MS: Final = 40
_RATE_AFTER_S: Final = 0.8  # a rate over less time jumps about


class ProgressLine(QWidget):
    """A thin bar; where the end is not known a short piece of it wanders, unless less motion is asked for."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self._share: float | None = None
        self._at = 0.0
        self._timer = QTimer(self)
        self._timer.setInterval(_SWEEP_MS)
        self._timer.timeout.connect(self._sweep)
        self.setFixedHeight(4)

    @property
    def share(self) -> float | None:
        """Between 0 and 1; None while the end is not known."""
        return self._share

    def show_share(self, share: float | None) -> None:
        """Show how much is done."""
        self._share = None if share is None else max(0.0, min(1.0, share))
        if share is None and self.isVisible() and self._theme.motion_ms():
            self._timer.start()
        else:
            self._timer.stop()
        self.update()

    def hideEvent(self, event: object) -> None:
        self._timer.stop()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self._theme.color("line"))
        painter.drawRoundedRect(QRectF(self.rect()), 2, 2)
        left = 0.0 if self._share is not None else self._at * (self.width() + 80) - 80
        width = self.width() * self._share if self._share is not None else 80
        box = QRectF(left, 0, width, self.height()).intersected(QRectF(self.rect()))
        painter.setBrush(self._theme.color("accent"))
        painter.drawRoundedRect(box, 2, 2)

    def _sweep(self) -> None:
        self._at = (self._at + 0.02) % 1.0
        self.update()


def progress(done: int, total: int, rate: float | None) -> str:
    """How far something has come, in bytes; with a rate in bytes a second, how fast and how long it still takes."""
    parts = [translate("progress_card", "{done} of {total}").format(done=words.size(done), total=words.size(total))]
    if rate is not None:
        left = translate("progress_card", "{time} left").format(time=words.seconds_left((total - done) / rate))
        parts += [f"{words.size(rate)}/s", left]
    return " · ".join(parts)


class Pace:
    """How fast something goes on, from the first that is told of it; it begins anew where that goes back."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._began: tuple[float, int] | None = None

    def forget(self) -> None:
        """Begin anew with what is told next."""
        self._began = None

    def rate(self, done: int) -> float | None:
        """How much is done a second, now that so much is; None while that is not known."""
        now = self._clock()
        if self._began is None or done < self._began[1]:
            self._began = (now, done)
        elapsed, gained = now - self._began[0], done - self._began[1]
        return gained / elapsed if elapsed >= _RATE_AFTER_S and gained > 0 else None


class ProgressCard(QFrame):
    """Shown while a model is downloaded, imported or loaded, or a chat is checked."""

    cancel_requested = Signal()

    def __init__(
        self, theme: Theme, parent: QWidget | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        super().__init__(parent)
        self.setObjectName("progress")
        self._pace = Pace(clock)
        self._stage: LoadStage | None = None  # whose pace it is
        self._sentence = ElidedLabel(theme, "", "list")
        self._detail = Label(theme, "", "small", "muted")
        self._line = ProgressLine(theme, self)
        self._cancel = make_push_button(theme, translate("progress_card", "Cancel"), self)
        self._cancel.clicked.connect(self.cancel_requested)
        self._lay_out()
        self.hide()

    @property
    def sentence(self) -> str:
        """What goes on."""
        return self._sentence.text()

    @property
    def detail(self) -> str:
        """How far and how fast."""
        return self._detail.text()

    @property
    def line(self) -> ProgressLine:
        """The bar."""
        return self._line

    @property
    def cancel_button(self) -> QPushButton:
        """Gives the load up."""
        return self._cancel

    def show_model(self, model: ModelState) -> None:
        """Show the step in progress, or nothing when there is none."""
        if model.phase != "working":
            self._stage = None
            self.hide()
            return
        self.show()
        self._sentence.setText(translated(model.sentence))
        step = model.step
        self._detail.setText(self._detail_of(step) if step is not None else "")
        known = step is not None and step.total > 0
        self._line.show_share(step.done / step.total if step is not None and known else None)

    def show_check(self, check: CheckState | None) -> None:
        """Show how far the check of a chat has come, or nothing when there is none."""
        self.setVisible(check is not None)
        if check is not None:
            self._sentence.setText(translate("progress_card", "Answering this chat with the cache and without"))
            text = translate("progress_card", "question {number} of {total}")
            self._detail.setText(text.format(number=min(check.done + 1, check.total), total=check.total))
            self._line.show_share(check.done / check.total if check.total else None)

    def show_task(self, task: Task | None, waiting: int) -> None:
        """Show a download or import, and how many wait behind it; or nothing when there is none."""
        self.setVisible(task is not None)
        if task is None:
            return
        more = translate("progress_card", "{count} more wait").format(count=waiting) if waiting else ""
        self._sentence.setText(" · ".join(part for part in (model_words.task_title(task), more) if part))
        self._detail.setText(model_words.task_progress(task))
        self._line.show_share(model_words.share(task))
        pauses = task.kind == "get"
        self._cancel.setText(translate("progress_card", "Pause") if pauses else translate("progress_card", "Cancel"))

    def _detail_of(self, step: LoadProgress) -> str:
        if step.stage != self._stage:
            self._stage = step.stage
            self._pace.forget()
        rate = self._pace.rate(step.done)
        if step.total <= 0:
            return ""
        if step.stage is not LoadStage.DOWNLOAD:
            said = step.sentence.endswith("%")  # the sentence tells the share itself
            return "" if said else f"{100 * step.done // step.total} %"
        return progress(step.done, step.total, rate)

    def _lay_out(self) -> None:
        top = QHBoxLayout()
        top.setSpacing(12)
        top.addWidget(self._sentence, 1)
        top.addWidget(self._detail)
        text = QVBoxLayout()
        text.setSpacing(8)
        text.addLayout(top)
        text.addWidget(self._line)
        row = QHBoxLayout(self)
        row.setContentsMargins(16, 12, 12, 12)
        row.setSpacing(16)
        row.addLayout(text, 1)
        row.addWidget(self._cancel)
