from __future__ import annotations

import json

import pytest

from app import settings as module
from app.settings import SETTINGS, Settings, write_atomically
from engine.config import SamplingParams


@pytest.fixture
def path(tmp_path):
    return tmp_path / "config" / "settings.json"


def test_every_default_is_allowed_and_every_visible_setting_explained(path):
    for setting in SETTINGS:
        assert setting.check(setting.default) == setting.default
        assert bool(setting.label) == bool(setting.help)
    assert Settings(path).sampling() == SamplingParams()
    assert not path.exists(), "reading must not write"


def test_the_bounds_are_within_the_engines(path):
    for setting in SETTINGS:
        if setting.kind in ("number", "integer"):
            for value in (setting.low, setting.high):
                SamplingParams(**{setting.name: int(value) if setting.kind == "integer" else value})


def test_a_change_is_told_saved_a_moment_later_and_read_again(qtbot, path):
    settings = Settings(path)
    with qtbot.waitSignal(settings.changed) as told:
        settings.set("temperature", 1.25)
    assert told.args == ["temperature"]
    settings.set("system_prompt", "Sei kürzer. 简短。")
    assert not path.exists()
    qtbot.waitUntil(path.exists)
    assert json.loads(path.read_text("utf-8")) == {"temperature": 1.25, "system_prompt": "Sei kürzer. 简短。"}
    again = Settings(path)
    assert (again.get("temperature"), again.get("system_prompt")) == (1.25, "Sei kürzer. 简短。")


def test_the_same_value_is_no_change_and_reset_forgets(qtbot, path):
    settings = Settings(path)
    settings.set("theme", "dark")
    settings.save()
    with qtbot.assertNotEmitted(settings.changed):
        settings.set("theme", "dark")
    settings.reset("theme")
    settings.save()
    assert json.loads(path.read_text()) == {}


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        ("theme", "pink", "Theme must be one of system, light, dark."),
        ("temperature", 2.5, "Temperature must be between 0 and 2."),
        ("temperature", "hot", "Temperature must be between 0 and 2."),
        ("temperature", float("nan"), "Temperature must be between 0 and 2."),
        ("top_k", 1.5, "Top k must be between 0 and 1e+06."),
        ("top_k", True, "Top k must be between 0 and 1e+06."),
        ("system_prompt", None, "System prompt must be text."),
    ],
)
def test_what_is_not_allowed_is_refused_with_a_sentence(path, name, value, sentence):
    settings = Settings(path)
    before = settings.get(name)
    with pytest.raises(ValueError, match="must") as told:
        settings.set(name, value)
    assert str(told.value) == sentence
    assert settings.get(name) == before


@pytest.mark.expects_log("a setting is not usable: Temperature must")
def test_an_unusable_value_becomes_the_default_and_unknown_ones_stay(path):
    path.parent.mkdir()
    path.write_text('{"temperature": 99, "from_the_future": [1], "max_tokens": null}')
    settings = Settings(path)
    assert settings.get("temperature") == SamplingParams().temperature
    assert settings.trouble == ""
    settings.set("top_k", 5)
    settings.save()
    assert json.loads(path.read_text()) == {"from_the_future": [1], "top_k": 5}


@pytest.mark.expects_log("settings could not be read")
@pytest.mark.parametrize("content", [b"{not json", b"[1, 2]", b"\xff\xfe\x00"])
def test_a_damaged_file_is_put_aside_with_a_sentence(path, content):
    path.parent.mkdir()
    path.write_bytes(content)
    settings = Settings(path)
    (aside,) = path.parent.glob("settings.damaged-*.json")
    assert aside.read_bytes() == content
    assert aside.name in settings.trouble
    assert settings.get("theme") == "system"


@pytest.mark.expects_log("settings could not be saved")
def test_a_save_that_fails_is_told_and_leaves_the_old_file(qtbot, path, monkeypatch):
    settings = Settings(path)
    settings.set("top_k", 5)
    settings.save()

    def full(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(module.os, "fsync", full)
    settings.set("top_k", 6)
    with qtbot.waitSignal(settings.save_failed) as told:
        settings.save()
    assert "could not be saved" in told.args[0]
    assert json.loads(path.read_text()) == {"top_k": 5}
    assert list(path.parent.iterdir()) == [path]
    monkeypatch.undo()
    settings.save()
    assert json.loads(path.read_text()) == {"top_k": 6}


def test_writing_replaces_the_whole_file(tmp_path):
    target = tmp_path / "a" / "file.json"
    write_atomically(target, "long old content")
    write_atomically(target, "new")
    assert target.read_text() == "new"
