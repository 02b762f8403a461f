"""A conversation: follows its end only for a reader who is there, opens lazily, costs the same however long it is."""

from __future__ import annotations

import statistics
import time
from typing import Any

import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QEnterEvent, QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from app.live import LiveTurn, ModelState
from app.records import StoredMessage
from app.theme import Theme
from app.views.chat_view import COLUMN, ChatView
from engine.stats import TurnStats
from tests.app.views.conftest import DOCUMENT

READY = ModelState("ready")
STATS = TurnStats(653, 612, 41, 103, 0.001, 0.003, 0.2, 0.21, 54.2, None, 1, 2.1)


def question(text: str = "What about it?") -> StoredMessage:
    return StoredMessage("c", "user", text)


def answer(text: str = DOCUMENT, **values: Any) -> StoredMessage:
    return StoredMessage("c", "assistant", text, **values)


@pytest.fixture
def chat(qtbot: Any, theme: Theme) -> ChatView:
    view = ChatView(theme)
    qtbot.addWidget(view)
    view.resize(900, 600)
    with qtbot.waitActive(view):
        view.show()
    return view


def begin_answer(chat: ChatView) -> StoredMessage:
    reply = answer("", status="partial")
    live = LiveTurn("decode", message_id="", completion_tokens=1)
    chat.show_turn(live, READY)
    chat.add_message(reply)
    chat.show_turn(LiveTurn("decode", message_id=reply.id), READY)
    return reply


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


def test_the_column_is_680_wide_and_narrower_where_it_must(chat: ChatView) -> None:
    chat.show_thread([question(), answer()], LiveTurn())
    assert chat.message_views()[1].width() == COLUMN
    chat.resize(400, 600)
    assert chat.message_views()[1].width() == 360


def test_before_the_first_word_it_says_what_goes_on(chat: ChatView) -> None:
    chat.show_thread([question()], LiveTurn())
    chat.show_turn(LiveTurn("queued"), ModelState("working"))
    assert chat.waiting_line.isVisible()
    assert chat.waiting_line.words == "Waits for the model"
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
