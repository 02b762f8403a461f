"""The turn that is running, or one that was: the verdict, where the time went, every token, the prompt."""

from __future__ import annotations

from typing import Literal

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QWidget

from app.i18n import translate
from app.theme import Theme
from app.views import words
from app.views.controls import Label, QuietButton
from app.views.inspector import memory_values, turn_values
from app.views.inspector.bars import BarWithLegend, StackBar
from app.views.inspector.sections import Lines, Rows, Section, Verdict, lay_out_page
from app.views.inspector.strip import TokenStrip
from engine.chat import Role
from engine.explain.figures import figures
from engine.explain.trace import TurnTrace


class TurnPage(QWidget):
    """Shows one trace; a sentence while there is none."""

    compare_tokens_requested = Signal(object)  # PrefixBreak: show both token sequences side by side

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._trace = TurnTrace()
        self.verdict = Verdict(theme, self)
        self._empty = Label(theme, "", "small", "muted")
        self._empty.setWordWrap(True)
        self.time_bar = BarWithLegend(theme, self)
        self.figures = Rows(theme, self)
        self.strip = TokenStrip(theme, self)
        self.stalls = Lines(theme, "warning", self)
        self.prompt_bar = BarWithLegend(theme, self)
        self.messages_name = Label(theme, translate("turn_page", "Message by message"), "small", "muted")
        self.messages = StackBar(theme, self)
        self.broken = Lines(theme, "warning", self)
        self.compare = QuietButton(
            theme,
            translate("turn_page", "Show both token sequences"),
            translate("turn_page", "The tokens that the cache held, and those of this prompt, side by side"),
            self,
        )
        self.time = Section(theme, translate("turn_page", "Where the time went"), self, (self.time_bar, self.figures))
        self.tokens = Section(theme, translate("turn_page", "Time per token"), self, (self.strip, self.stalls))
        prompt = (self.prompt_bar, self.messages_name, self.messages, self.broken)
        self.prompt = Section(theme, translate("turn_page", "This prompt"), self, prompt)
        self.prompt.add(self.compare, Qt.AlignmentFlag.AlignLeft)
        self.memory_bar = BarWithLegend(theme, self)
        self.memory = Section(theme, translate("turn_page", "Memory"), self, (self.memory_bar,))
        lay_out_page(self, (self.verdict, self._empty, self.time, self.tokens, self.prompt, self.memory))
        self.compare.clicked.connect(lambda: self.compare_tokens_requested.emit(self._trace.prefix))
        self.show_trace(None)

    def show_trace(
        self, trace: TurnTrace | None, screen_rate: float | None = None, *, asked: Role | Literal[""] = ""
    ) -> None:
        """Show a turn, while it runs too; None where none was traced.

        Args:
            trace: How the answer was made.
            screen_rate: Tokens a second as they came on the screen; None where that was not seen.
            asked: Where none was traced, who spoke last: a question without an answer, or an answer without figures.
        """
        for section in (self.time, self.tokens, self.prompt):
            section.setVisible(trace is not None)
        self.memory.setVisible(trace is not None and trace.memory.allowed > 0)
        self.verdict.setVisible(trace is not None and bool(self.verdict.text))
        self._empty.setVisible(trace is None)
        self._empty.setText(_why_empty(asked))
        self._trace = trace or TurnTrace()
        if trace is not None:
            self._show_time(trace, screen_rate)
            self._show_tokens(trace)
            self._show_prompt(trace)
            self._show_memory(trace)

    def show_verdict(self, sentence: str, more: str) -> None:
        """Show what the turn was bound by, and what would help; nothing where both are empty."""
        self.verdict.show_verdict(sentence, more)
        self.verdict.setVisible(bool(self.verdict.text) and not self.time.isHidden())

    def _show_time(self, trace: TurnTrace, screen_rate: float | None) -> None:
        self.time_bar.show_segments(turn_values.time_bar(trace))
        self.time.show_aside(turn_values.milliseconds(figures(trace).wall_ms))
        self.figures.show_rows(turn_values.headline_figures(trace, screen_rate), turn_values.figure_tips(screen_rate))

    def _show_tokens(self, trace: TurnTrace) -> None:
        strip = turn_values.strip_of(trace)
        self.strip.show_strip(strip)
        self.strip.setVisible(bool(strip.gaps_ms))
        self.tokens.show_aside(turn_values.strip_summary(figures(trace)))
        self.stalls.show_lines([(line.text, line.detail) for line in turn_values.stall_lines(trace)])

    def _show_prompt(self, trace: TurnTrace) -> None:
        self.prompt.show_aside(translate("turn_page", "%Ln tokens", trace.prompt_tokens))
        self.prompt_bar.show_segments(turn_values.prompt_bar(trace))
        messages = turn_values.message_bar(trace)
        self.messages.show_segments(messages)
        self.messages.setVisible(len(messages) > 1)
        self.messages_name.setVisible(len(messages) > 1)
        sentence = turn_values.break_sentence(trace.prefix)
        self.broken.show_lines([(sentence, "")] if sentence else [])
        self.compare.setVisible(bool(sentence) and bool(trace.prefix.expected or trace.prefix.found))

    def _show_memory(self, trace: TurnTrace) -> None:
        self.memory.show_aside(memory_values.bar_aside(trace.memory))
        self.memory_bar.show_segments(memory_values.memory_bar(trace.memory))

    @property
    def summary(self) -> str:
        """All its sentences, for tests."""
        size = words.count(self._trace.prompt_tokens)
        parts = (self.verdict.text, self.time.aside, self.tokens.aside, size, *self.stalls.texts, *self.broken.texts)
        return "; ".join(part for part in parts if part)


def _why_empty(asked: Role | Literal[""]) -> str:
    if asked == "user":
        return translate(
            "turn_page", "This question was not answered. Where the time of an answer went will stand here."
        )
    if asked == "assistant":
        return translate("turn_page", "This answer was interrupted before its figures were known.")
    return translate("turn_page", "Ask something: where the time of the answer went will stand here.")
