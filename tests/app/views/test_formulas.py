"""Formulas are drawn beside the window's thread, once each, and kept."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import pytest
from PySide6.QtCore import QEvent, QObject
from PySide6.QtWidgets import QApplication

from app.blocks import Span
from app.theme import Theme
from app.views.formulas import Drawn, Formulas, Key, draw


@pytest.fixture
def formulas(theme: Theme) -> Iterator[Formulas]:
    owner = QObject()
    yield Formulas(theme, owner)
    owner.deleteLater()
    QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)


def drawing_threads() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "formulas"]


def test_a_formula_is_drawn_in_the_background_once(formulas: Formulas, theme: Theme, qtbot: Any) -> None:
    key = formulas.key(Span("$a$", tex="a"), theme.font("body"))
    assert formulas.find(key) is None
    assert formulas.find(key) is None
    with qtbot.waitSignal(formulas.ready):
        pass
    drawn = formulas.find(key)
    assert drawn is not None
    assert drawn.picture is not None
    assert formulas.find(key) is drawn
    qtbot.waitUntil(lambda: not drawing_threads())


def test_many_formulas_share_one_thread_that_ends(formulas: Formulas, qtbot: Any) -> None:
    keys = [Key(rf"\sum_{{i=0}}^{{{n}}} \frac{{i}}{{{n}}}", True, 17.0, 1.0) for n in range(30)]
    assert [formulas.find(key) for key in keys] == [None] * 30
    assert len(drawing_threads()) == 1
    qtbot.waitUntil(lambda: not formulas.busy)
    assert all(formulas.find(key) is not None for key in keys)
    qtbot.waitUntil(lambda: not drawing_threads())
    assert not formulas._timer.isActive()


def test_a_window_that_goes_leaves_no_thread(theme: Theme, qtbot: Any) -> None:
    owner = QObject()
    formulas = Formulas(theme, owner)
    for n in range(400):
        formulas.find(Key(f"a_{{{n}}}", True, 17.0, 1.0))
    owner.deleteLater()
    QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
    qtbot.waitUntil(lambda: not drawing_threads(), timeout=2_000)


@pytest.mark.parametrize(
    "tex", [r"\frac{a", r"\begin{pmatrix} a", "x & y", "推理", "a" * 5_000, "^", r"\left(", "{" * 200, r"\\" * 50]
)
def test_what_cannot_be_understood_is_known_to_be_so(formulas: Formulas, tex: str, qtbot: Any) -> None:
    key = Key(tex, False, 17.0, 1.0)
    formulas.find(key)
    qtbot.waitUntil(lambda: not formulas.busy)
    known = formulas.find(key)
    assert known is not None
    if tex != r"\\" * 50:
        assert known == Drawn()


def test_a_picture_is_as_sharp_as_the_screen_and_sits_on_the_baseline() -> None:
    once, twice = (draw(Key("y^2", False, 17.0, scale)) for scale in (1.0, 2.0))
    assert once.picture is not None
    assert twice.picture is not None
    assert twice.picture.width() == pytest.approx(2 * once.picture.width(), abs=2)
    assert (once.width, once.ascent, once.descent) == (twice.width, twice.ascent, twice.descent)
    assert once.ascent == int(once.ascent)
    assert 0 < once.descent < once.ascent


def test_comparisons_need_no_escaping() -> None:
    assert draw(Key("a < b > c", False, 17.0, 1.0)).picture is not None


def test_the_end_of_the_program_waits_for_the_formula_that_is_being_drawn(formulas: Formulas, qtbot: Any) -> None:
    for n in range(400):
        formulas.find(Key(f"b_{{{n}}}", True, 17.0, 1.0))
    assert drawing_threads()
    formulas._end()
    assert not drawing_threads()
    formulas._timer.stop()
