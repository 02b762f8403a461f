"""Status bar, progress card and notice bar."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

import pytest
from PySide6.QtCore import QTimer
from PySide6.QtGui import QAccessible, QGuiApplication
from PySide6.QtWidgets import QWidget

from app.live import LiveTurn, ModelState, Notice
from app.records import StoredMessage
from app.theme import Theme
from app.turn import after
from app.views.notice_bar import NoticeBar
from app.views.progress_card import ProgressCard
from app.views.status_bar import StatusBar
from engine.events import LoadProgress, LoadStage
from tests.app.fake_worker import model_info

INFO = replace(model_info(), device_reason="2 threads · no CUDA device found")
READY = ModelState("ready", INFO)
TURN = LiveTurn("decode", "m", 128, 23, 23, 40, 0.0912, 56.04, 705)


@pytest.fixture
def status(qtbot: Any, theme: Theme) -> StatusBar:
    bar = StatusBar(theme)
    qtbot.addWidget(bar)
    bar.resize(1180, bar.height())
    bar.show()
    return bar


def test_the_status_bar_says_all_there_is_to_say(status: StatusBar) -> None:
    status.show_model(READY)
    status.show_turn(TURN)
    assert status.text.startswith(
        "CPU, 2 threads · no CUDA device found; Context 705 of 8,192; "
        "TTFT 0.09 s, 56.0 tok/s, 128 reused + 23 new tokens; Memory "
    )
    assert status.text.endswith(("MB in use", "GB in use"))  # of this process, with all tests before this one
    assert status.context_bar.share == pytest.approx(705 / 8192)


def test_the_memory_is_looked_at_only_while_it_is_told(status: StatusBar) -> None:
    (timer,) = status.findChildren(QTimer)
    assert timer.isActive()
    status.hide()
    assert not timer.isActive()
    status.show()
    assert timer.isActive()


def test_while_faster_kernels_are_compiled_it_says_why_answers_are_slow(status: StatusBar) -> None:
    status.show_model(ModelState("ready", replace(INFO, compiling=True)))
    status.show_turn(TURN)
    assert status.text.startswith("CPU, faster code is being compiled once, answers are slower until then; ")
    status.resize(620, status.height())
    assert status.text.startswith("CPU, slower while code is compiled; ")
    status.show_model(READY)
    assert "compiled" not in status.text


def test_before_the_first_token_it_names_the_phase(status: StatusBar) -> None:
    status.show_model(READY)
    status.show_turn(LiveTurn("prefill", prefill_done=80, prefill_total=196))
    assert "Reads 196 new tokens, 40 %" in status.text


def test_what_is_not_known_of_the_context_is_not_called_nothing(status: StatusBar) -> None:
    """A chat that is opened again after its last reply broke off: how much it holds is known with the next turn."""
    status.show_model(READY)
    status.show_turn(after(StoredMessage("c", "assistant", "Half a", status="partial")))
    assert "Context not known yet, of 8,192" in status.text
    status.show_turn(after(None))
    assert "Context 0 of 8,192" in status.text, "an empty chat holds nothing"


def test_without_a_model_it_says_so(status: StatusBar) -> None:
    assert status.text.startswith("No model is loaded; Memory")
    status.show_model(ModelState("working"))
    assert status.text.startswith("The model is on its way; Memory")


def test_a_narrow_status_bar_keeps_device_context_rate_and_memory_without_overlap(status: StatusBar) -> None:
    status.show_model(READY)
    status.show_turn(TURN)
    status.resize(640, status.height())
    assert "CPU, 2 threads; Context 705 of 8,192; TTFT 0.09 s, 56.0 tok/s; Memory" in status.text
    shown = [part for part in status.findChildren(QWidget) if part.isVisible() and part.sizeHint().width() > 0]
    parts = sorted((part.geometry() for part in shown), key=lambda box: box.x())
    assert len(parts) == 4
    assert all(a.right() < b.left() for a, b in itertools.pairwise(parts))
    assert parts[-1].right() <= 640


def step(done: int, stage: LoadStage = LoadStage.DOWNLOAD, total: int = 93_000_000) -> ModelState:
    sentence = "Downloading SmolLM2"
    return ModelState("working", step=LoadProgress("r", stage, done, total, sentence), sentence=sentence)


@pytest.fixture
def card(qtbot: Any, theme: Theme) -> ProgressCard:
    now = [100.0]
    made = ProgressCard(theme, clock=lambda: now[0])
    made.now = now  # type: ignore[attr-defined]
    qtbot.addWidget(made)
    return made


def test_a_download_shows_bytes_rate_and_what_is_left(card: Any) -> None:
    card.show_model(step(1_000_000))
    assert (card.sentence, card.detail) == ("Downloading SmolLM2", "1 MB of 93 MB")
    card.now[0] += 2.0
    card.show_model(step(21_000_000))
    assert card.detail == "21 MB of 93 MB · 10 MB/s · 7 s left"
    assert card.line.share == pytest.approx(21 / 93)


def test_other_steps_show_per_cent_and_an_unknown_end_a_wandering_piece(card: Any, qtbot: Any) -> None:
    card.show_model(step(3, LoadStage.IMPORT, 12))
    assert card.detail == "25 %"
    card.show_model(step(0, LoadStage.LOAD, 0))
    assert card.detail == ""
    assert card.line.share is None
    card.show_model(READY)
    assert card.isHidden()


def test_cancel_is_a_wish(card: Any, qtbot: Any) -> None:
    card.show_model(step(0))
    with qtbot.waitSignal(card.cancel_requested):
        card.cancel_button.click()
    assert not card.isHidden()  # until the loader says that it ended


@pytest.fixture
def bar(qtbot: Any, theme: Theme) -> NoticeBar:
    made = NoticeBar(theme)
    qtbot.addWidget(made)
    return made


def said(bar: NoticeBar) -> list[str]:
    return [card.notice.sentence for card in bar.cards]


def test_at_most_two_notices_the_oldest_goes_and_none_is_shown_twice(bar: NoticeBar) -> None:
    for sentence in ("One.", "Two.", "Two.", "Three."):
        bar.show_notice(Notice(sentence))
    assert said(bar) == ["Two.", "Three."]
    bar.cards[0].close_button.click()
    bar.cards[0].close_button.click()
    assert bar.isHidden()


def test_what_several_chats_suffered_is_said_once(bar: NoticeBar) -> None:
    bar.show_notice(Notice("There is no network."))
    bar.show_notice(Notice("In “A chat”: There is no network."))
    bar.show_notice(Notice("There is no network."))
    assert said(bar) == ["There is no network."]
    bar.show_notice(Notice("Oh: There is no network. Really."))
    assert len(said(bar)) == 2


def test_what_is_said_of_a_model_goes_with_it(bar: NoticeBar) -> None:
    bar.show_notice(Notice("This is a base model.", of_model="scripted"))
    bar.show_notice(Notice("It could not be loaded.", until="load"))
    bar.show_model(ModelState("ready", model_info()))
    assert len(said(bar)) == 2
    bar.show_model(ModelState("working", model_info()))
    assert said(bar) == ["This is a base model."]
    bar.show_model(ModelState("none"))
    assert said(bar) == []


def test_of_two_chats_each_has_its_own_notice_and_all_those_of_the_program(bar: NoticeBar) -> None:
    bar.show_chat("a")
    bar.show_notice(Notice("It is too long.", only_in="a"))
    bar.show_chat("b")
    bar.show_notice(Notice("It is too long.", only_in="b"))
    bar.show_notice(Notice("The disk is full."))
    assert said(bar) == ["It is too long.", "The disk is full."]
    bar.show_chat("a")
    assert said(bar) == ["It is too long.", "The disk is full."]
    bar.show_chat("c")
    assert said(bar) == ["The disk is full."]


def test_an_action_is_done_once_and_the_notice_goes(bar: NoticeBar) -> None:
    done: list[int] = []
    bar.show_notice(Notice("Deleted.", action_label="Undo", action=lambda: done.append(1), lapses=True))
    button = bar.cards[0].action_button
    assert button is not None
    assert button.text() == "Undo"
    button.click()
    assert done == [1]
    assert said(bar) == []


def test_an_action_may_bring_the_next_notice(bar: NoticeBar) -> None:
    bar.show_notice(Notice("Failed.", action_label="Try again", action=lambda: bar.show_notice(Notice("Failed."))))
    button = bar.cards[0].action_button
    assert button is not None
    button.click()
    assert said(bar) == ["Failed."]


def test_details_are_copied_not_shown(bar: NoticeBar) -> None:
    bar.show_notice(Notice("It broke.", detail="line 1\nline 2"))
    copy = bar.cards[0].details_button
    assert copy is not None
    copy.click()
    assert QGuiApplication.clipboard().text() == "line 1\nline 2"
    copy.reset()


def test_a_notice_is_told_to_a_screen_reader(bar: NoticeBar, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[str] = []
    monkeypatch.setattr(QAccessible, "updateAccessibility", lambda event: told.append(event.message()))
    bar.show_notice(Notice("The disk is full.", action_label="Back to R&D", action=lambda: None))
    assert told == ["The disk is full."]
    assert bar.cards[0].action_button.text() == "Back to R&&D"
