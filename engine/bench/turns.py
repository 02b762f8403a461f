"""`loquat bench turns`: what kept caches are worth, each figure with and without them in alternating runs."""

from __future__ import annotations

import dataclasses
import statistics
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from engine.bench.harness import Figure, Report, alternate, machine_name, medians
from engine.bench.paste import Desk, paste_figure
from engine.bench.talk import Talk
from engine.chat import Message
from engine.config import EngineConfig
from engine.engine import Engine
from engine.models.registry import ModelEntry
from engine.paths import Paths
from engine.tokenizer import load_tokenizer

TURNS: Final = 7
_CHUNK_S: Final = 0.1  # about what a chunk of prefill takes: cancelled at another point of it in each run
_MARGIN: Final = 64  # tokens of a prompt that are no question: roles, and a reply of one token


@dataclass(frozen=True, slots=True)
class Sizes:
    """Tokens of what is measured.

    Attributes:
        history: Seven turns with their replies.
        question: The eighth question.
        reply: Of each reply.
        system: A system prompt that two chats share.
        cancelled: A prompt that is cancelled.
        pasted: A text that is pasted.
    """

    history: int = 1300
    question: int = 200
    reply: int = 24
    system: int = 500
    cancelled: int = 4000
    pasted: int = 1000

    def within(self, context: int) -> Sizes:
        """The same in proportion, where the model's context is too short for them."""
        room = context - _MARGIN
        share = min(1.0, room * 3 / 4 / self.cancelled)
        if self.cancelled <= room:
            return self
        return Sizes(*(max(8, int(value * share)) for value in dataclasses.astuple(self)))


@dataclass(frozen=True, slots=True)
class _Bench:
    """The engine under test, and a conversation of seven turns in it.

    Attributes:
        restart: Unload the model and load it again from the same folder.
    """

    talk: Talk
    sizes: Sizes
    runs: int
    restart: Callable[[], None]
    history: tuple[Message, ...]

    def figures(self) -> list[Figure]:
        """Every figure that needs no worker."""
        return [
            self._turn("turn8", "turn 8 of the conversation", 0.25, lambda: None),
            self._turn("switched", "  after another chat and back", 0.30, self._other_chat),
            self._turn("restarted", "  after a restart", 0.30, self.restart, always=True),
            self._regenerate(),
            self._system(),
            *self._cancel(),
        ]

    def _turn(self, name: str, label: str, limit: float, between: Callable[[], object], always: bool = False) -> Figure:
        """TTFT of a new eighth question after `between`; that comes before the run without reuse too if `always`."""

        def kept() -> float:
            self._seven_turns()
            between()
            return self.talk.ttft(self._eight(), "main")

        def fresh() -> float:
            if always:
                between()
            return self.talk.ttft(self._eight(), "main", reuse=False)

        return _compared(name, label, {"reuse": kept, "fresh": fresh}, self.runs, limit)

    def _eight(self) -> tuple[Message, ...]:
        return (*self.history, self.talk.question(self.sizes.question))

    def _seven_turns(self) -> None:
        """Bring the conversation back to the end of its seventh turn: that reply is generated again."""
        self.talk.ask(self.history[:-1], "main", self.sizes.reply)

    def _other_chat(self) -> None:
        self.talk.ask([self.talk.question(self.sizes.question)], "other", self.sizes.reply)

    def _regenerate(self) -> Figure:
        """TTFT of the same request again, beside the time of one decode step at that length."""
        messages, steps = self._eight(), []
        self.talk.ask(messages, "main")

        def kept() -> float:
            steps.append(self.talk.step_ms(messages, "main", self.sizes.reply))
            return self.talk.ttft(messages, "main")

        sides = {"reuse": kept, "fresh": lambda: self.talk.ttft(messages, "main", reuse=False)}
        values = medians(alternate(sides, self.runs))
        step = statistics.median(steps)
        ratio = values["reuse"] / step if step else None
        return Figure(
            "regenerate", "regenerate (ratio to a step)", "ms", {**values, "step": step, "ratio": ratio, "limit": 2.0}
        )

    def _system(self) -> Figure:
        """TTFT of a new chat whose system prompt another chat has."""
        system = Message("system", self.talk.question(self.sizes.system).content)
        short = max(8, self.sizes.question // 10)
        self.talk.ask([system, self.talk.question(short)], "with system prompt")
        numbers = iter(range(10**6))

        def chat(reuse: bool) -> float:
            return self.talk.ttft([system, self.talk.question(short)], f"new {next(numbers)}", reuse)

        sides = {"reuse": lambda: chat(True), "fresh": lambda: chat(False)}
        return _compared("system", "new chat, same system prompt", sides, self.runs, 0.15)

    def _cancel(self) -> Iterator[Figure]:
        """How long a prefill takes to stop, and how much of it the next request finds."""
        stops, found, read = [], [], []
        for n in range(self.runs):
            messages = [self.talk.question(self.sizes.cancelled)]
            done = self.talk.cancel(messages, f"cancelled {n}", delay_s=_CHUNK_S * n / self.runs)
            if done is not None:
                stops.append(1000 * done.stop_s)
                read.append(float(done.read))
                found.append(float(self.talk.ask(messages, f"cancelled {n}").stats.cached_tokens))
        stop = max(stops, default=None)
        yield Figure(
            "cancel", "stop a long prefill, longest of all runs", "ms", {"reuse": stop, "limit": 150.0}, checked="reuse"
        )
        tokens = {"reuse": statistics.median(found), "fresh": statistics.median(read)} if read else {}
        ratio = tokens["reuse"] / tokens["fresh"] if tokens and tokens["fresh"] else None
        values = {**tokens, "ratio": ratio, "limit": 1.0}
        yield Figure("cancel_reused", "  tokens found again, of those read", "tokens", values, better="more")


def bench_turns(entry: ModelEntry, paths: Paths, config: EngineConfig, runs: int = 5, sizes: Sizes = Sizes()) -> Report:
    """Every figure with and without reuse; caches are saved in a folder of their own.

    Args:
        entry: The model.
        paths: Where models lie.
        config: Device, dtype and threads.
        runs: Of each side.
        sizes: Of prompts; smaller where the model's context is.

    Raises:
        EngineError: The model cannot be loaded.
    """
    with tempfile.TemporaryDirectory() as folder:
        own = dataclasses.replace(paths, cache=Path(folder))
        tokenizer = load_tokenizer(entry.folder)
        with _loaded(entry, config, own.cache) as (engine, context):
            sizes = sizes.within(context)
            talk = Talk(engine, tokenizer)
            question = max(8, sizes.history // TURNS - sizes.reply)

            def restart() -> None:
                engine.load(entry)

            bench = _Bench(talk, sizes, runs, restart, talk.converse("main", TURNS, question, sizes.reply))
            figures = bench.figures()
        figures.append(paste_figure(Desk(entry, own, config), tokenizer, sizes.pasted, runs))
    prompt = f"{sizes.history + sizes.question:,} tokens, {sizes.question} of them new"
    about: dict[str, str | int | float] = {
        "model": entry.label,
        "machine": machine_name(),
        "runs": runs,
        "turn 8": prompt,
        "unit": "TTFT unless said",
    }
    return Report("turns", about, figures)


@contextmanager
def _loaded(entry: ModelEntry, config: EngineConfig, cache: Path) -> Iterator[tuple[Engine, int]]:
    """An engine with the model, and the model's context; unloaded after the block."""
    engine = Engine(config, cache)
    context = engine.load(entry).context_limit
    try:
        yield engine, context
    finally:
        engine.unload()


def _compared(name: str, label: str, sides: dict[str, Callable[[], float]], runs: int, limit: float) -> Figure:
    values = medians(alternate(sides, runs))
    return Figure(name, label, "ms", {**values, "ratio": values["reuse"] / values["fresh"], "limit": limit})
