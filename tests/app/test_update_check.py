"""The notice of a new version: only if it was asked for, at most once a day, and only of one that is newer."""

from __future__ import annotations

import base64
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from app.live import Notice
from app.settings import Settings
from app.update_check import DAY_S, LOOKED, WANTED, UpdateCheck
from engine.updates import NoRelease, Release, Source

SOURCE = Source("https://loquat.example/latest.json", bytes(32))
PAGE = "https://loquat.example/0.2.0"


class Site:
    """Stands in for the network; counts how often it is asked."""

    def __init__(self) -> None:
        self.version = "0.2.0"
        self.fails = False
        self.asked = 0

    def __call__(self, source: Source) -> Release:
        assert source == SOURCE
        self.asked += 1
        if self.fails:
            raise NoRelease("The newest version could not be asked for.", "no network")
        return Release(self.version, "2026-12-01", PAGE, {})


class World:
    """A check with a site, a clock and somewhere to show a page."""

    def __init__(self, folder: Path, source: Source | None = SOURCE) -> None:
        self.now = 1.8e9
        self.site = Site()
        self.notices: list[Notice] = []
        self.opened: list[str] = []
        self.settings = Settings(folder / "settings.json")
        clock = lambda: self.now  # noqa: E731
        self.check = UpdateCheck(self.settings, source, "0.1.0", self.opened.append, ask=self.site, clock=clock)
        self.check.notice.connect(self.notices.append)


@pytest.fixture
def make_world(tmp_path: Path) -> Iterator[Callable[..., World]]:
    made: list[World] = []

    def make(*arguments: Any) -> World:
        made.append(World(tmp_path, *arguments))
        return made[-1]

    yield make
    for world in made:
        world.check.close()
        world.settings.save()


def test_nothing_is_asked_until_the_person_wants_to_know(qtbot: Any, make_world: Callable[..., World]) -> None:
    world = make_world()
    assert world.settings.get(WANTED) is False
    world.check.begin()
    world.check._look()
    qtbot.wait(50)
    assert world.site.asked == 0 and world.notices == []


def test_who_wants_to_know_is_told_at_once_and_shown_the_page(qtbot: Any, make_world: Callable[..., World]) -> None:
    world = make_world()
    world.settings.set(WANTED, True)
    qtbot.waitUntil(lambda: len(world.notices) == 1)
    notice = world.notices[0]
    assert notice.sentence == "Loquat 0.2.0 is out; you have 0.1.0."
    assert notice.action is not None and world.opened == []
    notice.action()
    assert world.opened == [PAGE]


def test_it_asks_once_a_day_whatever_came_of_it(qtbot: Any, make_world: Callable[..., World]) -> None:
    world = make_world()
    world.site.fails = True
    world.settings.set(WANTED, True)
    qtbot.waitUntil(lambda: world.site.asked == 1)
    for hours in (1, 23):
        world.now = 1.8e9 + 3600 * hours
        world.check._look()
    qtbot.wait(50)
    assert world.site.asked == 1 and world.notices == [], "no network is no news"
    world.site.fails = False
    world.now = 1.8e9 + DAY_S
    world.check._look()
    qtbot.waitUntil(lambda: len(world.notices) == 1)
    assert world.settings.get(LOOKED) == world.now
    world.now = 1.7e9  # the clock was set back
    world.check._look()
    qtbot.waitUntil(lambda: world.site.asked == 3)


@pytest.mark.parametrize("version", ["0.1.0", "0.0.9"])
def test_a_version_that_is_not_newer_is_no_news(qtbot: Any, make_world: Callable[..., World], version: str) -> None:
    world = make_world()
    world.site.version = version
    with qtbot.waitSignal(world.check._answered):
        world.settings.set(WANTED, True)
    assert world.notices == []


def test_a_build_that_knows_no_site_asks_nobody(qtbot: Any, make_world: Callable[..., World]) -> None:
    world = make_world(None)
    world.settings.set(WANTED, True)
    world.check.begin()
    world.check._look()
    qtbot.wait(50)
    assert world.site.asked == 0


def test_what_comes_after_the_end_is_not_told(qtbot: Any, make_world: Callable[..., World]) -> None:
    world = make_world()
    world.check.close()
    world.check._tell(Release("0.2.0", "2026-12-01", PAGE, {}))
    assert world.notices == []


@pytest.mark.parametrize("known", [False, True])
def test_only_a_build_that_knows_where_to_ask_offers_to_tell(tmp_path: Path, known: bool) -> None:
    if known:
        key = base64.b64encode(bytes(32)).decode()
        (tmp_path / "updates.json").write_text(json.dumps({"address": SOURCE.address, "public_key": key}))
    code = (
        "import pathlib, sys, app.assets; app.assets.ASSETS = pathlib.Path(sys.argv[1]); import app.declarations as d; "
    )
    code += "print([s.label for s in d.SETTINGS if s.name == 'tell_of_updates'])"
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ("['Tell me about new versions']" if known else "['']")
