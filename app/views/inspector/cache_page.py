"""With and without the cache, side by side, and one answer in two steps: the passes that the cache is made of."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QPushButton, QWidget

from app.i18n import translate
from app.theme import Theme
from app.views import words
from app.views.controls import Label, make_push_button
from app.views.inspector.bars import Legend
from app.views.inspector.chart import LineChart
from app.views.inspector.sections import Lines, Rows, Section, lay_out_page
from app.views.inspector.turn_values import milliseconds, not_known
from app.views.inspector.values import Chart, Line, Segment
from engine.explain.comparison import Comparison, Step
from engine.explain.figures import percentile

_SHOWN_CANDIDATES: Final = 3


class CachePage(QWidget):
    """Starts the comparison on request and shows what it gave."""

    compare_requested = Signal()
    cancel_requested = Signal()

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._running = False
        self._about = Label(theme, "", "small", "muted")
        self._about.setWordWrap(True)
        self._about.setText(
            translate(
                "cache_page",
                "Generates 32 tokens of this chat twice: with the KV cache, and with none, so that every token "
                "computes the whole chat again.",
            )
        )
        self._button = make_push_button(theme, "", self)
        self._button.clicked.connect(self._press)
        self.chart = LineChart(theme, self)
        self.legend = Legend(theme, self)
        self.said = Lines(theme, "text", self)
        self.prefill = Rows(theme, self)
        self.step = Rows(theme, self)
        self.with_and_without = Section(
            theme, translate("cache_page", "Time per token"), self, (self.chart, self.legend, self.said)
        )
        self.first = Section(theme, translate("cache_page", "Step 1: prefill of the prompt"), self, (self.prefill,))
        self.second = Section(theme, translate("cache_page", "Step 2: one token with the cache"), self, (self.step,))
        lay_out_page(self, (self._about, self._button, self.with_and_without, self.first, self.second))
        self.show_comparison(None)
        self.show_progress(None)

    @property
    def button(self) -> QPushButton:
        """Starts the comparison, or cancels it."""
        return self._button

    def show_progress(self, share: tuple[int, int] | None) -> None:
        """Show how many tokens of how many are done; None while nothing runs."""
        self._running = share is not None
        if share is None:
            self._button.setText(translate("cache_page", "Compare"))
        else:
            said = translate("cache_page", "Cancel ({done} of {total} tokens)")
            self._button.setText(said.format(done=share[0], total=share[1]))

    def show_comparison(self, found: Comparison | None) -> None:
        """Show what it gave; None for nothing yet."""
        for section in (self.with_and_without, self.first, self.second):
            section.setVisible(found is not None)
        if found is None:
            return
        self.chart.show_chart(comparison_chart(found))
        self.legend.show_segments(comparison_legend(found))
        self.said.show_lines([(comparison_sentence(found), "")])
        self.prefill.show_rows(step_rows(found.prefill))
        self.step.show_rows(step_rows(found.step))

    def _press(self) -> None:
        (self.cancel_requested if self._running else self.compare_requested).emit()


def comparison_chart(found: Comparison) -> Chart:
    """Milliseconds of each token against its position."""

    def line(label: str, times: tuple[float, ...], token: str) -> Line:
        points = tuple((float(found.prompt_tokens + index), ms) for index, ms in enumerate(times))
        return Line(label, points, token)

    return Chart(
        lines=(
            line(translate("cache_page", "With the cache"), found.cached_ms, "good"),
            line(translate("cache_page", "Without"), found.fresh_ms, "warning"),
        ),
        x_name=translate("cache_page", "position"),
        y_name=translate("cache_page", "ms per token"),
    )


def comparison_legend(found: Comparison) -> tuple[Segment, ...]:
    """The median of each line beside its colour."""
    rows = (
        (translate("cache_page", "With the cache, median"), percentile(found.cached_ms, 0.5), "good"),
        (translate("cache_page", "Without, median"), percentile(found.fresh_ms, 0.5), "warning"),
    )
    return tuple(Segment(label, median or 0.0, milliseconds(median), token) for label, median, token in rows)


def comparison_sentence(found: Comparison) -> str:
    """What that says, in one sentence."""
    cached, fresh = percentile(found.cached_ms, 0.5), percentile(found.fresh_ms, 0.5)
    if not cached or not fresh:
        return translate("cache_page", "There were too few tokens to compare.")
    said = translate("cache_page", "Without the cache a token takes {factor} times as long. {tokens}")
    same = (
        translate("cache_page", "Both gave the same tokens.")
        if found.equal
        else translate("cache_page", "The tokens differ: please report this as a fault.")
    )
    return said.format(factor=f"{fresh / cached:.1f}", tokens=same)


def step_rows(step: Step) -> tuple[tuple[str, str], ...]:
    """One pass in figures."""
    rows = [
        (translate("cache_page", "Tokens read"), words.count(step.read)),
        (translate("cache_page", "Time"), milliseconds(1000 * step.seconds)),
    ]
    if step.shape and step.layers:
        shape = ", ".join(f"{each:,}" for each in step.shape)
        rows.append((translate("cache_page", "Keys, and values, of a layer"), f"[{shape}]"))
        rows.append((translate("cache_page", "Layers"), words.count(step.layers)))
    rows.append((translate("cache_page", "Cache afterwards"), words.size(step.nbytes) if step.nbytes else not_known()))
    for number, each in enumerate(step.candidates[:_SHOWN_CANDIDATES]):
        name = translate("cache_page", "Next token") if number == 0 else translate("cache_page", "or")
        rows.append((name, f"{_visible(each.text)}  #{each.id}  {100 * each.probability:.1f} %"))
    return tuple(rows)


def _visible(text: str) -> str:
    return f"“{text}”".replace("\n", "⏎")
