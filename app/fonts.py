"""Font families: Inter from the assets, the system's own for what Inter lacks, and the person's choice."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from PySide6.QtCore import QLocale
from PySide6.QtGui import QFontDatabase, QFontInfo

INTER: Final = "inter"
SYSTEM_FONT: Final = "system"
SERIF: Final = "serif"
INTER_FAMILY: Final = "Inter"
_CJK: Final = {
    "zh": ("Noto Sans CJK SC", "Source Han Sans SC", "PingFang SC", "Microsoft YaHei UI"),
    "ja": ("Noto Sans CJK JP", "Source Han Sans JP", "Hiragino Sans", "Yu Gothic UI"),
    "ko": ("Noto Sans CJK KR", "Source Han Sans KR", "Apple SD Gothic Neo", "Malgun Gothic"),
}
_CJK_SERIF: Final = {
    "zh": ("Noto Serif CJK SC", "Source Han Serif SC", "Songti SC", "SimSun"),
    "ja": ("Noto Serif CJK JP", "Source Han Serif JP", "Hiragino Mincho ProN", "Yu Mincho"),
    "ko": ("Noto Serif CJK KR", "Source Han Serif KR", "AppleMyungjo", "Batang"),
}
_EMOJI: Final = ("Noto Color Emoji", "Apple Color Emoji", "Segoe UI Emoji")
_FIXED: Final = ("DejaVu Sans Mono", "Noto Sans Mono", "Cascadia Mono", "Consolas", "Menlo", "Liberation Mono")
_SERIFS: Final = (
    *("Source Serif 4", "Source Serif Pro", "Charter", "Literata", "Noto Serif", "New York", "Iowan Old Style"),
    *("Cambria", "Georgia", "Liberation Serif", "C059", "DejaVu Serif", "Times New Roman"),
)


def install_fonts(folder: Path) -> None:
    """Make the fonts of a folder known to Qt."""
    for path in sorted(folder.glob("*.otf")):
        QFontDatabase.addApplicationFont(str(path))


def families(choice: str, reading: bool) -> list[str]:
    """The families of the window's text, the first that has a character draws it.

    Args:
        choice: "inter", "system", "serif", or an installed family; one that is gone becomes Inter.
        reading: Whether it is text to read at length, which a serif is for.
    """
    if choice == SERIF:
        serif = serif_family() if reading else None
        return [serif, *fallbacks(serif=True)] if serif else [INTER_FAMILY, *fallbacks()]
    if choice == SYSTEM_FONT:
        first = QFontDatabase.systemFont(QFontDatabase.SystemFont.GeneralFont).families()
        return [*first, INTER_FAMILY, *fallbacks()]
    if choice != INTER and QFontDatabase.hasFamily(choice):
        return [choice, INTER_FAMILY, *fallbacks()]
    return [INTER_FAMILY, *fallbacks()]


def fallbacks(serif: bool = False) -> list[str]:
    """The system's CJK fonts, those of the window's language first, and its emoji font: only what is installed."""
    language = QLocale().name()[:2]
    order = sorted(_CJK, key=lambda code: code != language)
    tables = (_CJK_SERIF, _CJK) if serif else (_CJK,)
    wanted = [family for table in tables for code in order for family in table[code]]
    return [family for family in (*wanted, *_EMOJI) if QFontDatabase.hasFamily(family)]


def fixed_family() -> str:
    """The system's fixed-width font by its real name: an alias such as "monospace" loses against the fallbacks."""
    family = QFontInfo(QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont)).family()
    if QFontDatabase.isFixedPitch(family):
        return family
    return next((name for name in _FIXED if QFontDatabase.hasFamily(name)), family)


def serif_family() -> str | None:
    """A serif that is made for reading on screens, or the next best; None where the system has none."""
    return next((name for name in _SERIFS if QFontDatabase.hasFamily(name)), None)


def text_families() -> list[str]:
    """Installed families that Latin text can be set in: no fixed pitch, nothing that the system hides."""
    latin = QFontDatabase.families(QFontDatabase.WritingSystem.Latin)
    hidden = {name for name in latin if QFontDatabase.isPrivateFamily(name) or QFontDatabase.isFixedPitch(name)}
    hidden |= set(QFontDatabase.families(QFontDatabase.WritingSystem.Symbol))
    return sorted({_plain(name) for name in latin if not name.startswith("Inter ")} - {_plain(name) for name in hidden})


def _plain(family: str) -> str:
    """A family without its foundry: the same of several foundries is one choice."""
    return family.partition(" [")[0]
