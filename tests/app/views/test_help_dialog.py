"""The help opens without a network, in the language of the window, and its pages are all there in both."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QTextTable

from app.actions import actions
from app.help import DARK, FIGURES, HELP, PICTURES, HelpPage, figures_table, read_pages, with_figures
from app.i18n import CHINESE, ENGLISH
from app.options import SELF_TEST
from app.theme import Theme
from app.views.help_dialog import HelpDialog
from engine import cli_bench, cli_models
from engine.bench.format_figures import FormatFigures, FormatTable
from engine.cli import COMMANDS

PAGES = (
    HelpPage("first", "First", "# First\n\nSee [the second](second.md) or [outside](https://example.org/x)."),
    HelpPage("second", "Second", "# Second\n\n| a | b |\n| --- | --- |\n| 1 | 2 |\n\n`code`"),
)


@pytest.fixture
def dialog(theme: Theme, qtbot: Any) -> HelpDialog:
    made = HelpDialog(theme, PAGES)
    qtbot.addWidget(made)
    made.show()
    return made


def test_pages_are_chosen_and_links_between_them_followed(dialog: HelpDialog, qtbot: Any) -> None:
    assert dialog.shown == "first"
    assert "See the second" in dialog.reader.toPlainText()
    dialog.list.setFocus()
    qtbot.keyClick(dialog.list, Qt.Key.Key_Down)
    assert dialog.shown == "second"
    assert "Second" in dialog.reader.toPlainText()
    dialog.open_page("first")
    dialog.reader.anchorClicked.emit(QUrl("second.md"))
    assert dialog.shown == "second"


def test_a_link_to_the_outside_is_asked_for_and_opens_nothing(dialog: HelpDialog, qtbot: Any) -> None:
    with qtbot.waitSignal(dialog.link_activated) as asked:
        dialog.reader.anchorClicked.emit(QUrl("https://example.org/x"))
    assert asked.args == ["https://example.org/x"]
    assert dialog.shown == "first"


@pytest.mark.parametrize("language", [ENGLISH, CHINESE])
def test_no_page_is_wider_than_its_column(language: str, theme: Theme, qtbot: Any) -> None:
    dialog = HelpDialog(theme, read_pages(language))
    qtbot.addWidget(dialog)
    dialog.show()
    for page in read_pages(language):
        dialog.open_page(page.id)
        assert dialog.reader.horizontalScrollBar().maximum() == 0, page.id


def test_code_has_room_around_it(theme: Theme, qtbot: Any) -> None:
    dialog = HelpDialog(theme, (HelpPage("code", "Code", "# Code\n\n    loquat chat\n\nAnd so on."),))
    qtbot.addWidget(dialog)
    (block,) = dialog.reader.document().rootFrame().childFrames()
    assert isinstance(block, QTextTable)
    cell = block.cellAt(0, 0)
    assert cell.firstCursorPosition().block().text() == "loquat chat" and cell.lastCursorPosition().atBlockEnd()
    room = cell.format().toTableCellFormat()
    assert min(room.leftPadding(), room.topPadding(), room.rightPadding(), room.bottomPadding()) >= 8
    assert room.background().color() == theme.color("code")


def test_pictures_come_from_one_folder_only(dialog: HelpDialog) -> None:
    image = 2
    for name in ("../icons/loquat.svg", "/etc/passwd", "https://example.org/a.png", "gone.png"):
        assert dialog.reader.loadResource(image, QUrl(name)) is None


def test_pictures_are_as_dark_as_the_window(dialog: HelpDialog, theme: Theme) -> None:
    for choice, dark in (("light", False), ("dark", True)):
        theme.set_choice(choice)  # type: ignore[arg-type]
        for path in PICTURES.glob("*[!k].png"):
            picture = dialog.reader.loadResource(2, QUrl(path.name))
            assert (picture.scaled(1, 1).pixelColor(0, 0).lightness() < 128) is dark, path.name


def test_the_figures_of_formats_stand_where_a_page_asks_for_them() -> None:
    figures = FormatFigures("int4", "4-bit weights", "cpu", 3.2941, 2205.4, 272.1, 96_000_000, 0.71)
    table = figures_table(FormatTable("M", "m.gguf", 1, "here", "", 1024, (figures,)), ("F", "NLL", "P", "D", "M"))
    page = with_figures(HelpPage("formats", "Formats", f"# Formats\n\n{FIGURES}\n"), table)
    assert "| int4 | 3.294 | 2,205 | 272 | 96 MB |" in page.text


@pytest.mark.parametrize("language", [ENGLISH, CHINESE])
def test_every_page_has_a_heading_and_its_links_and_pictures_are_there(language: str) -> None:
    pages = read_pages(language)
    ids = [page.id for page in pages]
    assert len(ids) == len(set(ids))
    for page in pages:
        assert page.text.startswith(f"# {page.title}\n")
        for picture in re.findall(r"!\[[^\]]+\]\(([^)]+)\)", page.text):
            assert (PICTURES / picture).is_file(), f"{page.id}: {picture}"
        for link in re.findall(r"(?<!!)\[[^\]]+\]\(([^)]+)\)", page.text):
            assert link.startswith("https://") or link.removesuffix(".md") in ids, f"{page.id}: {link}"


def test_both_languages_have_the_same_pages_and_pictures() -> None:
    english, chinese = (read_pages(language) for language in (ENGLISH, CHINESE))
    assert [page.id for page in english] == [page.id for page in chinese]
    for one, other in zip(english, chinese, strict=True):
        assert re.findall(r"\]\(([^)]+\.png)\)", one.text) == re.findall(r"\]\(([^)]+\.png)\)", other.text)
    used = {name for page in english for name in re.findall(r"\]\(([^)]+\.png)\)", page.text)}
    shipped = {path.name for path in Path(PICTURES).glob("*.png")}
    assert shipped == used | {name.replace(".png", DARK) for name in used}, "no picture is shipped for nothing"
    assert HELP.is_dir()


TREE = HELP.parents[1]
APPLES = "应用程序"  # what macOS calls its folder of programs, in its own words
_KEYS = re.compile(r"(?:Ctrl\+(?:Shift\+)?(?:\w+|[-+,])|\bF\d+\b)")


def program_text(language: str) -> str:
    """All that the program says in a language, and in English where it says that before it knows the language."""
    source = "".join(file.read_text("utf-8") for part in ("app", "engine") for file in (TREE / part).rglob("*.py"))
    if language == ENGLISH:
        return source.lower()
    return (source + (TREE / "assets" / "translations" / f"loquat_{language}.ts").read_text("utf-8")).lower()


@pytest.mark.parametrize(("language", "marks"), [(ENGLISH, '"([^"]+)"'), (CHINESE, "“([^”]+)”")])
def test_what_the_pages_quote_is_what_the_program_says(language: str, marks: str) -> None:
    text = "\n".join(page.text for page in read_pages(language))
    quoted = [" ".join(words.split()) for words in re.findall(marks, text)]
    program = program_text(language)
    assert len(quoted) > 15
    parts = [
        part.strip() for words in quoted if words != APPLES for part in words.lower().replace("…", "\0").split("\0")
    ]
    assert [part for part in parts if part not in program] == []


@pytest.mark.parametrize("language", [ENGLISH, CHINESE])
def test_the_shortcuts_are_those_that_the_program_has(language: str) -> None:
    keys = {action.keys for action in actions() if action.keys}
    pages = {page.id: page.text for page in read_pages(language)}
    assert set(_KEYS.findall(pages["shortcuts"])) == keys
    for name, text in pages.items():
        assert set(_KEYS.findall(text)) <= keys, name


@pytest.mark.parametrize("language", [ENGLISH, CHINESE])
def test_the_commands_are_those_that_the_program_has(language: str) -> None:
    text = "\n".join(page.text for page in read_pages(language))
    commands = re.findall(r"`loquat(?:-cli)? ([^`]+)`", text) + re.findall(r"^    loquat ((?:\S+ )*\S+)", text, re.M)
    parsers = {"bench": cli_bench._parser(), "models": cli_models._parser()}
    assert len(commands) > 8
    for name, *rest in map(str.split, commands):
        if name.startswith("--"):
            assert name in (SELF_TEST, "--toggle")
        elif name in parsers:
            parsers[name].parse_args(rest)
        else:
            assert name in COMMANDS and not rest
