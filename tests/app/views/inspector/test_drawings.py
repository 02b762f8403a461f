"""Bars, columns and lines: what they show is in proportion, nothing is averaged away, the pointer reads it off."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QToolTip, QWidget

from app.theme import Theme
from app.views.inspector.bars import BarWithLegend, StackBar, widths_of
from app.views.inspector.chart import LineChart, Reach, nearest, round_numbers
from app.views.inspector.strip import TokenStrip, columns_of, top_of
from app.views.inspector.values import Chart, Line, Mark, Segment, Strip

numbers = st.floats(0, 1e9, allow_nan=False)


@pytest.fixture
def holder(qtbot: Any) -> QWidget:
    made = QWidget()
    qtbot.addWidget(made)
    return made


@given(st.lists(numbers, max_size=40), st.floats(1, 2000))
def test_the_pieces_of_a_bar_fill_it_and_none_that_is_there_vanishes(values: list[float], room: float) -> None:
    widths = widths_of(values, room)
    assert sum(widths) <= room + 1e-6
    if sum(values) > 0 and room > 0:
        assert sum(widths) == pytest.approx(room, rel=1e-6)
        assert all(width > 0 for width, value in zip(widths, values, strict=True) if value > 0)


@given(st.lists(st.floats(0, 1e6), max_size=500), st.integers(1, 80))
def test_every_token_is_in_one_column_and_the_slowest_is_seen(gaps: list[float], room: int) -> None:
    strip = Strip(tuple(gaps), frozenset({gaps.index(max(gaps))}) if gaps else frozenset())
    columns = columns_of(strip, room)
    assert len(columns) <= room
    assert [index for column in columns for index in range(column.first, column.last + 1)] == list(range(len(gaps)))
    if gaps:
        assert max(column.worst_ms for column in columns) == max(gaps)
        assert sum(column.late for column in columns) == 1
    assert top_of(columns, None) > 0


@given(st.floats(-1e6, 1e6), st.floats(1e-3, 1e6))
def test_axis_numbers_are_round_and_within(low: float, span: float) -> None:
    found = round_numbers(low, low + span)
    assert len(found) <= 7
    assert all(low - 1e-6 * span <= value <= low + span * (1 + 1e-6) for value in found)


def test_pointing_at_a_piece_points_out_its_line(theme: Theme, holder: QWidget, qtbot: Any) -> None:
    bar = BarWithLegend(theme, holder)
    bar.resize(300, 100)
    bar.show_segments([Segment("a", 1, "1", "reused"), Segment("b", 3, "3", "computed")])
    bar.show()
    assert bar.bar.piece_at(30) == 0
    assert bar.bar.piece_at(150) == 1
    assert bar.legend.accessibleName() == "a: 1\nb: 3"
    told: list[int] = []
    bar.bar.hovered.connect(told.append)
    holder.show()
    QTest.mouseMove(bar.bar, QPoint(200, 5))
    qtbot.waitUntil(lambda: told[-1:] == [1])


def test_an_empty_bar_and_one_against_a_whole(theme: Theme, holder: QWidget) -> None:
    bar = StackBar(theme, holder)
    bar.resize(200, 14)
    bar.show_segments([])
    assert not bar.grab().isNull()
    assert bar.piece_at(10) == -1
    bar.show_segments([Segment("a", 50, "50", "accent")], whole=100)
    assert bar.piece_at(90) == 0
    assert bar.piece_at(150) == -1


def test_the_pointer_reads_tokens_and_points(theme: Theme, holder: QWidget) -> None:
    strip = TokenStrip(theme, holder)
    strip.resize(300, 72)
    strip.show_strip(Strip((18.0, 250.0, 18.0), frozenset({1}), 18.0))
    assert strip.column_text(1) == "Token 3: 250.0 ms"
    chart = LineChart(theme, holder)
    line = Line("tok/s", ((100.0, 50.0), (200.0, 40.0)), "accent")
    chart.show_chart(Chart((line,), "tokens", "tok/s"))
    assert chart.text_at(190) == "tok/s: 40.0 (200)"
    assert nearest(line, 0) == (100.0, 50.0)
    holder.show()
    for widget in (strip, chart):
        QTest.mouseMove(widget, QPoint(20, 40), 1)
        assert not widget.grab().isNull()


@pytest.mark.parametrize("points", [(), ((5.0, 0.0),), ((1.0, 1.0), (1.0, 2.0)), ((0.0, 1e-9), (1e9, 1e9))])
def test_a_chart_of_little_or_odd_data_is_drawn(theme: Theme, holder: QWidget, points: Any) -> None:
    chart = LineChart(theme, holder)
    chart.resize(300, 168)
    chart.show_chart(Chart((Line("a", points, "accent"),), "x", "y", empty="Nothing yet."))
    assert not chart.grab().isNull()
    assert chart.accessibleName()
    QTest.mouseClick(chart, Qt.MouseButton.LeftButton)


def test_a_chart_of_thousands_of_answers_looks_at_them_once(theme: Theme, holder: QWidget, monkeypatch: Any) -> None:
    looked: list[object] = []
    monkeypatch.setattr(Reach, "of", lambda lines, of=Reach.of: looked.append(lines) or of(lines))
    chart = LineChart(theme, holder)
    chart.resize(300, 168)
    points = tuple((float(at), float(at % 50)) for at in range(8_000))
    chart.show_chart(Chart((Line("a", points, "accent"),), "x", "y"))
    assert not chart.grab().isNull()
    assert len(looked) == 1  # looking at all points for each of them took 4 s


def test_the_pointer_tells_short_times_apart_and_says_what_a_mark_points_out(theme: Theme, holder: QWidget) -> None:
    chart = LineChart(theme, holder)
    line = Line("TTFT", ((0.0, 0.09), (100.0, 0.14), (200.0, 12.25)), "accent")
    chart.show_chart(Chart((line,), "tokens", "s", (Mark(101.0, "34 % slower since version 2"),)))
    assert chart.text_at(0) == "TTFT: 0.09 (0)"
    assert chart.text_at(99) == "TTFT: 0.14 (100)\n34 % slower since version 2"
    assert chart.text_at(200) == "TTFT: 12.2 (200)"


def test_a_models_name_is_shown_as_it_is_written_under_the_pointer(
    theme: Theme, holder: QWidget, monkeypatch: Any
) -> None:
    said: list[str] = []
    monkeypatch.setattr(QToolTip, "showText", lambda _at, text, *_: said.append(text))
    chart = LineChart(theme, holder)
    chart.resize(300, 168)
    chart.show_chart(Chart((Line('<img src="//box/x.png">', ((0.0, 1.0), (9.0, 2.0)), "accent"),), "x", "y"))
    holder.show()
    QTest.mouseMove(chart, QPoint(150, 60), 1)
    assert said and "<img" not in said[0] and "&lt;img" in said[0]
