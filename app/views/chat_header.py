"""The line above a conversation: its title, the model that answers, and the theme."""

from __future__ import annotations

from typing import Final, get_args

from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtGui import QAction, QActionGroup
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QWidget

from app.live import ModelState
from app.theme import Theme, ThemeChoice
from app.views import words
from app.views.controls import ElidedLabel, IconButton, Menu
from engine.events import InstalledModel, ModelInfo

HEIGHT: Final = 52
NO_MODEL: Final = "No model"
_THEMES: Final[dict[ThemeChoice, str]] = {"system": "As the system says", "light": "Light", "dark": "Dark"}


class ChatHeader(QFrame):
    """Title at the left, model and theme at the right; the first button folds the sidebar."""

    sidebar_toggled = Signal()
    model_file_requested = Signal()
    model_folder_requested = Signal()
    theme_requested = Signal(str)
    model_chosen = Signal(str)
    default_requested = Signal(str)
    remove_requested = Signal(object)  # InstalledModel
    check_requested = Signal()
    settings_requested = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("header")
        self.setFixedHeight(HEIGHT)
        self._theme = theme
        self._details = ""
        self._info: ModelInfo | None = None
        self._models: tuple[InstalledModel, ...] = ()
        self._fold = IconButton(theme, "sidebar", "Show or hide the conversations (Ctrl+B)", self)
        self._title = ElidedLabel(theme, "", "title")
        self._chip = QPushButton(NO_MODEL, self)
        self._chip.setObjectName("chip")
        self._chip.setFont(theme.font("small"))
        self._chip.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self._chip.setCursor(Qt.CursorShape.PointingHandCursor)
        self._look = IconButton(theme, "theme", "Light or dark", self)
        self._more = IconButton(theme, "more", "More", self)
        row = QHBoxLayout(self)
        row.setContentsMargins(12, 0, 12, 0)
        row.setSpacing(8)
        row.addWidget(self._fold)
        row.addWidget(self._title, 1)
        row.addWidget(self._chip)
        row.addWidget(self._look)
        row.addWidget(self._more)
        self._fold.clicked.connect(self.sidebar_toggled)
        self._chip.clicked.connect(lambda: _pop_up(self.model_menu(), self._chip))
        self._look.clicked.connect(lambda: _pop_up(self.theme_menu(), self._look))
        self._more.clicked.connect(lambda: _pop_up(self.more_menu(), self._more))

    @property
    def title(self) -> str:
        """The title shown."""
        return self._title.text()

    @property
    def chip(self) -> QPushButton:
        """Names the model; its menu tells more and adds another."""
        return self._chip

    def show_title(self, title: str) -> None:
        """Show the conversation's title."""
        self._title.setText(title)

    def show_model(self, model: ModelState) -> None:
        """Name the model, or say that there is none."""
        info = self._info = model.info
        waiting = "Model on its way" if model.phase == "working" else NO_MODEL
        self._chip.setText(f"{info.label} · {info.dtype}" if info is not None else waiting)
        self._details = model_details(info) if info is not None else ""
        self._chip.setToolTip(self._details)
        self._chip.setAccessibleName(f"Model: {self._chip.text()}")

    def show_models(self, models: tuple[InstalledModel, ...]) -> None:
        """Offer these models."""
        self._models = models

    def model_menu(self) -> Menu:
        """What is known of the model, the others there are, and ways to more."""
        menu = Menu(self._theme, self)
        for line in self._details.splitlines():
            menu.addAction(line).setEnabled(False)
        if self._details:
            menu.addSeparator()
        self._add_models(menu)
        menu.addAction("Use a model file (GGUF)…").triggered.connect(self.model_file_requested)
        menu.addAction("Use a model folder…").triggered.connect(self.model_folder_requested)
        return menu

    def theme_menu(self) -> Menu:
        """The three choices, the one in force ticked."""
        menu = Menu(self._theme, self)
        group = QActionGroup(menu)
        for choice in get_args(ThemeChoice):
            action = QAction(_THEMES[choice], group)
            action.setCheckable(True)
            action.setChecked(choice == self._theme.choice)
            action.triggered.connect(lambda _=False, chosen=choice: self.theme_requested.emit(chosen))
            menu.addAction(action)
        return menu

    def more_menu(self) -> Menu:
        """What can be done with the conversation, and the settings."""
        menu = Menu(self._theme, self)
        menu.addAction("Check this chat").triggered.connect(self.check_requested)
        menu.addSeparator()
        menu.addAction("Settings…\tCtrl+,").triggered.connect(self.settings_requested)
        return menu

    def _add_models(self, menu: Menu) -> None:
        """The models on this machine; which one is loaded at the start; and removing one that is not loaded."""
        loaded = self._info.name if self._info is not None else ""
        for model in self._models:
            action = menu.addAction(f"{model.label}\t{words.size(model.nbytes)}")
            action.setCheckable(True)
            action.setChecked(model.name == loaded)
            action.triggered.connect(lambda _=False, name=model.name: self.model_chosen.emit(name))
        if self._models:
            menu.addSeparator()
        current = next((model for model in self._models if model.name == loaded), None)
        if current is not None and not current.default:
            start = menu.addAction("Load this model at the start")
            start.triggered.connect(lambda: self.default_requested.emit(current.name))
        others = [model for model in self._models if model.name != loaded]
        for model in others:
            remove = menu.addAction(f"Remove {model.label}…")
            remove.triggered.connect(lambda _=False, gone=model: self.remove_requested.emit(gone))
        if others:
            menu.addSeparator()


def _pop_up(menu: Menu, below: QWidget) -> None:
    """Open a menu below a button, its right edge under the button's."""
    corner = below.mapToGlobal(QPoint(below.width(), below.height() + 4))
    menu.popup(corner - QPoint(menu.sizeHint().width(), 0))


def model_details(info: ModelInfo) -> str:
    """A model's size, context and load time, one a line."""
    return (
        f"{info.parameters / 1e6:,.0f} million parameters, {words.size(info.weight_bytes)} in memory\n"
        f"{words.count(info.context_limit)} tokens of context, {words.size(info.kv_bytes_per_token)} each\n"
        f"Loaded in {words.seconds(info.load_s)}"
    )
