"""Formulas drawn: LaTeX to pictures in the background, and their place among the letters of a text document.

ziamath takes 3 to 40 ms a formula, so it runs in a thread of its own, which ends when there is nothing to draw. Until
a picture is there, the source stands in its place; it stays where LaTeX cannot be understood.
"""

from __future__ import annotations

import queue
import re
import threading
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass
from math import ceil
from typing import Any, Final, cast

from PySide6.QtCore import QCoreApplication, QObject, QPointF, QRect, QRectF, QSizeF, Qt, QTimer, Signal
from PySide6.QtGui import (
    QColor,
    QFont,
    QFontMetricsF,
    QGuiApplication,
    QImage,
    QPainter,
    QPyTextObject,
    QTextCharFormat,
    QTextDocument,
    QTextFormat,
)
from PySide6.QtSvg import QSvgRenderer

from app.blocks import Span
from app.theme import Theme

OBJECT: Final = "\ufffc"  # what stands for a formula in a text document
_TYPE: Final = int(QTextFormat.ObjectTypes.UserObject.value) + 1
_SPAN: Final = int(QTextFormat.Property.UserProperty) + 2
_SIZE: Final = int(QTextFormat.Property.UserProperty) + 3
_POLL_MS: Final = 40  # several formulas of one message come together, and it is placed and painted once
_END_S: Final = 1.0
_ONE_AT_A_TIME: Final = threading.Lock()
_KEPT: Final = 2_000  # far more than can be near what is seen; about 10 KB each
_LONGEST: Final = 2_000
_LARGER: Final = 1.14  # the letters of the formula font are smaller than those of the text at one size
_FOREIGN: Final = re.compile("[\u0590-\u08ff\u2e80-\ud7ff\uf900-\ufaff\uff00-\uffef]")  # not in the formula font


@dataclass(frozen=True, slots=True)
class Key:
    """What decides how a formula looks, but for its colour.

    Attributes:
        size: Font size in pixels.
        scale: Device pixels in a pixel.
    """

    tex: str
    display: bool
    size: float
    scale: float


@dataclass(frozen=True, slots=True)
class Drawn:
    """A formula as a picture of which only the opacity counts; none if its LaTeX cannot be understood.

    Attributes:
        width, ascent, descent: Pixels; the last two from the baseline up and down.
    """

    picture: QImage | None = None
    width: float = 0.0
    ascent: float = 0.0
    descent: float = 0.0


class Formulas(QObject):
    """All formulas of a window: drawn once each, kept, and tinted for the theme.

    Emits `ready` when formulas that were asked for can be drawn, or are known to be beyond understanding.
    """

    ready = Signal()

    def __init__(self, theme: Theme, parent: QObject) -> None:
        super().__init__(parent)
        self._theme = theme
        self._known: OrderedDict[Key, Drawn] = OrderedDict()
        self._asked: set[Key] = set()
        self._tinted: OrderedDict[tuple[Key, int], QImage] = OrderedDict()
        self._jobs: queue.SimpleQueue[Key] = queue.SimpleQueue()
        self._done: queue.SimpleQueue[tuple[Key, Drawn]] = queue.SimpleQueue()
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._timer = QTimer(self)
        self._timer.setInterval(_POLL_MS)
        self._timer.timeout.connect(self._collect)
        self._handler = _FormulaObject(self)
        self.destroyed.connect(self._stop.set)
        QCoreApplication.instance().aboutToQuit.connect(self._end)  # type: ignore[union-attr]

    @property
    def busy(self) -> bool:
        """Whether formulas are still being drawn."""
        return bool(self._asked)

    def serve(self, document: QTextDocument) -> None:
        """Let a document hold formulas."""
        document.documentLayout().registerHandler(_TYPE, self._handler)

    def key(self, span: Span, font: QFont) -> Key:
        """The formula of a span among letters of a font."""
        return Key(span.tex, span.display, _size(font), self._scale())

    def knows(self, key: Key) -> bool:
        """Whether a formula is drawn, or known to be beyond understanding."""
        return key in self._known

    def find(self, key: Key) -> Drawn | None:
        """A formula's picture; None while it is being drawn."""
        drawn = self._known.get(key)
        if drawn is not None:
            self._known.move_to_end(key)
        elif key not in self._asked:
            self._ask(key)
        return drawn

    def format(self, span: Span, font: QFont, color: QColor) -> QTextCharFormat:
        """The format in which one `OBJECT` stands for the formula of a span."""
        result = QTextCharFormat()
        result.setObjectType(_TYPE)
        result.setForeground(color)
        result.setProperty(_SPAN, [span.tex, span.display, span.text])
        result.setProperty(_SIZE, [_size(font), self._scale()])
        drawn = self.find(self.key(span, font))
        descent = drawn.descent if drawn is not None else QFontMetricsF(font).descent()
        result.setFont(_font_with_descent(font, descent))
        # Qt puts the lower edge of such an object as far below the baseline as its font reaches.
        result.setVerticalAlignment(QTextCharFormat.VerticalAlignment.AlignBaseline)
        return result

    def extent(self, look: QTextFormat) -> tuple[Drawn | None, QSizeF]:
        """The picture of a formula in a document and its size; while there is none, the size of its source."""
        key = self._key_of(look)
        drawn = self._known.get(key)
        if drawn is not None and drawn.picture is not None:
            self._known.move_to_end(key)
            return drawn, QSizeF(drawn.width, drawn.ascent + drawn.descent)
        metrics = QFontMetricsF(self._theme.font("code"))
        return None, QSizeF(metrics.horizontalAdvance(source_of(look)), metrics.height())

    def paint(self, painter: QPainter, box: QRectF, look: QTextFormat) -> None:
        """Draw a formula of a document, or its source."""
        drawn, _ = self.extent(look)
        color = look.foreground().color()
        if drawn is not None:
            painter.drawImage(QPointF(box.x(), round(box.y())), self._tint(self._key_of(look), drawn, color))
            return
        painter.setFont(self._theme.font("code"))
        painter.setPen(color)
        painter.drawText(QPointF(box.x(), box.bottom() - painter.fontMetrics().descent()), source_of(look))

    def _key_of(self, look: QTextFormat) -> Key:
        tex, display, _ = cast(list[Any], look.property(_SPAN))
        size, scale = cast(list[float], look.property(_SIZE))
        return Key(tex, bool(display), size, scale)

    def _scale(self) -> float:
        app = QGuiApplication.instance()
        return app.devicePixelRatio() if isinstance(app, QGuiApplication) else 1.0

    def _tint(self, key: Key, drawn: Drawn, color: QColor) -> QImage:
        wanted = (key, color.rgba())
        if wanted not in self._tinted:
            self._tinted[wanted] = _tinted(cast(QImage, drawn.picture), color)
            if len(self._tinted) > _KEPT:
                self._tinted.popitem(last=False)
        return self._tinted[wanted]

    def _ask(self, key: Key) -> None:
        if len(key.tex) > _LONGEST or _FOREIGN.search(key.tex):
            self._known[key] = Drawn()
            return
        self._asked.add(key)
        self._jobs.put(key)
        self._work()  # each time: the thread may have ended between two formulas of one message
        if not self._timer.isActive():
            self._timer.start()

    def _work(self) -> None:
        if self._thread is None or not self._thread.is_alive():
            self._thread = threading.Thread(
                target=_draw_all, args=(self._jobs, self._done, self._stop), name="formulas", daemon=True
            )
            self._thread.start()

    def _end(self) -> None:
        """Wait for the formula that is being drawn: Qt cannot be taken down under a painter."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join(_END_S)

    def _collect(self) -> None:
        """Take what has been drawn; the thread tells nobody, so that it cannot call into a window that is gone."""
        came = False
        while not self._done.empty():
            key, drawn = self._done.get()
            self._known[key] = drawn
            self._asked.discard(key)
            came = True
        while len(self._known) > _KEPT:
            self._known.popitem(last=False)
        if not self._asked:
            self._timer.stop()
        elif not self._jobs.empty():
            self._work()
        if came:
            self.ready.emit()


class _FormulaObject(QPyTextObject):
    """Tells a document's layout how large a formula is, and draws it."""

    def __init__(self, formulas: Formulas) -> None:
        super().__init__(formulas)
        self._formulas = formulas

    def intrinsicSize(self, document: QTextDocument, position: int, look: QTextFormat) -> QSizeF:
        return self._formulas.extent(look)[1]

    def drawObject(
        self, painter: QPainter, box: QRectF | QRect, document: QTextDocument, position: int, look: QTextFormat
    ) -> None:
        self._formulas.paint(painter, QRectF(box), look)


class FormulaWatch(QObject):
    """Tells a view when a formula that it waits for is ready, and nothing of all the others."""

    arrived = Signal()

    def __init__(self, formulas: Formulas, parent: QObject) -> None:
        super().__init__(parent)
        self._formulas = formulas
        self._missing: frozenset[Key] = frozenset()

    def look_at(self, spans: Iterable[Span], font: QFont) -> None:
        """Wait for those of these spans that are formulas and not drawn yet, and for no others."""
        keys = {self._formulas.key(span, font) for span in spans if span.tex}
        missing = frozenset(key for key in keys if self._formulas.find(key) is None)
        if missing and not self._missing:
            self._formulas.ready.connect(self._ready)
        elif self._missing and not missing:
            self._formulas.ready.disconnect(self._ready)
        self._missing = missing

    def _ready(self) -> None:
        if any(self._formulas.knows(key) for key in self._missing):
            self.arrived.emit()


def source_of(look: QTextFormat) -> str:
    """The source of a formula in a document; empty for any other format."""
    span = look.property(_SPAN)
    return str(cast(list[Any], span)[2]) if span else ""


def _size(font: QFont) -> float:
    return round(QFontMetricsF(font).xHeight() / 0.546 * _LARGER, 1)  # Inter's x-height is 0.546 of its size


def _font_with_descent(font: QFont, descent: float) -> QFont:
    result = QFont(font)
    now = QFontMetricsF(font).descent()
    result.setPointSizeF(max(0.5, font.pointSizeF() * descent / now))
    return result


def _tinted(picture: QImage, color: QColor) -> QImage:
    result = picture.copy()
    painter = QPainter(result)
    painter.setCompositionMode(QPainter.CompositionMode.CompositionMode_SourceIn)
    painter.fillRect(QRectF(0, 0, result.width(), result.height()), color)
    painter.end()
    return result


def _draw_all(jobs: queue.SimpleQueue[Key], done: queue.SimpleQueue[tuple[Key, Drawn]], stop: threading.Event) -> None:
    """The thread: draws until there is nothing to draw."""
    while not stop.is_set():
        try:
            key = jobs.get_nowait()
        except queue.Empty:
            return
        done.put((key, draw(key)))


def draw(key: Key) -> Drawn:
    """Draw a formula with ziamath, one at a time in the whole program, because ziamath keeps state."""
    from ziamath.config import config  # noqa: PLC0415 - 0.2 s, and few windows ever need it
    from ziamath.zmath import Latex  # noqa: PLC0415

    config.svg2 = False  # what Qt's SVG module understands
    try:
        with _ONE_AT_A_TIME:
            formula = Latex(key.tex, size=key.size, inline=not key.display, margin=1.0)
            svg, box = formula.svg().encode(), formula.node.bbox
        return _rasterize(svg, box, key.scale)
    except Exception:
        return Drawn()


def _rasterize(svg: bytes, box: Any, scale: float) -> Drawn:  # noqa: ANN401 - a class of ziamath, which has no types
    """The picture of an SVG, its baseline moved onto a whole pixel."""
    renderer = QSvgRenderer(svg)
    size = renderer.viewBoxF().size()
    if size.isEmpty():
        return Drawn()
    above = box.ymax + 1.0
    ascent, descent = ceil(above), ceil(size.height() - above)
    pixels = QSizeF(size.width(), ascent + descent) * scale
    picture = QImage(ceil(pixels.width()), ceil(pixels.height()), QImage.Format.Format_ARGB32_Premultiplied)
    picture.fill(Qt.GlobalColor.transparent)
    painter = QPainter(picture)
    renderer.render(painter, QRectF(QPointF(0, (ascent - above) * scale), size * scale))
    painter.end()
    picture.setDevicePixelRatio(scale)
    return Drawn(picture, size.width(), ascent, descent)
