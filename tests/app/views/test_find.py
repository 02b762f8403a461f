"""Finding words in a conversation, made or not yet made, and going to a hit of the search."""

from __future__ import annotations

import time
from typing import Any

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QInputMethodEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from app.live import LiveTurn
from app.records import StoredMessage
from app.views import chat_selection
from app.views.chat_view import ChatView
from tests.app.views.threads import READY, answer, begin_answer, question


def thread(size: int, needles: dict[int, str]) -> list[StoredMessage]:
    """So many questions and answers; at some indices other texts."""
    texts = [needles.get(n, f"Message number {n}.\n\nIt has **some** words\n\n- and a list") for n in range(size)]
    return [answer(text) if n % 2 else question(text) for n, text in enumerate(texts)]


def type_words(chat: ChatView, qtbot: Any, words: str) -> None:
    chat.show_find()
    chat.find_bar.field.clear()
    QTest.keyClicks(chat.find_bar.field, words)
    qtbot.waitUntil(lambda: not chat._find.counting)


def seen(chat: ChatView, text: str) -> bool:
    """Whether a message with this text lies in the part that is seen."""
    for view in chat.message_views():
        if text in view.message.content:
            top = view.mapTo(chat.viewport(), QPoint()).y()
            return top < chat.viewport().height() and top + view.height() > 0
    return False


def test_words_are_counted_everywhere_and_stepped_through_with_the_keyboard(chat: ChatView, qtbot: Any) -> None:
    needles = {2: "The needle here", 41: "a **need**le there, a needle", 80: "NEEDLE"}
    chat.show_thread(thread(101, needles), LiveTurn())
    chat.verticalScrollBar().setValue(0)
    type_words(chat, qtbot, "needle")
    bar = chat.find_bar
    assert bar.count == "1 of 4"
    assert seen(chat, "The needle here")
    field = bar.field
    QTest.keyClick(field, Qt.Key.Key_Return)
    assert bar.count == "2 of 4"
    assert seen(chat, "there, a needle")
    QTest.keyClick(field, Qt.Key.Key_Return)
    QTest.keyClick(field, Qt.Key.Key_Return)
    assert bar.count == "4 of 4"
    assert seen(chat, "NEEDLE")
    QTest.keyClick(field, Qt.Key.Key_Return)
    assert bar.count == "1 of 4", "around the end"
    QTest.keyClick(field, Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
    assert bar.count == "4 of 4"
    assert not bar.next_button.isHidden()
    QTest.keyClick(field, Qt.Key.Key_Escape)
    assert bar.isHidden()
    assert all(view.body.mark_matches(None) == 0 for view in chat.message_views())


def test_matches_are_marked_also_in_views_that_are_made_later(chat: ChatView, qtbot: Any) -> None:
    chat.show_thread(thread(101, {}), LiveTurn())
    type_words(chat, qtbot, "some words")
    assert chat.find_bar.count.endswith("of 50")
    chat.verticalScrollBar().setValue(0)
    first = chat.message_views()[1]
    assert [view.text(*span) for view in first.body.views for span in view._matches] == ["some words"]


def test_the_first_match_is_looked_for_from_what_is_seen(chat: ChatView, qtbot: Any) -> None:
    chat.show_thread(thread(201, {3: "needle one", 150: "needle two", 190: "needle three"}), LiveTurn())
    chat.scroll_to(chat._column.slots[100].message.id)
    type_words(chat, qtbot, "needle")
    assert chat.find_bar.count == "2 of 3"
    assert seen(chat, "needle two")


def test_what_is_not_there_is_said(chat: ChatView, qtbot: Any) -> None:
    chat.show_thread(thread(11, {}), LiveTurn())
    bar = chat.verticalScrollBar()
    before = bar.maximum() - bar.value()
    type_words(chat, qtbot, "zzz")
    assert chat.find_bar.count == "Nothing found"
    assert not chat.find_bar.next_button.isEnabled()
    assert bar.maximum() - bar.value() == before


def test_an_answer_that_grows_is_looked_through_when_it_has_ended(chat: ChatView, qtbot: Any) -> None:
    chat.show_thread([question("needle")], LiveTurn())
    reply = begin_answer(chat)
    type_words(chat, qtbot, "needle")
    assert chat.find_bar.count == "1 of 1"
    chat.append_text(reply.id, "A needle and a needle")
    chat.show_turn(LiveTurn(), READY)
    chat.finish_message(answer("A needle and a needle", id=reply.id))
    qtbot.waitUntil(lambda: chat.find_bar.count == "1 of 3")


def test_a_match_in_the_rest_of_a_long_message_is_shown(chat: ChatView, qtbot: Any) -> None:
    chat.show_thread([question("word " * 30_000 + "needle"), answer("An answer")], LiveTurn())
    type_words(chat, qtbot, "needle")
    view = chat.message_views()[0]
    assert view.more_button is None
    last = view.body.views[-1]
    assert [last.text(*span) for span in last._matches] == ["needle"]
    assert last._match == 0
    place = last.position_rect(last._matches[0][0]).center().toPoint()
    assert chat.viewport().rect().contains(last.mapTo(chat.viewport(), place))


def test_a_match_far_down_in_a_huge_answer_is_counted_and_the_way_to_it_shown(chat: ChatView, qtbot: Any) -> None:
    huge = answer("Some **words** in a line.\n\n" * 8_000 + "needle")
    chat.show_thread([question(), huge], LiveTurn())
    begun = time.thread_time()
    chat.scroll_to(huge.id, "needle")
    assert time.thread_time() - begun < 3
    chat.show_find()
    chat.find_bar.field.setText("needle")
    qtbot.waitUntil(lambda: not chat._find.counting, timeout=20_000)
    assert chat.find_bar.count == "1 of 1"
    view = chat.message_views()[-1]
    assert len(view.body.views) < 6_000
    place = view.more_button.mapTo(chat.viewport(), view.more_button.rect().center())
    assert chat.viewport().rect().contains(place), "the rest is a click away"


def test_matches_are_marked_in_more_of_a_long_message_when_it_is_asked_for(chat: ChatView, qtbot: Any) -> None:
    chat.show_thread([question("a needle " * 1_000)], LiveTurn())
    type_words(chat, qtbot, "needle")
    (view,) = chat.message_views()
    before = len(view.body.views)
    view.more_button.click()
    new = view.body.views[before:]
    assert new
    assert all({block.text(*span) for span in block._matches} == {"needle"} for block in new)


def test_going_on_costs_the_same_however_many_matches_there_are(chat: ChatView, qtbot: Any) -> None:
    chat.show_thread(thread(301, dict.fromkeys(range(0, 300, 2), "ab " * 1000)), LiveTurn())
    type_words(chat, qtbot, "a")
    assert chat.find_bar.count.endswith(" of 150,604")
    begun = time.thread_time()
    for _ in range(10):
        chat.find_bar.step_requested.emit(1)
    assert time.thread_time() - begun < 1.0


def test_letters_are_found_in_long_code_without_a_pause(chat: ChatView, qtbot: Any) -> None:
    chat.show_thread([question(), answer("```text\n" + "an e or two: é e\n" * 2_500 + "```")], LiveTurn())
    begun = time.thread_time()
    type_words(chat, qtbot, "e")
    assert time.thread_time() - begun < 1.0
    assert chat.find_bar.count.endswith(" of 5,000")


def test_a_conversation_that_is_not_on_view_opens_no_bar(chat: ChatView) -> None:
    chat.show_thread([], LiveTurn())
    chat.hide()
    chat.show_find()
    chat.show()
    assert chat.find_bar.isHidden()


def test_an_input_methods_enter_goes_to_no_match(chat: ChatView, qtbot: Any) -> None:
    chat.show_thread([question("needle"), answer("A needle")], LiveTurn())
    type_words(chat, qtbot, "needle")
    QApplication.sendEvent(chat.find_bar.field, QInputMethodEvent("ni", []))
    QTest.keyClick(chat.find_bar.field, Qt.Key.Key_Return)
    QTest.keyClick(chat.find_bar.field, Qt.Key.Key_Escape)
    assert (chat.find_bar.count, chat.find_bar.isHidden()) == ("1 of 2", False)


def test_a_selection_is_what_is_looked_for(chat: ChatView, qtbot: Any) -> None:
    chat.show_thread([question("needle"), answer("A needle")], LiveTurn())
    chat.message_views()[0].body.selection.select_all()
    chat.show_find()
    assert chat.find_bar.field.text() == "needle"
    qtbot.waitUntil(lambda: chat.find_bar.count == "1 of 2")


def test_a_long_selection_is_not_put_together_to_be_looked_for(chat: ChatView, monkeypatch: pytest.MonkeyPatch) -> None:
    chat.show_thread(thread(40, {}), LiveTurn())
    chat.select_all()
    monkeypatch.setattr(chat_selection, "parse", lambda _text: pytest.fail("read for nothing"))
    chat.show_find()
    assert chat.find_bar.field.text() == ""


def test_a_hit_of_the_search_is_brought_into_view_and_marked_for_a_moment(chat: ChatView, qtbot: Any) -> None:
    messages = thread(1000, {501: "Some text.\n\n" * 60 + "The hay has a needle\n\n" + "More text.\n\n" * 60})
    chat.show_thread(messages, LiveTurn())
    chat.scroll_to(messages[501].id, "needle HAY")
    view = next(view for view in chat.message_views() if view.message is messages[501])
    block = view.body.views[60]
    assert [block.text(*span) for span in block._matches] == ["hay", "needle"]
    top = block.mapTo(chat.viewport(), QPoint()).y()
    assert 0 < top < chat.viewport().height() - 40
    assert not chat.following
    chat._find._brief.timeout.emit()
    assert block._matches == ()


def test_a_message_without_words_is_brought_to_the_top(chat: ChatView) -> None:
    messages = thread(300, {})
    chat.show_thread(messages, LiveTurn())
    chat.scroll_to(messages[150].id)
    view = next(view for view in chat.message_views() if view.message is messages[150])
    assert abs(view.mapTo(chat.viewport(), QPoint()).y() - 16) <= 1
    chat.scroll_to("no such message", "x")


def test_a_thousand_messages_are_looked_through_without_being_made(chat: ChatView, qtbot: Any) -> None:
    chat.show_thread(thread(1000, {7: "needle"}), LiveTurn())
    begun = time.perf_counter()
    type_words(chat, qtbot, "needle")
    print(f"looked through 1,000 messages in {time.perf_counter() - begun:.2f} s")
    assert chat.find_bar.count == "1 of 1"
    assert len(chat.message_views()) < 60


def test_looking_through_five_megabytes_holds_nothing_up(chat: ChatView, qtbot: Any) -> None:
    chat.show_thread([question("x"), answer("Some **words** in a line.\n\n" * 180_000 + "needle")], LiveTurn())
    chat.show_find()
    chat.find_bar.field.setText("needle")
    slices = []
    for _ in range(30):
        begun = time.thread_time()
        chat._find._timer.timeout.emit()
        slices.append(time.thread_time() - begun)
    assert chat._find.counting
    assert sorted(slices)[-3] < 0.05
    chat.close_find()
    assert not chat._find.counting


@pytest.mark.parametrize("messages", [thread(30, {}), [question("Short?"), answer("Yes.")]], ids=["long", "short"])
def test_the_first_message_can_be_read_below_the_bar(chat: ChatView, messages: list[StoredMessage]) -> None:
    chat.resize(640, 600)
    chat.show_thread(messages, LiveTurn())
    chat.verticalScrollBar().setValue(0)
    chat.show_find()
    first = chat.message_views()[0]
    assert first.mapTo(chat, QPoint()).y() >= chat.find_bar.geometry().bottom()
    chat.close_find()
    assert first.mapTo(chat.viewport(), QPoint()).y() == 24


def test_the_bar_moves_nothing_that_is_read_further_down(chat: ChatView) -> None:
    chat.resize(640, 600)
    chat.show_thread(thread(30, {}), LiveTurn())
    chat.verticalScrollBar().setValue(700)
    view = next(view for view in chat.message_views() if view.mapTo(chat.viewport(), QPoint()).y() > 100)
    before = view.mapTo(chat.viewport(), QPoint()).y()
    chat.show_find()
    assert view.mapTo(chat.viewport(), QPoint()).y() == before
    chat.close_find()
    assert view.mapTo(chat.viewport(), QPoint()).y() == before
