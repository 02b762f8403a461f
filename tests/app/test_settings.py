from __future__ import annotations

import json
import os

import pytest

from app.declarations import SETTINGS
from app.settings import Settings
from app.theme import DEFAULT_LOOK, Look
from engine.config import GREEDY, EngineConfig, SamplingParams


@pytest.fixture
def path(qapp, tmp_path):  # their timer needs an application
    return tmp_path / "config" / "settings.json"


def test_every_default_is_allowed_and_every_visible_setting_explained(path):
    for setting in SETTINGS:
        assert setting.check(setting.default) == setting.default
        assert bool(setting.label) == bool(setting.help)
    assert Settings(path).sampling() == SamplingParams()
    assert not path.exists(), "reading must not write"


def test_the_bounds_are_within_the_engines(path):
    settings = Settings(path)
    for setting in SETTINGS:
        values = [setting.low, setting.high] if setting.kind in ("number", "integer") else list(setting.choices)
        for value in values:
            settings.set(setting.name, int(value) if setting.kind == "integer" else value)
            settings.sampling()
            settings.engine_config()
        settings.reset(setting.name)


def test_the_engine_gets_what_is_set(path):
    settings = Settings(path)
    assert settings.engine_config() == EngineConfig()
    values = {"memory_percent": 50, "cache_disk_gib": 1.5, "threads": 3, "save_caches": False, "max_context": 4096}
    for name, value in (values | {"dtype": "int8", "kv_dtype": "float16", "device": "cpu"}).items():
        settings.set(name, value)
    assert settings.engine_config() == EngineConfig(
        device="cpu",
        dtype="int8",
        kv_dtype="float16",
        threads=3,
        max_context=4096,
        memory_utilization=0.5,
        save_caches=False,
        cache_disk_bytes=3 << 29,
    )
    settings.set("window_geometry", "kept")
    settings.reset_all()
    assert settings.engine_config() == EngineConfig()
    assert settings.get("window_geometry") == "kept"


def test_a_preset_sets_its_values_and_says_custom_when_they_differ(qtbot, path):
    settings = Settings(path)
    assert settings.get("preset") == "balanced"
    settings.set("preset", "exact")
    assert settings.sampling() == GREEDY
    told = []
    settings.changed.connect(told.append)
    settings.set("top_p", 0.5)
    assert settings.get("preset") == "exact", "greedy decoding takes the likeliest whatever the rest says"
    settings.set("temperature", 0.3)
    assert settings.get("preset") == "custom"
    assert told == ["top_p", "temperature", "preset"]
    settings.set("preset", "custom")
    assert settings.get("temperature") == 0.3, "chooses nothing"
    settings.set("preset", "creative")
    assert (settings.get("preset"), settings.get("temperature")) == ("creative", 1.1)
    settings.save()
    assert "preset" not in json.loads(path.read_text()), "it stands for others and is no value of its own"
    settings.reset("preset")
    settings.save()
    assert settings.sampling() == SamplingParams()


def test_the_models_own_manner_is_as_its_makers_say(qtbot, path):
    settings = Settings(path)
    settings.set("preset", "model")
    assert settings.get("preset") == "balanced", "where they say nothing"
    settings.set_own_sampling({"temperature": 0.6, "top_k": 20})
    assert settings.get("preset") == "balanced"
    settings.set("preset", "model")
    assert settings.get("preset") == "model"
    assert settings.sampling() == SamplingParams(temperature=0.6, top_k=20)
    settings.set_own_sampling({})
    assert settings.sampling() == SamplingParams(), "a model that says nothing is sampled as the balanced preset says"
    settings.save()


def test_the_look_is_what_is_set(path):
    settings = Settings(path)
    assert settings.look() == DEFAULT_LOOK
    for name, value in {"accent": "teal", "font": "DejaVu Serif", "text_size": "120", "density": "compact"}.items():
        settings.set(name, value)
    assert settings.look() == Look("teal", "DejaVu Serif", 120, "compact")
    settings.save()


def test_a_change_is_told_saved_a_moment_later_and_read_again(qtbot, path):
    settings = Settings(path)
    with qtbot.waitSignal(settings.changed) as told:
        settings.set("temperature", 1.25)
    assert told.args == ["temperature"]
    settings.set("system_prompt", "Sei kürzer. 简短。")
    assert not path.exists()
    qtbot.waitUntil(path.exists)
    assert json.loads(path.read_text("utf-8")) == {
        "temperature": 1.25,
        "sampling_chosen": True,
        "system_prompt": "Sei kürzer. 简短。",
    }
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
        ("top_k", 1.5, "Top k must be between 0 and 1,000,000."),
        ("top_k", True, "Top k must be between 0 and 1,000,000."),
        ("system_prompt", None, "System prompt must be text."),
        ("read_ahead", 1, "Read while you type must be on or off."),
        ("dtype", ["int8"], "Weight format must be one of auto, int4, int8, nf4, float32, bfloat16, float16."),
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
    path.write_text('{"temperature": 99, "from_the_future": [1]}')
    settings = Settings(path)
    assert settings.get("temperature") == SamplingParams().temperature
    assert settings.trouble == ""
    assert json.loads(path.read_text()) == {"from_the_future": [1]}, "healed"
    settings.set("top_k", 5)
    settings.save()
    assert json.loads(path.read_text()) == {"from_the_future": [1], "top_k": 5, "sampling_chosen": True}


def test_half_a_surrogate_pair_does_not_keep_the_file_from_being_written(path):
    settings = Settings(path)
    settings.set("system_prompt", "caf\u00e9 \ud83d and on")
    settings.save()
    assert json.loads(path.read_text("utf-8")) == {"system_prompt": "caf\u00e9 \ufffd and on"}
    path.write_text('{"system_prompt": "\\ud83d"}')
    again = Settings(path)
    assert again.get("system_prompt") == "\ufffd"
    again.set("theme", "dark")
    again.save()


@pytest.mark.expects_log("settings could not be read")
@pytest.mark.parametrize("content", [b"{not json", b"[1, 2]", b"\xff\xfe\x00", b"[" * 100_000])
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

    monkeypatch.setattr(os, "fsync", full)
    settings.set("top_k", 6)
    with qtbot.waitSignal(settings.save_failed) as told:
        settings.save()
    assert "could not be saved" in told.args[0]
    assert json.loads(path.read_text()) == {"top_k": 5, "sampling_chosen": True}
    assert list(path.parent.iterdir()) == [path]
    monkeypatch.undo()
    settings.save()
    assert json.loads(path.read_text()) == {"top_k": 6, "sampling_chosen": True}


def test_sampling_follows_the_model_until_something_is_chosen(tmp_path, qapp):
    settings = Settings(tmp_path / "settings.json")
    settings.set_own_sampling({"temperature": 0.2, "top_p": 0.9})
    assert (settings.get("temperature"), settings.get("top_p"), settings.get("preset")) == (0.2, 0.9, "model")
    settings.set_own_sampling({})
    assert (settings.get("temperature"), settings.get("preset")) == (0.7, "balanced")
    settings.set("temperature", 0.5)
    settings.set_own_sampling({"temperature": 0.2})
    assert settings.get("temperature") == 0.5
    settings.reset_all()
    assert settings.get("temperature") == 0.2


def test_balanced_chosen_by_hand_stays_over_a_restart(tmp_path, qapp):
    path = tmp_path / "settings.json"
    settings = Settings(path)
    settings.set_own_sampling({"temperature": 0.2})
    settings.set("preset", "balanced")
    settings.save()
    again = Settings(path)
    again.set_own_sampling({"temperature": 0.2})
    assert again.get("temperature") == 0.7


def test_a_default_is_what_the_model_says_and_reset_goes_back_to_it(path, qapp):
    settings = Settings(path)
    told = []
    settings.default_changed.connect(told.append)
    settings.set_own_sampling({"temperature": 0.0, "repetition_penalty": 1.1})
    assert told == ["temperature", "repetition_penalty", "preset"]
    assert [settings.default(name) for name in ("temperature", "top_p", "preset")] == [0, 0.95, "model"]
    settings.set("temperature", 1.3)
    settings.reset("temperature")
    assert (settings.get("temperature"), settings.get("preset")) == (0, "model")
    settings.set("preset", "creative")
    settings.reset("preset")
    settings.set("theme", "dark")
    settings.reset_all()
    assert all(settings.get(setting.name) == settings.default(setting.name) for setting in SETTINGS if setting.label)
    settings.save()
    assert not path.exists() or json.loads(path.read_text()) == {}


def test_what_only_follows_the_model_is_not_kept(path, qapp):
    settings = Settings(path)
    settings.set_own_sampling({"temperature": 0.2, "top_p": 0.9})
    settings.set("top_k", 5)
    settings.save()
    assert json.loads(path.read_text()) == {"top_k": 5, "sampling_chosen": True}
    again = Settings(path)
    again.set_own_sampling({"temperature": 0.6})
    assert [again.get(name) for name in ("temperature", "top_k", "top_p")] == [0.6, 5, 0.95]
    assert [again.chose(name) for name in ("temperature", "top_k")] == [False, True]
    again.set("preset", "model")
    again.save()
    assert json.loads(path.read_text()) == {}
