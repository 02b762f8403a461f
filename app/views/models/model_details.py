"""The right side of the model dialog: all that is known of the model that is chosen, and what can be done with it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QGridLayout, QPushButton, QSizePolicy, QVBoxLayout, QWidget

from app.engine_sentences import translated
from app.model_offers import ModelOffer, Shelf, Task
from app.theme import Theme
from app.views.controls import Label, show_property
from app.views.dialogs import make_button
from app.views.flow import Flow
from app.views.models import model_facts, model_words
from app.views.models.model_actions import ActionEntry, actions_for, all_actions
from app.views.models.model_extras import OwnParts
from app.views.models.model_facts import Fact, Thing
from app.views.models.model_terms import FormatChoice, Terms
from app.views.progress_card import ProgressLine
from app.views.row_list import GUTTER
from app.views.steady_area import SteadyArea
from engine.events import InstalledModel

_EDGE: Final = 4


@dataclass(frozen=True, slots=True)
class Said:
    """What the window has to say of one thing in the list, until something else is done with it.

    Attributes:
        row_id: Which thing.
        rest: What else there is to say, which is no warning.
        lasting: Whether it stays true when the thing is called otherwise.
    """

    row_id: str
    sentence: str
    warning: bool = False
    rest: str = ""
    lasting: bool = False


_RATE: Final = "tok/\u2060s"  # a joiner: Qt would break the line behind the stroke


class FactTable(QWidget):
    """Names at the left, what they are at the right; what is said can be selected and copied."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self._shown: tuple[Fact, ...] = ()
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(16)
        self._grid.setVerticalSpacing(6)
        self._grid.setColumnStretch(1, 1)

    @property
    def facts(self) -> tuple[Fact, ...]:
        """What it shows."""
        return self._shown

    def show_facts(self, shown: Sequence[Fact]) -> None:
        """Show these; the same ones stay as they are, a selection in them too."""
        if tuple(shown) == self._shown:
            return
        self._shown = tuple(shown)
        while (item := self._grid.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.hide()
                widget.deleteLater()
        for row, fact in enumerate(self._shown):
            name = Label(self._theme, fact.name, "list", "muted")
            value = Label(self._theme, fact.value.replace("tok/s", _RATE), "list", fact.tone)
            value.setWordWrap(True)
            value.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            self._grid.addWidget(name, row, 0, Qt.AlignmentFlag.AlignTop)
            self._grid.addWidget(value, row, 1)
        self.setVisible(bool(self._shown))


class ModelDetails(QFrame):
    """Shows one thing; what the person wants of it goes out by its action's id."""

    wanted = Signal(str)
    link_activated = Signal(str)
    token_given = Signal(str)

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self._thing: Thing | None = None
        self._row_id = ""
        self._said: Said | None = None
        self._title = Label(theme, "", "heading3")
        self._origin = Label(theme, "", "small", "muted")
        self._good_at = Label(theme, "", "list")
        self._line = ProgressLine(theme, self)
        self._far = Label(theme, "", "small", "muted")
        self._sentence = Label(theme, "", "list")
        self._rest = Label(theme, "", "list")
        self.table = FactTable(theme, self)
        self.formats = FormatChoice(theme, self)
        self.terms = Terms(theme, self)
        self.own = OwnParts(theme, self)
        self.buttons = {entry.id: self._button(entry) for entry in all_actions()}
        self._area = SteadyArea(self)
        self._lay_out()
        self.formats.changed.connect(self._format_changed)
        self.terms.accepted.connect(lambda _: self._show_actions())
        self.terms.link_activated.connect(self.link_activated)
        self.terms.token_given.connect(self.token_given)

    @property
    def thing(self) -> Thing | None:
        """What is shown."""
        return self._thing

    @property
    def said(self) -> str:
        """The sentence about it: why it failed, or what came of something."""
        return "\n".join(label.text() for label in (self._sentence, self._rest) if not label.isHidden())

    @property
    def title(self) -> str:
        """What it is called."""
        return self._title.text()

    @property
    def progress(self) -> str:
        """How far it has come, in words."""
        return self._far.text() if not self._far.isHidden() else ""

    @property
    def primary(self) -> QPushButton | None:
        """The button that does what one most likely wants."""
        return next(
            (each for each in self.buttons.values() if each.objectName() == "send" and each.isVisibleTo(self)), None
        )

    def show_thing(self, row_id: str, thing: Thing | None, shelf: Shelf, said: Said | None = None) -> None:
        """Show something of the shelf, or that nothing is chosen."""
        another = row_id != self._row_id
        self._row_id, self._thing, self._shelf, self._said = row_id, thing, shelf, said
        self._area.setVisible(thing is not None)
        if thing is None:
            self._show_actions()
            return
        self._show_head(thing)
        self._show_progress(thing)
        offer = model_facts.offer_of(thing, shelf)
        self.formats.show_offer(offer if isinstance(thing, ModelOffer) else None, keep=not another)
        self.terms.show_thing(thing, offer, keep=not another)
        model = thing if isinstance(thing, InstalledModel) and not thing.server else None
        self.own.show_model(model, shelf, refused=said is not None and said.warning)
        self._show_facts()
        self._show_said(said)
        self._show_actions()
        if another:
            self._area.verticalScrollBar().setValue(0)

    def _show_head(self, thing: Thing) -> None:
        self._title.setText(model_facts.title(thing))
        self._origin.setText(model_facts.origin(thing))
        self._origin.setVisible(bool(self._origin.text()))
        good_at = model_facts.good_at(thing, self._shelf)
        self._good_at.setText(good_at)
        self._good_at.setVisible(bool(good_at))

    def _show_progress(self, thing: Thing) -> None:
        task = thing if isinstance(thing, Task) and thing.state != "failed" else None
        self._line.setVisible(task is not None)
        self._far.setVisible(task is not None)
        if task is not None:
            self._line.show_share(model_words.share(task) if task.progress.total or task.state == "running" else 0.0)
            self._far.setText(model_words.task_line(task))

    def _show_facts(self) -> None:
        if self._thing is not None:
            self.table.show_facts(model_facts.facts_of(self._thing, self._shelf, self.formats.chosen))

    def _show_said(self, said: Said | None) -> None:
        sentence, warning = (said.sentence, said.warning) if said is not None else ("", False)
        if isinstance(self._thing, Task) and self._thing.failure is not None and not sentence:
            sentence, warning = model_words.failure(self._thing.failure), True
        if isinstance(self._thing, ModelOffer) and self._thing.problem and not sentence:
            sentence, warning = translated(self._thing.problem), True
        show_property(self._sentence, "tone", "warning" if warning else "text")
        self._sentence.setText(sentence)
        self._sentence.setVisible(bool(sentence))
        self._rest.setText(said.rest if said is not None else "")
        self._rest.setVisible(bool(self._rest.text()))

    def _format_changed(self) -> None:
        self._show_facts()
        self._show_actions()

    def _show_actions(self) -> None:
        shown = {entry.id: entry for entry in actions_for(self._thing, self._shelf_or_empty, self.formats.source)}
        for name, button in self.buttons.items():
            entry = shown.get(name)
            button.setVisible(entry is not None)
            if entry is not None:
                button.setText(entry.label)
                button.setEnabled(entry.enabled and (name not in ("get", "resume") or self.terms.agreed))

    @property
    def _shelf_or_empty(self) -> Shelf:
        return self._shelf if self._thing is not None else Shelf()

    def _button(self, entry: ActionEntry) -> QPushButton:
        button = make_button(self._theme, entry.label, self, primary=entry.primary)
        button.clicked.connect(lambda _=False, name=entry.id: self.wanted.emit(name))
        return button

    def _lay_out(self) -> None:
        for label in (self._title, self._origin, self._good_at, self._far, self._sentence, self._rest):
            label.setWordWrap(True)
            label.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        for label in (self._title, self._origin, self._sentence, self._rest):
            label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        page = QWidget(self)
        page.setObjectName("sheet")
        column = QVBoxLayout(page)
        column.setContentsMargins(_EDGE, _EDGE, 16 - GUTTER + _EDGE, _EDGE)
        column.setSpacing(6)
        said = (self._good_at, self._line, self._far, self._sentence, self._rest)
        parts = (*said, self.formats, self.terms, self.table, self.own)
        column.addWidget(self._title)
        column.addWidget(self._origin)
        column.setSpacing(12)
        for part in parts:
            column.addWidget(part)
        column.addStretch(1)
        self._area.setObjectName("settingsArea")
        self._area.setWidget(page)
        self._area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        row = Flow(8)
        row.setContentsMargins(_EDGE, 0, 0, 0)
        for button in self.buttons.values():
            row.addWidget(button)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.setSpacing(12)
        outer.addWidget(self._area, 1)
        outer.addLayout(row)
