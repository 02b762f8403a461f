"""What the palette and the slash menu offer."""

from __future__ import annotations

import pytest

from app.palette import MOST_ROWS, PaletteEntry, PaletteSearch, commands_for, slash_word

ENTRIES = (
    PaletteEntry("new", "New chat", "Ctrl+N", "Chat"),
    PaletteEntry("delete", "Delete this chat", "", "Chat"),
    PaletteEntry("settings", "Settings", "Ctrl+,", "Loquat", "preferences options"),
    PaletteEntry("1", "Chatting about news", "2 min", "Chats"),
)


def ids(query: str) -> list[str]:
    return [found.entry.id for found in PaletteSearch(ENTRIES).find(query)]


def test_without_a_query_all_stand_as_they_are() -> None:
    assert ids("") == ["new", "delete", "settings", "1"]
    many = [PaletteEntry(str(n), "x") for n in range(MOST_ROWS + 5)]
    assert len(PaletteSearch(many).find("")) == MOST_ROWS


def test_groups_stay_together_the_one_with_the_best_match_first() -> None:
    assert ids("chat") == ["1", "new", "delete"]
    assert ids("new") == ["new", "1"]


def test_keywords_find_what_is_called_otherwise() -> None:
    assert ids("options") == ["settings"]


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("/", ""),
        ("/new", "new"),
        ("/title My chat", "title"),
        ("//new", None),
        ("/usr/bin is full", None),
        ("a /new", None),
        (" /new", None),
        ("", None),
        ("/\nnew", ""),
    ],
)
def test_only_a_single_slash_at_the_very_beginning_makes_a_command(text: str, word: str | None) -> None:
    assert slash_word(text) == word


def test_commands_answer_to_the_beginning_of_their_words_only() -> None:
    assert [entry.id for entry in commands_for(ENTRIES, "")] == ["new", "delete", "settings", "1"]
    assert [entry.id for entry in commands_for(ENTRIES, "NEW")] == ["new", "1"]
    assert [entry.id for entry in commands_for(ENTRIES, "pref")] == ["settings"]
    assert commands_for(ENTRIES, "usr") == ()
    assert commands_for(ENTRIES, "etting") == ()
