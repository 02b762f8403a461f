"""The cards of an empty chat: a question to ask, an assistant to begin with, and how to come by a first model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NamedTuple

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QFrame, QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from app.assets import ASSETS
from app.i18n import translate
from app.live import ModelState
from app.theme import Theme
from app.views import words
from app.views.controls import ElidedLabel, Label, make_push_button, plain_tip, unmarked
from engine.events import LoadStage

_ICON: Final = 18
_BESIDE: Final = 680  # pixels that four buttons in a row need
_BRIEFLY_BESIDE: Final = 380  # that two of them need


class AssistantEntry(NamedTuple):
    """What the start page shows of an assistant.

    Attributes:
        icon: Its drawing is assets/icons/assistant-<icon>.svg; where there is none, the character stands for itself.
        opening: What an empty chat with it says; may be empty.
    """

    id: str
    name: str
    icon: str
    opening: str


@dataclass(frozen=True, slots=True)
class Offer:
    """The model that can be loaded, or downloaded where there is none.

    Attributes:
        nbytes: How much is downloaded; 0 for a model that is on this machine.
        disk: How much of the disk it takes then.
    """

    label: str
    nbytes: int = 0
    disk: int = 0


class ExampleButton(QPushButton):
    """A question on a card; its text is broken into lines where it has to be."""

    def __init__(self, theme: Theme, text: str, parent: QWidget) -> None:
        super().__init__(parent)
        self._size = QSize(theme.wide(200), theme.line(56))
        self.setObjectName("example")
        self.setAccessibleName(text)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        label = Label(theme, text, "list")
        label.setWordWrap(True)
        label.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 12, 16, 12)
        column.addWidget(label)

    def sizeHint(self) -> QSize:
        return self._size


class AssistantCard(QPushButton):
    """An assistant on a card: its sign, its name, and one line about it."""

    def __init__(self, theme: Theme, entry: AssistantEntry, chosen: bool, parent: QWidget) -> None:
        super().__init__(parent)
        self.entry = entry
        self._size = QSize(theme.wide(160), theme.line(78 if entry.opening else 44))
        self.setObjectName("example")
        self.setCheckable(True)
        self.setChecked(chosen)
        self.setAccessibleName(translate("start_cards", "Assistant {name}").format(name=entry.name))
        self.setAccessibleDescription(entry.opening)
        self.setToolTip(plain_tip(entry.opening))
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        top = QHBoxLayout()
        top.setSpacing(8)
        top.addWidget(_sign(theme, entry.icon, self))
        top.addWidget(ElidedLabel(theme, entry.name, "button"), 1)
        column = QVBoxLayout(self)
        column.setContentsMargins(14, 10, 14, 10)
        column.setSpacing(4)
        column.addLayout(top)
        if entry.opening:
            opening = Label(theme, entry.opening, "small", "muted")
            opening.setWordWrap(True)
            column.addWidget(opening)
        column.addStretch(1)
        for label in self.findChildren(QLabel):
            label.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)

    def sizeHint(self) -> QSize:
        return self._size

    def nextCheckState(self) -> None:
        """Which one is chosen, the program says: a click alone changes nothing."""


class SetupCard(QFrame):
    """Says which model will be downloaded and how large it is, or offers a file; hidden once there is a model.

    Args:
        brief: Whether it stands under a conversation: less of it then, and nothing while something else tells how far
            a download is.
    """

    download_requested = Signal()
    retry_requested = Signal()
    models_requested = Signal()
    file_requested = Signal()
    folder_requested = Signal()

    def __init__(self, theme: Theme, parent: QWidget, *, brief: bool = False) -> None:
        super().__init__(parent)
        self.setObjectName("notice")
        self._theme = theme
        self._brief = brief
        self._wanted = not brief
        self._offer: Offer | None = None
        self._model = ModelState()
        self._begun = False  # before it is known which models there are, nothing is missing yet
        self._title = Label(theme, "", "button")
        self._words = Label(theme, "", "list", "muted")
        self._words.setWordWrap(True)
        self.get_button = make_push_button(theme, "", self, primary=True)
        self.models_button = make_push_button(theme, translate("start_cards", "Other models…"), self)
        self.file_button = make_push_button(theme, translate("start_cards", "Use a model file…"), self)
        self.folder_button = make_push_button(theme, translate("start_cards", "Use a model folder…"), self)
        self.get_button.clicked.connect(self._get)
        self.models_button.clicked.connect(self.models_requested)
        self.file_button.clicked.connect(self.file_requested)
        self.folder_button.clicked.connect(self.folder_requested)
        self._lay_out()
        self._show()

    @property
    def sentence(self) -> str:
        """What it says."""
        return self._words.text()

    def show_offer(self, offer: Offer | None) -> None:
        """Offer a model to download or to load; None for the default one, to be loaded once more."""
        self._offer = offer
        self._show()

    def want(self, wanted: bool) -> None:
        """Whether it belongs to what is on view."""
        self._wanted = wanted
        self._show()

    def show_model(self, model: ModelState) -> None:
        """Say what is being downloaded, or what can be done while there is no model."""
        self._model = model
        self._show()

    def _get(self) -> None:
        (self.download_requested if self._downloads else self.retry_requested).emit()

    @property
    def _downloads(self) -> bool:
        return self._offer is not None and self._offer.nbytes > 0

    def _show(self) -> None:
        step = self._model.step
        fetches = self._model.phase == "working" and step is not None and step.stage is LoadStage.DOWNLOAD
        downloading = fetches and not self._brief
        self._begun = self._begun or self._offer is not None or self._model.phase != "none"
        absent = self._begun and self._model.phase in ("none", "failed")
        self.setVisible(self._wanted and self._model.info is None and (downloading or absent))
        self.get_button.setVisible(absent)
        if downloading and step is not None:
            self._say_download(words.size(step.total) if step.total > 0 else "")
        elif absent:
            self._say_absent()

    def _say_download(self, size: str) -> None:
        self._title.setText(translate("start_cards", "A first model is on its way"))
        if size:
            text = translate("start_cards", "{size} are downloaded once. After that everything works offline.")
            self._words.setText(text.format(size=size))
        else:
            self._words.setText(translate("start_cards", "It is downloaded once. After that everything works offline."))

    def _say_absent(self) -> None:
        if self._offer is None or not self._downloads:
            self._title.setText(translate("start_cards", "No model is loaded"))
            words_of_retry = translate("start_cards", "Load the model once more, or use another that you have (GGUF).")
            self._words.setText(words_of_retry)
            again, load = translate("start_cards", "Try again"), translate("start_cards", "Load {model}")
            self.get_button.setText(unmarked(load.format(model=self._offer.label)) if self._offer else again)
            return
        self._title.setText(translate("start_cards", "There is no model yet"))
        size = words.size(self._offer.nbytes)
        text = translate(
            "start_cards",
            "{name} is small and answers on any computer. {size} are downloaded once and take {disk} of the disk, then "
            "everything works offline. Or use a model that you have (GGUF).",
        )
        disk = words.size(self._offer.disk)
        self._words.setText(text.format(name=self._offer.label, size=size, disk=disk))
        self.get_button.setText(translate("start_cards", "Download, {size}").format(size=size))

    def arrange(self, width: int) -> None:
        """Place the buttons beside one another, or below where the page is narrow."""
        beside = width >= self._theme.wide(_BESIDE)
        direction = QBoxLayout.Direction.LeftToRight if beside else QBoxLayout.Direction.TopToBottom
        self._buttons.setDirection(direction)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if self._brief:
            self.arrange(self.width() + self._theme.wide(_BESIDE - _BRIEFLY_BESIDE))

    def _lay_out(self) -> None:
        buttons = self._buttons = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        buttons.setSpacing(8)
        for button in (self.get_button, self.models_button, self.file_button, self.folder_button):
            buttons.addWidget(button)
        self.file_button.setVisible(not self._brief)  # the models' dialog has both
        self.folder_button.setVisible(not self._brief)
        buttons.addStretch(1)
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 14, 16, 14)
        column.setSpacing(4)
        column.addWidget(self._title)
        column.addWidget(self._words)
        column.addSpacing(8)
        column.addLayout(buttons)


def _sign(theme: Theme, icon: str, parent: QWidget) -> QLabel:
    """A drawing of assets/icons, or the character that stands for one."""
    if icon and (ASSETS / "icons" / f"assistant-{icon}.svg").is_file():
        label = QLabel(parent)
        label.setPixmap(theme.icon(f"assistant-{icon}", "muted").pixmap(QSize(_ICON, _ICON)))
    else:
        label = Label(theme, icon, "list")
        label.setParent(parent)  # one without would be shown as a window for a moment
    label.setVisible(bool(icon))
    return label
