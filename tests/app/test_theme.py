"""The tokens, and what the theme makes of them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QLocale, QPoint, QRect, QSize, Qt
from PySide6.QtGui import QColor, QFontInfo, QFontMetricsF, QPainter, QPalette, QPixmap
from PySide6.QtWidgets import QApplication, QLabel

from app.accents import _TURNED, accented, contrast, hues, to_hex, to_oklch
from app.assets import ASSETS
from app.declarations import SETTINGS
from app.drawings import draw_svg
from app.fonts import serif_family, text_families
from app.theme import DEFAULT_LOOK, Look, Theme, Tokens, app_icon, icon_svg

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


# (part of a control or chart, what it stands on); WCAG 2.1 AA for what is no text
SEEN = [(part, ground) for part in ("accent", "generated", "accent_fill") for ground in ("background", "surface")]
EDGES = [("edge", ground) for ground in ("background", "surface")]  # of a button that has nothing else
ACCENTS = hues(ASSETS / "themes")


@pytest.mark.parametrize("name", THEMES)
@pytest.mark.parametrize("accent", ACCENTS)
def test_what_must_be_read_has_contrast_in_every_accent(name: str, accent: str) -> None:
    tokens = accented(Tokens.load(name).values, ACCENTS[accent])
    poor = [(ink, ground) for ink, ground in READ if contrast(tokens[ink], tokens[ground]) < 4.5]
    poor += [(part, ground) for part, ground in SEEN if contrast(tokens[part], tokens[ground]) < 3]
    assert poor == []


@pytest.mark.parametrize("name", THEMES)
def test_what_is_written_in_an_empty_field_can_be_read(theme: Theme, name: str) -> None:
    theme.set_choice(name)
    hint = QApplication.palette().color(QPalette.ColorRole.PlaceholderText).name()
    grounds = ("surface", "sidebar", "background")
    assert [ground for ground in grounds if contrast(hint, theme.tokens[ground]) < 4.5] == []


def test_nothing_is_written_in_the_colour_for_what_need_not_be_read() -> None:
    """It has no contrast of 4.5: it is for borders and for what cannot be used, and `READ` does not look at it."""
    written = re.compile(r'(Label|_paint_right)\([^\n]*"faint"|[^-]color: \$faint|PlaceholderText: "faint"')
    files = [*APP.rglob("*.py"), ASSETS / "themes" / "window.qss"]
    assert [path.name for path in files if written.search(path.read_text(encoding="utf-8"))] == []


def test_in_the_dark_a_quiet_button_is_told_by_its_border() -> None:
    tokens = Tokens.load("dark").values
    assert [part for part, ground in EDGES if contrast(tokens[part], tokens[ground]) < 3] == []


def test_contrast_is_measured_as_wcag_says() -> None:
    assert contrast("#000000", "#FFFFFF") == pytest.approx(21)
    assert contrast("#777777", "#FFFFFF") == pytest.approx(4.48, abs=0.01)


@pytest.mark.parametrize("color", ["#C9701A", "#FFFFFF", "#000000", "#3877C3", "#24190D"])
def test_a_colour_goes_to_oklch_and_back(color: str) -> None:
    assert to_hex(to_oklch(color)) == color


@pytest.mark.parametrize("name", THEMES)
def test_an_accent_turns_the_hue_and_leaves_the_rest_of_the_theme(name: str) -> None:
    own = Tokens.load(name).values
    assert accented(own, None) == own
    for accent, hue in ACCENTS.items():
        turned = accented(own, hue)
        assert {token for token in own if turned[token] != own[token]} <= set(_TURNED)
        if hue is not None:
            assert abs((to_oklch(turned["accent"]).hue - hue + 180) % 360 - 180) < 4, accent
            assert abs(to_oklch(turned["accent"]).lightness - to_oklch(own["accent"]).lightness) < 0.05


def test_the_accents_differ_from_each_other() -> None:
    colors = {accented(Tokens.load("light").values, hue)["accent"] for hue in ACCENTS.values()}
    assert len(colors) == len(ACCENTS) == 6
    (setting,) = [setting for setting in SETTINGS if setting.name == "accent"]
    assert set(setting.choices) == set(ACCENTS)


def test_both_themes_have_the_same_tokens() -> None:
    light, dark = (Tokens.load(name).values for name in THEMES)
    assert light.keys() == dark.keys()
    assert all(re.fullmatch(r"#([0-9A-F]{2})?[0-9A-F]{6}", value) for value in (*light.values(), *dark.values()))


def test_no_widget_and_no_style_sheet_names_a_colour_of_its_own() -> None:
    literal = re.compile(r"#[0-9a-fA-F]{6}\b|#[0-9a-fA-F]{3}\b|(?<!\.)rgba?\(|GlobalColor\.(?!transparent)|QColor\(\d")
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


@pytest.fixture
def own_look(theme: Theme) -> Iterator[Theme]:
    yield theme
    theme.set_look(DEFAULT_LOOK)


def test_a_look_is_put_on_at_once(own_look: Theme, qtbot: Any) -> None:
    theme, icon = own_look, own_look.icon("copy", "accent")
    plain = QFontMetricsF(theme.font("body")).height()
    with qtbot.waitSignal(theme.changed):
        theme.set_look(Look("blue", "serif", 150, "compact"))
    assert theme.color("accent").name().upper() == accented(Tokens.load("light").values, ACCENTS["blue"])["accent"]
    assert theme.color("accent").name().upper() in QApplication.instance().styleSheet()
    assert QFontMetricsF(theme.font("body")).height() > 1.3 * plain
    assert theme.font("body").families()[0] == serif_family()
    assert theme.font("list").families()[0] == "Inter", "a serif is for reading"
    assert theme.icon("copy", "accent") is not icon
    assert (theme.line(30), theme.space(12)) == (40, 8)
    theme.set_look(DEFAULT_LOOK)
    assert (theme.line(30), theme.space(12)) == (30, 12)
    assert theme.font("body").families()[0] == "Inter"


def test_a_font_that_is_gone_becomes_inter_and_an_installed_one_is_taken(own_look: Theme) -> None:
    own_look.set_look(Look(font="No Such Font 7"))
    assert own_look.font("body").families()[0] == "Inter"
    installed = next(name for name in text_families() if name != "Inter")
    own_look.set_look(Look(font=installed))
    assert own_look.font("list").families()[0] == installed
    assert own_look.font("code").families()[0] != installed


def test_the_fonts_of_the_language_come_first(own_look: Theme) -> None:
    before = QLocale()
    cjk = [family for family in own_look.font("list").families() if "CJK" in family]
    if len(cjk) < 2:
        pytest.skip("this system has one CJK font only")
    try:
        for language, ending in (("ja", "JP"), ("zh_CN", "SC")):
            QLocale.setDefault(QLocale(language))
            own_look.refresh()
            assert own_look.font("list").families()[1].endswith(ending)
    finally:
        QLocale.setDefault(before)
        own_look.refresh()


def test_an_unknown_accent_is_refused(own_look: Theme) -> None:
    with pytest.raises(KeyError):
        own_look.set_look(Look("beige"))


@pytest.mark.parametrize("scale", [1.25, 1.5, 2.0])
def test_an_icon_is_drawn_for_the_pixels_of_the_screen(theme: Theme, scale: float) -> None:
    """Not stretched from another size: the same pixels as the drawing itself at that scale."""
    size = QSize(24, 24)
    shown = QPixmap(size * scale)
    shown.setDevicePixelRatio(scale)
    shown.fill(Qt.GlobalColor.transparent)
    painter = QPainter(shown)
    theme.icon("settings", "text").paint(painter, QRect(QPoint(0, 0), size))
    painter.end()
    assert shown.toImage() == draw_svg(icon_svg("settings", theme.tokens["text"]), size, scale).toImage()


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
