"""A scripted worker that answers at random."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from engine.chat import ChatRequest
from engine.errors import ContextFull
from engine.events import Event
from tests.app.fake_worker import FakeWorker, Reply


class RandomWorker(FakeWorker):
    """Says nothing, a few words, many, slowly or at once; some answers end with an error."""

    def __init__(self, emit: Callable[[Event], None], random: Random) -> None:
        super().__init__(emit)
        self._random = random  # its thread's own

    def _next_reply(self, request: ChatRequest) -> Reply:
        random = self._random
        if random.random() < 0.1:
            return Reply(("half",), error=ContextFull("Full."))
        rich = random.random() < 0.1
        pieces = tuple(f"w{at} **b** `c`\n\n" if rich else f"w{at} " for at in range(random.choice((0, 1, 5, 40))))
        return Reply(pieces, delay_s=random.choice((0, 0.001, 0.01)), prefill=random.choice((1, 16, 200)))
