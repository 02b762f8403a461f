"""The trace of a turn on a server: its times as they were seen from here, and nothing that it did not tell."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from engine.explain.figures import seconds_between, ticks
from engine.explain.trace import ModelFacts, Phases, TurnTrace
from engine.stats import one_token_each

PATH: Final = "server"
"""What computes, in `ModelFacts.path`, where that is not this machine."""


def served_trace(
    *,
    reason: str,
    model: ModelFacts,
    submitted: float,
    started: float,
    pieces: Sequence[float],
    ended: float,
    prompt: int | None,
    cached: int | None,
    completion: int | None,
) -> TurnTrace:
    """A turn whose prompt was read, and whose reply was written, elsewhere.

    Args:
        reason: The value of its `FinishReason`.
        model: With `path` set to PATH.
        submitted: When Enter was pressed, in seconds of some clock.
        started: When the worker took the request.
        pieces: When each piece of text came.
        ended: When the answer was complete.
        prompt: Tokens of the prompt, as the server reports; None where it does not.
        cached: Of them reused.
        completion: Tokens of the answer.
    """
    first = pieces[0] if pieces else ended
    return TurnTrace(
        reason=reason,
        wall_s=seconds_between(submitted, ended),
        phases=Phases(
            queue=seconds_between(submitted, started),
            load=0.0,
            template=0.0,
            prefill=0.0,
            first_token=seconds_between(started, first),  # the network, the server's queue, and its prefill
            decode=seconds_between(first, ended),
        ),
        token_times=ticks(submitted, pieces) if one_token_each(completion, len(pieces)) else (),
        prompt_tokens=prompt or 0,
        cached_tokens=cached or 0,
        computed_tokens=prompt - cached if prompt is not None and cached is not None else 0,
        generated_tokens=completion or 0,
        model=model,
    )
