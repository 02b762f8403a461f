"""Progress of a model: how far it is stands once, and only where it is known."""

from __future__ import annotations

from typing import Any

import pytest

from app.live import ModelState
from app.theme import Theme
from app.views.progress_card import ProgressCard
from engine.events import LoadProgress, LoadStage


@pytest.mark.parametrize(
    ("step", "detail"),
    [
        (LoadProgress("1", LoadStage.IMPORT, 98, 98, "Checking Tiny: 100 %"), ""),
        (LoadProgress("1", LoadStage.IMPORT, 8, 98, "Verifying Tiny: 8 %"), ""),
        (LoadProgress("1", LoadStage.IMPORT, 15, 30, "Packing Tiny for this processor"), "50 %"),
        (LoadProgress("1", LoadStage.IMPORT, 0, 0, "Writing Tiny"), ""),
    ],
)
def test_a_share_is_said_once(qtbot: Any, theme: Theme, step: LoadProgress, detail: str) -> None:
    card = ProgressCard(theme)
    qtbot.addWidget(card)
    card.show_model(ModelState("working", step=step, sentence=step.sentence))
    assert (card.sentence, card.detail) == (step.sentence, detail)
    assert card.line.share == (step.done / step.total if step.total else None)
