"""What goes with an installed model: its LoRA adapters, switched on and off, and its draft model."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QPoint, Signal
from PySide6.QtGui import QAction, QActionGroup, QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from app.i18n import labelled, translate
from app.model_offers import Shelf
from app.theme import Theme
from app.views.controls import Label, Menu, QuietButton, unmarked
from app.views.dialogs import make_button
from app.views.ticks import TickBox
from engine.events import InstalledModel
from engine.models.choices import AdapterChoice


class OwnParts(QWidget):
    """Hidden where no model of this machine is chosen."""

    adapter_wanted = Signal(str, str)  # "on", "off" or "remove"; the adapter's name
    add_wanted = Signal()
    draft_wanted = Signal(str)  # the model's name; empty for none

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self._model: InstalledModel | None = None
        self._shown: tuple[object, ...] = ()
        self._rows: list[QWidget] = []
        self._adapters = QVBoxLayout()
        self._adapters.setSpacing(4)
        self.add_button = make_button(theme, translate("model_extras", "Add an adapter…"), self)
        self.draft_button = DraftButton(theme, self)
        self._none = Label(theme, "", "small", "muted")
        self._none.setWordWrap(True)
        self._lay_out()
        self.add_button.clicked.connect(self.add_wanted)
        self.draft_button.chosen.connect(self.draft_wanted)

    @property
    def adapter_boxes(self) -> tuple[TickBox, ...]:
        """One for each adapter."""
        return tuple(box for row in self._rows for box in row.findChildren(TickBox))

    def show_model(self, model: InstalledModel | None, shelf: Shelf, refused: bool = False) -> None:
        """Show what goes with a model; None shows nothing. What was `refused` is taken back: boxes show what is."""
        self._model = model
        self.setVisible(model is not None)
        if model is None:
            return
        if self._shown != (model.name, model.adapters):
            self._shown = (model.name, model.adapters)
            self._show_adapters(model.adapters)
        elif refused:
            for box, adapter in zip(self.adapter_boxes, model.adapters, strict=True):
                box.blockSignals(True)
                box.setChecked(adapter.on)
                box.blockSignals(False)
        others = tuple(
            (each.name, each.label) for each in shelf.installed if not each.server and each.name != model.name
        )
        self.draft_button.show_choice(model.draft, others)

    def _show_adapters(self, adapters: tuple[AdapterChoice, ...]) -> None:
        for row in self._rows:
            row.hide()
            row.deleteLater()
        self._rows = [self._row(adapter) for adapter in adapters]
        for row in self._rows:
            self._adapters.addWidget(row)
        said = translate("model_extras", "None. A folder that peft wrote can be added or dropped here.")
        self._none.setText(said)
        self._none.setVisible(not adapters)

    def _row(self, adapter: AdapterChoice) -> QWidget:
        row = QWidget(self)
        box = TickBox(self._theme, unmarked(adapter.name), row)
        box.setChecked(adapter.on)
        box.toggled.connect(lambda on: self.adapter_wanted.emit("on" if on else "off", adapter.name))
        name = translate("model_extras", "Remove the adapter {name}").format(name=adapter.name)
        remove = QuietButton(self._theme, translate("model_extras", "Remove"), name, row)
        remove.clicked.connect(partial(self.adapter_wanted.emit, "remove", adapter.name))
        line = QHBoxLayout(row)
        line.setContentsMargins(0, 0, 0, 0)
        line.addWidget(box, 1)
        line.addWidget(remove)
        return row

    def _lay_out(self) -> None:
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(6)
        column.addWidget(Label(self._theme, translate("model_extras", "Adapters (LoRA)"), "figure", "muted"))
        column.addWidget(self._none)
        column.addLayout(self._adapters)
        column.addLayout(_left(self.add_button))
        column.addSpacing(8)
        column.addWidget(Label(self._theme, translate("model_extras", "Draft model"), "figure", "muted"))
        words = translate(
            "model_extras",
            "A small model with the same tokenizer that writes ahead; this one checks it. The text stays the same.",
        )
        hint = Label(self._theme, words, "small", "muted")
        hint.setWordWrap(True)
        column.addWidget(hint)
        column.addLayout(_left(self.draft_button))


class DraftButton(QPushButton):
    """Which model drafts for this one; a menu offers the others of this machine."""

    chosen = Signal(str)

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self._draft = ""
        self._others: tuple[tuple[str, str], ...] = ()
        self.setObjectName("choice")
        self.setFont(theme.font("list"))
        self.setAutoDefault(False)
        self.setMinimumWidth(theme.wide(200))
        self.clicked.connect(lambda: self.menu_of_choices().popup(self.mapToGlobal(QPoint(0, self.height() + 4))))

    def show_choice(self, draft: str, others: tuple[tuple[str, str], ...]) -> None:
        """Show the one that is chosen; `others` are names and labels."""
        self._draft, self._others = draft, others
        name = dict(others).get(draft, draft) or translate("model_extras", "None")
        self.setText(unmarked(name))
        self.setAccessibleName(labelled(translate("model_extras", "Draft model"), name))
        self.setEnabled(bool(others) or bool(draft))

    def menu_of_choices(self) -> Menu:
        """None, and the others."""
        menu = Menu(self._theme, self)
        group = QActionGroup(menu)
        for name, label in (("", translate("model_extras", "None")), *self._others):
            action = QAction(unmarked(label), group)
            action.setCheckable(True)
            action.setChecked(name == self._draft)
            action.triggered.connect(partial(self._choose, name))
            menu.addAction(action)
        return menu

    def _choose(self, name: str, _checked: bool = False) -> None:
        self.chosen.emit(name)

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        icon = self._theme.icon("chevron", "muted")
        icon.paint(QPainter(self), self.width() - 28, (self.height() - 18) // 2, 18, 18)


def _left(widget: QWidget) -> QHBoxLayout:
    row = QHBoxLayout()
    row.addWidget(widget)
    row.addStretch(1)
    return row
