"""A long scripted answer at a steady rate: what drawing it costs, over its whole length. No model.

`gui_gaps --scripted` runs it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication

from app.desktop import Desktop
from app.gui_probe import GuiProbe
from app.live import LiveTurn, ModelState
from tests.app.fake_worker import Reply

SETTLE_MS = 700
TENTHS = 10

_PROSE = (
    "prefill reads the whole prompt in parallel and fills the cache while decode adds one token per step so the time "
    "of each step is bound by memory bandwidth and not by arithmetic which is why smaller weights help and shorter "
    "contexts rarely do"
)


def long_answer(words: int) -> str:
    """So many words in sections, each with lists, code, a table, and formulas in the text and below it."""
    parts: list[str] = []
    written = section = 0
    while written < words:
        section += 1
        part = "\n\n".join(_section(section))
        parts.append(part)
        written += len(part.split())
    return "\n\n".join(parts)


def _section(number: int) -> Iterator[str]:
    yield f"## Part {number}: what the measurement says"
    prose = _PROSE.split()
    for paragraph in range(3):
        words = [prose[(number * 7 + paragraph * 13 + n) % len(prose)] for n in range(70)]
        words[9], words[25], words[40] = (
            f"**{words[9]}**",
            f"`{words[25]}`",
            f"$t_{{{number}}} = \\frac{{n_{number}}}{{b}}$",
        )
        yield " ".join(words).capitalize() + "."
    yield "\n".join(f"{n}. {' '.join(prose[n : n + 12])}\n   - with *detail* {n}" for n in range(1, 5))
    yield f"$$\n\\sum_{{i=1}}^{{{number}}} i = \\frac{{{number}({number} + 1)}}{{2}}\n$$"
    lines = [f"    step_{n} = model(prompt, cache={n}, name='part {number}')  # line {n}" for n in range(18)]
    yield "```python\ndef measure(model, prompt):\n" + "\n".join(lines) + "\n    return step_0\n```"
    rows = [f"| run {n} | {n * number} | {n * 1.7:.1f} | a remark about run {n} of part {number} |" for n in range(14)]
    yield "| Run | Tokens | Seconds | Remark |\n|:--|--:|--:|:--|\n" + "\n".join(rows)


def tokens_of(text: str) -> tuple[str, ...]:
    """A text cut about as a tokenizer would: words with the space before them, long ones in pieces."""
    return tuple(re.findall(r"\s?\w{1,6}|\s?[^\w\s]|\s", text))


@dataclass(frozen=True, slots=True)
class Sample:
    """How much was on the screen at a moment, and what drawing it had taken.

    Attributes:
        tokens: Tokens shown so far.
        seconds: Spent laying out and painting them.
        flushes: How often text was put on the screen.
    """

    tokens: int
    seconds: float
    flushes: int


class Stream:
    """One run: the answer is asked for when the model is there, and drawn to its end."""

    def __init__(self, app: QApplication, desktop: Desktop, probe: GuiProbe) -> None:
        self._app = app
        self._desktop = desktop
        self._probe = probe
        self.samples: list[Sample] = []
        desktop.chats.model_changed.connect(self._model_changed)

    def run(self) -> None:
        """Measure."""
        self._desktop.show(new=True)
        self._app.exec()

    def _model_changed(self, state: ModelState) -> None:
        if state.phase == "ready":
            QTimer.singleShot(SETTLE_MS, self._app, self._ask)

    def _ask(self) -> None:
        session = self._desktop.chats.current
        assert session is not None
        session.turn_changed.connect(self._turn_changed)
        self._probe.start("streaming")
        session.send("Write a long answer.")

    def _turn_changed(self, turn: LiveTurn) -> None:
        chat = self._desktop.window.chat
        if turn.phase == "decode":
            self.samples.append(Sample(turn.completion_tokens, chat.drawing_s, chat.flushes))
        elif turn.phase == "idle":
            self._probe.mark("after the end")
            QTimer.singleShot(SETTLE_MS, self._app, self._end)

    def _end(self) -> None:
        self._probe.stop()
        self._app.quit()


def tenths(samples: list[Sample]) -> list[float]:
    """Milliseconds of drawing for each token, in each tenth of the answer."""
    total = samples[-1].tokens
    ends = [next(s for s in samples if s.tokens >= total * (n + 1) / TENTHS) for n in range(TENTHS)]
    starts = [samples[0], *ends[:-1]]
    return [
        1000 * (end.seconds - start.seconds) / max(1, end.tokens - start.tokens)
        for start, end in zip(starts, ends, strict=True)
    ]


def scripted_reply(words: int, rate: float) -> Reply:
    """The answer as the scripted worker gives it, at so many tokens a second."""
    return Reply(tokens_of(long_answer(words)), delay_s=1.0 / rate)
