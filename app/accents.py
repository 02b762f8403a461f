"""Accents: the colours of a theme that depend on its one accent, turned to another hue and still as easy to read.

A theme's own accent is drawn by hand. The others keep its lightness and strength in OKLCH, the space in which equal
steps look equal (Ottosson 2020, "A perceptual color space for image processing"), so that every accent weighs the same
on the page; where a hue is brighter to the eye than that, its lightness gives way until WCAG's contrast is reached.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

READABLE: Final = 4.5  # WCAG 2.1 AA, text of body size
VISIBLE: Final = 3.0  # the same, parts of controls
OWN: Final = "loquat"
# What is turned, and what it must stand out from: (other token, contrast).
_TURNED: Final[dict[str, tuple[tuple[str, float], ...]]] = {
    "accent": (("background", VISIBLE), ("surface", VISIBLE)),
    "accent_wash": (("text", READABLE), ("muted", READABLE)),
    "selection": (("text", READABLE),),
    "on_accent": (),
    "accent_fill": (("on_accent", READABLE),),
    "accent_fill_hover": (("on_accent", READABLE),),
    "link": (("background", READABLE), ("surface", READABLE), ("accent_wash", READABLE)),
    "computed": (),
    "generated": (("background", VISIBLE), ("surface", VISIBLE)),
}
_STEP: Final = 0.005  # of lightness
_ACHROMATIC: Final = 0.002


@dataclass(frozen=True, slots=True)
class Oklch:
    """A colour by lightness (0 to 1), chroma and hue in degrees."""

    lightness: float
    chroma: float
    hue: float


def hues(folder: Path) -> dict[str, float | None]:
    """The accents by name, each with its hue in OKLCH; None is the theme's own."""
    held: dict[str, float | None] = json.loads((folder / "accents.json").read_text(encoding="utf-8"))
    return held


def accented(tokens: Mapping[str, str], hue: float | None) -> dict[str, str]:
    """A theme's tokens with their accent in another hue; None leaves the theme's own."""
    values = dict(tokens)
    if hue is None:
        return values
    for token, must in _TURNED.items():
        own = to_oklch(values[token])
        if own.chroma > _ACHROMATIC:
            turned = Oklch(own.lightness, own.chroma, hue)
            values[token] = _readable(turned, [(values[other], wanted) for other, wanted in must])
    return values


def contrast(a: str, b: str) -> float:
    """WCAG 2.1's ratio of two colours, from 1 to 21."""
    low, high = sorted((_luminance(a), _luminance(b)))
    return (high + 0.05) / (low + 0.05)


def _readable(color: Oklch, must: list[tuple[str, float]]) -> str:
    """The colour, moved in lightness away from what it stands on as far as it has to be."""
    shown = to_hex(color)
    while any(contrast(shown, other) < wanted for other, wanted in must):
        away = 1 if all(_luminance(shown) > _luminance(other) for other, _ in must) else -1
        color = Oklch(color.lightness + away * _STEP, color.chroma, color.hue)
        if not 0 < color.lightness < 1:
            break
        shown = to_hex(color)
    return shown


def _luminance(color: str) -> float:
    red, green, blue = _linear(color)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _linear(color: str) -> tuple[float, float, float]:
    """Linear light of `#RRGGBB`."""
    parts = (int(color[-6:][at : at + 2], 16) / 255 for at in (0, 2, 4))
    red, green, blue = (x / 12.92 if x <= 0.04045 else ((x + 0.055) / 1.055) ** 2.4 for x in parts)
    return red, green, blue


def to_oklch(color: str) -> Oklch:
    """`#RRGGBB` in OKLCH."""
    r, g, b = _linear(color)
    long = math.cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b)
    medium = math.cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b)
    short = math.cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b)
    lightness = 0.2104542553 * long + 0.7936177850 * medium - 0.0040720468 * short
    green_red = 1.9779984951 * long - 2.4285922050 * medium + 0.4505937099 * short
    blue_yellow = 0.0259040371 * long + 0.7827717662 * medium - 0.8086757660 * short
    hue = math.degrees(math.atan2(blue_yellow, green_red)) % 360
    return Oklch(lightness, math.hypot(green_red, blue_yellow), hue)


def to_hex(color: Oklch) -> str:
    """`#RRGGBB`; a colour that no screen shows becomes weaker until one does."""
    chroma = color.chroma
    while chroma > 0:
        linear = _to_linear(Oklch(color.lightness, chroma, color.hue))
        if all(-1e-4 <= part <= 1 + 1e-4 for part in linear):
            break
        chroma -= 0.002
    else:
        linear = _to_linear(Oklch(color.lightness, 0, color.hue))
    return "#" + "".join(f"{_byte(part):02X}" for part in linear)


def _byte(linear: float) -> int:
    light = min(1.0, max(0.0, linear))
    return round(255 * (12.92 * light if light <= 0.0031308 else 1.055 * light ** (1 / 2.4) - 0.055))


def _to_linear(color: Oklch) -> tuple[float, float, float]:
    a = color.chroma * math.cos(math.radians(color.hue))
    b = color.chroma * math.sin(math.radians(color.hue))
    long = (color.lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3
    medium = (color.lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3
    short = (color.lightness - 0.0894841775 * a - 1.2914855480 * b) ** 3
    red = 4.0767416621 * long - 3.3077115913 * medium + 0.2309699292 * short
    green = -1.2684380046 * long + 2.6097574011 * medium - 0.3413193965 * short
    blue = -0.0041960863 * long - 0.7034186147 * medium + 1.7076147010 * short
    return red, green, blue
