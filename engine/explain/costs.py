"""What reading a prompt will cost, learnt from what it has cost. Pure, and without any library.

    seconds = c + a n + b n (p + n / 2)          n tokens behind p that are reused

c is what every prefill costs, a what each token costs in the matrices, b what each token costs for each one before it
(attention). The three are fitted to the last turns by least squares over the logarithms of the errors, never below
zero; turns that lie far off count less (Huber's weights), so that one disturbed turn changes little. What the last few
turns took beside that says how fast the machine is just now: other programs come and go for longer than a turn.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from engine.explain.trace import ModelFacts, TurnTrace

_KEPT: Final = 48  # turns; the machine a while ago is another one
_FADING: Final = 0.96  # weight of a turn beside the one after it
_RECENT: Final = 6  # turns that say how fast the machine is now
_PACE_FADING: Final = 0.3
_DOUBT: Final = 0.5  # weight, beside the last turn's, of the machine being as fast as ever
_MOST_PACE: Final = 1.1  # as a logarithm: three times slower or faster
_ROUNDS: Final = 6
_SWEEPS: Final = 40
_FAR: Final = 0.25  # relative error from which on a turn counts less


@dataclass(frozen=True, slots=True)
class Sample:
    """One prefill.

    Attributes:
        computed: Tokens read, at least 1.
        cached: Tokens before them that were reused.
        seconds: That it took.
    """

    computed: int
    cached: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Rates:
    """Seconds of each prefill, of each token, and of each pair of a token with one before it."""

    constant: float
    per_token: float
    per_pair: float

    def seconds(self, computed: int, cached: int) -> float:
        """What reading `computed` tokens behind `cached` ones takes."""
        return sum(rate * amount for rate, amount in zip(self._rates, _amounts(computed, cached), strict=True))

    @property
    def _rates(self) -> tuple[float, float, float]:
        return self.constant, self.per_token, self.per_pair


class PrefillCosts:
    """Learns from turns and predicts; a turn of another model or setting makes it begin again.

    Args:
        samples: Of earlier turns, oldest first.
    """

    def __init__(self, samples: Iterable[Sample] = ()) -> None:
        self._samples = deque(samples, maxlen=_KEPT)
        self._fit()
        self._model: tuple[object, ...] | None = None

    @property
    def samples(self) -> tuple[Sample, ...]:
        """What it knows, oldest first."""
        return tuple(self._samples)

    def learn(self, trace: TurnTrace) -> None:
        """Take a turn into account; one whose prefill was cancelled or is not known teaches nothing."""
        model = _setting(trace.model)
        if self._model not in (None, model):
            self._samples.clear()
        self._model = model
        complete = trace.cached_tokens + trace.computed_tokens == trace.prompt_tokens
        if complete and trace.computed_tokens > 0 and trace.phases.prefill:
            self.add(Sample(trace.computed_tokens, trace.cached_tokens, trace.phases.prefill))

    def add(self, sample: Sample) -> None:
        """Take one prefill into account."""
        if sample.computed > 0 and sample.cached >= 0 and sample.seconds > 0:
            self._samples.append(sample)
        self._fit()

    def seconds(self, computed: int, cached: int) -> float | None:
        """What reading so many tokens behind so many reused ones will take; None until something was learnt."""
        if self._rates is None or computed < 0 or cached < 0:
            return None
        return self._rates.seconds(computed, cached) * self._pace

    def _fit(self) -> None:
        self._rates = fitted(self._samples)
        recent = list(self._samples)[-_RECENT:]
        self._pace = pace(self._rates, recent) if self._rates else 1.0


def pace(rates: Rates, recent: Sequence[Sample]) -> float:
    """How many times longer than by its rates a prefill takes now, by the last turns, the newest of which is last."""
    pairs = ((sample.seconds, rates.seconds(sample.computed, sample.cached)) for sample in reversed(recent))
    errors = [math.log(max(took, 1e-9) / max(expected, 1e-9)) for took, expected in pairs]
    # What is too far off to be the machine's pace was something else, and says nothing of the next turn.
    weights = [_PACE_FADING**n * min(1.0, _MOST_PACE / max(abs(e), 1e-9)) ** 3 for n, e in enumerate(errors)]
    return math.exp(_dot(errors, weights) / (sum(weights) + _DOUBT))


def fitted(samples: Sequence[Sample]) -> Rates | None:
    """The rates that fit best; None of no samples."""
    if not samples:
        return None
    rows = [tuple(amount / sample.seconds for amount in _amounts(sample.computed, sample.cached)) for sample in samples]
    fading = [_FADING ** (len(samples) - 1 - n) for n in range(len(samples))]
    weights, rates = fading, (0.0, 0.0, 0.0)
    for _ in range(_ROUNDS):
        rates = _least_squares(rows, weights)
        weights = [fade * _weight(_dot(rates, row)) for fade, row in zip(fading, rows, strict=True)]
    return Rates(*rates)


def _weight(predicted: float) -> float:
    """Of a sample whose prediction is so many times what happened.

    With it the squares of (predicted - 1), to which a prediction of nothing is a small error, have the gradient of the
    squared logarithm, and of its distance alone where a sample lies far off.
    """
    predicted = max(predicted, 0.02)
    error = math.log(predicted)
    if abs(error) < 1e-6:
        return 1.0
    return error / (predicted * (predicted - 1)) * min(1.0, _FAR / abs(error))


def _amounts(computed: int, cached: int) -> tuple[float, float, float]:
    return 1.0, float(computed), computed * (cached + computed / 2)


def _least_squares(rows: Sequence[Sequence[float]], weights: Sequence[float]) -> tuple[float, float, float]:
    """Rates of at least zero whose products with the rows come closest to 1, by coordinate descent."""
    scales = [max(1e-30, *(row[k] for row in rows)) for k in range(3)]
    scaled = [[row[k] / scales[k] for k in range(3)] for row in rows]
    gram = [[sum(w * r[i] * r[j] for w, r in zip(weights, scaled, strict=True)) for j in range(3)] for i in range(3)]
    right = [sum(w * r[i] for w, r in zip(weights, scaled, strict=True)) for i in range(3)]
    rates = [0.0, 0.0, 0.0]
    # The token's own cost first: of a single turn all of it, so that a constant is believed only when turns differ.
    for _ in range(_SWEEPS):
        for i in (1, 2, 0):
            others = sum(gram[i][j] * rates[j] for j in range(3) if j != i)
            rates[i] = max(0.0, (right[i] - others) / max(gram[i][i], 1e-30))
    return rates[0] / scales[0], rates[1] / scales[1], rates[2] / scales[2]


def _dot(a: Sequence[float], b: Sequence[float]) -> float:
    return sum(x * y for x, y in zip(a, b, strict=True))


def _setting(model: ModelFacts) -> tuple[object, ...]:
    return model.name, model.dtype, model.kv_dtype, model.device, model.path, model.threads
