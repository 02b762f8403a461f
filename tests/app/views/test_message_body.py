"""The text of a message: streamed and fresh are the same; selecting, copying, links."""

from __future__ import annotations

import random
from typing import Any

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QGuiApplication, QKeySequence
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget

from app.blocks import Code
from app.markdown import parse
from app.pages import PlainPages
from app.plain_text import Query
from app.theme import Look, Theme
from app.views.code_view import CodeView
from app.views.formula_view import FormulaView
from app.views.formulas import OBJECT, Formulas
from app.views.message_body import MessageBody
from app.views.prose_view import ProseView
from app.views.table_view import column_widths
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
        body = MessageBody(theme, Formulas(theme, host), host)
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


@pytest.mark.parametrize("text", ["#", "- ", "1. ", "> - ", "a\n\n## \n\nb", "| a |\n|---|\n|  |"])
def test_what_has_no_words_yet_is_drawn(make_body: Any, text: str) -> None:
    body = make_body()
    body.append(text)
    body.finish(text)
    assert body.height_for(400) > 0


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


def test_a_selection_made_upwards_is_the_same(make_body: Any) -> None:
    body = fresh(make_body, "First paragraph.\n\nLast paragraph.")
    last = body.views[-1].geometry()
    drag(body, QPoint(last.right(), last.bottom()), QPoint(0, 2))
    assert body.selected_text() == "First paragraph.\n\nLast paragraph."


def test_double_click_selects_a_word_and_a_click_nothing(make_body: Any) -> None:
    body = fresh(make_body, "Alpha beta.\n\nGamma.")
    QTest.mouseDClick(body, Qt.MouseButton.LeftButton, pos=QPoint(10, 10))
    assert body.selected_text() == "Alpha"
    QTest.mouseClick(body, Qt.MouseButton.LeftButton, pos=QPoint(10, 10))
    assert body.selected_text() == ""


def test_keys_and_menu_ask_the_conversation_to_copy_quote_and_select_all(make_body: Any, qtbot: Any) -> None:
    body = fresh(make_body, "Alpha beta.")
    assert [action.isEnabled() for action in body.context_menu().actions()] == [False, False, True]
    body.selection.select_all()
    copy, quote, select_all = body.context_menu().actions()
    for signal, act in (
        (body.copy_requested, copy.trigger),
        (body.quote_requested, quote.trigger),
        (body.select_all_requested, select_all.trigger),
        (body.copy_requested, lambda: QTest.keySequence(body, QKeySequence(QKeySequence.StandardKey.Copy))),
        (body.select_all_requested, lambda: QTest.keySequence(body, QKeySequence(QKeySequence.StandardKey.SelectAll))),
    ):
        with qtbot.waitSignal(signal, timeout=500):
            act()


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
    body.selection.select_all()
    assert body.selected_text() == "Before.\n\na\tb\n1\t2\n\nAfter."


def formulas_there(body: MessageBody, qtbot: Any) -> None:
    qtbot.waitUntil(lambda: not body._formulas.busy and body._changed_from is None)


def test_a_formula_takes_the_place_of_its_source_when_it_is_drawn(make_body: Any, qtbot: Any) -> None:
    source = r"Let $\frac{a}{b}$ be."
    body = fresh(make_body, source)
    view = body.views[0]
    pending = view.height()
    assert view.document.toPlainText() == f"Let {OBJECT} be."
    formulas_there(body, qtbot)
    assert view.document.toPlainText() == f"Let {OBJECT} be."
    assert view.height() >= pending
    body.selection.select_all()
    assert body.selected_text() == source, "what is copied is the source"


def test_a_tall_formula_makes_its_line_higher_and_a_low_one_does_not(make_body: Any, qtbot: Any) -> None:
    plain, low, tall = (
        fresh(make_body, text) for text in ("Let x be.", "Let $x_1$ be.", r"Let $$\sum_{i=0}^n i$$ be.")
    )
    for body in (low, tall):
        formulas_there(body, qtbot)
    assert low.height() == plain.height()
    assert tall.height() > plain.height() + 10


def test_what_is_no_latex_stays_as_it_was_written(make_body: Any, qtbot: Any) -> None:
    body = fresh(make_body, "So $\\frac{a$ it is, and $推理$.\n\n$$\n\\frac{a\n$$")
    formulas_there(body, qtbot)
    assert body.views[0].document.toPlainText() == "So $\\frac{a$ it is, and $推理$."
    assert body.views[1].document.toPlainText() == "$$\n\\frac{a\n$$"


def test_a_display_formula_stands_alone_centred_and_is_copied(make_body: Any, qtbot: Any) -> None:
    body = fresh(make_body, "So\n\n$$\na^2 + b^2\n$$\n\nor not.")
    formulas_there(body, qtbot)
    view = body.views[1]
    assert isinstance(view, FormulaView)
    middle = view.position_rect(0).x() + view.document.idealWidth() / 2
    assert abs(middle - WIDTH / 2) < 3
    body.selection.select_all()
    assert body.selected_text() == "So\n\n$$\na^2 + b^2\n$$\n\nor not."


def test_a_formula_is_drawn_in_the_colour_of_the_theme(make_body: Any, qtbot: Any, theme: Theme) -> None:
    body = fresh(make_body, r"$$\blacksquare$$")
    formulas_there(body, qtbot)

    def colours() -> set[str]:
        image = body.grab().toImage()
        return {image.pixelColor(x, y).name().upper() for x in range(image.width()) for y in range(image.height())}

    assert theme.tokens["text"] in colours()
    theme.set_choice("dark")
    body.restyle()
    assert theme.tokens["text"] in colours()


def test_a_wide_table_scrolls_by_itself_and_a_narrow_one_does_not(make_body: Any) -> None:
    row = "| " + " | ".join(f"a column with some words {n}" for n in range(9)) + " |"
    wide, narrow = fresh(make_body, f"{row}\n{'|--' * 9}|\n{row}"), fresh(make_body, "| a | b |\n|---|--:|\n| 1 | 2 |")
    assert wide.views[0].scroll_bar.maximum() > 300
    assert narrow.views[0].scroll_bar.maximum() == 0
    assert wide.width() == WIDTH
    before = wide.views[0].position_rect(5).x()
    wide.views[0].scroll_bar.setValue(100)
    assert wide.views[0].position_rect(5).x() == before - 100


def test_a_table_that_grows_is_the_same_as_one_drawn_at_once(make_body: Any) -> None:
    head, rows = "| a | b |\n|---|--:|\n", [f"| row {n} | `{n}` and **more** |\n" for n in range(12)]
    body = make_body()
    body.append(head)
    for row in rows:
        body.append(row)
    body.show_markdown(head + "".join(rows))
    assert state(body) == state(fresh(make_body, head + "".join(rows)))


@pytest.mark.parametrize(
    ("natural", "room", "widths"),
    [
        ([50, 50], 680, [62, 74]),
        ([50, 900], 680, [62, 618]),
        ([900, 900, 900, 900, 900], 680, [170] * 5),
        ([20, 900, 900], 680, [32, 323.5, 324.5]),
    ],
)
def test_columns_share_the_room(natural: list[float], room: int, widths: list[float]) -> None:
    assert column_widths(natural, room) == pytest.approx(widths, abs=2)


def test_every_line_of_a_question_takes_its_own_direction(make_body: Any) -> None:
    body = make_body()
    body.show_blocks(PlainPages("Latin first (a).\n123 مرحبا (abc).\nLatin again").next(), plain=True)
    body.height_for(WIDTH)
    (view,) = body.views
    lines = []
    block = view.document.begin()
    while block.isValid():
        lines.append((block.textDirection(), block.layout().lineAt(0).naturalTextRect().left() > WIDTH / 2))
        block = block.next()
    left, right = Qt.LayoutDirection.LeftToRight, Qt.LayoutDirection.RightToLeft
    assert lines == [(left, False), (right, True), (left, False)]
    view.select(0, view.length)
    assert view.selected_text() == "Latin first (a).\n123 مرحبا (abc).\nLatin again"


def test_right_to_left_text_is_mirrored_with_its_list(make_body: Any) -> None:
    body = fresh(make_body, "- שלום עולם\n\n- left")
    hebrew, english = body.views
    assert hebrew._left() == 0
    assert hebrew._right() == english._left() > 0
    assert hebrew.document.firstBlock().layout().lineAt(0).naturalTextRect().right() > WIDTH - 60


def test_boxes_of_tasks_take_the_place_of_bullets(make_body: Any, theme: Theme) -> None:
    done, open_ = fresh(make_body, "- [x] done"), fresh(make_body, "- [ ] done")
    assert done.views[0].document.toPlainText() == "done"
    fill = theme.color("accent_fill")
    images = [body.grab().toImage() for body in (done, open_)]
    filled = [sum(i.pixelColor(x, y) == fill for x in range(36) for y in range(i.height())) for i in images]
    assert filled[0] > 50
    assert filled[1] < 20


def test_boxes_of_tasks_grow_with_the_text(make_body: Any, theme: Theme) -> None:
    fill, filled = theme.color("accent_fill"), []
    for text_size in (100, 150):
        theme.set_look(Look(text_size=text_size))
        image = fresh(make_body, "- [x] done").grab().toImage()
        columns = {x for x in range(36) for y in range(image.height()) if image.pixelColor(x, y) == fill}
        filled.append(len(columns))
    theme.set_look(Look())
    assert filled[1] >= 1.4 * filled[0]


def test_deeply_nested_text_is_shown_in_its_column(make_body: Any) -> None:
    body = fresh(make_body, "> " * 40 + "end\n\n" + "".join("  " * n + f"- item {n}\n" for n in range(40)))
    text = "\n".join(view.document.toPlainText() for view in body.views)
    assert "end" in text
    assert "item 39" in text
    assert all(view._left() < WIDTH / 2 for view in body.views)


def test_matches_are_marked_where_the_words_stand(make_body: Any, qtbot: Any, theme: Theme) -> None:
    body = fresh(make_body, "🙂 a $x$ Word\n\n| word | b |\n|--|--|\n| b | a word |\n\n```\nword word\n```")
    formulas_there(body, qtbot)
    assert body.mark_matches(Query("WORD"), 1, 1) == 5
    prose, table, code = body.views
    assert [prose.text(*span) for span in prose._matches] == ["Word"]
    assert [table.text(*span) for span in table._matches] == ["word", "word"]
    assert [code.text(*span) for span in code._matches] == ["word", "word"]
    assert body.match_rect(1, 1).y() > body.match_rect(1, 0).y()
    first, second = (body.match_rect(2, number) for number in (0, 1))
    image = body.grab().toImage()
    grounds = [image.pixelColor(place.x() + 1, place.y() + 2).name() for place in (first, second)]
    assert grounds == [theme.color("match").name()] * 2
    assert theme.color("match_current").name() in {
        image.pixelColor(x, body.match_rect(1, 1).y() + 2).name() for x in range(image.width())
    }
    assert body.mark_matches(None) == 0


def test_the_colours_of_long_code_follow_in_short_slices(make_body: Any, qtbot: Any, theme: Theme) -> None:
    code = "\n".join(f'name_{n} = "🙂 text"  # why {n}\ntext = """two\nlines"""' for n in range(400))
    body = fresh(make_body, f"```python\n{code}\n```")
    (view,) = body.views
    qtbot.waitUntil(lambda: not view._colours.busy)
    line = view.document.findBlockByNumber(3 * 399)
    assert line.text() == 'name_399 = "🙂 text"  # why 399'
    comment = line.layout().formats()[-1]
    assert comment.format.foreground().color() == theme.color("code_comment")
    assert (comment.start, comment.length) == (len('name_399 = "🙂 text"  ') + 1, len("# why 399")), "as Qt counts"
    second_line_of_string = view.document.findBlockByNumber(3 * 399 + 2).layout().formats()
    assert {each.format.foreground().color().name() for each in second_line_of_string} == {
        theme.color("code_string").name()
    }
    assert sum(each.length for each in second_line_of_string) == len('lines"""')
    body.selection.select_all()
    assert body.selected_text() == code
