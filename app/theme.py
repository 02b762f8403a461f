"""Colours, type and icons, all from the tokens in assets/themes: no widget names a colour of its own."""

from __future__ import annotations

import json
import re
import sys
from dataclasses import dataclass
from string import Template
from typing import Final, Literal, get_args

from PySide6.QtCore import QObject, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFont, QIcon, QPalette
from PySide6.QtWidgets import QApplication, QStyleFactory

from app.accents import OWN, accented, hues
from app.assets import ASSETS
from app.drawings import DrawingEngine, draw_svg
from app.fonts import INTER, fallbacks, families, fixed_family, install_fonts

ThemeChoice = Literal["system", "light", "dark"]
FontRole = Literal[
    "body", "title", "list", "small", "figure", "button", "code", "display", "heading1", "heading2", "heading3"
]

# px of look.md; (size, weight 600)
_SIZES: Final[dict[FontRole, tuple[float, bool]]] = {
    "body": (15.0, False),
    "title": (15.0, True),
    "list": (13.5, False),
    "small": (12.5, False),
    "figure": (12.5, True),
    "button": (13.5, True),
    "code": (13.0, False),
    "display": (24.0, True),
    "heading1": (20.0, True),
    "heading2": (17.5, True),
    "heading3": (15.0, True),
}
_READING: Final = ("body", "display", "heading1", "heading2", "heading3")  # what a serif is for
_CROWDED: Final = 0.7  # of the room around things, where the person wants it compact
_LOWER: Final = 0.88  # the same, of the height of rows and controls
_TIGHT: Final = 98.5  # per cent; Inter is spaced for small sizes
MOTION_MS: Final = 140
LINE_HEIGHT: Final = 1.55


@dataclass(frozen=True, slots=True)
class Tokens:
    """The colours of one theme by name, as `#RRGGBB` or `#AARRGGBB`.

    Raises:
        KeyError: A token is asked for that the theme lacks.
    """

    name: str
    values: dict[str, str]

    def __getitem__(self, token: str) -> str:
        return self.values[token]

    @classmethod
    def load(cls, name: str) -> Tokens:
        """Read `assets/themes/<name>.json`."""
        return cls(name, json.loads((ASSETS / "themes" / f"{name}.json").read_text(encoding="utf-8")))


def _point_size(px: float) -> float:
    """Points of a size given at the platform's reference density, so that a larger system text scale still counts."""
    return px * (1.0 if sys.platform == "darwin" else 0.75)


@dataclass(frozen=True, slots=True)
class Look:
    """What of the look is the person's choice, beside light and dark.

    Attributes:
        accent: A name in assets/themes/accents.json.
        font: "inter", "system", "serif", or an installed family.
        text_size: In per cent.
        density: "comfortable" or "compact".
    """

    accent: str = OWN
    font: str = INTER
    text_size: int = 100
    density: str = "comfortable"


DEFAULT_LOOK: Final = Look()


class Theme(QObject):
    """The look in force; follows the system's colour scheme while the choice is "system".

    Args:
        app: Gets the style, the palette, the font and the style sheet.
        choice: "system", "light" or "dark".
        look: What else is the person's choice.
    """

    changed = Signal()

    def __init__(self, app: QApplication, choice: ThemeChoice = "system", look: Look = DEFAULT_LOOK) -> None:
        super().__init__(app)
        self._app = app
        self._hints = app.styleHints()
        self._choice: ThemeChoice = choice
        self._look = look
        self._hues = hues(ASSETS / "themes")
        self._all = _accented_tokens(self._hues[look.accent])
        self._icons: dict[tuple[str, str], QIcon] = {}
        self._fonts: dict[FontRole, QFont] = {}
        install_fonts(ASSETS / "fonts")
        app.setStyle(QStyleFactory.create("Fusion"))
        app.setFont(self.font("list"))
        self._hints.colorSchemeChanged.connect(self._system_changed)
        self._apply()

    @property
    def choice(self) -> ThemeChoice:
        """What the person chose."""
        return self._choice

    @property
    def dark(self) -> bool:
        """Whether the dark tokens are in force."""
        if self._choice == "system":
            return self._hints.colorScheme() == Qt.ColorScheme.Dark
        return self._choice == "dark"

    @property
    def tokens(self) -> Tokens:
        """The tokens in force."""
        return self._all["dark" if self.dark else "light"]

    def set_choice(self, choice: ThemeChoice) -> None:
        """Change the theme at once, in every window.

        Raises:
            ValueError: No such choice.
        """
        if choice not in get_args(ThemeChoice):
            raise ValueError(f"theme must be one of {', '.join(get_args(ThemeChoice))}, not {choice}.")
        self._choice = choice
        self._apply()

    @property
    def look(self) -> Look:
        """What else the person chose."""
        return self._look

    def set_look(self, look: Look) -> None:
        """Change accent, font, text size and density at once; what was measured before has to be measured again.

        Raises:
            KeyError: No such accent.
        """
        if look == self._look:
            return
        hue = self._hues[look.accent]
        self._look = look
        self._all = _accented_tokens(hue)
        self._icons.clear()
        self.refresh()

    def refresh(self) -> None:
        """Choose the fonts again: those for CJK come in the order of the language, which may have changed."""
        self._fonts.clear()
        self._app.setFont(self.font("list"))
        self._apply()

    def line(self, px: float) -> int:
        """The height of a row or control that is `px` high in the drawn look: it grows with the text."""
        lower = _LOWER if self._look.density == "compact" else 1.0
        return round(px * lower * self._look.text_size / 100)

    def wide(self, px: float) -> int:
        """The width of something that holds text and is `px` wide in the drawn look."""
        return round(px * self._look.text_size / 100)

    def space(self, px: float) -> int:
        """The room between or around things that is `px` wide in the drawn look."""
        return round(px * _CROWDED) if self._look.density == "compact" else round(px)

    def color(self, token: str) -> QColor:
        """A token's colour in the theme in force."""
        return QColor(self.tokens[token])

    def accent_color(self, accent: str) -> QColor:
        """What an accent looks like in the theme in force, to choose it by.

        Raises:
            KeyError: No such accent.
        """
        own = Tokens.load(self.tokens.name).values
        return QColor(accented(own, self._hues[accent])["accent_fill"])

    def font(self, role: FontRole) -> QFont:
        """The font of a role of text; figures are tabular where they stand in columns or change in place."""
        if role not in self._fonts:
            self._fonts[role] = self._make_font(role)
        return QFont(self._fonts[role])

    def _make_font(self, role: FontRole) -> QFont:
        size, strong = _SIZES[role]
        chosen = families(self._look.font, role in _READING)
        font = QFont([fixed_family(), *fallbacks()] if role == "code" else chosen)
        font.setPointSizeF(_point_size(size * self._look.text_size / 100))
        font.setWeight(QFont.Weight.DemiBold if strong else QFont.Weight.Normal)
        if size >= 17:
            font.setLetterSpacing(QFont.SpacingType.PercentageSpacing, _TIGHT)
        font.setHintingPreference(QFont.HintingPreference.PreferNoHinting)
        if role in ("small", "figure"):
            font.setFeature(QFont.Tag("tnum"), 1)
        return font

    def motion_ms(self) -> int:
        """How long a movement may take; 0 where the system asks for less motion."""
        preference = self._hints.accessibility().motionPreference()
        return 0 if preference == Qt.MotionPreference.ReducedMotion else MOTION_MS

    def icon(self, name: str, token: str) -> QIcon:
        """A drawing from assets/icons in a token's colour, sharp at every scale."""
        key = (f"{self.tokens.name}/{name}", token)
        if key not in self._icons:
            self._icons[key] = QIcon(DrawingEngine(icon_svg(name, self.tokens[token])))
        return self._icons[key]

    def _system_changed(self) -> None:
        if self._choice == "system":
            self._apply()

    def _apply(self) -> None:
        self._tell_system()
        self._app.setPalette(self._palette())
        sheet = (ASSETS / "themes" / "window.qss").read_text(encoding="utf-8")
        control, menu = self.line(30), self.space(7)
        sizes = {"control": str(control), "control_focused": str(control - 2), "menu_item": str(menu)}
        self._app.setStyleSheet(Template(sheet).substitute(self.tokens.values | sizes))
        self.changed.emit()

    def _tell_system(self) -> None:
        """Title bars and native dialogs take the chosen scheme too.

        Going back to the system's may call `_system_changed` from here, which then draws all twice; no harm.
        """
        schemes = {"light": Qt.ColorScheme.Light, "dark": Qt.ColorScheme.Dark}
        if self._choice == "system":
            self._hints.unsetColorScheme()
        else:
            self._hints.setColorScheme(schemes[self._choice])

    def _palette(self) -> QPalette:
        roles = {
            QPalette.ColorRole.Window: "background",
            QPalette.ColorRole.Base: "surface",
            QPalette.ColorRole.AlternateBase: "code",
            QPalette.ColorRole.Button: "surface",
            QPalette.ColorRole.ToolTipBase: "surface",
            QPalette.ColorRole.WindowText: "text",
            QPalette.ColorRole.Text: "text",
            QPalette.ColorRole.ButtonText: "text",
            QPalette.ColorRole.ToolTipText: "text",
            QPalette.ColorRole.PlaceholderText: "muted",
            QPalette.ColorRole.Highlight: "selection",
            QPalette.ColorRole.HighlightedText: "text",
            QPalette.ColorRole.Link: "link",
            QPalette.ColorRole.Accent: "accent",
            QPalette.ColorRole.Light: "line",
            QPalette.ColorRole.Mid: "line",
            QPalette.ColorRole.Dark: "line",
            QPalette.ColorRole.Shadow: "line",
        }
        palette = QPalette()
        for role, token in roles.items():
            palette.setColor(role, self.color(token))
        palette.setColor(QPalette.ColorGroup.Disabled, QPalette.ColorRole.Text, self.color("faint"))
        palette.setColor(QPalette.ColorGroup.Disabled, QPalette.ColorRole.ButtonText, self.color("faint"))
        return palette


def _accented_tokens(hue: float | None) -> dict[str, Tokens]:
    return {name: Tokens(name, accented(Tokens.load(name).values, hue)) for name in ("light", "dark")}


def icon_svg(name: str, color: str) -> bytes:
    """The source of `assets/icons/<name>.svg` with `currentColor` replaced."""
    source = (ASSETS / "icons" / f"{name}.svg").read_text(encoding="utf-8")
    return re.sub("currentColor", color, source).encode()


def app_icon() -> QIcon:
    """The loquat, drawn at the sizes that desktops ask for."""
    source = (ASSETS / "icons" / "loquat.svg").read_bytes()
    icon = QIcon()
    for side in (16, 24, 32, 48, 64, 128, 256, 512):
        icon.addPixmap(draw_svg(source, QSize(side, side), 1.0))
    return icon
