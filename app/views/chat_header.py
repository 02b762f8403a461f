"""The line above a conversation: its title, the model that answers, the inspector, and all that can be done with it."""

from __future__ import annotations

from typing import Final, get_args

from PySide6.QtCore import QPoint, QSize, Qt, Signal
from PySide6.QtGui import QAction, QActionGroup, QIcon, QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QSizePolicy, QWidget

from app.i18n import translate
from app.live import ModelState
from app.theme import Theme, ThemeChoice
from app.views import words
from app.views.controls import IconButton, Menu, plain_tip, unmarked
from app.views.title_field import TitleField
from engine.events import InstalledModel, ModelInfo
from engine.remote.servers import RemoteServer

HEIGHT: Final = 52
_EDGE: Final = 12
_GAP: Final = 8
_FIGURE_SPACE: Final = "\u2007"  # as wide as a digit
_SHORT: Final = 600  # below this width the inspector's button leaves its key out
_CHIP_WIDTH: Final = 280
_CHIP_EDGES: Final = 22  # padding and border in window.qss
_LEAST_CHIP_WIDTH: Final = 64


class Chip(QPushButton):
    """A small button with a border; where its words have no room, what follows " · " goes, then an ellipsis comes."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._words = ""
        self.setObjectName("chip")
        self.setFont(theme.font("small"))
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)

    @property
    def words(self) -> str:
        """All that it says."""
        return self._words

    def show_words(self, text: str, most: int) -> None:
        """Say this in at most so many pixels."""
        self._words = text
        metrics, room = self.fontMetrics(), most - _CHIP_EDGES
        if not self.icon().isNull():
            room -= self.iconSize().width() + 4
        shown = text if metrics.horizontalAdvance(text) <= room else text.split(" · ", maxsplit=1)[0]
        self.setText(unmarked(metrics.elidedText(shown, Qt.TextElideMode.ElideRight, room)))

    def minimumSizeHint(self) -> QSize:
        return QSize(min(_LEAST_CHIP_WIDTH, self.sizeHint().width()), self.sizeHint().height())


class ChatHeader(QFrame):
    """Title at the left, model and inspector at the right; the first button folds the sidebar, the last has a menu."""

    sidebar_toggled = Signal()
    inspector_toggled = Signal(bool)
    rename_requested = Signal(str)
    models_requested = Signal()
    previous_model_requested = Signal()
    model_file_requested = Signal()
    model_folder_requested = Signal()
    theme_requested = Signal(str)
    model_chosen = Signal(str)
    server_requested = Signal(str)  # id of the server to be changed; empty for a new one
    check_requested = Signal()
    options_requested = Signal()
    find_requested = Signal()
    copy_requested = Signal()
    export_requested = Signal()
    export_all_requested = Signal()
    import_requested = Signal()
    archive_requested = Signal()
    delete_requested = Signal()
    settings_requested = Signal()
    help_requested = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("header")
        self.setFixedHeight(theme.line(HEIGHT))
        self._theme = theme
        self._details = ""
        self._stored = False
        self._info: ModelInfo | None = None
        self._models: tuple[InstalledModel, ...] = ()
        self._previous: ModelInfo | None = None
        self._servers: tuple[RemoteServer, ...] = ()
        fold = translate("chat_header", "Show or hide the chats (Ctrl+B)")
        self._fold = IconButton(theme, "sidebar", fold, self)
        self._title = TitleField(theme, self)
        self._chip = Chip(theme, self)
        self._inspector = Chip(theme, self)
        self._inspector.setCheckable(True)
        self._inspector.setToolTip(translate("chat_header", "Why the answer is as fast as it is (F12)"))
        self._inspector.setAccessibleName(translate("chat_header", "Inspector (F12)"))
        self._more = IconButton(theme, "more", translate("chat_header", "More"), self)
        self._lay_out()
        self._fold.clicked.connect(self.sidebar_toggled)
        self._title.renamed.connect(self.rename_requested)
        self._chip.clicked.connect(lambda: _pop_up(self.model_menu(), self._chip))
        self._inspector.clicked.connect(self.inspector_toggled)
        self._more.clicked.connect(lambda: _pop_up(self.more_menu(), self._more))
        self.show_model(ModelState())

    def _lay_out(self) -> None:
        row = QHBoxLayout(self)
        row.setContentsMargins(_EDGE, 0, _EDGE, 0)
        row.setSpacing(_GAP)
        row.addWidget(self._fold)
        row.addWidget(self._title, 1)
        row.addWidget(self._chip)
        row.addWidget(self._inspector)
        row.addWidget(self._more)

    @property
    def title(self) -> str:
        """The title shown."""
        return self._title.text

    @property
    def title_field(self) -> TitleField:
        """Shows the title and lets it be written."""
        return self._title

    @property
    def chip(self) -> Chip:
        """Names the model; its menu tells more and adds another."""
        return self._chip

    @property
    def inspector_button(self) -> Chip:
        """Shows or folds the inspector."""
        return self._inspector

    def show_title(self, title: str, stored: bool = True) -> None:
        """Show the conversation's title.

        Args:
            title: May be that of a chat without one.
            stored: Whether there is something in it yet; what is empty cannot be renamed, exported or deleted.
        """
        self._stored = stored
        self._title.show_title(title, stored)

    def show_inspector(self, shown: bool) -> None:
        """Say whether the inspector is on view."""
        self._inspector.setChecked(shown)

    def show_model(self, model: ModelState) -> None:
        """Name the model, or say that there is none."""
        info = self._info = model.info
        self._chip.setIcon(
            self._theme.icon("assistant-globe", "warning") if info is not None and info.remote else QIcon()
        )
        if info is not None:
            self._chip.show_words(_name(info), self._chip_width)
        elif model.phase == "working":
            self._chip.show_words(translate("chat_header", "Model on its way"), self._chip_width)
        else:
            self._chip.show_words(translate("chat_header", "No model"), self._chip_width)
        self._details = model_details(info) if info is not None else ""
        self._chip.setToolTip(plain_tip(f"{self._chip.words}\n{self._details}") if info is not None else "")
        self._chip.setAccessibleName(translate("chat_header", "Model: {name}").format(name=self._chip.words))

    @property
    def _chip_width(self) -> int:
        """Half of what the buttons leave; the other half is the title's."""
        wide, others = self._theme.wide, (self._fold, self._inspector, self._more)
        taken = 2 * _EDGE + sum(each.sizeHint().width() + _GAP for each in others) + _GAP
        return max(wide(_LEAST_CHIP_WIDTH), min(wide(_CHIP_WIDTH), (self.width() - taken) // 2))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        name = translate("chat_header", "Inspector")
        short = self.width() < self._theme.wide(_SHORT)
        self._inspector.show_words(name if short else f"{name} F12", self._theme.wide(_CHIP_WIDTH))
        self._chip.show_words(self._chip.words, self._chip_width)

    def show_models(self, models: tuple[InstalledModel, ...]) -> None:
        """Offer these models."""
        self._models = models

    def show_previous(self, previous: ModelInfo | None) -> None:
        """Offer to go back to the model that answered before."""
        self._previous = previous

    def show_servers(self, servers: tuple[RemoteServer, ...]) -> None:
        """Offer to change these servers."""
        self._servers = servers

    def model_menu(self) -> Menu:
        """What is known of the model, the others there are, and ways to more."""
        menu = Menu(self._theme, self)
        for line in self._details.splitlines():
            menu.addAction(unmarked(line)).setEnabled(False)
        if self._details:
            menu.addSeparator()
        self._add_models(menu)
        if self._previous is not None:
            back = translate("chat_header", "Back to {name}").format(name=self._previous.label)
            menu.addAction(f"{unmarked(back)}\tCtrl+Shift+B").triggered.connect(self.previous_model_requested)
        more = menu.addAction(translate("chat_header", "Models…") + "\tCtrl+Shift+M")
        more.triggered.connect(self.models_requested)
        file, folder = (
            translate("chat_header", "Use a model file (GGUF)…"),
            translate("chat_header", "Use a model folder…"),
        )
        menu.addAction(file).triggered.connect(self.model_file_requested)
        menu.addAction(folder).triggered.connect(self.model_folder_requested)
        self._add_servers(menu)
        return menu

    def more_menu(self) -> Menu:
        """What can be done with the conversation, with all of them, and with the window."""
        menu = Menu(self._theme, self)
        options = menu.addAction(translate("chat_header", "Assistant and options…"))
        options.triggered.connect(self.options_requested)
        for label, do in (
            (translate("chat_header", "Rename"), self._title.begin),
            (translate("chat_header", "Find in this chat…") + "\tCtrl+F", self.find_requested),
            (translate("chat_header", "Copy as Markdown"), self.copy_requested),
            (translate("chat_header", "Export this chat…"), self.export_requested),
            (translate("chat_header", "Archive"), self.archive_requested),
            (translate("chat_header", "Delete"), self.delete_requested),
        ):
            action = menu.addAction(label)
            action.setEnabled(self._stored)
            action.triggered.connect(do)
        check = menu.addAction(translate("chat_header", "Check this chat"))
        check.setEnabled(self._stored)
        check.triggered.connect(self.check_requested)
        menu.addSeparator()
        menu.addAction(translate("chat_header", "Export all chats…")).triggered.connect(self.export_all_requested)
        menu.addAction(translate("chat_header", "Import chats…")).triggered.connect(self.import_requested)
        menu.addSeparator()
        self._add_themes(menu.add_submenu(translate("chat_header", "Light or dark")))
        settings = menu.addAction(translate("chat_header", "Settings…") + "\tCtrl+,")
        settings.triggered.connect(self.settings_requested)
        help_page = menu.addAction(translate("chat_header", "Help") + "\tF1")
        help_page.triggered.connect(self.help_requested)
        return menu

    def _add_themes(self, menu: Menu) -> None:
        """The three choices, the one in force ticked."""
        names: dict[ThemeChoice, str] = {
            "system": translate("chat_header", "As the system says"),
            "light": translate("chat_header", "Light"),
            "dark": translate("chat_header", "Dark"),
        }
        group = QActionGroup(menu)
        for choice in get_args(ThemeChoice):
            action = QAction(names[choice], group)
            action.setCheckable(True)
            action.setChecked(choice == self._theme.choice)
            action.triggered.connect(lambda _=False, chosen=choice: self.theme_requested.emit(chosen))
            menu.addAction(action)

    def _add_models(self, menu: Menu) -> None:
        """The models on this machine and on servers."""
        loaded = self._info.name if self._info is not None else ""
        places = [_on(model.server) if model.server else words.size(model.nbytes) for model in self._models]
        widest = max(map(len, places), default=0)
        for model, place in zip(self._models, places, strict=True):
            entry = f"{model.label}\t{place.rjust(widest, _FIGURE_SPACE)}"  # menus align it left
            action = menu.addAction(unmarked(entry))
            action.setCheckable(True)
            action.setChecked(model.name == loaded)
            action.triggered.connect(lambda _=False, name=model.name: self.model_chosen.emit(name))
        if self._models:
            menu.addSeparator()

    def _add_servers(self, menu: Menu) -> None:
        """Ways to models on other machines; without one added, nothing leaves this one."""
        menu.addSeparator()
        add = menu.addAction(translate("chat_header", "Add a server…"))
        add.triggered.connect(lambda: self.server_requested.emit(""))
        for server in self._servers:
            change = menu.addAction(unmarked(translate("chat_header", "Change {name}…").format(name=server.name)))
            change.triggered.connect(lambda _=False, chosen=server.id: self.server_requested.emit(chosen))


def _on(server: str) -> str:
    return translate("chat_header", "on {server}").format(server=server)


def _name(info: ModelInfo) -> str:
    """What the chip says: where a model is not on this machine, that comes before all the rest."""
    if info.remote:
        return translate("chat_header", "{server}: {model}").format(server=info.server, model=info.label)
    return f"{info.label} · {info.dtype}"


def _pop_up(menu: Menu, below: QWidget) -> None:
    """Open a menu below a button, its right edge under the button's."""
    corner = below.mapToGlobal(QPoint(below.width(), below.height() + 4))
    menu.popup(corner - QPoint(menu.sizeHint().width(), 0))


def _millions(parameters: int) -> str:
    return f"{parameters / 1e6:,.0f}" if parameters >= 999.5e3 else f"{parameters / 1e6:.2f}"


def model_details(info: ModelInfo) -> str:
    """A model's size, context and load time, one a line; of one on a server, where that is."""
    if info.remote:
        return _server_details(info)
    return "\n".join(
        (
            translate("chat_header", "{millions} million parameters, {size} in memory").format(
                millions=_millions(info.parameters), size=words.size(info.weight_bytes)
            ),
            translate("chat_header", "{count} tokens of context, {size} each").format(
                count=words.count(info.context_limit), size=words.size(info.kv_bytes_per_token)
            ),
            translate("chat_header", "Loaded in {time}").format(time=words.seconds(info.load_s)),
        )
    )


def _server_details(info: ModelInfo) -> str:
    limit = translate("chat_header", "{count} tokens of context").format(count=words.count(info.context_limit))
    return "\n".join(
        (
            translate("chat_header", "Runs on {server}. What you write goes to {host}.").format(
                server=info.server, host=info.host
            ),
            limit if info.context_limit else translate("chat_header", "The server does not tell its context"),
        )
    )
