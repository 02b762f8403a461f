"""The tokens, and what the theme makes of them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QFontInfo, QFontMetricsF
from PySide6.QtWidgets import QApplication, QLabel

from app.theme import ASSETS, Theme, Tokens, app_icon

APP = Path(__file__).parent.parent.parent / "app"
THEMES = ("light", "dark")
# (what is read, what it stands on); WCAG 2.1 AA for text of this size
READ = [
    *[("text", ground) for ground in ("background", "surface", "sidebar", "question", "code", "accent_wash", "hover")],
    *[("muted", ground) for ground in ("background", "surface", "sidebar", "question", "code", "accent_wash", "hover")],
    *[(f"code_{kind}", "code") for kind in ("keyword", "literal", "string", "name", "comment")],
    ("text", "selection"),
    ("text", "code_chip"),
    ("link", "background"),
    ("link", "surface"),
    ("on_accent", "accent_fill"),
    ("on_accent", "accent_fill_hover"),
    ("muted", "left_out"),
    ("warning", "background"),
]


def luminance(color: str) -> float:
    parts = [int(color[-6:][i : i + 2], 16) / 255 for i in (0, 2, 4)]
    red, green, blue = (x / 12.92 if x <= 0.04045 else ((x + 0.055) / 1.055) ** 2.4 for x in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(a: str, b: str) -> float:
    low, high = sorted((luminance(a), luminance(b)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("name", THEMES)
@pytest.mark.parametrize(("ink", "ground"), READ)
def test_what_must_be_read_has_contrast(name: str, ink: str, ground: str) -> None:
    tokens = Tokens.load(name)
    assert contrast(tokens[ink], tokens[ground]) >= 4.5


def test_both_themes_have_the_same_tokens() -> None:
    light, dark = (Tokens.load(name).values for name in THEMES)
    assert light.keys() == dark.keys()
    assert all(re.fullmatch(r"#([0-9A-F]{2})?[0-9A-F]{6}", value) for value in (*light.values(), *dark.values()))


def test_no_widget_and_no_style_sheet_names_a_colour_of_its_own() -> None:
    literal = re.compile(r"#[0-9a-fA-F]{6}\b|#[0-9a-fA-F]{3}\b|rgba?\(|GlobalColor\.(?!transparent)|QColor\(\d")
    files = [*APP.rglob("*.py"), ASSETS / "themes" / "window.qss"]
    found = [f"{path.name}: {match.group()}" for path in files for match in literal.finditer(path.read_text())]
    assert found == []


def test_every_icon_is_drawn_in_the_colour_asked_for(theme: Theme) -> None:
    for path in (ASSETS / "icons").glob("*.svg"):
        if path.stem == "loquat":
            continue
        assert "currentColor" in path.read_text()
        image = theme.icon(path.stem, "accent").pixmap(18, 18).toImage()
        inks = {
            image.pixelColor(x, y).name().upper()
            for x in range(18)
            for y in range(18)
            if image.pixelColor(x, y).alpha() > 250
        }
        assert theme.tokens["accent"] in inks, path.stem


@pytest.mark.parametrize("side", [16, 32, 512])
def test_the_app_icon_is_drawn_at_every_size(qapp: QApplication, side: int) -> None:
    image = app_icon().pixmap(side, side).toImage()
    assert image.width() == side
    assert image.pixelColor(side // 2, side * 6 // 10).alpha() == 255  # the fruit
    assert image.pixelColor(0, 0).alpha() == 0


def test_inter_is_loaded_from_the_assets_and_has_two_weights(theme: Theme) -> None:
    assert QFontInfo(theme.font("body")).family() == "Inter"
    plain, strong = (QFontMetricsF(theme.font(role)).horizontalAdvance("Prefill") for role in ("small", "figure"))
    assert strong > plain
    assert (ASSETS / "fonts" / "OFL.txt").is_file()


def test_figures_are_as_wide_as_each_other_where_they_change_in_place(theme: Theme) -> None:
    metrics = QFontMetricsF(theme.font("figure"))
    assert metrics.horizontalAdvance("1111") == metrics.horizontalAdvance("0000")


def test_code_stands_in_a_fixed_width_font(theme: Theme) -> None:
    metrics = QFontMetricsF(theme.font("code"))
    assert metrics.horizontalAdvance("iiii") == metrics.horizontalAdvance("MMMM")


def test_the_theme_changes_at_once_in_palette_and_style_sheet(theme: Theme, qtbot: Any) -> None:
    label = QLabel("words")
    qtbot.addWidget(label)
    label.show()
    with qtbot.waitSignal(theme.changed):
        theme.set_choice("dark")
    assert theme.dark
    assert QApplication.palette().window().color() == QColor(Tokens.load("dark")["background"])
    assert label.palette().windowText().color() == QColor(Tokens.load("dark")["text"])
    theme.set_choice("light")
    assert label.palette().windowText().color() == QColor(Tokens.load("light")["text"])


def test_the_system_choice_follows_the_system(theme: Theme, monkeypatch: pytest.MonkeyPatch, qtbot: Any) -> None:
    theme.set_choice("system")
    monkeypatch.setattr(theme, "_hints", FakeHints(Qt.ColorScheme.Dark))
    with qtbot.waitSignal(theme.changed):
        theme._system_changed()
    assert theme.dark
    theme.set_choice("light")
    assert not theme.dark


def test_motion_is_short_and_none_where_less_is_asked_for(theme: Theme, monkeypatch: pytest.MonkeyPatch) -> None:
    assert 0 < theme.motion_ms() <= 150
    monkeypatch.setattr(theme, "_hints", FakeHints(Qt.ColorScheme.Light, Qt.MotionPreference.ReducedMotion))
    assert theme.motion_ms() == 0


def test_an_unknown_choice_is_refused(theme: Theme) -> None:
    with pytest.raises(ValueError, match="must be one of system, light, dark"):
        theme.set_choice("sepia")  # type: ignore[arg-type]


class FakeHints:
    """The offscreen platform has neither a colour scheme nor a motion preference to set."""

    def __init__(self, scheme: Qt.ColorScheme, motion: Qt.MotionPreference = Qt.MotionPreference.NoPreference) -> None:
        self._scheme, self._motion = scheme, motion

    def colorScheme(self) -> Qt.ColorScheme:
        return self._scheme

    def accessibility(self) -> FakeHints:
        return self

    def motionPreference(self) -> Qt.MotionPreference:
        return self._motion

    def setColorScheme(self, scheme: Qt.ColorScheme) -> None:
        pass

    def unsetColorScheme(self) -> None:
        pass
