"""Scenes of the inspector."""

from __future__ import annotations

from typing import Final

from app.desktop import Desktop
from app.views.inspector.history_page import HistoryPage
from app.views.inspector.memory_page import MemoryPage
from app.views.inspector.turn_page import TurnPage
from app.views.inspector.turns_dialog import TurnsDialog
from engine.explain.trace import TurnTrace
from tests.pictures.chat_scenes import LIVE, streaming
from tests.pictures.examples import LATER, NEXT, TALK, add_history
from tests.pictures.stage import Scene, Stage, settle, wait_for
from tests.pictures.turns import BROKEN, COMPARISON, FAST, STALLED

BOTH: Final = (*TALK, NEXT, LATER)


def turn(stage: Stage) -> None:
    """The last turn of the conversation."""
    stage.run("toggle_inspector")
    wait_for(lambda: stage.desktop.experiments.profile is not None)
    settle(250)


def turn_below(stage: Stage) -> None:
    """The lower end of a turn's page."""
    turn(stage)
    area = stage.window.inspector._pages["turn"]
    area.verticalScrollBar().setValue(area.verticalScrollBar().maximum())


def live(stage: Stage) -> None:
    """The turn that is running."""
    turn(stage)
    streaming(stage)
    settle(300)


def tokens(stage: Stage) -> None:
    """Where the prompt parted from the cache."""
    turn(stage)
    stage.of(TurnPage).compare.click()


def memory(stage: Stage) -> None:
    """The memory triangle, more chats wanted than there are."""
    turn(stage)
    stage.window.inspector.show_page("memory")
    stage.of(MemoryPage).chats.slider.setValue(2)


def memory_too_much(stage: Stage) -> None:
    """The memory triangle where it would not fit."""
    memory(stage)
    page = stage.of(MemoryPage)
    page.chats.slider.setValue(page.chats.slider.maximum())
    settle()
    area = stage.window.inspector._pages["memory"]
    area.verticalScrollBar().setValue(area.verticalScrollBar().maximum())


def cache_before(stage: Stage) -> None:
    """With and without the cache, before it was compared."""
    turn(stage)
    stage.window.inspector.show_page("cache")


def cache(stage: Stage) -> None:
    """With and without the cache."""
    cache_before(stage)
    stage.desktop.experiments.compared.emit(COMPARISON)


def history(stage: Stage) -> None:
    """Speed over days, with a mark where it fell."""
    turn(stage)
    stage.window.inspector.show_page("history")
    wait_for(lambda: stage.of(HistoryPage).turns)
    settle(100)


def turns(stage: Stage) -> None:
    """All turns in a table."""
    history(stage)
    stage.desktop.conductor.inspection._history.table_requested.emit()
    wait_for(lambda: stage.window.findChild(TurnsDialog))


def _past(desktop: Desktop) -> None:
    add_history(desktop.store, FAST)


def _scene(name: str, *traces: TurnTrace) -> Scene:
    return Scene(name, turn, BOTH, (FAST, *traces))


SCENES: Final = (
    Scene("inspector-live", live, TALK, (FAST,), reply=LIVE, held="tokens"),
    _scene("inspector-fast", FAST),
    _scene("inspector-broken", BROKEN),
    _scene("inspector-stalled", STALLED),
    Scene("inspector-below", turn_below, BOTH, (FAST, BROKEN)),
    Scene("inspector-unknown", turn),
    Scene("inspector-empty", turn, ()),
    Scene("inspector-tokens", tokens, BOTH, (FAST, BROKEN)),
    Scene("inspector-memory", memory, BOTH, (FAST, FAST)),
    Scene("inspector-memory-full", memory_too_much, BOTH, (FAST, FAST)),
    Scene("inspector-cache-before", cache_before, BOTH, (FAST, FAST)),
    Scene("inspector-cache", cache, BOTH, (FAST, FAST)),
    Scene("inspector-history", history, BOTH, (FAST, FAST), prepare=_past),
    Scene("inspector-turns", turns, BOTH, (FAST, FAST), prepare=_past),
)
