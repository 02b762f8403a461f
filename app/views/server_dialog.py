"""Adds or changes a server: its name, address and key; a test that lists its models; which of them are offered."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QLineEdit, QListWidget, QListWidgetItem, QWidget

from app.engine_sentences import translated
from app.i18n import translate
from app.server_entry import ServerEntry, Tried
from app.theme import Theme
from app.views import words
from app.views.controls import Label, show_property
from app.views.dialogs import SheetDialog
from app.views.ticks import TickDelegate
from engine.remote.servers import RemoteServer

_WIDTH = 520
_ROWS = 6
_MODEL = Qt.ItemDataRole.UserRole


class ServerDialog(SheetDialog):
    """What is typed goes out with `try_requested` and `save_requested`; `show_tried` brings what a try found.

    Args:
        server: To be changed; None for a new one.
    """

    try_requested = Signal(object)  # ServerEntry
    save_requested = Signal(object)  # ServerEntry
    remove_requested = Signal(str)  # server id

    def __init__(self, theme: Theme, server: RemoteServer | None = None, parent: QWidget | None = None) -> None:
        title = translate("server_dialog", "Add a server") if server is None else server.name
        sentence = translate(
            "server_dialog",
            "For models on another machine. While one of them is chosen, what you write leaves this machine.",
        )
        super().__init__(theme, title, sentence, parent)
        self.setFixedWidth(theme.wide(_WIDTH))
        self._server = server
        self._asking = False
        self._outdated = False  # what is asked now was edited meanwhile
        self.name_field = self.add_line(translate("server_dialog", "Name"), translate("server_dialog", "GPU server"))
        self.address_field = self.add_line(translate("server_dialog", "Address"), "https://gpu.example:8000/v1")
        self.key_field = self.add_line(translate("server_dialog", "Key"), self._key_hint())
        self.key_field.setEchoMode(QLineEdit.EchoMode.Password)
        self._said = Label(theme, "", "list")
        self._said.setWordWrap(True)
        self.column.addWidget(self._said)
        self.model_list = self._models()
        self.remove_button = self.add_button(translate("server_dialog", "Remove"))
        self.try_button = self.add_button(translate("server_dialog", "Test"))
        self.cancel_button = self.add_button(translate("server_dialog", "Cancel"))
        self.save_button = self.add_button(translate("server_dialog", "Save"), primary=True)
        self.finish_layout()
        self._fill(server)
        self._connect()
        self._typed()
        self.name_field.setFocus()

    @property
    def said(self) -> str:
        """What the last test found, in words."""
        return self._said.text()

    @property
    def entry(self) -> ServerEntry:
        """What is typed and chosen."""
        key = self.key_field.text().strip()
        kept = self._server is not None and not self.key_field.isModified()
        return ServerEntry(
            self._server.id if self._server is not None else "",
            self.name_field.text().strip(),
            self.address_field.text().strip(),
            None if kept else key,
            tuple(item.data(_MODEL) for item in self._items() if item.checkState() is Qt.CheckState.Checked),
        )

    def show_tried(self, tried: Tried) -> None:
        """Say what a test found, and offer the models there are."""
        outdated, self._asking, self._outdated = self._outdated, False, False
        self.try_button.setEnabled(True)
        if outdated:
            return
        found = tried.found
        if self.focusWidget() not in (self.name_field, self.address_field, self.key_field):
            self._go_on(found is not None)
        if found is None:
            self._say(translated(tried.sentence), "warning")
            return
        sentence = translate("server_dialog", "It answers in {time}. Models: {count}.")
        said = sentence.format(time=words.seconds(found.latency_s), count=words.count(len(found.models)))
        self._say(f"{said}\n{translated(found.warning)}".strip(), "warning" if found.warning else "muted")
        chosen = set(self.entry.models)
        if len(found.models) == 1:
            chosen.add(found.models[0].name)
        self._offer({model.name: model.context_limit for model in found.models}, chosen)

    def show_refusal(self, sentence: str) -> None:
        """Say why it could not be saved."""
        self._say(translated(sentence), "warning")

    def _key_hint(self) -> str:
        if self._server is None:
            return translate("server_dialog", "Only if the server asks for one; it is kept in the system's keyring")
        return translate("server_dialog", "The one that is kept; type to change it")

    def _models(self) -> QListWidget:
        listed = QListWidget(self)
        listed.setObjectName("reading")
        listed.setFont(self._theme.font("list"))
        listed.setSpacing(3)
        listed.setItemDelegate(TickDelegate(self._theme, listed))
        listed.setAccessibleName(translate("server_dialog", "Models of this server to choose from"))
        listed.setFixedHeight(_ROWS * self._theme.line(26))
        listed.hide()
        self.column.addWidget(listed)
        return listed

    def _fill(self, server: RemoteServer | None) -> None:
        self.remove_button.setVisible(server is not None)
        self._said.hide()
        if server is None:
            return
        self.name_field.setText(server.name)
        self.address_field.setText(server.base_url)
        self._offer(dict.fromkeys(server.models, 0), set(server.models))

    def _connect(self) -> None:
        for field in (self.name_field, self.address_field):
            field.textChanged.connect(self._typed)
        for field in (self.address_field, self.key_field):
            field.textEdited.connect(self._forget_tried)
        self.try_button.clicked.connect(self._try)
        self.save_button.clicked.connect(lambda: self.save_requested.emit(self.entry))
        self.cancel_button.clicked.connect(self.reject)
        self.remove_button.clicked.connect(self._remove)

    def _typed(self) -> None:
        complete = bool(self.address_field.text().strip())
        self.try_button.setEnabled(complete)
        self.save_button.setEnabled(complete and bool(self.name_field.text().strip()))

    def _forget_tried(self) -> None:
        """What a test found was of another address or key; of one that goes on nothing will be said."""
        self._outdated = self._asking
        self._typed()
        if not self._said.isHidden():
            self._said.hide()
            self.fit_height()

    def _go_on(self, tried: bool) -> None:
        """Where Enter is wanted next: on the button that keeps the server, or where it has to be mended."""
        wanted = self.save_button if self.name_field.text().strip() else self.name_field
        (wanted if tried else self.address_field).setFocus(Qt.FocusReason.TabFocusReason)

    def _try(self) -> None:
        self._asking, self._outdated = True, False
        self.try_button.setEnabled(False)
        self._say(translate("server_dialog", "Asking the server for its models"), "muted")
        self.try_requested.emit(self.entry)

    def _remove(self) -> None:
        if self._server is not None:
            self.remove_requested.emit(self._server.id)

    def _items(self) -> list[QListWidgetItem]:
        return [self.model_list.item(row) for row in range(self.model_list.count())]

    def _offer(self, models: Mapping[str, int], chosen: set[str]) -> None:
        """List models, those that were chosen ticked; one that the server has no more is not offered again.

        Args:
            models: By name, the most tokens of a conversation; 0 where that is not known.
            chosen: Names.
        """
        self.model_list.clear()
        for name, limit in models.items():
            sized = translate("server_dialog", "{model}, {limit} tokens").format(model=name, limit=words.count(limit))
            item = QListWidgetItem(sized if limit else name, self.model_list)
            item.setData(_MODEL, name)
            item.setFlags(Qt.ItemFlag.ItemIsUserCheckable | Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable)
            item.setCheckState(Qt.CheckState.Checked if name in chosen else Qt.CheckState.Unchecked)
        self.model_list.setVisible(bool(models))
        self.fit_height()

    def _say(self, sentence: str, tone: str) -> None:
        show_property(self._said, "tone", tone)
        self._said.setText(sentence)
        self._said.show()
        self.fit_height()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.fit_height()
