"""A composer in a window, shown."""

from __future__ import annotations

from typing import Any

import pytest

from app.theme import Theme
from app.views.composer import Composer
from tests.app.views.composer.support import Window


@pytest.fixture
def window(qtbot: Any, theme: Theme) -> Window:
    made = Window(theme)
    qtbot.addWidget(made)
    with qtbot.waitActive(made):
        made.show()
    made.composer.focus_editor()
    return made


@pytest.fixture
def composer(window: Window) -> Composer:
    return window.composer
