"""What sending will cost, in one quiet line below the question: as much of it as there is room for."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from app.i18n import translate
from app.live import DraftCost
from app.theme import Theme
from app.views import words
from app.views.controls import plain_tip


@dataclass(frozen=True, slots=True)
class Saying:
    """One thing to say, from its longest wording to its shortest.

    Attributes:
        warning: Whether the person should look before sending.
    """

    wordings: tuple[str, ...]
    warning: bool = False


def cost_saying(cost: DraftCost) -> Saying:
    """What sending a draft costs, and what of the context is left then; a warning where something does not fit."""
    if max(cost.prompt_tokens, cost.draft_tokens) > cost.context_limit:
        return Saying(
            (_too_long(cost), translate("cost_line", "Too long for the context"), translate("cost_line", "Too long")),
            warning=True,
        )
    reads = _reads(cost)
    if cost.left_out:
        unread = _unread(cost.left_out)
        briefly = translate("cost_line", "{count} not read").format(count=words.count(cost.left_out))
        return Saying((f"{unread} · {reads}", unread, briefly), warning=True)
    if cost.about:
        left = translate("cost_line", "about {left} of {limit} left")
    else:
        left = translate("cost_line", "{left} of {limit} left")
    left = left.format(left=words.count(cost.context_limit - cost.prompt_tokens), limit=words.count(cost.context_limit))
    return Saying((f"{reads} · {left}", reads, _briefly(cost)))


def edit_saying(cost: DraftCost) -> Saying:
    """What asking a question in other words costs: everything behind the first change is computed again."""
    if max(cost.prompt_tokens, cost.draft_tokens) > cost.context_limit:
        return Saying((_too_long(cost), translate("cost_line", "Too long")), warning=True)
    if cost.about:
        return Saying((translate("cost_line", "This edit recomputes about %Ln tokens", _new(cost)),))
    tokens = translate("cost_line", "This edit recomputes %Ln tokens", _new(cost))
    if cost.seconds is None:
        return Saying((tokens,))
    timed = translate("cost_line", "{tokens}, about {time}").format(tokens=tokens, time=about(cost.seconds))
    return Saying((timed, tokens))


def _new(cost: DraftCost) -> int:
    return max(0, cost.prompt_tokens - cost.cached_tokens)


def about(seconds: float) -> str:
    """A time to come, no more exact than it is known: "0.1 s", "12 s", "2 min"."""
    if seconds >= 9.95:
        return words.seconds_left(seconds)
    return translate("cost_line", "{seconds} s").format(seconds=f"{max(0.1, seconds):.1f}")


def _reads(cost: DraftCost) -> str:
    new = _new(cost)
    if cost.about:
        return translate("cost_line", "Sending reads about {count} new tokens").format(count=words.count(new))
    if cost.seconds is None:
        text = translate("cost_line", "Sending reads {count} new tokens")
        return text.format(count=words.count(new)) if new != 1 else translate("cost_line", "Sending reads 1 new token")
    if new == 1:
        return translate("cost_line", "Sending reads 1 new token, about {time}").format(time=about(cost.seconds))
    text = translate("cost_line", "Sending reads {count} new tokens, about {time}")
    return text.format(count=words.count(new), time=about(cost.seconds))


def _briefly(cost: DraftCost) -> str:
    if cost.about:
        return translate("cost_line", "about {count} new").format(count=words.count(_new(cost)))
    return translate("cost_line", "{count} new").format(count=words.count(_new(cost)))


def _too_long(cost: DraftCost) -> str:
    if cost.about:
        text = translate("cost_line", "Too long: about {count} tokens, and the context holds {limit}")
    else:
        text = translate("cost_line", "Too long: {count} tokens, and the context holds {limit}")
    return text.format(
        count=words.count(max(cost.prompt_tokens, cost.draft_tokens)), limit=words.count(cost.context_limit)
    )


def _unread(messages: int) -> str:
    if messages == 1:
        return translate("cost_line", "1 earlier message will not be read")
    return translate("cost_line", "{count} earlier messages will not be read").format(count=words.count(messages))


class CostLine(QWidget):
    """Draws the longest wording that fits; a screen reader always gets the whole one."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._saying = Saying(("",))
        self.setFont(theme.font("small"))

    @property
    def text(self) -> str:
        """The whole wording."""
        return self._saying.wordings[0]

    @property
    def shown(self) -> str:
        """The wording that there is room for."""
        metrics = self.fontMetrics()
        fitting = (text for text in self._saying.wordings if metrics.horizontalAdvance(text) <= self.width())
        last = self._saying.wordings[-1]
        return next(fitting, metrics.elidedText(last, Qt.TextElideMode.ElideRight, self.width()))

    @property
    def warning(self) -> bool:
        """Whether it warns."""
        return self._saying.warning

    def say(self, saying: Saying) -> None:
        """Say something else."""
        self._saying = saying
        self.setAccessibleName(self.text)
        self.setToolTip(plain_tip(self.text))
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(self.fontMetrics().horizontalAdvance(self.text) + 2, self.fontMetrics().height() + 8)

    def minimumSizeHint(self) -> QSize:
        return QSize(24, self.fontMetrics().height() + 8)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setPen(self._theme.color("warning" if self._saying.warning else "muted"))
        painter.drawText(self.rect(), Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, self.shown)
