"""The page of an empty chat: the way to a first model, assistants, questions."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPushButton, QWidget

from app.live import ModelState
from app.theme import Theme
from app.views.start_cards import Offer
from app.views.start_page import StartPage
from engine.events import LoadProgress, LoadStage
from tests.app.fake_worker import model_info

READY = ModelState("ready", model_info())
OFFER = Offer("SmolLM2 135M Instruct", 98_362_432, 734_725_979)
ASSISTANTS = (("plain", "Plain", "new", "Nothing added"), ("tutor", "Tutor", "🎓", ""))


@pytest.fixture
def page(qtbot: Any, theme: Theme) -> StartPage:
    made = StartPage(theme)
    qtbot.addWidget(made)
    made.resize(900, 700)
    made.show()
    return made


def step(stage: LoadStage, total: int) -> ModelState:
    return ModelState("working", step=LoadProgress("r", stage, 0, total, "Downloading"), sentence="Downloading")


def test_with_a_model_on_a_server_it_says_where_what_is_written_goes(page: StartPage) -> None:
    info = replace(model_info(), server="Lab", host="gpu.example:8000")
    page.show_model(ModelState("ready", info))
    assert page.sentence == "The answer is made by Lab; what you write goes to gpu.example:8000."


def test_with_a_model_there_is_nothing_to_set_up(page: StartPage) -> None:
    page.show_model(READY)
    assert page.setup_card.isHidden()
    assert page.sentence == "The answer is made on this machine; nothing leaves it."
    page.show_model(ModelState("working", READY.info))  # another one is loaded
    assert page.setup_card.isHidden()


def test_before_a_download_its_size_is_said_and_a_file_will_do(page: StartPage, qtbot: Any) -> None:
    page.show_offer(OFFER)
    page.show_model(ModelState("none"))
    card = page.setup_card
    assert card.isVisible()
    assert "SmolLM2 135M Instruct" in card.sentence
    assert "98 MB are downloaded once and take 735 MB of the disk" in card.sentence
    assert card.get_button.text() == "Download, 98 MB"
    for button, signal in (
        (card.get_button, page.download_requested),
        (card.file_button, page.file_requested),
        (card.folder_button, page.folder_requested),
    ):
        with qtbot.waitSignal(signal):
            button.click()


def test_while_it_is_downloaded_the_page_says_how_much_and_that_one_can_type(page: StartPage) -> None:
    page.show_model(step(LoadStage.DOWNLOAD, 98_362_432))
    assert page.setup_card.sentence == "98 MB are downloaded once. After that everything works offline."
    assert page.sentence == "You can type already. The answer comes as soon as the model is ready."
    assert not page.setup_card.get_button.isVisible()
    page.show_model(step(LoadStage.LOAD, 0))
    assert page.setup_card.isHidden()


def test_why_it_failed_is_left_to_the_notice_and_it_can_be_tried_again(page: StartPage, qtbot: Any) -> None:
    reason = "There is no network connection."
    page.show_model(ModelState("failed", sentence=reason))
    assert reason not in page.sentence + page.setup_card.sentence
    with qtbot.waitSignal(page.retry_requested):
        page.setup_card.get_button.click()
    page.show_offer(OFFER)
    with qtbot.waitSignal(page.download_requested):
        page.setup_card.get_button.click()


def test_an_assistant_is_chosen_by_its_card_and_marked_by_the_program(page: StartPage, qtbot: Any) -> None:
    assert page.assistants == ()
    page.show_assistants(ASSISTANTS, "plain")
    assert [card.isChecked() for card in page.assistants] == [True, False]
    assert page.title == "Nothing added"
    assert page.examples[0].isVisible()
    with qtbot.waitSignal(page.assistant_chosen) as told:
        page.assistants[1].click()
    assert told.args == ["tutor"]
    assert [card.isChecked() for card in page.assistants] == [True, False]
    page.show_assistants(ASSISTANTS, "tutor")
    assert [card.isChecked() for card in page.assistants] == [False, True]
    assert page.title == "What would you like to know?"  # it has no opening of its own
    assert not page.examples[0].isVisible()
    assert page.assistants[1].accessibleName() == "Assistant Tutor"


@pytest.mark.parametrize("width", [400, 640, 1200])
def test_all_stands_within_the_page_at_any_width(page: StartPage, qtbot: Any, width: int) -> None:
    page.show_offer(OFFER)
    page.show_model(ModelState("none"))
    page.show_assistants(ASSISTANTS)
    page.resize(width, 700)
    buttons = page.widget().findChildren(QPushButton)
    qtbot.waitUntil(lambda: sum(button.isVisible() for button in buttons) == 10)
    parts = [button for button in buttons if button.isVisible()]

    def within(part: QPushButton) -> bool:
        left = part.mapTo(page.viewport(), part.rect().topLeft()).x()
        return left >= 0 and left + part.width() <= page.viewport().width()

    qtbot.waitUntil(lambda: all(map(within, parts)))  # the layouts settle one after the other


def test_the_keyboard_reaches_every_card(page: StartPage) -> None:
    page.show_assistants(ASSISTANTS)
    cards: list[QWidget] = [*page.assistants, *page.examples, page.setup_card.file_button]
    assert all(card.focusPolicy() & Qt.FocusPolicy.TabFocus for card in cards)
