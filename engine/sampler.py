"""Logits -> next token."""

from __future__ import annotations

import math
import secrets
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from engine.config import SamplingParams
from engine.errors import BadModelFile, BadRequest

if TYPE_CHECKING:
    from engine.grammar import Constraint

Step = Callable[[Tensor], Tensor]


@dataclass(frozen=True, slots=True)
class Scores:
    """How likely the model found a token, before anything was done to its logits.

    Attributes:
        logprob: Of the token that was taken, natural logarithm.
        top: The likeliest tokens and theirs, likeliest first.
    """

    logprob: float
    top: tuple[tuple[int, float], ...]


class Sampler:
    """Chooses tokens by one set of SamplingParams, and remembers which it has seen for the penalties.

    The order is that of transformers' logits processors: repetition penalty, then what is added or ruled out, then
    temperature, top-k, top-p, min-p. Steps that change nothing are left out once, not skipped for each token.

    Args:
        params: How to sample.
        vocab_size: Length of the logits.
        seen: Token ids of the prompt.
        constraint: The grammar that the reply has to follow.

    Attributes:
        scores: Of the newest token, if `params.logprobs` asks for them.

    Raises:
        BadRequest: A token that is to be biased does not exist.
    """

    def __init__(
        self,
        params: SamplingParams,
        vocab_size: int,
        seen: Iterable[int] = (),
        constraint: Constraint | None = None,
    ) -> None:
        self._params = params
        self._generator = torch.Generator().manual_seed(_seed(params))
        self._seen = torch.zeros(vocab_size, dtype=torch.bool)
        self._seen[list(seen)] = True
        self._counts = torch.zeros(vocab_size)
        self._bias = _bias(params, vocab_size)
        self._constraint = constraint
        self._steps = tuple(self._needed())
        self.scores: Scores | None = None

    def __call__(self, logits: Tensor) -> int:
        """The next token id; `logits` is float32 [vocab_size] on the CPU and is not changed.

        Raises:
            BadModelFile: The logits are no numbers, or infinite.
        """
        _check(logits)
        changed = logits
        for step in self._steps:
            changed = step(changed)
        token_id = self._choose(changed)
        self._remember(token_id)
        if self._params.logprobs is not None:
            self.scores = scores(logits, token_id, self._params.logprobs)
        return token_id

    def _needed(self) -> Iterator[Step]:
        """What is done to the logits before a token is chosen."""
        if self._params.repetition_penalty != 1.0:
            yield self._penalised
        if self._counting:
            yield self._less_of_the_same
        if self._params.logit_bias:
            yield self._bias.add
        if self._constraint:
            yield self._constraint.masked

    @property
    def _counting(self) -> bool:
        return self._params.presence_penalty != 0.0 or self._params.frequency_penalty != 0.0

    def _remember(self, token_id: int) -> None:
        self._seen[token_id] = True
        if self._counting:
            self._counts[token_id] += 1
        if self._constraint:
            self._constraint.push(token_id)

    def _choose(self, logits: Tensor) -> int:
        if self._params.greedy:
            return int(logits.argmax())
        ids, probabilities = candidates(logits, self._params)
        return int(ids[torch.multinomial(probabilities, 1, generator=self._generator)])

    def _penalised(self, logits: Tensor) -> Tensor:
        penalty = self._params.repetition_penalty
        scaled = torch.where(logits > 0, logits / penalty, logits * penalty)
        return torch.where(self._seen, scaled, logits)

    def _less_of_the_same(self, logits: Tensor) -> Tensor:
        """Presence and frequency penalty as OpenAI's API defines them, over the reply's own tokens."""
        params, counts = self._params, self._counts
        return logits - params.frequency_penalty * counts - params.presence_penalty * (counts > 0)


def scores(logits: Tensor, token_id: int, count: int) -> Scores:
    """The log probability of a token, and the `count` likeliest; `logits` is float32 [vocab_size]."""
    logprobs = logits.log_softmax(-1)
    best, ids = logprobs.topk(min(count, logprobs.numel()))
    return Scores(float(logprobs[token_id]), tuple(zip(ids.tolist(), best.tolist(), strict=True)))


def candidates(logits: Tensor, params: SamplingParams) -> tuple[Tensor, Tensor]:
    """The tokens that may be drawn and their probabilities, likeliest first.

    Args:
        logits: float32 [vocab_size].
        params: With a temperature above 0.

    Returns:
        Ids, int64 [n], and probabilities, float32 [n], that sum to 1; n is at least 1.
    """
    scores = logits / params.temperature
    if 0 < params.top_k < scores.numel():
        scores, ids = scores.topk(params.top_k)
    else:
        scores, ids = scores.sort(descending=True)
    probabilities = scores.softmax(-1)
    # A token stays while the mass in front of it is below top_p: the likeliest one always does.
    kept = probabilities.cumsum(-1) - probabilities < params.top_p
    kept &= probabilities >= params.min_p * probabilities[0]
    kept[0] = True
    probabilities = probabilities[kept]
    return ids[kept], probabilities / probabilities.sum()


def _check(logits: Tensor) -> None:
    """Refuse logits that say nothing: a maximum finds any that is no number, and minus infinity may rule a token out.

    Raises:
        BadModelFile: The largest is not finite.
    """
    largest = float(logits.max())
    if not math.isfinite(largest):
        raise BadModelFile(
            "The model's weights hold values that are no numbers, or it computes some in this format; "
            "get the model again or choose another format.",
            f"largest logit {largest}",
        )


def _bias(params: SamplingParams, vocab_size: int) -> Tensor:
    """What is added to each logit, float32 [vocab_size].

    Raises:
        BadRequest: There is no such token.
    """
    bias = torch.zeros(vocab_size)
    for token_id, value in params.logit_bias:
        if not 0 <= token_id < vocab_size:
            raise BadRequest(f"logit_bias names token {token_id:,}, but the model has tokens 0 to {vocab_size - 1:,}.")
        bias[token_id] = value
    return bias


def _seed(params: SamplingParams) -> int:
    return secrets.randbits(63) if params.seed is None else params.seed
