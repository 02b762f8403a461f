"""The inspector's pages over example turns: what they show, and what their sliders and buttons do."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QStyleOptionHeader

from app.theme import Look, Theme
from app.turn_log import LoggedTurn
from app.views.inspector import history_values
from app.views.inspector.cache_page import CachePage, comparison_sentence
from app.views.inspector.history_page import HistoryPage
from app.views.inspector.history_values import rate_over_time
from app.views.inspector.inspector import WIDTH, Inspector
from app.views.inspector.memory_page import MemoryPage
from app.views.inspector.turn_page import TurnPage
from app.views.inspector.turns_dialog import TurnsDialog
from engine.explain.comparison import Candidate, Comparison, Step
from engine.explain.plan import TurnsLeft
from engine.explain.trace import ModelFacts, TurnTrace
from engine.stats import ItlMs, TurnStats
from tests.app.views.inspector.traces import MEMORY, turn


@pytest.fixture
def inspector(theme: Theme, qtbot: Any) -> Inspector:
    made = Inspector(theme)
    qtbot.addWidget(made)
    made.resize(352, 900)
    made.show()
    return made


def test_a_turn_is_shown_and_one_without_a_trace_says_so(inspector: Inspector) -> None:
    page = inspector.turn
    assert not page.time.isVisible()
    page.show_trace(turn(), 54.0)
    page.show_verdict("Decode is bound by memory bandwidth.", "A 4-bit format would be 1.8 times faster.")
    assert page.time.aside == "2.33 s"
    assert ("Screen", "54.0 tok/s") in page.figures.texts
    assert page.verdict.text.endswith("1.8 times faster.")
    assert page.compare.isVisible()
    page.show_trace(TurnTrace())
    assert page.time.aside == "not known"
    assert not page.compare.isVisible()
    page.show_trace(None)
    assert not page.verdict.isVisible()


def test_nothing_is_wider_than_the_inspector(inspector: Inspector) -> None:
    inspector.turn.show_trace(turn(), 54.0)
    assert inspector.turn.minimumSizeHint().width() <= inspector.width()


def test_the_token_sequences_are_asked_for(inspector: Inspector, qtbot: Any) -> None:
    inspector.turn.show_trace(turn())
    with qtbot.waitSignal(inspector.turn.compare_tokens_requested) as told:
        inspector.turn.compare.click()
    assert told.args == [turn().prefix]


def test_pages_are_chosen_with_the_keyboard(inspector: Inspector, theme: Theme, qtbot: Any) -> None:
    inspector.add_page("memory", "Memory", MemoryPage(theme, inspector))
    assert inspector.page == "turn"
    tab = inspector._tabs["memory"]
    tab.setFocus()
    with qtbot.waitSignal(inspector.page_chosen):
        QTest.keyClick(tab, Qt.Key.Key_Space)
    assert inspector.page == "memory"
    assert tab.isChecked()
    assert not inspector._tabs["turn"].isChecked()


def test_sliders_answer_at_once_what_fits(theme: Theme, qtbot: Any) -> None:
    page = MemoryPage(theme, None)  # type: ignore[arg-type]
    qtbot.addWidget(page)
    page.show_memory(MEMORY, ModelFacts(layers=30, kv_heads=3, head_dim=64), 705, TurnsLeft(40, 180, 7_400, 1_536))
    assert page.turns.texts == (
        "About 40 turns are left in this context: 7,400 tokens, at 180 a turn. "
        "1,536 more are kept for a question and its answer.",
    )
    assert ("Keys, and values, of a layer", "[1, 3, 705, 64]") in page.rows.texts
    assert page.context.value == 8_192
    assert page.answer.texts[0].startswith("Fits: ")
    page.chats.slider.setValue(page.chats.slider.maximum())
    assert page.answer.texts[0].startswith("Does not fit by ")
    smaller = page.answer.texts[0]
    page.kind.slider.setValue(1)
    assert page.answer.texts[0] != smaller
    page.context.slider.setValue(0)
    assert page.answer.texts[0].startswith("Fits: ")


def test_memory_that_is_not_known_is_not_drawn(theme: Theme, qtbot: Any) -> None:
    page = MemoryPage(theme, None)  # type: ignore[arg-type]
    qtbot.addWidget(page)
    page.show()
    assert not page.now.isVisible()
    page.show_memory(replace(MEMORY, kv_rows=0, kv_dtype="", kv_dtypes=()), ModelFacts(), 0, None)
    assert page.turns.texts == ("How many turns are left is not known yet.",)


def comparison(equal: bool = True) -> Comparison:
    first = Step(705, 0.31, (1, 3, 705, 64), 30, 32_000_000, (Candidate(5, "The\n", 0.41),))
    second = Step(1, 0.004, (), 0, 0, ())
    return Comparison(705, first, second, (4.0,) * 32, (320.0,) * 30, equal, "The cat")


def test_the_comparison_is_started_cancelled_and_shown(theme: Theme, qtbot: Any) -> None:
    page = CachePage(theme, None)  # type: ignore[arg-type]
    qtbot.addWidget(page)
    with qtbot.waitSignal(page.compare_requested):
        page.button.click()
    page.show_progress((3, 64))
    assert page.button.text() == "Cancel (3 of 64 tokens)"
    with qtbot.waitSignal(page.cancel_requested):
        page.button.click()
    page.show_progress(None)
    page.show_comparison(comparison())
    assert page.said.texts == ("Without the cache a token takes 80.0 times as long. Both gave the same tokens.",)
    assert ("Next token", "“The⏎”  #5  41.0 %") in page.prefill.texts
    assert ("Cache afterwards", "not known") in page.step.texts
    assert "differ" in comparison_sentence(comparison(equal=False))
    assert "too few" in comparison_sentence(replace(comparison(), cached_ms=()))


def logged(number: int, rate: float | None = 240.0) -> LoggedTurn:
    gaps = None if rate is None else ItlMs(4.0, 5.0, 9.0)
    stats = TurnStats(700, 612, 41, 103, 0.0, 0.0, 0.2, None if rate is None else 0.2, rate, gaps, 1, 2.1)
    return LoggedTurn(1_700_000_000.0 + number, f"m{number}", "c1", f"Chat {number}", "smollm2", stats)


def test_the_table_sorts_by_numbers_and_what_is_not_known_comes_last(theme: Theme, qtbot: Any) -> None:
    dialog = TurnsDialog(theme, [logged(1, 9.5), logged(2, 240.0), logged(3, None)], None)  # type: ignore[arg-type]
    qtbot.addWidget(dialog)
    dialog.table.sortByColumn(8, Qt.SortOrder.AscendingOrder)
    model = dialog.table.model()
    assert [model.index(row, 8).data() for row in range(3)] == ["9.5", "240", "-"]
    dialog.table.setCurrentIndex(model.index(0, 0))
    dialog.table.sortByColumn(8, Qt.SortOrder.DescendingOrder)
    assert [model.index(row, 8).data() for row in range(3)] == ["240", "9.5", "-"]
    assert dialog.table.currentIndex().row() == 1, "what is marked moves along"
    with qtbot.waitSignal(dialog.turn_chosen) as told:
        dialog.table.activated.emit(dialog.table.currentIndex())
    assert told.args == ["c1", "m1"]


def test_cells_stand_under_their_headings_within_round_corners(theme: Theme, qtbot: Any) -> None:
    dialog = TurnsDialog(theme, [replace(logged(1, 9.5), title="Chat")], None)  # type: ignore[arg-type]
    qtbot.addWidget(dialog)
    dialog.show()
    table = dialog.table
    assert [index.row() for index in table.selectionModel().selectedRows()] == [0], "where the keys begin"
    table.clearSelection()
    drawn = table.grab().toImage()
    left = table.viewport().x() + table.columnViewportPosition(1)

    def ink(top: int) -> int:
        """The first column of pixels with something dark in a row of the table."""
        heights = range(top + 8, top + 22)
        columns = range(left, left + table.columnWidth(1))
        return next(x for x in columns if any(drawn.pixelColor(x, y).lightness() < 170 for y in heights))

    assert abs(ink(0) - ink(table.viewport().y())) <= 1  # the same word
    line = theme.color("line").lightness()
    for x in (range(1, 6), range(table.width() - 6, table.width() - 1)):
        assert min(drawn.pixelColor(i, y).lightness() for i in x for y in range(1, 6)) < line + 8, "the arc is whole"


def test_a_table_of_thousands_of_turns_is_opened_and_sorted_without_a_look_at_every_cell(
    theme: Theme, qtbot: Any, monkeypatch: Any
) -> None:
    made: list[str] = []
    cells = history_values.cells
    monkeypatch.setattr(history_values, "cells", lambda turn, when: made.append(turn.message_id) or cells(turn, when))
    dialog = TurnsDialog(theme, [logged(number, float(number)) for number in range(2_000)], None)  # type: ignore[arg-type]
    qtbot.addWidget(dialog)
    dialog.show()
    assert dialog.table.model().index(0, 8).data() == "1,999"
    dialog.table.sortByColumn(8, Qt.SortOrder.AscendingOrder)
    assert dialog.table.model().index(0, 8).data() == "0.00"
    QApplication.processEvents()
    assert len(made) < 500  # each of 2,000 rows took a second and a half


@pytest.mark.parametrize("width", [600, 1140])
def test_titles_of_chats_have_room_in_the_table(theme: Theme, qtbot: Any, width: int) -> None:
    title = "Why is the first word slow?"
    turn = replace(logged(1), title=title, label="SmolLM2 135M Instruct", setup=(("dtype", "int4"),))
    dialog = TurnsDialog(theme, [turn] * 3, None)  # type: ignore[arg-type]
    qtbot.addWidget(dialog)
    dialog.resize(width, 400)
    dialog.show()
    table = dialog.table
    assert table.columnWidth(1) > table.fontMetrics().horizontalAdvance(title)
    assert (table.horizontalScrollBar().maximum() > 0) is (width == 600)


def test_the_table_names_model_and_format_and_its_arrow_points_where_it_goes(theme: Theme, qtbot: Any) -> None:
    setup = (("device", "cpu"), ("dtype", "int4"))
    named = replace(logged(1), label="SmolLM2 135M", setup=setup)
    dialog = TurnsDialog(theme, [named, replace(logged(2), setup=(("device", "cuda"), ("dtype", "bfloat16")))], None)  # type: ignore[arg-type]
    qtbot.addWidget(dialog)
    model, header = dialog.table.model(), dialog.table.horizontalHeader()
    rows = [[model.index(row, column).data() for column in (2, 3)] for row in range(2)]
    assert rows == [["smollm2", "bfloat16, cuda"], ["SmolLM2 135M", "int4"]], "the latest first"
    assert model.index(1, 2).data(Qt.ItemDataRole.ToolTipRole) == "smollm2"
    for order, arrow in (("Descending", "SortDown"), ("Ascending", "SortUp")):
        dialog.table.sortByColumn(0, Qt.SortOrder[f"{order}Order"])
        option = QStyleOptionHeader()
        header.initStyleOptionForIndex(option, 0)
        assert option.sortIndicator == QStyleOptionHeader.SortIndicator[arrow]


def test_each_format_of_a_model_has_a_line_of_its_own() -> None:
    turns = [replace(logged(n), setup=(("dtype", "int4" if n % 2 else "float32"),), label="SmolLM2") for n in range(4)]
    chart = rate_over_time(turns, ())
    assert [(line.label, len(line.points)) for line in chart.lines] == [("SmolLM2, float32", 2), ("SmolLM2, int4", 2)]


def test_history_is_empty_at_first_and_drawn_later(theme: Theme, qtbot: Any) -> None:
    page = HistoryPage(theme, None)  # type: ignore[arg-type]
    qtbot.addWidget(page)
    assert not page._export.isEnabled()
    page.show_turns([logged(number) for number in range(5)], "c1")
    assert page._export.isEnabled()
    assert "5" in page.context.accessibleName()


def test_a_turn_page_stands_alone(theme: Theme, qtbot: Any) -> None:
    page = TurnPage(theme, None)  # type: ignore[arg-type]
    qtbot.addWidget(page)
    page.show_trace(turn())
    assert "Stall of 110 ms before token 42" in page.summary


@pytest.mark.parametrize("text_size", [100, 150])
def test_a_page_is_never_wider_than_what_is_seen_of_it(theme: Theme, qtbot: Any, text_size: int) -> None:
    """Its scroll bar comes and goes with the page and with the window."""
    theme.set_look(Look(text_size=text_size))
    inspector = Inspector(theme)
    qtbot.addWidget(inspector)
    inspector.resize(inspector.width(), 500)
    inspector.show()
    area, page = inspector._pages["turn"], inspector.turn
    scrolled = set()
    for height in (500, 800, 300, 2000):
        inspector.resize(inspector.width(), height)
        for trace in (turn(), None):
            page.show_trace(trace, 54.0)
            QApplication.processEvents()
            scrolled.add(area.verticalScrollBar().maximum() > 0)
            assert page.width() == area.viewport().width() < area.width()
    assert scrolled == {True, False}
    theme.set_look(Look())


def test_the_inspector_grows_with_its_text_as_far_as_there_is_room(theme: Theme, qtbot: Any) -> None:
    theme.set_look(Look(text_size=150))
    inspector = Inspector(theme)
    qtbot.addWidget(inspector)
    assert inspector.width() == 1.5 * WIDTH
    inspector.fit_into(400)
    assert inspector.width() == 400
    page = inspector.turn
    page.show_trace(turn(), 54.0)
    assert page.time_bar.legend.height() == theme.line(23) * len(page.time_bar.legend._segments)
    theme.set_look(Look())
