"""The dialogs over the window: opened when something asks for them, their answers carried to the program."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QObject, Qt, QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QWidget

from app.chats import Chats
from app.crash import CrashReport
from app.declarations import SETTINGS
from app.help import figures_table, read_pages, with_figures
from app.i18n import language_in_force, translate
from app.serving import Serving
from app.settings import Settings
from app.theme import Theme
from app.views.crash_dialog import CrashDialog
from app.views.dialogs import LinkDialog
from app.views.help_dialog import HelpDialog
from app.views.serve_dialog import ServeDialog
from app.views.settings_dialog import Place, SettingsDialog
from engine.bench.format_figures import read_formats_of


class Dialogs(QObject):
    """Each is opened over `window` and holds nothing up: the conversation goes on behind it."""

    def __init__(
        self, chats: Chats, settings: Settings, serving: Serving, *, theme: Theme, cache: Path, window: QWidget
    ) -> None:
        super().__init__(window)
        self._cache = cache
        self._serving = serving
        self._chats = chats
        self._settings = settings
        self._theme = theme
        self._window = window
        self._crash: CrashDialog | None = None
        self._shown_settings: SettingsDialog | None = None
        settings.changed.connect(self._setting_changed)
        settings.default_changed.connect(self._default_changed)
        chats.model_changed.connect(self._refresh)

    def settings_place(self) -> Place | None:
        """Where the person is in the settings; None while they are not open."""
        return self._shown_settings.place() if self._shown_settings is not None else None

    def show_settings(self, place: Place | None = None) -> None:
        """Open the settings, where the person was in them before if that is said."""
        if self._shown_settings is not None:
            return
        shown = [setting for setting in SETTINGS if setting.label]
        values = {setting.name: self._settings.get(setting.name) for setting in shown}
        self._shown_settings = SettingsDialog(self._theme, shown, values, self._window)
        for setting in shown:
            self._default_changed(setting.name)
        self._shown_settings.changed.connect(self._settings.set)
        self._shown_settings.reset_requested.connect(self._settings.reset)
        self._shown_settings.reset_all_requested.connect(self._settings.reset_all)
        self._shown_settings.reload_requested.connect(self._chats.reload_model)
        self._refresh()
        self._shown_settings.finished.connect(self._settings_closed)
        if place is not None:
            self._shown_settings.resume_geometry(place)
        self._shown_settings.open()
        if place is not None:
            self._shown_settings.show_place(place)

    def _refresh(self) -> None:
        """Say in the settings whether changes wait for the model to be loaded again."""
        if self._shown_settings is not None:
            self._shown_settings.show_reload_needed(self._chats.reload_needed)

    def _setting_changed(self, name: str) -> None:
        if self._shown_settings is not None:
            self._shown_settings.show_value(name, self._settings.get(name))
        self._refresh()

    def _default_changed(self, name: str) -> None:
        if self._shown_settings is not None:
            self._shown_settings.show_default(name, self._settings.default(name))

    def _settings_closed(self) -> None:
        if self._shown_settings is not None:
            self._shown_settings.deleteLater()
        self._shown_settings = None

    def show_help(self) -> None:
        """Open the help; where formats of the model at hand were measured here, its page on formats says so."""
        pages = [with_figures(page, self._figures()) for page in read_pages(language_in_force())]
        dialog = HelpDialog(self._theme, pages, self._window)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.link_activated.connect(self.show_link)
        dialog.open()

    def _figures(self) -> str:
        info = self._chats.model.info
        table = read_formats_of(self._cache, info.name, info.parameters) if info is not None else None
        if table is None:
            return translate("dialogs", "Nothing was measured on this machine yet: `loquat bench formats` does it.")
        words = translate("dialogs", "{model}, on this machine:").format(model=table.label)
        columns = (
            translate("dialogs", "Format"),
            translate("dialogs", "Mean NLL"),
            translate("dialogs", "Reading, tokens/s"),
            translate("dialogs", "Writing, tokens/s"),
            translate("dialogs", "Memory"),
        )
        return f"{words}\n\n{figures_table(table, columns)}"

    def show_serving(self) -> None:
        """Open the switch that lets other programs ask the model."""
        dialog = ServeDialog(self._theme, int(self._settings.get("serve_port")), self._window)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.show_state(self._serving.state.url, self._serving.state.error)
        dialog.start_requested.connect(self._serve)
        dialog.stop_requested.connect(self._serving.stop)
        self._serving.changed.connect(dialog.take_state)
        dialog.open()

    def _serve(self, port: int, key: str) -> None:
        self._settings.set("serve_port", port)
        self._serving.start(port, key)

    def show_link(self, address: str) -> None:
        """Show the address of a link; only then it may be opened."""
        dialog = LinkDialog(self._theme, address, self._window)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.accepted.connect(lambda: QDesktopServices.openUrl(QUrl(address)))
        dialog.open()

    def show_crash(self, report: CrashReport) -> None:
        """Show a fault in the program; one that follows while the first is on view is in the log alone."""
        if self._crash is not None and self._crash.isVisible():
            return
        self._crash = CrashDialog(self._theme, report, self._window)
        self._crash.open()
