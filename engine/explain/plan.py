"""Memory as the inspector shows it: what it is taken by, what other settings would take, how many turns are left."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, Protocol

from engine.explain.trace import MemoryState
from engine.memory import KV_DTYPES, Footprint, MemoryPlan
from engine.overflow import history_room

_HABIT: Final = 10  # turns of the past that say how long the next ones will be


class Holds(Protocol):
    """What of a runner says how it holds a model."""

    @property
    def weight_bytes(self) -> int:
        """Memory held by the weights."""
        ...

    @property
    def kv_bytes_per_token(self) -> int:
        """Memory that one more token costs."""
        ...

    @property
    def context_limit(self) -> int:
        """Most tokens of a conversation."""
        ...


@dataclass(frozen=True, slots=True)
class Triangle:
    """Bytes of each part of the memory that Loquat may take; together `allowed`, unless it is overdrawn.

    Attributes:
        weights, workspace: As planned.
        kv_this, kv_others: Caches.
        free: What is left for caches.
        allowed: All of it.
    """

    weights: int
    workspace: int
    kv_this: int
    kv_others: int
    free: int
    allowed: int


@dataclass(frozen=True, slots=True)
class WhatIf:
    """What some conversations of some length would take.

    Attributes:
        kv_bytes_per_token: In the wanted format.
        kv_per_conversation: Bytes of one full conversation.
        kv: Bytes of all of them, full.
        workspace: Bytes, with what grows with the context.
        needed: Bytes, with the weights.
        left: Of what may be taken; negative if it does not fit.
        fits: Whether it does.
        conversations_that_fit: Of this length, in memory; more of them go to disk.
        longest_context: Of so many conversations, in tokens, at most what the model can hold.
    """

    kv_bytes_per_token: int
    kv_per_conversation: int
    kv: int
    workspace: int
    needed: int
    left: int
    fits: bool
    conversations_that_fit: int
    longest_context: int


@dataclass(frozen=True, slots=True)
class TurnsLeft:
    """How long a conversation can go on before its oldest turns are left out.

    Attributes:
        turns: Whole turns of the usual length.
        tokens_per_turn: The usual length, question and answer.
        room: Tokens left.
        kept: Tokens of the context that no earlier turn may take: they are kept for a question and its answer.
    """

    turns: int
    tokens_per_turn: int
    room: int
    kept: int


def memory_base(planned: MemoryPlan, footprint: Footprint, runner: Holds, budget: int) -> MemoryState:
    """How memory stands when a model was loaded and no conversation is held.

    Args:
        planned: The plan it was loaded by.
        footprint: That the plan was made of.
        runner: What really holds the model.
        budget: Bytes for all caches.
    """
    each = runner.kv_bytes_per_token
    likeliest = (footprint.kv_dtype, *KV_DTYPES)
    named = next((name for name in likeliest if _bytes_per_token(footprint, name) == each), "")
    smaller = tuple(name for name in footprint.smaller_kv if 0 < _bytes_per_token(footprint, name) < each)
    growing = footprint.activations_per_token * planned.context
    return MemoryState(
        allowed=planned.allowed,
        reason=planned.reason,
        weights=runner.weight_bytes,
        workspace=planned.workspace.total - growing,
        workspace_per_token=footprint.activations_per_token,
        budget=budget,
        kv_rows=footprint.kv_rows if named else 0,
        head_dim=footprint.head_dim if named else 0,
        kv_bytes_per_token=each,
        kv_dtype=named,
        kv_dtypes=(named, *smaller) if named else (),
        context_limit=runner.context_limit,
        model_context=max(footprint.context_limit, runner.context_limit),
    )


def triangle(memory: MemoryState) -> Triangle:
    """The parts of the bar; the workspace as for the context that the model is loaded with."""
    workspace = memory.workspace + memory.workspace_per_token * memory.context_limit
    taken = memory.weights + workspace + memory.kv_this + memory.kv_others
    free = max(0, memory.allowed - taken)
    return Triangle(memory.weights, workspace, memory.kv_this, memory.kv_others, free, memory.allowed)


def what_if(memory: MemoryState, *, context: int, conversations: int = 1, kv_dtype: str = "") -> WhatIf | None:
    """What other settings would take; None where the model's caches are of no known kind.

    Args:
        memory: As it stands.
        context: Tokens of each conversation.
        conversations: How many are kept in memory.
        kv_dtype: One of `memory.kv_dtypes`; empty for the one that is in use.
    """
    each = _wanted_bytes(memory, kv_dtype)
    if each <= 0 or memory.allowed <= 0:
        return None
    per_conversation, workspace = each * context, memory.workspace + memory.workspace_per_token * context
    caches = max(0, memory.allowed - memory.weights - workspace)
    needed = memory.weights + workspace + conversations * per_conversation
    free = max(0, memory.allowed - memory.weights - memory.workspace)
    longest = free // max(1, each * conversations + memory.workspace_per_token)
    return WhatIf(
        kv_bytes_per_token=each,
        kv_per_conversation=per_conversation,
        kv=conversations * per_conversation,
        workspace=workspace,
        needed=needed,
        left=memory.allowed - needed,
        fits=needed <= memory.allowed,
        conversations_that_fit=caches // max(1, per_conversation),
        longest_context=min(memory.model_context, longest),
    )


def turns_left(totals: Sequence[int], context_limit: int) -> TurnsLeft | None:
    """How many turns still fit, by the habits of a conversation; None while there are none.

    Args:
        totals: Tokens of the whole conversation after each of its turns, oldest first.
        context_limit: Most tokens of a conversation.
    """
    grown = [b - a for a, b in pairwise([0, *totals]) if b > a]
    if not grown or context_limit <= 0:
        return None
    usual = max(1, round(statistics.median(grown[-_HABIT:])))
    most = history_room(context_limit)
    room = max(0, most - totals[-1])
    return TurnsLeft(room // usual, usual, room, context_limit - most)


def _wanted_bytes(memory: MemoryState, kv_dtype: str) -> int:
    """Bytes of one token in a format, 0 where that is not known."""
    if kv_dtype in ("", memory.kv_dtype):
        return memory.kv_bytes_per_token
    if kv_dtype not in KV_DTYPES:
        return 0
    number, scale = KV_DTYPES[kv_dtype]
    return memory.kv_rows * (memory.head_dim * number + scale)


def _bytes_per_token(footprint: Footprint, kv_dtype: str) -> int:
    number, scale = KV_DTYPES[kv_dtype]
    return footprint.kv_rows * (footprint.head_dim * number + scale)
