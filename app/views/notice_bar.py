"""What the person should know now: one sentence each, with at most one thing to do; two at most are shown."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent, QGuiApplication
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from app.engine_sentences import translated
from app.i18n import translate
from app.live import ModelState, Notice
from app.theme import Theme
from app.views.controls import CopyButton, IconButton, Label, plain_tip, unmarked

_MOST: Final = 2
_LAPSE_MS: Final = 60_000  # as long as a deletion can be undone


class NoticeCard(QFrame):
    """One notice."""

    dismissed = Signal()

    def __init__(self, theme: Theme, notice: Notice, parent: QWidget) -> None:
        super().__init__(parent)
        self.notice = notice
        self.setObjectName("notice")
        shown = translated(notice.sentence)
        self.setAccessibleName(shown)
        row = QHBoxLayout(self)
        row.setContentsMargins(16, 6, 6, 6)
        row.setSpacing(8)
        sentence = Label(theme, shown, "list")
        sentence.setWordWrap(True)
        sentence.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        row.addWidget(sentence, 1)
        self.details_button = self._details(theme, notice.detail) if notice.detail else None
        if self.details_button is not None:
            row.addWidget(self.details_button)
        self.action_button = self._action(theme, notice.action_label, notice.action)
        if self.action_button is not None:
            row.addWidget(self.action_button)
        self.close_button = IconButton(theme, "close", translate("notice_bar", "Dismiss"), self, 30)
        self.close_button.clicked.connect(self.dismissed)
        row.addWidget(self.close_button)

    def _details(self, theme: Theme, detail: str) -> CopyButton:
        words, name = translate("notice_bar", "Copy details"), translate("notice_bar", "Copy the technical details")
        button = CopyButton(theme, words, name, self)
        button.setToolTip(plain_tip(detail[:400]))
        button.clicked.connect(lambda: QGuiApplication.clipboard().setText(detail))
        return button

    def _action(self, theme: Theme, label: str, action: Callable[[], None] | None) -> QPushButton | None:
        if not label or action is None:
            return None
        button = QPushButton(unmarked(label), self)
        button.setObjectName("noticeAction")
        button.setFont(theme.font("button"))
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        button.setCursor(Qt.CursorShape.PointingHandCursor)
        button.clicked.connect(self.dismissed)
        button.clicked.connect(lambda _checked: action())
        return button


class NoticeBar(QWidget):
    """The latest notices, the newest at the bottom. What is said again, of this chat or another, is not shown twice."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._cards: list[NoticeCard] = []
        self._chat_id = ""  # of the chat on view
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(8)
        self.hide()

    @property
    def cards(self) -> tuple[NoticeCard, ...]:
        """The notices on view."""
        return tuple(card for card in self._cards if self._belongs(card))

    def show_notice(self, notice: Notice) -> None:
        """Show a notice, or keep it for the chat that it is about; the oldest goes if there are two already."""
        said = translated(notice.sentence)
        self._remove_all(lambda other: other in self.cards and _say_the_same(translated(other.notice.sentence), said))
        card = NoticeCard(self._theme, notice, self)
        card.dismissed.connect(lambda: self._remove(card))
        if notice.lapses:  # what can no longer be undone need not be said any more
            QTimer.singleShot(_LAPSE_MS, card, card.dismissed.emit)
        self._cards.append(card)
        self._column.addWidget(card)
        self._show_cards()
        QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self, said))  # the keyboard is elsewhere

    def show_chat(self, conversation_id: str) -> None:
        """This chat is on view: what was just tried in the one before goes, what is about either stays with it."""
        if conversation_id != self._chat_id:
            self._chat_id = conversation_id
            self._remove_all(lambda card: card.notice.of_chat)
            self._show_cards()

    def turn_begins(self, conversation_id: str) -> None:
        """A conversation is asked something again: what was said of its turn before is over."""
        self._remove_all(lambda card: card.notice.turn_of == conversation_id)

    def turn_ended(self, conversation_id: str) -> None:
        """A conversation is not busy any more, or no message of it waits: why something could not be done is over."""
        self._remove_all(lambda card: card.notice.until == "turn" and card.notice.only_in == conversation_id)

    def show_model(self, model: ModelState) -> None:
        """A model is being loaded, answers, or is gone: what was said of the one before is over."""
        name = model.info.name if model.info is not None else ""
        self._remove_all(
            lambda card: (
                (card.notice.of_model not in ("", name)) or (card.notice.until == "load" and model.phase == "working")
            )
        )

    def undo(self) -> None:
        """Undo the latest deletion that a notice still offers to undo."""
        offered = [card.action_button for card in self.cards if card.notice.undoes and card.action_button is not None]
        if offered:
            offered[-1].click()

    def _belongs(self, card: NoticeCard) -> bool:
        return card.notice.only_in in ("", self._chat_id)

    def _show_cards(self) -> None:
        """Show those of this chat and of all, the newest alone if there are too many."""
        for card in self.cards[:-_MOST]:
            self._remove(card)
        for card in self._cards:
            card.setVisible(self._belongs(card))
        self.setVisible(bool(self.cards))

    def _remove_all(self, over: Callable[[NoticeCard], bool]) -> None:
        for card in list(filter(over, self._cards)):
            self._remove(card)

    def _remove(self, card: NoticeCard) -> None:
        if card in self._cards:
            self._cards.remove(card)
            self._column.removeWidget(card)
            card.hide()
            card.deleteLater()
        self.setVisible(bool(self.cards))


def _say_the_same(one: str, other: str) -> bool:
    """Whether two sentences differ at most in the chat that is named before them ("In “A title”: ...")."""
    shorter, longer = sorted((one, other), key=len)
    return longer == shorter or longer.endswith((f": {shorter}", f"：{shorter}"))  # noqa: RUF001 - the colon of Chinese
