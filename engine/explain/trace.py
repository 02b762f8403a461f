"""Everything that was noted about one turn: frozen values without torch, and their JSON form.

Each field has a default that means "not known" (None, empty, 0 tokens), so a trace of an older version can be read,
and a turn that ended early has one too. Arithmetic over a trace is in `engine.explain.figures`.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import accumulate, pairwise
from typing import Final

from engine.explain.codec import built, plain

VERSION: Final = 1
TICK_MS: Final = 0.1
"""Milliseconds of one step of `TurnTrace.token_times`."""


class BreakReason(StrEnum):
    """Why the prompt did not go on where the cache ended."""

    NOT_KNOWN = "not_known"
    NONE = "none"  # nothing that was held had to be computed again
    FIRST_TURN = "first_turn"  # the conversation has no turn before this one
    EDITED = "edited"  # a message now says something else
    OTHER_BRANCH = "other_branch"  # another version of a message was chosen
    TEMPLATE = "template"  # the same messages, but the template or the tokeniser made other tokens of them
    LEFT_OUT = "left_out"  # the context was full, so old turns were left out
    EVICTED = "evicted"  # the cache had to make room, or its file is gone
    MODEL_CHANGED = "model_changed"  # the cache belongs to another model, or to another format of this one
    KERNELS = "kernels"  # it belongs to what answered while the kernels were compiled
    MARKS = "marks"  # this kind of model can only go back to a few places
    NO_REUSE = "no_reuse"  # it was asked for without reuse


class StallCause(StrEnum):
    """What held up a token."""

    CACHE_GROWTH = "cache_growth"  # the KV cache was moved to a larger place
    SPILL = "spill"  # a cache was written to disk
    GARBAGE_COLLECTION = "garbage_collection"
    THROTTLED = "throttled"  # the system or the hypervisor withheld the processor
    SWAPPING = "swapping"  # pages had to be read from disk
    OTHER_PROCESS = "other_process"  # another program used the processor
    CONSUMER = "consumer"  # whoever takes the tokens took long
    SLEPT = "slept"  # the engine waited and computed nothing


@dataclass(frozen=True, slots=True)
class Phases:
    """Seconds of each phase, in order; together the wall time. None where not known.

    Attributes:
        queue: From Enter until the worker took the request, without `load`.
        load: Of that wait, the time in which there was no model: one was wanted, fetched, or being loaded.
        template: Messages to token ids, with what overflow leaves out.
        prefill: Finding the cache and reading the rest of the prompt.
        first_token: From the prompt's logits to the first token.
        decode: From the first token to the end.
        drawing: From the end until the text was on the screen; added by the window.
    """

    queue: float | None = None
    load: float | None = None
    template: float | None = None
    prefill: float | None = None
    first_token: float | None = None
    decode: float | None = None
    drawing: float | None = None

    def named(self) -> Iterator[tuple[str, float | None]]:
        """Name and seconds of each, in order."""
        return ((f.name, getattr(self, f.name)) for f in dataclasses.fields(self))


@dataclass(frozen=True, slots=True)
class Stall:
    """A token that came late.

    Attributes:
        index: Which token was late, from 0; the gap lies before it.
        gap_ms: Milliseconds since the token before it.
        cause: None where not known.
        detail: A sentence with figures, for people; empty where there is nothing to say.
    """

    index: int = 0
    gap_ms: float = 0.0
    cause: StallCause | None = None
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Segment:
    """One message's share of the prompt; what the template writes around it counts to it.

    Attributes:
        role: "system", "user", "assistant", or "template" for what no message accounts for.
        index: Which of the request's messages; None for "template".
        tokens: Tokens of it; for a message that was left out too, if known.
        reused: Of them from the cache.
        computed: Of them in this turn.
        left_out: Whether it did not fit the context and was not read.
    """

    role: str = ""
    index: int | None = None
    tokens: int = 0
    reused: int = 0
    computed: int = 0
    left_out: bool = False


@dataclass(frozen=True, slots=True)
class Piece:
    """One token as people can read it."""

    id: int = 0
    text: str = ""


@dataclass(frozen=True, slots=True)
class PrefixBreak:
    """Where the prompt parted from what the cache held.

    Attributes:
        reason: Why.
        position: Tokens that are equal; None where nothing was held to compare with.
        message: Which of the request's messages holds the first other token; None if none does, or not known.
        lost: Tokens that had been computed for this conversation before, or were held, and are computed again.
        start: Position of the first token in `expected` and `found`.
        expected: What the cache held around the break, at most 64 tokens.
        found: What the prompt has there, at most 64 tokens.
    """

    reason: BreakReason = BreakReason.NOT_KNOWN
    position: int | None = None
    message: int | None = None
    lost: int = 0
    start: int = 0
    expected: tuple[Piece, ...] = ()
    found: tuple[Piece, ...] = ()


@dataclass(frozen=True, slots=True)
class KvState:
    """The conversation's KV cache at one moment.

    Attributes:
        tokens: Held.
        nbytes: Memory, room for tokens to come included.
    """

    tokens: int = 0
    nbytes: int = 0


@dataclass(frozen=True, slots=True)
class KvTrace:
    """What the turn did to the conversation's cache.

    Attributes:
        before: As it was found, before it was cut to what the prompt shares with it.
        after: At the end of the reply.
        source: Where the reused tokens came from: "own", "other" conversation, "disk", or "none".
        growths: How often it moved to a larger place.
        open_s: Seconds to find it, copy it or read it from disk, and to make room; part of prefill.
        spilled_bytes: Of other conversations' caches that were written to disk for it.
        spill_s: Seconds that took; part of `open_s`.
    """

    before: KvState = field(default_factory=KvState)
    after: KvState = field(default_factory=KvState)
    source: str = ""
    growths: int = 0
    open_s: float | None = None
    spilled_bytes: int = 0
    spill_s: float | None = None


@dataclass(frozen=True, slots=True)
class MemoryState:
    """Memory in bytes, as it stood at the end of the turn, and what a plan for other settings is made of.

    Attributes:
        allowed: That Loquat may take, all together.
        reason: Why so many, in words.
        weights: Of the model.
        workspace: The program itself, a prefill chunk, a row of logits; without what grows with the context.
        workspace_per_token: What the workspace grows by with each token of context.
        kv_this: The cache of this conversation.
        kv_others: Caches of other conversations.
        budget: For all caches together.
        kv_rows: Rows cached for one token: a key and a value of each head of each layer.
        head_dim: Numbers in a row.
        kv_bytes_per_token: Of one token of a conversation, as it is held.
        kv_dtype: How they are held.
        kv_dtypes: How they could be held, `kv_dtype` among them.
        context_limit: Tokens that a conversation can have, as the model is loaded.
        model_context: Tokens that the model could hold if memory were no matter.
    """

    allowed: int = 0
    reason: str = ""
    weights: int = 0
    workspace: int = 0
    workspace_per_token: int = 0
    kv_this: int = 0
    kv_others: int = 0
    budget: int = 0
    kv_rows: int = 0
    head_dim: int = 0
    kv_bytes_per_token: int = 0
    kv_dtype: str = ""
    kv_dtypes: tuple[str, ...] = ()
    context_limit: int = 0
    model_context: int = 0


@dataclass(frozen=True, slots=True)
class ModelFacts:
    """What a verdict has to know about the model.

    Attributes:
        name: In the registry.
        label: For people.
        architecture: As in config.json.
        version: Of Loquat.
        device: "cpu", "cuda" or "mps".
        dtype: How the weights are held, e.g. "int4".
        kv_dtype: How keys and values are held.
        runner: What computes, and why, in words.
        path: What computes, in one word: "kernels", "torch", "graph" (torch, replayed on a GPU), "transformers",
            "server" (not this machine).
        threads: CPU threads.
        parameters: Number of weights.
        weight_bytes: Memory of all weights.
        weight_bytes_per_token: Of them read for each token in decode.
        linear_parameters: Numbers multiplied for each token: a prefilled token costs twice as many operations.
        kv_bytes_per_token: Memory of one token of a conversation.
        layers, kv_heads, head_dim: The shape of the cache: per layer twice [1, kv_heads, tokens, head_dim]; 0 where
            the model has no such shape.
        context_limit: Most tokens of a conversation.
        load_s: Seconds that loading took.
        turns_before: Answers with a trace since then; 0 makes this one the first.
    """

    name: str = ""
    label: str = ""
    architecture: str = ""
    version: str = ""
    device: str = ""
    dtype: str = ""
    kv_dtype: str = ""
    runner: str = ""
    path: str = ""
    threads: int = 0
    parameters: int = 0
    weight_bytes: int = 0
    weight_bytes_per_token: int = 0
    linear_parameters: int = 0
    kv_bytes_per_token: int = 0
    layers: int = 0
    kv_heads: int = 0
    head_dim: int = 0
    context_limit: int = 0
    load_s: float | None = None
    turns_before: int | None = None


@dataclass(frozen=True, slots=True)
class Usage:
    """What the machine did during one phase. None where this system does not tell.

    Attributes:
        phase: "template", "prefill" or "decode".
        wall_s: Seconds.
        cores: Processors there are.
        cpu_s: Processor seconds that Loquat used.
        others_cpu_s: Processor seconds that all other processes used.
        waited_s: Seconds for which the engine's thread was ready to run and had no processor.
        major_faults: Pages of Loquat that had to be read from disk.
        swapped_in_bytes: Read back from swap, for all processes.
        switches: Times that another process took Loquat's place on a processor.
        throttled_s: Seconds for which the container's limit withheld processors.
        stolen_s: Processor seconds that the hypervisor gave to other machines.
        collections: Garbage collections.
        collections_s: Seconds in them.
    """

    phase: str = ""
    wall_s: float | None = None
    cores: int | None = None
    cpu_s: float | None = None
    others_cpu_s: float | None = None
    waited_s: float | None = None
    major_faults: int | None = None
    swapped_in_bytes: int | None = None
    switches: int | None = None
    throttled_s: float | None = None
    stolen_s: float | None = None
    collections: int | None = None
    collections_s: float | None = None


@dataclass(frozen=True, slots=True)
class TurnTrace:
    """One turn.

    Attributes:
        reason: The value of `FinishReason` it ended with.
        wall_s: From Enter to the end of the reply in the engine, without drawing.
        phases: Its parts.
        token_times: When each token was sampled, in steps of 0.1 ms after Enter; empty where the clock jumped.
        drafted, accepted: Tokens of prompt-lookup decoding; the accepted ones cost no step of their own.
        stalls: Tokens that came late.
        prompt_tokens: Of the whole prompt.
        cached_tokens: Of them reused.
        computed_tokens: Of them prefilled in this turn; fewer than the rest where prefill was cancelled.
        generated_tokens: Of the reply, the end token included.
        chunk_tokens: Size of each prefill chunk.
        chunk_times: When each was read, in steps of 0.1 ms after `prefill_from`.
        prefill_from: When prefill began to compute, in steps of 0.1 ms after Enter; None where not known.
        segments: The prompt, message by message, those that were left out too.
        prefix: Where and why the prompt parted from the cache.
        kv: What happened to the cache.
        memory: How memory stood.
        model: What answered.
        usage: What the machine did, phase by phase.
    """

    reason: str = ""
    wall_s: float | None = None
    phases: Phases = field(default_factory=Phases)
    token_times: tuple[int, ...] = ()
    drafted: int = 0
    accepted: int = 0
    stalls: tuple[Stall, ...] = ()
    prompt_tokens: int = 0
    cached_tokens: int = 0
    computed_tokens: int = 0
    generated_tokens: int = 0
    chunk_tokens: tuple[int, ...] = ()
    chunk_times: tuple[int, ...] = ()
    prefill_from: int | None = None
    segments: tuple[Segment, ...] = ()
    prefix: PrefixBreak = field(default_factory=PrefixBreak)
    kv: KvTrace = field(default_factory=KvTrace)
    memory: MemoryState = field(default_factory=MemoryState)
    model: ModelFacts = field(default_factory=ModelFacts)
    usage: tuple[Usage, ...] = ()

    def with_stalls(self, stalls: tuple[Stall, ...]) -> TurnTrace:
        """The same turn with other stalls."""
        return dataclasses.replace(self, stalls=stalls)

    def with_drawing(self, seconds: float) -> TurnTrace:
        """The same turn with the time that the window needed to show its end; below zero is not known."""
        drawing = seconds if seconds >= 0 else None
        return dataclasses.replace(self, phases=dataclasses.replace(self.phases, drawing=drawing))


def to_json(trace: TurnTrace) -> str:
    """A trace for the disk, about 1.5 KB and 4 bytes a token. Times are written as differences, which are short."""
    data = plain(trace) | {"version": VERSION}
    for name in ("token_times", "chunk_times"):
        if name in data:
            data[name] = [b - a for a, b in pairwise([0, *data[name]])]
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"))


def from_json(text: str) -> TurnTrace | None:
    """The trace that `to_json` wrote, in this version or another; None if it is none."""
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(data, dict) or not isinstance(data.get("version"), int):
        return None
    trace = built(TurnTrace, data)
    return dataclasses.replace(
        trace, token_times=tuple(accumulate(trace.token_times)), chunk_times=tuple(accumulate(trace.chunk_times))
    )
