"""What an empty chat shows: one line, the way to a first model, and assistants and questions to begin with."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Final

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QGridLayout, QLabel, QPushButton, QScrollArea, QVBoxLayout, QWidget

from app.assistants import PLAIN
from app.i18n import translate
from app.live import ModelState
from app.theme import Theme, app_icon
from app.views.controls import Label
from app.views.start_cards import AssistantCard, AssistantEntry, ExampleButton, Offer, SetupCard

_COLUMN: Final = 680
_MARGIN: Final = 20
_GAP: Final = 12


class CardGrid(QWidget):
    """Cards in as many columns as there is room for, below a few quiet words."""

    def __init__(self, theme: Theme, most_columns: int, least_width: int, parent: QWidget) -> None:
        super().__init__(parent)
        self._most = most_columns
        self._least = theme.wide(least_width)
        self._words = Label(theme, "", "small", "muted")
        self._cards: tuple[QPushButton, ...] = ()
        self._grid = QGridLayout()
        self._grid.setSpacing(_GAP)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(8)
        column.addWidget(self._words)
        column.addLayout(self._grid)

    @property
    def cards(self) -> tuple[QPushButton, ...]:
        """The cards on view."""
        return self._cards

    def show_words(self, words: str) -> None:
        """Say this above the cards; nothing hides it."""
        self._words.setText(words)
        self._words.setVisible(bool(words))

    def show_cards(self, cards: Sequence[QPushButton], width: int) -> None:
        """Show other cards."""
        for card in self._cards:
            card.hide()
            card.deleteLater()
        self._cards = tuple(cards)
        self.setVisible(bool(cards))
        self.arrange(width)

    def arrange(self, width: int) -> None:
        """Place the cards in a width."""
        columns = max(1, min(self._most, (width + _GAP) // (self._least + _GAP)))
        for index, card in enumerate(self._cards):
            self._grid.addWidget(card, index // columns, index % columns)
        for index in range(self._most):
            self._grid.setColumnStretch(index, 1 if index < columns else 0)


class StartPage(QScrollArea):
    """Stands where messages will stand."""

    example_chosen = Signal(str)
    assistant_chosen = Signal(str)
    download_requested = Signal()
    retry_requested = Signal()
    models_requested = Signal()
    file_requested = Signal()
    folder_requested = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setWidgetResizable(True)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._page = QWidget(self)
        self._page.setObjectName("canvas")
        icon = QLabel(self._page)
        icon.setPixmap(app_icon().pixmap(QSize(48, 48), self.devicePixelRatioF()))
        icon.setAccessibleName("Loquat")
        self._icon = icon
        self._title = Label(theme, translate("start_page", "What would you like to know?"), "display")
        self._state = Label(theme, "", "list", "muted")
        self._setup = SetupCard(theme, self._page)
        self._offered: tuple[Sequence[object], str] = ((), "")
        self._assistants = CardGrid(theme, 3, 200, self._page)
        self._examples = CardGrid(theme, 2, 250, self._page)
        self._lay_out()
        self._setup.download_requested.connect(self.download_requested)
        self._setup.retry_requested.connect(self.retry_requested)
        self._setup.models_requested.connect(self.models_requested)
        self._setup.file_requested.connect(self.file_requested)
        self._setup.folder_requested.connect(self.folder_requested)
        self._show_examples()
        self.show_assistants(())
        self.show_model(ModelState("working"))  # until something is known

    @property
    def examples(self) -> tuple[QPushButton, ...]:
        """The questions that can be clicked."""
        return self._examples.cards

    @property
    def assistants(self) -> tuple[QPushButton, ...]:
        """The assistants that can be chosen."""
        return self._assistants.cards

    @property
    def setup_card(self) -> SetupCard:
        """The way to a first model."""
        return self._setup

    @property
    def title(self) -> str:
        """The question above all, or the opening of the assistant that is chosen."""
        return self._title.text()

    @property
    def sentence(self) -> str:
        """The line under the title."""
        return self._state.text()

    def show_model(self, model: ModelState) -> None:
        """Say what can be done now. Why there is no model is said by a notice, and not once more here."""
        self._setup.show_model(model)
        if model.info is None and model.phase == "working":
            text = translate("start_page", "You can type already. The answer comes as soon as the model is ready.")
        elif model.info is None:
            text = translate("start_page", "You can write already; an answer needs a model.")
        elif model.info.remote:
            said = translate("start_page", "The answer is made by {server}; what you write goes to {host}.")
            text = said.format(server=model.info.server, host=model.info.host)
        else:
            text = translate("start_page", "The answer is made on this machine; nothing leaves it.")
        self._state.setText(text)

    def show_offer(self, offer: Offer | None) -> None:
        """Offer this model to download while there is none; None where one is on this machine already."""
        self._setup.show_offer(offer)

    def show_assistants(
        self, assistants: Sequence[AssistantEntry | tuple[str, str, str, str]], chosen: str = ""
    ) -> None:
        """Show assistants to begin with (id, name, icon, opening), one of them as chosen."""
        if (tuple(assistants), chosen) == self._offered:
            return
        self._offered = (tuple(assistants), chosen)
        cards = []
        self._title.setText(translate("start_page", "What would you like to know?"))
        for entry in map(AssistantEntry._make, assistants):
            card = AssistantCard(self._theme, entry, entry.id == chosen, self._assistants)
            card.clicked.connect(partial(self.assistant_chosen.emit, entry.id))
            cards.append(card)
            if entry.id == chosen and entry.opening:
                self._title.setText(entry.opening)
        self._assistants.show_cards(cards, self._room)
        self._assistants.show_words(translate("start_page", "Begin with an assistant"))
        self._examples.show_words(translate("start_page", "Or ask one of these") if cards else "")
        self._examples.setVisible(not cards or chosen in ("", PLAIN))  # an assistant's opening says what to ask it

    def _show_examples(self) -> None:
        texts = (
            translate("start_page", "Why is the sky blue?"),
            translate("start_page", "Write a short thank-you note to a neighbour"),
            translate("start_page", "Three ideas for a rainy Sunday"),
            translate("start_page", "Explain recursion with a Python example"),
        )
        cards = [ExampleButton(self._theme, text, self._examples) for text in texts]
        for card, text in zip(cards, texts, strict=True):
            card.clicked.connect(partial(self.example_chosen.emit, text))
        self._examples.show_cards(cards, self._room)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        side, bar = (self.width() - self._room) // 2, self.width() - self.viewport().width()
        self._column.setContentsMargins(side, 24, side - bar, 24)  # in line with the composer, scroll bar or not
        self._setup.arrange(self.width())
        self._assistants.arrange(self._room)
        self._examples.arrange(self._room)

    @property
    def _room(self) -> int:
        """The width of the column."""
        return min(_COLUMN, self.width() - 2 * _MARGIN)

    def _lay_out(self) -> None:
        for label in (self._icon, self._title, self._state):
            label.setAlignment(Qt.AlignmentFlag.AlignHCenter)
            label.setWordWrap(label is not self._icon)
        self._column = QVBoxLayout(self._page)
        self._column.setSpacing(0)
        self._column.addStretch(4)
        for label, gap in ((self._icon, 16), (self._title, 8), (self._state, 28)):
            self._column.addWidget(label)
            self._column.addSpacing(gap)
        parts = QVBoxLayout()
        parts.setSpacing(24)
        for part in (self._setup, self._assistants, self._examples):
            parts.addWidget(part)
        self._column.addLayout(parts)
        self._column.addStretch(5)
        self.setWidget(self._page)
