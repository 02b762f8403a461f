"""The script that takes the pictures of every screen still does: some of its scenes, and that none is named twice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QApplication

from app.i18n import ENGLISH, install
from tests.pictures import chat_scenes, dialog_scenes, inspector_scenes, model_scenes
from tests.pictures.__main__ import SCENES, take

ALL = (*chat_scenes.SCENES, *dialog_scenes.SCENES, *model_scenes.SCENES, *inspector_scenes.SCENES)
SOME = (
    "streaming",
    "organised",
    "search",
    "first-offer",
    "settings-100",
    "chat-options",
    "quick-answer",
    "models-download",
    "help",
)


@pytest.fixture
def english(qapp: QApplication) -> Iterator[QApplication]:
    yield qapp
    install(qapp, ENGLISH)


def colours(image: QImage) -> set[int]:
    return {image.pixel(x, y) for x in range(0, image.width(), 7) for y in range(0, image.height(), 7)}


def test_no_two_scenes_share_a_name() -> None:
    assert [name for name, count in Counter(scene.name for scene in ALL).items() if count > 1] == []


@pytest.mark.parametrize("name", [*SOME, "inspector-live", "inspector-stalled", "inspector-turns"])
def test_a_scene_comes_about_and_is_drawn(name: str, english: QApplication, tmp_path: Path) -> None:
    size = SCENES[name].sizes[-1]
    take(english, tmp_path, [name], sizes=(size,), languages=("zh_CN",), themes=("dark", "light"))
    dark, light = (QImage(str(tmp_path / f"{name}-zh_CN-{size}-{theme}.png")) for theme in ("dark", "light"))
    assert dark.size() == light.size()
    assert len(colours(dark)) > 10
    assert colours(dark) != colours(light)
