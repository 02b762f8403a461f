"""A day at the window, with real keys and a real mouse on a screen; the database is asked what came of it."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from engine.paths import Paths
from tests.integration.person import PATIENCE_S, QUESTION, Person, script
from tests.integration.screen import Screen, missing_tools, wait_until

ABSENT = missing_tools()
pytestmark = [
    pytest.mark.xvfb,
    pytest.mark.timeout(240),
    pytest.mark.skipif(sys.platform != "linux", reason="Xvfb is for Linux"),
    pytest.mark.skipif(
        bool(ABSENT) and not os.environ.get("CI"),
        reason=f"needs {', '.join(ABSENT)}: sudo apt install xvfb openbox xdotool imagemagick",
    ),
]
LONG = 400  # words: eight seconds
STOP = "Stop the answer (Esc)"
CHAT = "SELECT * FROM conversation WHERE title = ? AND deleted_at IS NULL"


@pytest.fixture
def pictures(tmp_path: Path) -> Path:
    return Path(os.environ.get("LOQUAT_PICTURES") or tmp_path / "pictures")


@pytest.fixture
def screen(tmp_path: Path) -> Iterator[Screen]:
    with Screen(tmp_path) as made:
        yield made


@pytest.fixture
def sit_down(
    screen: Screen, loquat_home: Paths, tmp_path: Path, pictures: Path, request: pytest.FixtureRequest
) -> Iterator[Callable[..., Person]]:
    """`sit_down(400, 6)`: the window is there and has the keyboard; the answers have so many words."""
    loquat_home.config.mkdir(parents=True, exist_ok=True)
    settings = {"theme": "light", "language": "en"}
    (loquat_home.config / "settings.json").write_text(json.dumps(settings), encoding="utf-8")
    started: list[Person] = []

    def start(*answers: int) -> Person:
        person = Person(screen, loquat_home, tmp_path, answers)
        started.append(person)
        person.window()
        wait_until(lambda: person.look("text", QUESTION) == "", PATIENCE_S, "an empty field with the keyboard")
        return person

    yield start
    for person in started:
        if person.process.poll() is None:  # the test failed: show where it stood
            screen.picture(pictures / f"failed-{request.node.name}.png")
            print(person.log.read_text(), *(tuple(row)[:8] for row in person.messages()), sep="\n")
        person.kill()


def close(person: Person) -> None:
    """Close the window as a person does; nothing went wrong."""
    assert person.close() == 0
    assert person.log.read_text() == ""
    log = (person.home.logs / "loquat.log").read_text(encoding="utf-8")
    assert "ERROR" not in log, log


def test_ask_stop_edit_regenerate_and_step_through_versions(sit_down: Callable[..., Person], pictures: Path) -> None:
    person = sit_down(LONG, 6, 7)
    person.ask("What is a loquat")
    wait_until(lambda: person.replies("partial"), PATIENCE_S, "the first words")
    person.screen.picture(pictures / "day-1-answering.png")
    person.click(STOP)
    stopped = person.wait_for("SELECT * FROM message WHERE status = 'cancelled'")[0]
    assert stopped["content"]
    assert script(LONG).startswith(stopped["content"])

    person.click("Ask this question in other words")
    wait_until(lambda: person.look("text", "Your question in other words"), PATIENCE_S, "the field of the edit")
    person.screen.type(" and why")
    person.screen.picture(pictures / "day-2-editing.png")
    person.screen.press("ctrl+Return")
    first = person.answered("What is a loquat and why", 6)[0]
    questions = person.rows("SELECT * FROM message WHERE role = 'user' ORDER BY key")
    assert [(row["content"], row["parent_id"]) for row in questions] == [
        ("What is a loquat", None),
        ("What is a loquat and why", None),
    ]

    person.click("Answer once more; this answer is kept")
    second = person.answered("What is a loquat and why", 7)[0]
    assert second["parent_id"] == first["parent_id"] == questions[1]["id"]
    person.sees("2 / 2")
    person.screen.picture(pictures / "day-3-versions.png")

    shown = "SELECT leaf_id FROM conversation WHERE leaf_id = ?"
    person.click("Previous version")  # of the answer: it stands lower than that of the question
    person.wait_for(shown, first["id"])
    person.click("Next version")
    person.wait_for(shown, second["id"])
    close(person)
    assert len(person.messages()) == 5  # two questions, a stopped answer, two complete ones


def test_search_open_the_hit_rename_delete_and_undo(sit_down: Callable[..., Person], pictures: Path) -> None:
    person = sit_down(30, 3)
    person.ask("Tell me about persimmons")
    person.answered("Tell me about persimmons", 30)
    person.screen.press("ctrl+n")
    wait_until(lambda: not person.look("says", "2 / 2") and person.look("text", QUESTION) == "", PATIENCE_S, "a chat")
    person.ask("And medlars")
    person.answered("And medlars", 3)

    person.screen.press("ctrl+shift+f")
    person.screen.type("word29")
    place = person.place("row", "word29")
    person.screen.picture(pictures / "day-4-search.png")
    person.screen.click(*place)
    person.sees("Question: Tell me about persimmons")
    person.screen.picture(pictures / "day-5-hit.png")
    person.screen.press("ctrl+shift+f", "Escape")

    person.click_row("And medlars")
    person.sees("Question: And medlars")
    person.click_row("And medlars", times=2)
    wait_until(lambda: person.look("text", "New name") == "And medlars", PATIENCE_S, "the field of the title")
    person.screen.press("ctrl+a")
    person.screen.type("Old fruit")
    person.screen.press("Return")
    renamed = person.wait_for(CHAT, "Old fruit")[0]
    assert renamed["titled"] == 1

    person.click_row("Old fruit")
    person.screen.press("Delete")
    person.wait_for("SELECT * FROM conversation WHERE title = 'Old fruit' AND deleted_at IS NOT NULL")
    person.sees("Deleted “Old fruit”.")
    person.screen.picture(pictures / "day-6-deleted.png")
    person.click("Undo")
    person.wait_for(CHAT, "Old fruit")
    person.click_row("Old fruit")
    person.sees("Question: And medlars")
    close(person)
    assert len(person.rows("SELECT * FROM conversation WHERE deleted_at IS NULL")) == 2
    assert len(person.messages()) == 4


def test_an_answer_goes_on_in_its_own_chat_while_others_are_on_view(
    sit_down: Callable[..., Person], pictures: Path
) -> None:
    person = sit_down(30, LONG, 5)
    person.ask("An old chat")
    person.answered("An old chat", 30)
    person.screen.press("ctrl+n")
    wait_until(lambda: not person.look("says", "Question: An old chat"), PATIENCE_S, "the new chat")
    person.ask("A long answer")
    wait_until(lambda: person.replies("partial"), PATIENCE_S, "the first words")
    person.click_row("An old chat")
    person.sees("Question: An old chat")
    person.click("Your question")
    person.ask("Meanwhile")  # waits until the long answer is done
    person.screen.picture(pictures / "day-7-elsewhere.png")
    person.click_row("A long answer")
    person.sees("Question: A long answer")
    person.screen.picture(pictures / "day-8-back.png")
    long = person.answered("A long answer", LONG)[0]
    short = person.answered("Meanwhile", 5)[0]
    homes = {row["title"]: row["id"] for row in person.rows("SELECT * FROM conversation")}
    assert homes == {"An old chat": short["conversation_id"], "A long answer": long["conversation_id"]}
    close(person)
    assert [row["status"] for row in person.messages() if row["role"] == "assistant"] == ["complete"] * 3


def test_a_message_waits_for_the_answer_and_nothing_is_lost_by_quitting(
    sit_down: Callable[..., Person], pictures: Path
) -> None:
    person = sit_down(60, 4, LONG)
    person.ask("First")
    wait_until(lambda: person.replies("partial"), PATIENCE_S, "the first words")
    person.ask("Then this")
    person.sees("Then this")
    person.screen.picture(pictures / "day-9-queued.png")
    person.answered("First", 60)
    person.answered("Then this", 4)

    person.ask("And now a long one")
    wait_until(lambda: person.replies("partial"), PATIENCE_S, "the first words")
    person.screen.type("a thought that is not")
    wait_until(lambda: person.look("text", QUESTION) == "a thought that is not", PATIENCE_S, "what was typed")
    before = person.replies("partial")[0]["content"]
    person.screen.press("ctrl+q")
    assert person.process.wait(30) == 0
    assert person.log.read_text() == ""
    kept = person.messages()[-1]
    assert kept["content"].startswith(before)
    assert script(LONG).startswith(kept["content"])

    again = Person(person.screen, person.home, person.log.parent, (3,))
    again.window()
    wait_until(lambda: again.look("text", QUESTION) == "a thought that is not", PATIENCE_S, "the draft")
    again.sees("Question: And now a long one")
    again.screen.picture(pictures / "day-10-reopened.png")
    again.click("Write on from where this answer ends")
    whole = again.wait_for("SELECT * FROM message WHERE id = ? AND status = 'complete'", kept["id"])[0]
    assert whole["content"] == kept["content"] + script(3)
    close(again)
    assert len(again.messages()) == 6
