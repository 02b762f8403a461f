"""Speculative decoding: whatever can guess the next tokens, several such in a row, and whether guessing pays.

A guess is verified in one forward pass and each of its tokens is kept only if the sampler chooses it too
(`engine.generate`), so the tokens are those of plain decoding, under sampling as well.
"""

from __future__ import annotations

from typing import Final, Protocol

_PATIENCE: Final = 3  # passes that may lose time before drafting pauses
_FIRST_PAUSE: Final = 32  # tokens; doubled each time that drafting did not pay
_SMOOTHING: Final = 0.3


class Drafter(Protocol):
    """Guesses what comes next, and learns from what became of its guesses."""

    @property
    def drafted(self) -> int:
        """Tokens guessed so far."""
        ...

    @property
    def accepted(self) -> int:
        """Those of them that were kept."""
        ...

    def push(self, token_id: int) -> None:
        """A token that now stands in the conversation."""
        ...

    def guess(self) -> list[int]:
        """What may come next; often nothing."""
        ...

    def verified(self, drafted: int, accepted: int, seconds: float) -> None:
        """Learn from a pass that verified its last guess, or the beginning of it."""
        ...

    def decoded(self, seconds: float) -> None:
        """Learn from a plain step."""
        ...


class FirstGuess:
    """Several drafters in order: the first that has a guess is asked alone, and learns alone what became of it.

    Args:
        drafters: The cheapest first; at least one.
    """

    def __init__(self, *drafters: Drafter) -> None:
        self._drafters = drafters
        self._asked = drafters[0]

    @property
    def drafted(self) -> int:
        """Tokens of all drafters so far."""
        return sum(drafter.drafted for drafter in self._drafters)

    @property
    def accepted(self) -> int:
        """Tokens of all drafters that were kept."""
        return sum(drafter.accepted for drafter in self._drafters)

    def push(self, token_id: int) -> None:
        """A token that now stands in the conversation."""
        for drafter in self._drafters:
            drafter.push(token_id)

    def guess(self) -> list[int]:
        """The first guess that one of them has."""
        for drafter in self._drafters:
            if found := drafter.guess():
                self._asked = drafter
                return found
        return []

    def verified(self, drafted: int, accepted: int, seconds: float) -> None:
        """Learn from a pass that verified the last guess."""
        self._asked.verified(drafted, accepted, seconds)

    def decoded(self, seconds: float) -> None:
        """Learn from a plain step."""
        for drafter in self._drafters:
            drafter.decoded(seconds)


class Payoff:
    """Whether drafting saves time: what a pass took against the plain steps it stood for."""

    def __init__(self) -> None:
        self._step_s: float | None = None
        self._saved_s = 0.0
        self._losses = 0
        self._pause = _FIRST_PAUSE
        self._wait = 0

    @property
    def known(self) -> bool:
        """Whether a plain step was timed yet."""
        return self._step_s is not None

    def worth_trying(self) -> bool:
        """Whether there is no pause now."""
        return self._wait == 0

    def decoded(self, seconds: float) -> None:
        """A plain step took so long."""
        self._wait = max(0, self._wait - 1)
        old = self._step_s
        self._step_s = seconds if old is None else old + _SMOOTHING * (seconds - old)

    def verified(self, accepted: int, seconds: float) -> None:
        """A draft and the pass that verified it took so long, and stood for one step and those accepted."""
        if self._step_s is not None:
            self._learn((accepted + 1) * self._step_s - seconds)

    def lost(self, seconds: float) -> None:
        """Looking for a draft took so long and found none."""
        self._learn(-seconds)

    def _learn(self, saved_s: float) -> None:
        self._saved_s += _SMOOTHING * (saved_s - self._saved_s)
        self._losses = self._losses + 1 if self._saved_s < 0 else 0
        if self._losses >= _PATIENCE:
            self._wait, self._pause = self._pause, 2 * self._pause
            self._losses, self._saved_s = 0, 0.0
