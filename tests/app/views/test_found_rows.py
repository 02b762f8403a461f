"""What a search found, as rows: grouped, cut around the match, and spoken."""

from __future__ import annotations

from app.search_result import Hit, SearchResult
from app.views.found_rows import clipped, found_rows
from app.views.search_results import spoken


def hit(conversation_id: str, message_id: str, text: str, *spans: tuple[int, int], role: str = "user") -> Hit:
    return Hit(conversation_id, message_id, "A talk", role, text, spans, 1000.0)  # type: ignore[arg-type]


def test_hits_of_one_conversation_stand_under_its_title() -> None:
    rows = found_rows(
        SearchResult("x", (hit("1", "m1", "x one"), hit("2", "m2", "x two"), hit("1", "m3", "x three")), more=True)
    )
    assert [(row.kind, row.text) for row in rows] == [
        *(("title", "A talk"), ("hit", "x one"), ("hit", "x three"), ("title", "A talk"), ("hit", "x two")),
        ("more", "There are more. Another word narrows them down."),
    ]


def test_a_title_that_matches_is_marked_and_is_no_hit_of_its_own() -> None:
    title = Hit("1", "", "About x", "", "About x", ((6, 7),), 1000.0)
    rows = found_rows(SearchResult("x", (hit("1", "m1", "x"), title)))
    assert [(row.kind, row.text, row.spans) for row in rows] == [("title", "About x", ((6, 7),)), ("hit", "x", ())]


def test_a_long_text_is_cut_so_that_the_first_match_is_seen() -> None:
    text = "word " * 40 + "the match here " + "and match again"
    start = text.index("match")
    again = text.index("match", start + 1)
    shown, spans = clipped(text, ((start, start + 5), (again, again + 5)))
    assert shown.startswith("…")
    assert [shown[begin:end] for begin, end in spans] == ["match", "match"]
    assert spans[0][0] < 30
    assert clipped("short match", ((6, 11),)) == ("short match", ((6, 11),))


def test_without_a_space_the_cut_is_made_anywhere() -> None:
    text = "推" * 100 + "缓存" + "理" * 300
    shown, spans = clipped(text, ((100, 102),))
    ((begin, end),) = spans
    assert shown[begin:end] == "缓存"
    assert len(shown) < 200


def test_a_screen_reader_hears_who_said_it() -> None:
    rows = found_rows(SearchResult("x", (hit("1", "m1", "x", role="assistant"),)))
    assert [spoken(row, 1030.0) for row in rows] == ["Chat A talk, now", "Answer: x, now"]
