"""Logits -> next token."""

from __future__ import annotations

import math
import secrets
from collections.abc import Iterable

import torch
from torch import Tensor

from engine.config import SamplingParams
from engine.errors import BadModelFile


class Sampler:
    """Chooses tokens by one set of SamplingParams, and remembers which it has seen for the repetition penalty.

    The order is that of transformers' logits processors: repetition penalty, temperature, top-k, top-p, min-p.

    Args:
        params: How to sample.
        vocab_size: Length of the logits.
        seen: Token ids of the prompt.
    """

    def __init__(self, params: SamplingParams, vocab_size: int, seen: Iterable[int] = ()) -> None:
        self._params = params
        self._generator = torch.Generator().manual_seed(_seed(params))
        self._seen = torch.zeros(vocab_size, dtype=torch.bool)
        self._seen[list(seen)] = True

    def __call__(self, logits: Tensor) -> int:
        """The next token id; `logits` is float32 [vocab_size] on the CPU and is not changed.

        Raises:
            BadModelFile: The logits are no numbers, or infinite.
        """
        _check(logits)
        token_id = self._choose(self._penalised(logits))
        self._seen[token_id] = True
        return token_id

    def _choose(self, logits: Tensor) -> int:
        if self._params.greedy:
            return int(logits.argmax())
        ids, probabilities = candidates(logits, self._params)
        return int(ids[torch.multinomial(probabilities, 1, generator=self._generator)])

    def _penalised(self, logits: Tensor) -> Tensor:
        penalty = self._params.repetition_penalty
        if penalty == 1.0:
            return logits
        scaled = torch.where(logits > 0, logits / penalty, logits * penalty)
        return torch.where(self._seen, scaled, logits)


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


def _seed(params: SamplingParams) -> int:
    return secrets.randbits(63) if params.seed is None else params.seed
