"""The line at the bottom: device and why, context used, what goes on, the figures of the turn, memory."""

from __future__ import annotations

from typing import Final

import psutil
from PySide6.QtCore import QRectF, QSize, Qt, QTimer
from PySide6.QtGui import QHideEvent, QPainter, QPaintEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QFrame, QWidget

from app.engine_sentences import translated
from app.i18n import translate
from app.live import LiveTurn, ModelState
from app.theme import Theme
from app.views import turn_figures, words
from app.views.controls import plain_tip
from app.views.figures import FigureLine, Group, Part, filled, text_of
from engine.events import ModelInfo

HEIGHT: Final = 32
_MEMORY_MS: Final = 2000
_MARGIN: Final = 20
_GAP: Final = 16
_DEVICES: Final = {"cpu": "CPU", "cuda": "CUDA", "mps": "MPS"}


class ContextBar(QWidget):
    """A thin bar: how much of the context is used."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self._share = 0.0

    def sizeHint(self) -> QSize:
        return QSize(88, 6)

    @property
    def share(self) -> float:
        """Between 0 and 1."""
        return self._share

    def show_share(self, share: float) -> None:
        """Show another share, between 0 and 1."""
        self._share = max(0.0, min(1.0, share))
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self._theme.color("line"))
        painter.drawRoundedRect(QRectF(self.rect()), 3, 3)
        if self._share > 0:
            painter.setBrush(self._theme.color("warning" if self._share > 0.9 else "accent"))
            width = max(6.0, self.width() * self._share)
            painter.drawRoundedRect(QRectF(0, 0, width, self.height()), 3, 3)


class StatusBar(QFrame):
    """Always says device, context and memory; leaves out the least important where the window is narrow."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("status")
        self.setFixedHeight(theme.line(HEIGHT))
        self._theme = theme
        self._live = LiveTurn()
        self._model = ModelState()
        self._process = psutil.Process()
        self._device = FigureLine(theme, self)
        self._context = FigureLine(theme, self)
        self._bar = ContextBar(theme, self)
        self._turn = FigureLine(theme, self)
        self._serving = FigureLine(theme, self)
        self._memory = FigureLine(theme, self)
        self._memory.setToolTip(
            translate("status_bar", "What Loquat holds now; the inspector says what it plans for, at most")
        )
        self._timer = QTimer(self)
        self._timer.setInterval(_MEMORY_MS)
        self._timer.timeout.connect(self._show_memory)
        self._show()
        self._show_memory()

    @property
    def text(self) -> str:
        """All that it says, for tests."""
        lines = (self._device, self._context, self._turn, self._serving, self._memory)
        return "; ".join(text_of(line.groups) for line in lines if line.groups)

    @property
    def context_bar(self) -> ContextBar:
        """How full the context is."""
        return self._bar

    def show_model(self, model: ModelState) -> None:
        """Show the device, and the size of the context."""
        self._model = model
        self._show()

    def show_turn(self, live: LiveTurn) -> None:
        """Show how far the turn has come."""
        self._live = live
        self._show()

    def show_serving(self, url: str) -> None:
        """Say that other programs are answered, and where; an empty address says nothing."""
        address = url.removeprefix("http://").removesuffix("/v1")
        said = translate("status_bar", "Serves at {address}").format(address=address)
        self._serving.show_groups(((Part(said, tone="warning"),),) if url else ())
        self._serving.setToolTip(translate("status_bar", "Other programs on this machine are answered") if url else "")
        self._fit()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._show_memory()
        self._timer.start()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._timer.stop()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def minimumSizeHint(self) -> QSize:
        return QSize(200, self.height())

    def _show(self) -> None:
        info = self._model.info
        self._context.show_groups(_context(self._live, info))
        self._bar.show_share(
            (self._live.context_used or 0) / info.context_limit if info and info.context_limit else 0.0
        )
        self._fit()
        self._device.setToolTip(plain_tip(text_of(device_words(self._model))))
        self._turn.setToolTip(plain_tip(text_of(turn_groups(self._live, self._model))))

    def _show_memory(self) -> None:
        used = self._process.memory_info().rss
        said = translate("status_bar", "Memory {size} in use")
        self._memory.show_groups((filled(said, size=words.size(used)),))
        self._fit()

    def _fit(self) -> None:
        """Place the parts; where there is no room leave out the least important first."""
        turn = turn_groups(self._live, self._model)
        less = turn[:-1] if len(turn) > 1 else turn  # tokens reused and new stand under the answer too
        why, short = device_words(self._model), device_words(self._model, short=True)
        for device, with_bar, shown in (
            (why, True, turn),
            (why, False, turn),
            (why, True, less),
            (why, False, less),
            (short, False, less),
            (short, False, less[1:]),
            (short, False, ()),
            ((), False, ()),
        ):
            self._device.show_groups(device)
            self._turn.show_groups(shown)
            self._bar.setVisible(with_bar and bool(self._context.groups) and self._has_limit)
            if self._needed() <= self.width():
                break
        self._place()

    @property
    def _has_limit(self) -> bool:
        return self._model.info is not None and self._model.info.context_limit > 0

    def _parts(self) -> tuple[list[QWidget], list[QWidget]]:
        """What stands at the left and at the right, with something to say."""
        left: list[QWidget] = [part for part in (self._device, self._context) if part.groups]
        if not self._bar.isHidden():
            left.append(self._bar)
        return left, [part for part in (self._turn, self._serving, self._memory) if part.groups]

    def _needed(self) -> int:
        parts = [part for side in self._parts() for part in side]
        return sum(part.sizeHint().width() + _GAP for part in parts) - _GAP + 2 * _MARGIN

    def _place(self) -> None:
        left, right = self._parts()
        x = _MARGIN
        for part in left:
            x += self._put(part, x) + _GAP
        x = self.width() - _MARGIN
        for part in reversed(right):
            x -= self._put(part, x - part.sizeHint().width()) + _GAP

    def _put(self, part: QWidget, x: int) -> int:
        size = part.sizeHint()
        part.setGeometry(x, (self.height() - size.height()) // 2, size.width(), size.height())
        return size.width()


def device_words(model: ModelState, short: bool = False) -> tuple[Group, ...]:
    """The device and why it was chosen: "CPU, 2 threads · no CUDA device found"; what stands there without a model."""
    info = model.info
    if info is None:
        waits = translate("status_bar", "The model is on its way")
        return ((Part(waits if model.phase == "working" else translate("status_bar", "No model is loaded")),),)
    if info.remote:
        sentence = translate("status_bar", "Text goes to {server}, {host}")
        shown = sentence.format(server=info.server, host=info.host)
        return (
            (Part(translate("status_bar", "On {host}").format(host=info.host) if short else shown, tone="warning"),),
        )
    reason = translated(info.device_reason.partition(" · ")[0] if short else info.device_reason)
    name = _DEVICES.get(info.device, info.device)
    if info.compiling:
        slower = translate("status_bar", "faster code is being compiled once, answers are slower until then")
        reason = translate("status_bar", "slower while code is compiled") if short else slower
    both = translate("status_bar", "{device}, {reason}").format(device=name, reason=reason)
    return ((Part(both if reason else name),),)


def _context(live: LiveTurn, info: ModelInfo | None) -> tuple[Group, ...]:
    """How much of the context is used: "Context 705 of 8,192"."""
    if info is None:
        return ()
    if not info.context_limit:
        return _context_of_unknown_size(live)
    limit = words.count(info.context_limit)
    if live.context_used is None:
        return ((Part(translate("status_bar", "Context not known yet, of {limit}").format(limit=limit)),),)
    sentence = translate("status_bar", "Context {used} of {limit}").replace("{limit}", limit)
    return (filled(sentence, used=words.count(live.context_used)),)


def _context_of_unknown_size(live: LiveTurn) -> tuple[Group, ...]:
    """The same for a model on a server that does not tell how many tokens it can hold."""
    if not live.context_used:
        return ((Part(translate("status_bar", "Context not reported")),),)
    return (filled(translate("status_bar", "Context {used}"), used=words.count(live.context_used)),)


def turn_groups(live: LiveTurn, model: ModelState) -> tuple[Group, ...]:
    """What goes on before the first token, then TTFT, rate and tokens reused and new."""
    if live.phase in ("queued", "prefill"):
        return ((Part(words.phase(live, model)),),)
    reuse = turn_figures.reuse(live.cached, live.prefill_total, named=True, known=live.reuse_known)
    rate = turn_figures.decode_rate(live.tokens_per_s) + turn_figures.piece_rate(live.pieces_per_s)
    return (*turn_figures.ttft(live.ttft_s), *rate, *reuse)
