"""What the experiment "with and without the cache" showed: values only, `experiment` makes them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Candidate:
    """A token that could come next.

    Attributes:
        id: Of the token.
        text: What it says.
        probability: Between 0 and 1, of the logits as they are.
    """

    id: int
    text: str
    probability: float


@dataclass(frozen=True, slots=True)
class Step:
    """One pass of the model.

    Attributes:
        read: Tokens that went in.
        seconds: That it took.
        shape: Of the keys, and of the values, of each layer afterwards: [1, kv_heads, tokens, head_dim]; empty where
            the model keeps its memory in another way.
        layers: That hold keys and values; 0 where `shape` is empty.
        nbytes: Memory of the cache afterwards, room for tokens to come included.
        candidates: The likeliest next tokens, the likeliest first.
    """

    read: int
    seconds: float
    shape: tuple[int, ...]
    layers: int
    nbytes: int
    candidates: tuple[Candidate, ...]


@dataclass(frozen=True, slots=True)
class Comparison:
    """The same tokens, generated with the cache and without.

    Attributes:
        prompt_tokens: Of the conversation.
        prefill: The pass over the prompt.
        step: The next one, over one token.
        cached_ms: Milliseconds of each token with the cache; token i stands at position prompt_tokens + i.
        fresh_ms: The same when every token computes the whole sequence again; shorter if that took too long.
        equal: Whether both gave the same tokens, as far as both went.
        text: What was generated.
    """

    prompt_tokens: int
    prefill: Step
    step: Step
    cached_ms: tuple[float, ...]
    fresh_ms: tuple[float, ...]
    equal: bool
    text: str
