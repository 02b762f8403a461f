"""Weights, workspace and KV caches as one bar against the budget, and what other settings would take."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QSlider, QVBoxLayout, QWidget

from app.i18n import translate
from app.theme import Theme
from app.views import words
from app.views.controls import Label
from app.views.inspector import memory_values
from app.views.inspector.bars import BarWithLegend
from app.views.inspector.sections import Lines, Rows, Section, lay_out_page
from engine.explain.plan import TurnsLeft, what_if
from engine.explain.trace import MemoryState, ModelFacts

_MOST_CHATS: Final = 16


class StepSlider(QWidget):
    """A name, the value chosen, and a slider over some values."""

    changed = Signal()

    def __init__(self, theme: Theme, name: str, parent: QWidget) -> None:
        super().__init__(parent)
        self._values: tuple[object, ...] = ()
        self._text: Callable[[object], str] = str
        self._shown = Label(theme, "", "figure", "text")
        self._slider = QSlider(Qt.Orientation.Horizontal, self)
        self._slider.setAccessibleName(name)
        self._slider.setPageStep(1)
        self._slider.valueChanged.connect(self._changed)
        head = QHBoxLayout()
        head.addWidget(Label(theme, name, "small", "muted"), 1)
        head.addWidget(self._shown)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(2)
        column.addLayout(head)
        column.addWidget(self._slider)

    @property
    def slider(self) -> QSlider:
        """The slider itself."""
        return self._slider

    @property
    def value(self) -> object:
        """The value that is chosen; None while there is none to choose."""
        return self._values[self._slider.value()] if self._values else None

    def offer(self, values: Sequence[object], chosen: object, text: Callable[[object], str] = str) -> None:
        """Offer these values; what was chosen before stays chosen where it is one of them."""
        if tuple(values) == self._values:
            return
        wanted = self.value if self.value in values else chosen
        self._values, self._text = tuple(values), text
        blocked = self._slider.blockSignals(True)
        self._slider.setRange(0, max(0, len(values) - 1))
        self._slider.setValue(self._values.index(wanted) if wanted in self._values else len(values) - 1)
        self._slider.blockSignals(blocked)
        self._slider.setEnabled(len(values) > 1)
        self._shown.setText(self._text(self.value) if self._values else "")

    def _changed(self) -> None:
        self._shown.setText(self._text(self.value) if self._values else "")
        self.changed.emit()


class MemoryPage(QWidget):
    """Shows how memory stood at the end of a turn; the sliders answer at once, from arithmetic alone."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._memory = MemoryState()
        self._empty = Label(theme, "", "small", "muted")
        self._empty.setWordWrap(True)
        self.bar = BarWithLegend(theme, self)
        self.reason = Lines(theme, "muted", self)
        self.rows = Rows(theme, self)
        self.turns = Lines(theme, "text", self)
        self.context = StepSlider(theme, translate("memory_page", "Context, tokens"), self)
        self.chats = StepSlider(theme, translate("memory_page", "Chats in memory"), self)
        self.kind = StepSlider(theme, translate("memory_page", "Keys and values kept as"), self)
        self.answer = Lines(theme, "text", self)
        self.wanted_bar = BarWithLegend(theme, self)
        self.now = Section(theme, translate("memory_page", "Memory"), self, (self.bar, self.reason))
        self.cache = Section(theme, translate("memory_page", "KV cache"), self, (self.rows, self.turns))
        parts = (self.context, self.chats, self.kind, self.wanted_bar, self.answer)
        self.wanted = Section(theme, translate("memory_page", "What would fit"), self, parts)
        lay_out_page(self, (self._empty, self.now, self.cache, self.wanted))
        for slider in (self.context, self.chats, self.kind):
            slider.changed.connect(self._answer)
        self.show_memory(None, ModelFacts(), 0, None)

    def show_memory(self, memory: MemoryState | None, model: ModelFacts, tokens: int, left: TurnsLeft | None) -> None:
        """Show how memory stands.

        Args:
            memory: None while nothing is known.
            model: Which answered.
            tokens: That the cache of this chat holds.
            left: How long the chat can go on.
        """
        known = memory is not None and memory.allowed > 0
        for section in (self.now, self.cache, self.wanted):
            section.setVisible(known)
        self._empty.setVisible(not known)
        self._empty.setText(translate("memory_page", "What memory is taken by stands here after the first answer."))
        if memory is None or not known:
            return
        self._memory = memory
        self.now.show_aside(memory_values.bar_aside(memory))
        self.bar.show_segments(memory_values.memory_bar(memory))
        self.reason.show_lines([(memory_values.budget_reason(memory.reason), "")] if memory.reason else [])
        self.rows.show_rows(memory_values.cache_rows(memory, model, tokens))
        self.turns.show_lines([(memory_values.turns_sentence(left), "")])
        self._offer(memory)
        self._answer()

    def _offer(self, memory: MemoryState) -> None:
        steps = memory_values.context_steps(memory)
        nearest = min(steps, key=lambda each: abs(each - memory.context_limit))
        self.context.offer(steps, nearest, lambda value: words.count(int(str(value))))
        self.chats.offer(tuple(range(1, _MOST_CHATS + 1)), 1)
        self.kind.offer(memory.kv_dtypes or (memory.kv_dtype,), memory.kv_dtype)

    def _answer(self) -> None:
        context, chats = self.context.value, self.chats.value
        if not isinstance(context, int) or not isinstance(chats, int):
            return
        found = what_if(self._memory, context=context, conversations=chats, kv_dtype=str(self.kind.value or ""))
        self.answer.show_lines([(memory_values.what_if_sentence(found, chats), "")])
        self.wanted_bar.setVisible(found is not None)
        if found is not None:
            self.wanted_bar.show_segments(memory_values.what_if_bar(self._memory, found), float(self._memory.allowed))
