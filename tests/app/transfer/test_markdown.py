from __future__ import annotations

import time
from dataclasses import replace

import pytest

from app.records import Attachment, Conversation, StoredMessage
from app.transfer.exporting import export_job
from app.transfer.markdown import NAME_LENGTH, document, file_name
from app.transfer.words import import_sentence

NOON = time.mktime((2026, 11, 29, 12, 0, 0, 0, 0, -1))
TALK = Conversation("c", " Sky\n blue ", NOON, NOON, "2026-11-29", "Be brief.\n\nBe kind.")
ASKED = StoredMessage("c", "user", "Why?\n", "q", attachments=(Attachment("a.md", "```\ncode\n```"),))
ANSWERED = StoredMessage("c", "assistant", "Because.\n\n- one", "a", "q", model="SmolLM2")


def test_a_conversation_as_people_read_it():
    assert document(TALK, [ASKED, ANSWERED]) == (
        "# Sky blue\n\n*2026-11-29 12:00*\n\n> Be brief.\n>\n> Be kind.\n\n"
        "## Question\n\n**a.md**\n\n````\n```\ncode\n```\n````\n\nWhy?\n\n"
        "## SmolLM2\n\nBecause.\n\n- one\n"
    )


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("Sky", "Sky"),
        ('a/b\\c:d*e?f"g<h>i|j', "a b c d e f g h i j"),
        ("../../etc/passwd", "etc passwd"),
        ("..", "Untitled"),
        ("", "Untitled"),
        ("CON", "CON_"),
        ("nul.txt", "nul.txt_"),
        ("天空", "天空"),
        ("x" * 200, "x" * NAME_LENGTH),
        ("a\0b\nc", "a b c"),
        (" . end. ", "end"),
    ],
)
def test_a_name_that_every_system_takes(title, name):
    assert file_name(replace(TALK, title=title)) == name


@pytest.fixture
def two(store):
    """Two conversations of one title; one has two branches."""
    store.add_tree(replace(TALK, leaf_id="a"), [ASKED, ANSWERED, replace(ANSWERED, id="b", content="Not shown.")])
    store.add_tree(replace(TALK, id="d", updated_at=NOON - 1), [replace(ASKED, id="x", conversation_id="d")])
    return store


def test_one_file_holds_all(two, run, tmp_path):
    path = tmp_path / "all.md"
    assert run(export_job(two, path, "markdown")).count == 2
    text = path.read_text(encoding="utf-8")
    assert text.count("# Sky blue\n") == 2
    assert text.count("\n---\n") == 1
    assert "Because." in text
    assert "Not shown." not in text


def test_a_folder_gets_one_file_for_each_and_nothing_there_is_overwritten(two, run, tmp_path):
    folder = tmp_path / "texts"
    folder.mkdir()
    (folder / "Sky blue.md").write_text("mine")
    assert run(export_job(two, folder, "markdown")).count == 2
    assert sorted(file.name for file in folder.iterdir()) == ["Sky blue (2).md", "Sky blue (3).md", "Sky blue.md"]
    assert (folder / "Sky blue.md").read_text() == "mine"


def test_markdown_is_not_imported(two, take):
    assert "not a JSON file" in import_sentence(take(document(TALK, [ASKED]).encode()))
