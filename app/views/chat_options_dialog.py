"""What one chat does otherwise than the settings say: its assistant, its system prompt, how its answers are sampled."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from PySide6.QtCore import QSize, Signal
from PySide6.QtWidgets import QDialog, QHBoxLayout, QVBoxLayout, QWidget

from app.assistants import PLAIN, SAMPLING, Assistant
from app.declarations import SETTINGS
from app.i18n import translate
from app.records import ChatOptions
from app.setting import Setting
from app.theme import Theme
from app.views.controls import Label
from app.views.dialogs import fit, make_button
from app.views.row_list import GUTTER
from app.views.setting_row import SettingRow
from app.views.steady_area import SteadyArea
from engine.config import SamplingParams

_SIZE: Final = QSize(640, 660)
_ASSISTANT: Final = "assistant"
_PROMPT: Final = "system_prompt"
_GREEDY: Final = "greedy"


class ChatOptionsDialog(QDialog):
    """Shows the options of one chat; `chosen` tells the new ones when the person keeps them.

    Args:
        options: Of the chat, as they are.
        system_prompt: The chat's, as it is.
        assistants: All, the shipped ones first.
        settings: What the settings say: "system_prompt", and the values of sampling by name.
        begun: Whether the chat has messages, which another system prompt lets the model read anew.
    """

    chosen = Signal(object, str)  # ChatOptions, system prompt

    def __init__(
        self,
        theme: Theme,
        options: ChatOptions,
        system_prompt: str,
        *,
        assistants: Sequence[Assistant],
        settings: Mapping[str, Any],
        begun: bool = False,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.setObjectName("sheet")
        self.setWindowTitle(translate("chat_options_dialog", "This chat"))
        self._theme = theme
        self._assistants = {assistant.id: assistant for assistant in assistants}
        self._settings = dict(settings)
        self._assistant = options.assistant if options.assistant in self._assistants else PLAIN
        self._prompt = system_prompt
        # An import, or another version, may name values that there are none of here.
        self._sampling: dict[str, Any] = {name: options.sampling[name] for name in SAMPLING if name in options.sampling}
        self._begun = begun
        self._rows = {setting.name: SettingRow(theme, setting, self) for setting in self._declared()}
        self.keep_button = make_button(theme, translate("chat_options_dialog", "Keep"), self, primary=True)
        self.cancel_button = make_button(theme, translate("chat_options_dialog", "Cancel"), self)
        self._lay_out()
        fit(self, QSize(theme.wide(_SIZE.width()), theme.wide(_SIZE.height())))
        self._connect()
        self._show()

    def row(self, name: str) -> SettingRow:
        """One of its rows: "assistant", "system_prompt", "greedy", or a sampling setting."""
        return self._rows[name]

    @property
    def options(self) -> ChatOptions:
        """What is chosen: only what differs from the settings."""
        differing = {name: value for name, value in self._sampling.items() if value != self._settings[name]}
        return ChatOptions("" if self._assistant == PLAIN else self._assistant, differing)

    @property
    def _values(self) -> dict[str, Any]:
        return {name: self._sampling.get(name, self._settings[name]) for name in SAMPLING}

    def _declared(self) -> list[Setting]:
        """The rows: each goes back to what the settings say."""
        held = {setting.name: setting for setting in SETTINGS}
        assistant = translate("chat_options_dialog", "Assistant")
        meaning = translate("chat_options_dialog", "Sets what stands below, which you can still change.")
        greedy = translate("chat_options_dialog", "Greedy, reproducible")
        exact = translate(
            "chat_options_dialog",
            "Temperature 0: always the likeliest word, so the same question gives the same answer.",
        )
        prompt = translate("chat_options_dialog", "Said to the model before this chat.")
        if self._begun:
            prompt = translate(
                "chat_options_dialog", "Said to the model before this chat. Once changed, all of the chat is read anew."
            )
        names = {key: assistant.name for key, assistant in self._assistants.items()}
        return [
            Setting(_ASSISTANT, "choice", PLAIN, assistant, meaning, choices=names),
            replace(held[_PROMPT], default=self._settings[_PROMPT], help=prompt),
            Setting(_GREEDY, "switch", self._settings["temperature"] == 0, greedy, exact),
            *(replace(held[name], default=self._settings[name]) for name in SAMPLING),
        ]

    def _connect(self) -> None:
        for row in self._rows.values():
            row.changed.connect(self._take)
            row.reset_requested.connect(self._reset)
        self.keep_button.clicked.connect(self._keep)
        self.cancel_button.clicked.connect(self.reject)

    def _take(self, name: str, value: Any) -> None:  # noqa: ANN401 - of the setting's kind
        if name == _ASSISTANT:
            self._take_assistant(self._assistants[value])
        elif name == _PROMPT:
            self._prompt = value
        elif name == _GREEDY:
            self._take_greedy(value)
        else:
            self._sampling[name] = value
        self._show()

    def _take_assistant(self, assistant: Assistant) -> None:
        self._assistant = assistant.id
        self._prompt = self._settings[_PROMPT] if assistant.id == PLAIN else assistant.system_prompt
        self._sampling = dict(assistant.sampling)

    def _take_greedy(self, greedy: bool) -> None:
        if greedy:
            self._sampling["temperature"] = 0
        elif self._settings["temperature"] == 0:
            self._sampling["temperature"] = SamplingParams().temperature
        else:
            self._sampling.pop("temperature", None)

    def _reset(self, name: str) -> None:
        self._take(name, self._rows[name].setting.default)

    def _show(self) -> None:
        values = self._values
        shown = {_ASSISTANT: self._assistant, _PROMPT: self._prompt, _GREEDY: values["temperature"] == 0} | values
        for name, row in self._rows.items():
            row.show_value(shown[name])

    def _keep(self) -> None:
        self.chosen.emit(self.options, self._prompt)
        self.accept()

    def _lay_out(self) -> None:
        page = QWidget(self)
        page.setObjectName("sheet")
        rows = QVBoxLayout(page)
        rows.setContentsMargins(24, 4, 24 - GUTTER, 16)
        rows.setSpacing(0)
        for row in self._rows.values():
            rows.addWidget(row)
        rows.addStretch(1)
        area = SteadyArea(self)
        area.setObjectName("settingsArea")
        area.setWidget(page)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 22, 0, 18)
        column.setSpacing(12)
        heading = Label(self._theme, translate("chat_options_dialog", "This chat"), "heading2")
        heading.setContentsMargins(24, 0, 24, 0)
        column.addWidget(heading)
        column.addWidget(area, 1)
        column.addLayout(self._bottom())

    def _bottom(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setContentsMargins(24, 0, 24, 0)
        row.setSpacing(8)
        row.addStretch(1)
        row.addWidget(self.cancel_button)
        row.addWidget(self.keep_button)
        return row
