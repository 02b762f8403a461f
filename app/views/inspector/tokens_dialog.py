"""The tokens that the cache held around a break, and those of the prompt, side by side."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from app.i18n import translate
from app.theme import Theme
from app.views import words
from app.views.dialogs import SheetDialog
from app.views.inspector.turn_values import break_sentence, side_by_side
from engine.explain.trace import PrefixBreak


class TokensDialog(SheetDialog):
    """Two fields to read and copy from; tokens are parted by a bar."""

    def __init__(self, theme: Theme, found: PrefixBreak, parent: QWidget | None) -> None:
        title = translate("tokens_dialog", "Where the prompt parted from the cache")
        super().__init__(theme, title, break_sentence(found), parent)
        self.setMinimumWidth(theme.wide(560))
        expected, new = side_by_side(found)
        start = words.count(found.start + 1)
        held = translate("tokens_dialog", "The cache held, from token {start}").format(start=start)
        asked = translate("tokens_dialog", "The prompt has, from token {start}").format(start=start)
        for name, text in ((held, expected), (asked, new)):
            self.add_note(name)
            self.add_text(text or translate("tokens_dialog", "nothing"), name, 4)
        close = self.add_button(translate("tokens_dialog", "Close"), primary=True)
        close.clicked.connect(self.accept)
        self.finish_layout()
