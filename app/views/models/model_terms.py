"""In what form a model is fetched, and on whose terms: the choice of a format, its licence, an access token."""

from __future__ import annotations

import os
from typing import Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QButtonGroup, QHBoxLayout, QLineEdit, QRadioButton, QVBoxLayout, QWidget

from app.i18n import labelled, translate
from app.model_offers import ModelOffer, Source, Task
from app.theme import Theme
from app.views.controls import Label, QuietButton, make_line, unmarked
from app.views.dialogs import make_button
from app.views.models import model_words
from app.views.models.model_facts import Thing
from app.views.ticks import TickBox
from engine.hub.address import named_hub, told

_INDENT: Final = 20  # as far as the words of a radio button
_ASKS_FOR_TOKEN: Final = ("gated", "token")


def hub_page(of: str) -> str:
    """The address of a page of the hub, or of the mirror that is asked in its place."""
    return f"{told(named_hub(os.environ))}/{of}"


class FormatChoice(QWidget):
    """One line for each form in which a model can be had; the recommended one is chosen at first."""

    changed = Signal()

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self._offer: ModelOffer | None = None
        self._group = QButtonGroup(self)
        self._buttons: dict[str, QRadioButton] = {}
        self._lines: list[QWidget] = []
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(6)
        self._column.addWidget(Label(theme, translate("model_terms", "Format of its weights"), "figure", "muted"))
        self.hide()
        self._group.buttonClicked.connect(lambda _button: self.changed.emit())

    @property
    def chosen(self) -> str:
        """The id of the form that is chosen; empty where there is no choice."""
        return next((name for name, button in self._buttons.items() if button.isChecked()), "")

    @property
    def source(self) -> Source | None:
        """The form that is chosen."""
        return self._offer.source(self.chosen) if self._offer is not None else None

    @property
    def buttons(self) -> tuple[QRadioButton, ...]:
        """One for each form."""
        return tuple(self._buttons.values())

    def show_offer(self, offer: ModelOffer | None, keep: bool) -> None:
        """Offer the forms of a model; `keep` what was chosen among them before."""
        if offer == self._offer:
            return
        chosen = self.chosen if keep else ""
        self._offer = offer
        for line in self._lines:
            line.hide()
            line.deleteLater()
        self._lines.clear()
        best = offer.best if offer is not None else None
        self._buttons = {source.id: self._button(source, source == best) for source in _sources(offer)}
        first = chosen if chosen in self._buttons else best.id if best is not None else ""
        if first in self._buttons:
            self._buttons[first].setChecked(True)
        self.setVisible(bool(self._buttons))

    def _button(self, source: Source, recommended: bool) -> QRadioButton:
        line = QWidget(self)
        name = model_words.source_name(source, recommended and source.fit.kind != "no")
        button = QRadioButton(unmarked(name), line)
        button.setFont(self._theme.font("list"))
        about = Label(self._theme, model_words.source_line(source), "small", "muted")
        about.setWordWrap(True)
        about.setContentsMargins(_INDENT, 0, 0, 0)
        button.setAccessibleDescription(about.text())
        column = QVBoxLayout(line)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(button)
        column.addWidget(about)
        about.setVisible(bool(about.text()))
        self._group.addButton(button)
        self._column.addWidget(line)
        self._lines.append(line)
        return button


def _sources(offer: ModelOffer | None) -> tuple[Source, ...]:
    return tuple(source for source in offer.sources if source.id) if offer is not None else ()


class Terms(QWidget):
    """The licence and its page; a box to accept it where it asks for that; a field for a token where the hub does."""

    accepted = Signal(bool)
    link_activated = Signal(str)
    token_given = Signal(str)

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._link = self._page = ""
        self._must = False
        self._licence = Label(theme, "", "list")
        self._licence.setWordWrap(True)
        read = translate("model_terms", "Read it")
        self.link_button = QuietButton(theme, read, translate("model_terms", "Read the licence"), self)
        self.accept_box = TickBox(theme, translate("model_terms", "I accept this licence"), self)
        self._gated = Label(theme, "", "list")
        self._gated.setWordWrap(True)
        page = translate("model_terms", "Its page on the hub…")
        self.page_button = QuietButton(theme, page, translate("model_terms", "Open the model's page on the hub"), self)
        tokens = translate("model_terms", "Get a token…")
        self.tokens_button = QuietButton(
            theme, tokens, translate("model_terms", "Open the page where access tokens are made"), self
        )
        self.token_field = make_line(theme, translate("model_terms", "Access token of the hub"), self)
        self.token_field.setEchoMode(QLineEdit.EchoMode.Password)
        self.token_field.setPlaceholderText(
            translate("model_terms", "Access token; it is kept in the system's keyring")
        )
        self.token_button = make_button(theme, translate("model_terms", "Keep it and try again"), self)
        self._lay_out()
        self._connect()

    @property
    def agreed(self) -> bool:
        """Whether nothing has to be accepted any more."""
        return not self._must or self.accept_box.isChecked()

    @property
    def accepts(self) -> bool:
        """Whether the person accepted the licence."""
        return self._must and self.accept_box.isChecked()

    @property
    def page(self) -> str:
        """The address of the model's page; empty where it has none."""
        return self._page

    def show_thing(self, thing: Thing, offer: ModelOffer | None, keep: bool) -> None:
        """Show the terms of what is fetched, or was refused for them; `keep` what was ticked and typed."""
        failure = thing.failure if isinstance(thing, Task) else None
        kind = failure.kind if failure is not None else ""
        wants_token, repo = kind in _ASKS_FOR_TOKEN, _repository(thing, offer)
        self._page = hub_page(repo) if repo else ""
        self._link = offer.licence_url if offer is not None else ""
        self._must = kind == "licence" or (isinstance(thing, ModelOffer) and thing.accept)
        name = (offer.licence_label or offer.licence) if offer is not None else ""
        shown = bool(name) and (isinstance(thing, ModelOffer) or kind == "licence")
        self._licence.setText(labelled(translate("model_terms", "Licence"), name))
        self._licence.setVisible(shown)
        self.link_button.setVisible(shown and bool(self._link))
        self.accept_box.setVisible(self._must)
        self._show_gate(wants_token, told=isinstance(thing, ModelOffer) and thing.gated)
        if not keep:
            self.accept_box.setChecked(False)
            self.token_field.clear()
        self.setVisible(shown or self._must or wants_token or not self._gated.isHidden())

    def _show_gate(self, wants_token: bool, told: bool) -> None:
        """Say what a model that is not given to everybody asks for; the field comes when it was refused."""
        said = translate(
            "model_terms",
            "Its makers ask you to agree on its page first; the download then needs an access token of your account.",
        )
        self._gated.setText(said)
        self._gated.setVisible(told or wants_token)
        self.page_button.setVisible(wants_token and bool(self._page))
        self.tokens_button.setVisible(wants_token)
        self.token_field.setVisible(wants_token)
        self.token_button.setVisible(wants_token)

    def _connect(self) -> None:
        self.link_button.clicked.connect(lambda: self.link_activated.emit(self._link))
        self.page_button.clicked.connect(lambda: self.link_activated.emit(self._page))
        self.tokens_button.clicked.connect(lambda: self.link_activated.emit(hub_page("settings/tokens")))
        self.accept_box.toggled.connect(self.accepted)
        self.token_button.clicked.connect(self._give)
        self.token_field.returnPressed.connect(self._give)
        self.token_field.textChanged.connect(lambda text: self.token_button.setEnabled(bool(text.strip())))
        self.token_button.setEnabled(False)

    def _give(self) -> None:
        token = self.token_field.text().strip()
        if token:
            self.token_field.clear()
            self.token_given.emit(token)

    def _lay_out(self) -> None:
        licence, gate, token = QHBoxLayout(), QHBoxLayout(), QHBoxLayout()
        for row in (licence, gate, token):
            row.setSpacing(8)
        licence.addWidget(self._licence, 1)
        licence.addWidget(self.link_button, 0, Qt.AlignmentFlag.AlignTop)
        gate.addWidget(self.page_button)
        gate.addWidget(self.tokens_button)
        gate.addStretch(1)
        token.addWidget(self.token_button)
        token.addStretch(1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(6)
        column.addLayout(licence)
        column.addWidget(self.accept_box)
        column.addWidget(self._gated)
        column.addLayout(gate)
        column.addWidget(self.token_field)
        column.addLayout(token)


def _repository(thing: Thing, offer: ModelOffer | None) -> str:
    if offer is not None and offer.repo:
        return offer.repo
    reference = thing.reference.partition(":")[0] if isinstance(thing, Task) and thing.kind == "get" else ""
    return reference if "/" in reference else ""
