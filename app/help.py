"""The pages of the help: Markdown files that come with the program, in every language of the window. No Qt."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from app.assets import ASSETS
from engine.bench.format_figures import FormatTable

HELP: Final = ASSETS / "help"
PICTURES: Final = HELP / "pictures"
DARK: Final = "-dark.png"
"""How the names of the same pictures in the dark theme end; all are made of scenes of tests/pictures."""
FIGURES: Final = "<!-- figures of the formats -->"
"""Where a page shows what was measured of the model at hand."""


@dataclass(frozen=True, slots=True)
class HelpPage:
    """One page.

    Attributes:
        id: Links between pages are written so: `[words](id.md)`.
        title: Its heading.
        text: Markdown, the heading included.
    """

    id: str
    title: str
    text: str


def read_pages(language: str, folder: Path = HELP) -> tuple[HelpPage, ...]:
    """All pages in a language, in the order of their files' numbers: "10-install.md" is the page "install"."""
    return tuple(_page(file) for file in sorted((folder / language).glob("*.md")))


def with_figures(page: HelpPage, table: str) -> HelpPage:
    """A page with a Markdown table where it asks for the figures of the formats."""
    return HelpPage(page.id, page.title, page.text.replace(FIGURES, table))


def figures_table(table: FormatTable, columns: tuple[str, str, str, str, str]) -> str:
    """What was measured of a model's formats, as a Markdown table.

    Args:
        table: The figures.
        columns: Headings: format, mean NLL, prefill, decode, memory.
    """
    rows = [
        f"| {one.name} | {one.nll:.3f} | {one.prefill:,.0f} | {one.decode:,.0f} | {one.weight_bytes / 1e6:,.0f} MB |"
        for one in table.figures
    ]
    return "\n".join(["| " + " | ".join(columns) + " |", "| --- | ---: | ---: | ---: | ---: |", *rows])


def _page(file: Path) -> HelpPage:
    text = file.read_text(encoding="utf-8")
    title = next(line.removeprefix("# ") for line in text.splitlines() if line.startswith("# "))
    return HelpPage(file.stem.partition("-")[2], title, text)
