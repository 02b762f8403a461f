from __future__ import annotations

import json
import os
import re
from dataclasses import replace

import pytest

from app.assets import ASSETS
from app.assistants import ICONS, PLAIN, Assistant, Assistants, shipped_assistants
from app.records import ChatOptions

OWN = Assistant(
    "a1", "Koch 厨师", "flask", "Explain cooking.", {"temperature": 0.3, "seed": None}, "smollm2", "Hungry?"
)


@pytest.fixture
def path(qapp, tmp_path):
    return tmp_path / "config" / "assistants.json"


def test_the_shipped_ones_are_good_and_plain_stands_first():
    shipped = shipped_assistants()
    assert [assistant.id for assistant in shipped] == [PLAIN, "writing", "translator", "code", "summary", "tutor"]
    for assistant in shipped:
        assistant.check()
        assert assistant.builtin and assistant.name and assistant.opening
        assert assistant.system_prompt or assistant.id == PLAIN
        assert (ASSETS / "icons" / f"{assistant.drawing}.svg").is_file()
    assert shipped[0].options == ChatOptions()
    assert shipped[2].options.assistant == "translator"
    assert {path.stem.removeprefix("assistant-") for path in (ASSETS / "icons").glob("assistant-*.svg")} == set(ICONS)


def test_ones_own_are_added_changed_removed_and_read_again(qtbot, path):
    assistants = Assistants(path)
    with qtbot.waitSignal(assistants.changed):
        assistants.put(OWN)
    second = replace(OWN, id="a2", name="Second", system_prompt="")
    assistants.put(second)
    assistants.put(replace(OWN, name="Chef"))
    assert [assistant.name for assistant in assistants.all()[6:]] == ["Chef", "Second"]
    assert assistants.get("a2") == second
    assert assistants.get("gone") is None
    assert assistants.get("").id == PLAIN
    place = assistants.remove("a1")
    assert place == 0
    assert assistants.remove("a1") is None
    assistants.put(OWN, place)
    qtbot.waitUntil(path.exists)
    assert Assistants(path).all()[6:] == (OWN, second)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"name": "  "}, "An assistant needs a name."),
        ({"name": "x" * 61}, "A name has at most 60 characters."),
        ({"system_prompt": "x" * 200_001}, "A system prompt has at most 200,000 characters."),
        ({"icon": "../../x"}, "There is no such icon."),
        ({"sampling": {"temperature": 9}}, "Temperature must be between 0 and 2."),
        ({"sampling": {"manners": 1}}, "manners is no way of answering."),
        ({"id": "tutor"}, "This assistant comes with Loquat. Duplicate it to change it."),
        ({"builtin": True}, "This assistant comes with Loquat. Duplicate it to change it."),
    ],
)
def test_what_cannot_be_kept_is_refused_with_a_sentence(path, change, sentence):
    assistants = Assistants(path)
    with pytest.raises(ValueError, match=f"^{re.escape(sentence)}$"):
        assistants.put(replace(OWN, **change))
    assert len(assistants.all()) == 6


@pytest.mark.expects_log("assistants could not be read")
@pytest.mark.parametrize(
    "content",
    [
        b"{not json",
        b"{}",
        b'[{"name": 3}]',
        b'[{"name": "x", "sampling": [1]}]',
        b'[{"name": "x", "sampling": {"temperature": "hot"}}]',
        b"[7]",
        b"\xff",
        b"[" * 100_000,
    ],
)
def test_a_damaged_file_is_put_aside_with_a_sentence(path, content):
    path.parent.mkdir()
    path.write_bytes(content)
    assistants = Assistants(path)
    (aside,) = path.parent.glob("assistants.damaged-*.json")
    assert aside.read_bytes() == content
    assert aside.name in assistants.trouble
    assert len(assistants.all()) == 6


def test_what_a_newer_version_wrote_beside_is_read_past(path):
    path.parent.mkdir()
    path.write_text(json.dumps([{"id": "a1", "name": "x", "from_the_future": True}]))
    assert Assistants(path).all()[6:] == (Assistant("a1", "x"),)


def test_half_a_surrogate_pair_does_not_keep_the_file_from_being_written(path):
    assistants = Assistants(path)
    assistants.put(replace(OWN, name="Chef \ud83d", system_prompt="\udc00"))
    assistants.save()
    (own,) = Assistants(path).all()[6:]
    assert (own.name, own.system_prompt) == ("Chef \ufffd", "\ufffd")
    path.write_text('[{"id": "a", "name": "\\ud83d"}]')
    again = Assistants(path)
    again.put(OWN)
    again.save()


@pytest.mark.expects_log("assistants could not be saved")
def test_a_save_that_fails_is_told_and_tried_again(qtbot, path, monkeypatch):
    assistants = Assistants(path)
    assistants.put(OWN)

    def full(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with qtbot.waitSignal(assistants.save_failed) as told:
        assistants.save()
    assert "could not be saved" in told.args[0]
    monkeypatch.undo()
    assistants.save()
    assert Assistants(path).all()[6:] == (OWN,)


def test_nothing_is_written_where_nothing_changed(path):
    Assistants(path).save()
    assert not path.exists()
