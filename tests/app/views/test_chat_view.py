"""A conversation: follows its end only for a reader who is there, opens lazily, costs the same however long it is."""

from __future__ import annotations

import statistics
import time
from typing import Any

from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QEnterEvent, QGuiApplication, QKeySequence
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from app.live import LiveTurn, ModelState
from app.theme import Theme
from app.views.chat_column import COLUMN
from app.views.chat_view import ChatView
from app.views.message_view import MessageView
from tests.app.views.conftest import DOCUMENT
from tests.app.views.threads import READY, STATS, answer, begin_answer, question


def test_a_conversation_opens_at_its_end(chat: ChatView) -> None:
    chat.show_thread([question(), answer()] * 5, LiveTurn())
    bar = chat.verticalScrollBar()
    assert bar.value() == bar.maximum() > 0
    assert chat.jump_button.isHidden()


def test_a_reader_at_the_end_is_taken_along(chat: ChatView) -> None:
    chat.show_thread([question(), answer(), question()], LiveTurn())
    reply = begin_answer(chat)
    bar = chat.verticalScrollBar()
    for _ in range(100):
        chat.append_text(reply.id, "more text that fills the lines ")
        assert bar.value() == bar.maximum()


def test_a_reader_elsewhere_is_left_alone(chat: ChatView, qtbot: Any) -> None:
    chat.show_thread([question(), answer()] * 3 + [question()], LiveTurn())
    reply = begin_answer(chat)
    bar = chat.verticalScrollBar()
    bar.setValue(bar.maximum() - 400)
    before, seen = bar.value(), chat.viewport().grab().toImage()
    for _ in range(500):
        chat.append_text(reply.id, "more text that fills the lines ")
    chat.finish_message(answer("more text that fills the lines " * 500, id=reply.id))
    assert bar.value() == before
    visible = seen.rect().adjusted(0, 0, -20, -150)  # but for the scroll bar and the jump button
    assert chat.viewport().grab().toImage().copy(visible) == seen.copy(visible)
    assert not chat.jump_button.isHidden()
    chat.jump_button.click()
    assert bar.value() == bar.maximum()
    assert chat.following


def test_asking_brings_the_end_into_view(chat: ChatView) -> None:
    chat.show_thread([question(), answer()] * 3, LiveTurn())
    bar = chat.verticalScrollBar()
    bar.setValue(0)
    chat.add_message(question())
    assert bar.value() == bar.maximum()


def test_a_long_conversation_is_made_where_it_is_looked_at(chat: ChatView) -> None:
    thread = [message for _ in range(500) for message in (question(), answer())]
    chat.show_thread(thread, LiveTurn())
    assert len(chat.message_views()) < 30
    bar = chat.verticalScrollBar()
    bar.setValue(bar.maximum() // 2)
    assert len(chat.message_views()) < 60
    QTest.keyClick(chat, Qt.Key.Key_Home)
    assert bar.value() == 0
    assert chat.message_views()[0].message is thread[0]


def test_what_is_read_stays_in_place_while_messages_above_it_are_made(chat: ChatView) -> None:
    chat.show_thread([message for _ in range(60) for message in (question(), answer())], LiveTurn())
    bar = chat.verticalScrollBar()
    for _ in range(60):
        view = next(v for v in chat.message_views() if v.geometry().bottom() > bar.value())
        before = view.y() - bar.value()
        bar.setValue(bar.value() - 100)
        assert view.y() - bar.value() == before + 100 or bar.value() == 0


def test_the_column_is_680_wide_and_narrower_where_it_must(chat: ChatView, qtbot: Any) -> None:
    chat.show_thread([question(), answer()], LiveTurn())
    qtbot.waitUntil(lambda: len(chat.message_views()) == 2)  # what is not seen yet is made in idle time
    assert chat.message_views()[1].width() == COLUMN
    chat.resize(400, 600)
    assert chat.message_views()[1].width() == 360


def test_before_the_first_word_it_says_what_goes_on(chat: ChatView) -> None:
    chat.show_thread([question()], LiveTurn())
    chat.show_turn(LiveTurn("queued"), ModelState("working"))
    assert chat.waiting_line.isVisible()
    assert chat.waiting_line.words == "Waiting for the model"
    chat.show_turn(LiveTurn("prefill", prefill_done=80, prefill_total=196), READY)
    assert chat.waiting_line.words == "Reads 196 new tokens, 40 %"
    begin_answer(chat)
    assert not chat.waiting_line.isVisible()


def test_figures_stand_under_the_answer_while_it_comes_and_when_it_is_there(chat: ChatView) -> None:
    chat.show_thread([question()], LiveTurn())
    reply = begin_answer(chat)
    chat.append_text(reply.id, "Words")
    chat.show_turn(LiveTurn("decode", reply.id, 128, 23, 23, 9, 0.0912, 56.04, 160), READY)
    (view,) = [v for v in chat.message_views() if not v.is_question]
    assert view.footer is not None
    assert view.footer.accessibleName() == "TTFT 0.09 s, 56.0 tok/s, 128 reused + 23 new"
    chat.finish_message(answer("Words", id=reply.id, status="cancelled", stats=STATS))
    assert view.footer.accessibleName() == "Stopped, TTFT 0.21 s, 54.2 tok/s, 612 reused + 41 new"


def test_an_answer_is_copied_as_it_was_written(chat: ChatView) -> None:
    chat.show_thread([question(), answer("**Bold** words")], LiveTurn())
    copy = chat.message_views()[1].copy_button
    assert copy is not None
    chat.setFocus()
    view = chat.message_views()[1]
    QApplication.sendEvent(view, QEvent(QEvent.Type.Leave))
    assert not copy.revealed
    copy.setFocus(Qt.FocusReason.TabFocusReason)
    assert copy.revealed
    chat.setFocus()
    QApplication.sendEvent(view, QEnterEvent(QPointF(9, 9), QPointF(9, 9), QPointF(9, 9)))
    assert copy.revealed
    copy.click()
    assert QGuiApplication.clipboard().text() == "**Bold** words"
    assert copy.text() == "Copied"
    copy.reset()


def test_an_answer_in_progress_goes_on_when_its_chat_is_opened_again(chat: ChatView) -> None:
    reply = answer("So far **so", status="partial")
    chat.show_thread([question(), reply], LiveTurn("decode", message_id=reply.id))
    chat.append_text(reply.id, " good**.")
    assert chat.message_views()[1].body.blocks[0].spans[1].text == "so good"  # type: ignore[union-attr]


def test_a_changed_theme_is_drawn_at_once(chat: ChatView, theme: Theme) -> None:
    chat.show_thread([question(), answer()], LiveTurn())
    theme.set_choice("dark")
    image = chat.grab().toImage()
    assert image.pixelColor(5, 5) == theme.color("background")


def test_selecting_below_the_edge_scrolls_on(chat: ChatView, qtbot: Any) -> None:
    chat.show_thread([question(), answer(DOCUMENT * 3)], LiveTurn())
    bar = chat.verticalScrollBar()
    bar.setValue(0)
    body = chat.message_views()[1].body
    QTest.mousePress(body, Qt.MouseButton.LeftButton, pos=QPoint(5, 5))
    body.dragged_to.emit(chat.viewport().mapToGlobal(QPoint(100, chat.viewport().height() + 40)))
    assert chat.scrolls_on
    QTest.mouseRelease(body, Qt.MouseButton.LeftButton, pos=QPoint(5, 5))
    qtbot.waitUntil(lambda: not chat.scrolls_on)


def drag(start: MessageView, end: MessageView, upwards: bool = False) -> None:
    """Select with the mouse from the beginning of one message to the end of another, or the other way round."""
    first, last = start.body, end.body
    begin = QPoint(2, first.height() - 6) if upwards else QPoint(2, 4)
    begin = QPoint(first.width() - 1, begin.y()) if upwards else begin
    point = last.mapToGlobal(QPoint(2, 4) if upwards else QPoint(last.width() - 1, last.height() - 6))
    QTest.mousePress(first, Qt.MouseButton.LeftButton, pos=begin)
    QTest.mouseMove(first, first.mapFromGlobal((point + first.mapToGlobal(begin)) / 2))
    QTest.mouseMove(first, first.mapFromGlobal(point))
    QTest.mouseRelease(first, Qt.MouseButton.LeftButton, pos=first.mapFromGlobal(point))


def test_a_selection_runs_across_messages_and_is_copied_with_the_keyboard(chat: ChatView) -> None:
    chat.show_thread([question("One"), answer("**Two**\n\nthree"), question("Four"), answer("Five")], LiveTurn())
    views = chat.message_views()
    drag(views[0], views[2])
    assert chat.selected_text() == "One\n\nTwo\n\nthree\n\nFour"
    QTest.keySequence(views[0].body, QKeySequence(QKeySequence.StandardKey.Copy))
    assert QGuiApplication.clipboard().text() == "One\n\nTwo\n\nthree\n\nFour"
    drag(views[2], views[1], upwards=True)
    assert chat.selected_text() == "Two\n\nthree\n\nFour"
    QTest.mouseClick(views[3].body, Qt.MouseButton.LeftButton, pos=QPoint(5, 5))
    assert chat.selected_text() == ""


def test_all_of_a_conversation_is_selected_also_what_was_not_made(chat: ChatView) -> None:
    thread = [message for n in range(60) for message in (question(f"Q{n}"), answer(f"**A{n}**\n\n- b{n}"))]
    chat.show_thread(thread, LiveTurn())
    assert len(chat.message_views()) < len(thread)
    chat.setFocus()
    QTest.keySequence(chat, QKeySequence(QKeySequence.StandardKey.SelectAll))
    QTest.keySequence(chat, QKeySequence(QKeySequence.StandardKey.Copy))
    whole = "\n\n".join(f"Q{n}\n\nA{n}\n\nb{n}" for n in range(60))
    assert QGuiApplication.clipboard().text() == whole
    chat.verticalScrollBar().setValue(0)
    assert chat.selected_text() == whole
    assert chat.message_views()[0].body.selected_text() == "Q0"


def test_all_of_a_long_message_is_copied_though_only_its_beginning_is_shown(chat: ChatView) -> None:
    chat.show_thread([question("word " * 3_000), answer("Short.")], LiveTurn())
    chat.select_all()
    assert chat.selected_text() == "word " * 3_000 + "\n\nShort."


def test_what_is_read_stays_in_place_when_a_formula_above_it_is_drawn(chat: ChatView, qtbot: Any) -> None:
    formulas = "\n\n".join(f"$$\n\\frac{{a}}{{b_{{{n}}}}} + \\sum_{{i=0}}^{{{n}}} i\n$$" for n in range(12))
    last = "\n\n".join(["A paragraph that is read."] * 60)
    chat.show_thread([question(), answer(f"{formulas}\n\n{last}")], LiveTurn())
    bar, body = chat.verticalScrollBar(), chat.message_views()[-1].body
    bar.setValue(bar.maximum() // 2)
    reading = body.views[40]
    before, height = reading.mapTo(chat.viewport(), QPoint()).y(), body.height()
    qtbot.waitUntil(lambda: not chat.formulas.busy and body._changed_from is None)
    assert body.height() != height
    assert reading.mapTo(chat.viewport(), QPoint()).y() == before


def test_views_that_are_far_away_are_let_go(chat: ChatView) -> None:
    chat.show_thread([message for _ in range(90) for message in (question(), answer())], LiveTurn())
    bar = chat.verticalScrollBar()
    most = 0
    while bar.value() > 0:
        bar.setValue(bar.value() - 500)
        most = max(most, len(chat.message_views()))
    assert most < 100
    first = chat.message_views()[0]
    assert first.geometry().top() < 100


def test_a_thousand_messages_open_and_scroll_at_once(chat: ChatView) -> None:
    thread = [message for _ in range(500) for message in (question(), answer())]
    begun = time.thread_time()
    chat.show_thread(thread, LiveTurn())
    QApplication.processEvents()
    opened = time.thread_time() - begun
    bar, steps = chat.verticalScrollBar(), []
    for _ in range(60):
        begun = time.thread_time()
        bar.setValue(bar.value() - 120)
        QApplication.processEvents()
        steps.append(1000 * (time.thread_time() - begun))
    print(f"opened in {opened:.3f} s, a step of 120 pixels {statistics.median(steps):.1f} ms, longest {max(steps):.1f}")
    assert opened < 0.5
    assert statistics.median(steps) < 16


def test_drawing_time_is_told_for_the_answer_that_is_written(chat: ChatView) -> None:
    chat.show_thread([question(), answer()], LiveTurn())
    reply = begin_answer(chat)
    assert chat.flushes == 0
    begun = time.perf_counter()
    for _ in range(20):
        chat.append_text(reply.id, "some words ")
        QApplication.processEvents()
    assert chat.flushes == 20
    assert 0 < chat.drawing_s < time.perf_counter() - begun
    chat.show_turn(LiveTurn(), READY)
    chat.add_message(question())
    assert chat.flushes == 0


def test_drawing_a_token_costs_the_same_at_the_end_of_a_long_answer(chat: ChatView) -> None:
    """Appended characters, figures and painting: thread time, so that other programs do not count."""
    chat.show_thread([question()], LiveTurn())
    reply = begin_answer(chat)
    text = (DOCUMENT + "\n\n" + "A sentence with **some** words and `code` in it. " * 8 + "\n\n") * 12
    costs: list[float] = []
    for at in range(0, len(text), 6):
        begun = time.thread_time()
        chat.append_text(reply.id, text[at : at + 6])
        chat.show_turn(LiveTurn("decode", reply.id, 10, 20, 20, at, 0.1, 50.0, at), READY)
        QApplication.processEvents()
        costs.append(1000 * (time.thread_time() - begun))
    quarter = len(costs) // 4
    first, last = statistics.median(costs[:quarter]), statistics.median(costs[-quarter:])
    print(f"per append: {first:.2f} ms in the first quarter, {last:.2f} ms in the last, of {len(costs)} appends")
    assert last < 2 * first + 0.5
    assert last < 8
