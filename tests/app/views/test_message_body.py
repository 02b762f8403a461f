"""The text of a message: streamed and fresh are the same; selecting, copying, links."""

from __future__ import annotations

import random
from typing import Any

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QGuiApplication, QKeySequence
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget

from app.markdown import Code, parse
from app.theme import Theme
from app.views.code_view import CodeView
from app.views.message_body import MessageBody
from app.views.prose_view import ProseView
from tests.app.views.conftest import DOCUMENT

WIDTH = 680


@pytest.fixture
def make_body(qtbot: Any, theme: Theme) -> Any:
    hosts: list[QWidget] = []  # qtbot holds no reference of its own

    def make() -> MessageBody:
        host = QWidget()
        hosts.append(host)
        qtbot.addWidget(host)
        host.resize(WIDTH, 2000)
        body = MessageBody(theme, host)
        body.height_for(WIDTH)
        body.height_changed.connect(lambda: body.resize(WIDTH, body.height_for(WIDTH)))
        host.show()
        return body

    return make


def state(body: MessageBody) -> list[tuple[Any, ...]]:
    """All that is seen of a body."""
    return [(view.block, view.geometry(), view.document.toHtml(), view.size()) for view in body.views]


def fresh(make_body: Any, text: str) -> MessageBody:
    body = make_body()
    body.show_markdown(text)
    return body


@pytest.mark.parametrize("seed", range(12))
def test_a_streamed_text_ends_as_a_fresh_one(make_body: Any, seed: int) -> None:
    chance = random.Random(seed)
    body, at = make_body(), 0
    while at < len(DOCUMENT):
        size = chance.choice((1, 2, 3, 5, 8, 30))
        body.append(DOCUMENT[at : at + size])
        at += size
    body.show_markdown(DOCUMENT)
    assert body.blocks == parse(DOCUMENT)
    assert state(body) == state(fresh(make_body, DOCUMENT))


def test_a_definition_at_the_end_corrects_what_was_drawn_before(make_body: Any) -> None:
    text = "See [the page][1] first.\n\nThen more.\n\n[1]: https://example.org"
    body = make_body()
    for char in text:
        body.append(char)
    body.show_markdown(text)
    assert state(body) == state(fresh(make_body, text))


def test_finished_blocks_are_not_touched_again(make_body: Any) -> None:
    body = make_body()
    body.append("First **paragraph**.\n\n```py\nx = 1\n```\n\nThe ta")
    first, code, tail = body.views
    revisions = [view.document.revision() for view in (first, code)]
    for _ in range(50):
        body.append("il grows")
    assert body.views == (first, code, tail)
    body.show_markdown("First **paragraph**.\n\n```py\nx = 1\n```\n\nThe ta" + "il grows" * 50)
    assert body.views == (first, code, tail)
    assert [view.document.revision() for view in (first, code)] == revisions


def test_a_growing_paragraph_is_appended_to_not_rebuilt(make_body: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    body = make_body()
    body.append("The beginning")
    monkeypatch.setattr(ProseView, "_fill", lambda *_: pytest.fail("rebuilt"))
    for _ in range(20):
        body.append(" and more")
    assert body.views[0].document.toPlainText() == "The beginning" + " and more" * 20


def test_an_open_fence_is_plain_and_gets_its_colours_when_closed(make_body: Any, theme: Theme) -> None:
    def colours(view: CodeView) -> set[str]:
        formats = view.document.firstBlock().textFormats()
        return {each.format.foreground().color().name().upper() for each in formats}

    body = make_body()
    body.append("```python\nreturn None")
    (view,) = body.views
    assert isinstance(view, CodeView)
    assert colours(view) == {theme.tokens["text"]}
    body.append("\n```\n")
    assert theme.tokens["code_keyword"] in colours(view)
    assert body.blocks == (Code("return None", "python"),)


def test_the_caret_stands_at_the_end_while_the_text_streams(make_body: Any, theme: Theme) -> None:
    body = make_body()
    body.append("One.\n\nTwo")

    def drawn() -> int:
        image = body.grab().toImage()
        accent = theme.color("accent").rgb()
        return sum(image.pixel(x, y) == accent for x in range(0, 200) for y in range(image.height()))

    assert drawn() > 60
    body.show_markdown("One.\n\nTwo")
    body.set_streaming(False)
    assert drawn() == 0


def test_restyling_keeps_the_text_and_takes_the_new_colours(make_body: Any, theme: Theme) -> None:
    body = fresh(make_body, DOCUMENT)
    texts = [view.document.toPlainText() for view in body.views]
    theme.set_choice("dark")
    body.restyle()
    assert [view.document.toPlainText() for view in body.views] == texts
    formats = body.views[0].document.firstBlock().textFormats()
    assert formats[0].format.foreground().color() == theme.color("text")


def drag(body: MessageBody, start: QPoint, end: QPoint) -> None:
    QTest.mousePress(body, Qt.MouseButton.LeftButton, pos=start)
    QTest.mouseMove(body, (start + end) / 2)
    QTest.mouseMove(body, end)
    QTest.mouseRelease(body, Qt.MouseButton.LeftButton, pos=end)


def test_a_selection_runs_across_blocks_and_is_copied(make_body: Any) -> None:
    body = fresh(make_body, "First paragraph.\n\n```\ncode\n```\n\nLast paragraph.")
    last = body.views[-1].geometry()
    drag(body, QPoint(0, 2), QPoint(last.right(), last.bottom()))
    assert body.selected_text() == "First paragraph.\n\ncode\n\nLast paragraph."
    QTest.keySequence(body, QKeySequence(QKeySequence.StandardKey.Copy))
    assert QGuiApplication.clipboard().text() == "First paragraph.\n\ncode\n\nLast paragraph."


def test_a_selection_made_upwards_is_the_same(make_body: Any) -> None:
    body = fresh(make_body, "First paragraph.\n\nLast paragraph.")
    last = body.views[-1].geometry()
    drag(body, QPoint(last.right(), last.bottom()), QPoint(0, 2))
    assert body.selected_text() == "First paragraph.\n\nLast paragraph."


def test_double_click_selects_a_word_and_select_all_everything(make_body: Any) -> None:
    body = fresh(make_body, "Alpha beta.\n\nGamma.")
    QTest.mouseDClick(body, Qt.MouseButton.LeftButton, pos=QPoint(10, 10))
    assert body.selected_text() == "Alpha"
    QTest.keySequence(body, QKeySequence(QKeySequence.StandardKey.SelectAll))
    assert body.selected_text() == "Alpha beta.\n\nGamma."
    QTest.mouseClick(body, Qt.MouseButton.LeftButton, pos=QPoint(10, 10))
    assert body.selected_text() == ""


def test_the_context_menu_selects_and_copies(make_body: Any) -> None:
    body = fresh(make_body, "Alpha beta.")
    copy, select_all = body.context_menu().actions()
    assert not copy.isEnabled()
    select_all.trigger()
    body.context_menu().actions()[0].trigger()
    assert QGuiApplication.clipboard().text() == "Alpha beta."


def test_a_link_is_told_not_opened(make_body: Any, qtbot: Any) -> None:
    body = fresh(make_body, "[here](https://example.org)")
    with qtbot.waitSignal(body.link_activated) as told:
        QTest.mouseClick(body, Qt.MouseButton.LeftButton, pos=QPoint(8, 10))
    assert told.args == ["https://example.org"]


def test_code_is_copied_without_its_fence_and_long_lines_scroll(make_body: Any) -> None:
    long_line = "x = " + "1 + " * 100
    body = fresh(make_body, f"```py\n{long_line}\n```\n\n```\nshort\n```")
    code, short = body.views
    assert isinstance(code, CodeView)
    assert isinstance(short, CodeView)
    code.copy_button.click()
    assert QGuiApplication.clipboard().text() == long_line.rstrip() + " "
    assert code.scroll_bar.maximum() > 0
    assert short.scroll_bar.maximum() == 0
    code.copy_button.reset()


def test_very_long_words_break_and_right_to_left_text_is_drawn(make_body: Any) -> None:
    body = fresh(make_body, "w" * 10_000 + "\n\nשלום עולם")
    assert body.views[0].document.idealWidth() <= WIDTH
    assert not body.grab().toImage().isNull()


def test_a_table_is_copied_with_its_cells(make_body: Any) -> None:
    body = fresh(make_body, "Before.\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\nAfter.")
    body.select_all()
    assert body.selected_text() == "Before.\n\na\tb\n1\t2\n\nAfter."
