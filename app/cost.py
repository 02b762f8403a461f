"""What reading a prompt will take, from what it took before. Pure: no clock, no disk.

Seconds are taken for `constant + tokens * (rate + slope * context)`: a pass over the weights, the work for each token,
and its attention over what lies before it. The three are fitted to the last turns of a model by least squares of the
relative error, recent turns counting more; a machine that is slower or faster now than it was moves the whole.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import Final

from engine.stats import TurnStats

Weights = tuple[float, float, float]
_KEPT: Final = 48  # turns of a model
_FADES: Final = 0.93  # what the turn before counts
_RECENT: Final = 3  # turns that tell how fast the machine is now
_SAME_PACE: Final = 1.1  # within it, the latest turns differ by chance
_TOO_QUICK_S: Final = 1e-5
_PARTS: Final = ((0, 1, 2), (0, 1), (1, 2))  # which of the three to fit, best first; a negative one explains nothing
# What is supposed before anything else is known: a pass over the weights costs as much as 16 tokens.
_SUPPOSED: Final = (16.0, 1.0, 0.0)
_SUPPOSED_TOKENS: Final = 256
_SUPPOSED_COUNTS: Final = 0.3  # beside the last turn


@dataclass(frozen=True, slots=True)
class Reading:
    """One prompt that was read.

    Attributes:
        cached: Tokens that were held already.
        new: Tokens that were computed.
        seconds: It took.
    """

    cached: int
    new: int
    seconds: float

    @property
    def features(self) -> tuple[float, float, float]:
        """What the seconds are a weighted sum of."""
        return features(self.cached, self.new)


def features(cached: int, new: int) -> tuple[float, float, float]:
    """A pass, tokens, and tokens times the context that they see on average."""
    return (1.0, float(new), new * (cached + new / 2))


class PrefillCosts:
    """Learns from turns how long reading takes, each model by itself."""

    def __init__(self) -> None:
        self._readings: dict[str, deque[Reading]] = {}
        self._fits: dict[str, Weights] = {}

    def knows(self, model: str) -> bool:
        """Whether any turn of this model was learnt from."""
        return bool(self._readings.get(model))

    def learn(self, model: str, stats: TurnStats) -> None:
        """Learn from a turn; one that was stopped while it read, read nothing, or ran on a server, teaches nothing."""
        seconds = stats.template_s + stats.prefill_s
        whole = stats.cached_tokens + stats.prefill_tokens == stats.prompt_tokens
        if model and not stats.server and whole and stats.prefill_tokens > 0 and seconds > _TOO_QUICK_S:
            readings = self._readings.setdefault(model, deque(maxlen=_KEPT))
            readings.append(Reading(stats.cached_tokens, stats.prefill_tokens, seconds))
            self._fits.pop(model, None)

    def seconds(self, model: str, cached: int, new: int) -> float | None:
        """What reading so many new tokens behind so many held ones will take; None while nothing is known."""
        if not self.knows(model):
            return None
        if model not in self._fits:
            self._fits[model] = _fit(tuple(self._readings[model]))
        return _dot(self._fits[model], features(cached, new))


def _fit(readings: Sequence[Reading]) -> Weights:
    """Weights of the three features, none of them negative."""
    supposed = _scaled(_SUPPOSED, _pace(_SUPPOSED, readings))
    guess = Reading(0, _SUPPOSED_TOKENS, _dot(supposed, features(0, _SUPPOSED_TOKENS)))
    weighted = [(_SUPPOSED_COUNTS, guess), *((_FADES**age, reading) for age, reading in enumerate(reversed(readings)))]
    fits = (_solve(weighted, parts) for parts in _PARTS if len(parts) <= len(weighted))
    weights = next((fit for fit in fits if fit is not None), supposed)
    pace = _pace(weights, readings)
    return weights if 1 / _SAME_PACE < pace < _SAME_PACE else _scaled(weights, pace)


def _pace(weights: Weights, readings: Sequence[Reading]) -> float:
    """How much longer than by these weights the latest turns took, in the middle."""
    return median(reading.seconds / _dot(weights, reading.features) for reading in readings[-_RECENT:])


def _scaled(weights: Weights, factor: float) -> Weights:
    return factor * weights[0], factor * weights[1], factor * weights[2]


def _solve(weighted: Sequence[tuple[float, Reading]], parts: Sequence[int]) -> Weights | None:
    """Weighted least squares of the relative error in these features; None if one would be negative."""
    matrix = [[0.0] * (len(parts) + 1) for _ in parts]
    for weight, reading in weighted:
        row = [reading.features[part] / reading.seconds for part in parts]
        for i, left in enumerate(row):
            for j, right in enumerate((*row, 1.0)):
                matrix[i][j] += weight * left * right
    solved = _eliminate(matrix)
    if solved is None or min(solved) < 0:
        return None
    found = dict(zip(parts, solved, strict=True))
    return found.get(0, 0.0), found.get(1, 0.0), found.get(2, 0.0)


def _eliminate(matrix: list[list[float]]) -> list[float] | None:
    """The solution of a small symmetric system with its right side as the last column; None if it has none."""
    size = len(matrix)
    for i in range(size):
        if matrix[i][i] <= 1e-12 * max(abs(value) for value in matrix[i]):
            return None
        for k in range(size):
            if k != i:
                factor = matrix[k][i] / matrix[i][i]
                matrix[k] = [a - factor * b for a, b in zip(matrix[k], matrix[i], strict=True)]
    return [matrix[i][size] / matrix[i][i] for i in range(size)]


def _dot(weights: Sequence[float], values: Sequence[float]) -> float:
    return sum(weight * value for weight, value in zip(weights, values, strict=True))
