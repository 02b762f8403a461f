"""From the state of memory to what the memory page shows of it. Pure."""

from __future__ import annotations

import re

from app.engine_sentences import translated
from app.i18n import translate
from app.views import words
from app.views.inspector.turn_values import not_known
from app.views.inspector.values import Segment
from engine.explain.plan import TurnsLeft, WhatIf, triangle
from engine.explain.trace import MemoryState, ModelFacts
from engine.units import parse_bytes

_LEAST_CONTEXT = 512
_BINARY = re.compile(r"[\d.]+ [KMGT]iB")
_PER_CENT = re.compile(r"(?<=\d)%")


def memory_bar(memory: MemoryState) -> tuple[Segment, ...]:
    """What memory is taken by; the last piece is free."""
    parts = triangle(memory)
    rows = (
        (translate("memory_values", "Weights"), parts.weights, "computed"),
        (translate("memory_values", "Program and workspace"), parts.workspace, "muted"),
        (translate("memory_values", "KV cache of this chat"), parts.kv_this, "generated"),
        (translate("memory_values", "KV caches of other chats"), parts.kv_others, "reused"),
        (translate("memory_values", "Free for caches"), parts.free, "left_out"),
    )
    return tuple(Segment(label, float(count), words.size(count), token) for label, count, token in rows)


def bar_aside(memory: MemoryState) -> str:
    """How much of the budget is taken."""
    parts = triangle(memory)
    taken = parts.weights + parts.workspace + parts.kv_this + parts.kv_others
    said = translate("memory_values", "{taken} planned, of {allowed}")
    return said.format(taken=words.size(taken), allowed=words.size(parts.allowed))


def budget_reason(reason: str) -> str:
    """Why the budget is what it is, in the units of the page: the engine says it in those of a terminal."""
    decimal = _BINARY.sub(lambda found: words.size(parse_bytes(found[0])), reason)
    return translated(_PER_CENT.sub(" %", decimal))


def cache_rows(memory: MemoryState, model: ModelFacts, tokens: int) -> tuple[tuple[str, str], ...]:
    """What a token costs in the cache, and the shape of what is kept."""
    each = memory.kv_bytes_per_token or model.kv_bytes_per_token
    rows = [(translate("memory_values", "Each token"), words.size(each) if each else not_known())]
    if each and model.layers:
        rows.append((translate("memory_values", "Each token and layer"), words.size(each / model.layers)))
    if model.layers and model.kv_heads and model.head_dim:
        shape = f"[1, {model.kv_heads}, {tokens:,}, {model.head_dim}]"
        rows.append((translate("memory_values", "Keys, and values, of a layer"), shape))
        rows.append((translate("memory_values", "Layers"), words.count(model.layers)))
    if memory.kv_dtype:
        rows.append((translate("memory_values", "Kept as"), memory.kv_dtype))
    return tuple(rows)


def turns_sentence(left: TurnsLeft | None) -> str:
    """How long this chat can go on, by its habits."""
    if left is None:
        return translate("memory_values", "How many turns are left is not known yet.")
    room = words.count(left.room)
    turns = translate("memory_values", "About %Ln turns are left in this context", left.turns)
    said = translate(
        "memory_values", "{turns}: {room} tokens, at {each} a turn. {kept} more are kept for a question and its answer."
    )
    each, kept = words.count(left.tokens_per_turn), words.count(left.kept)
    return said.format(turns=turns, room=room, each=each, kept=kept)


def context_steps(memory: MemoryState) -> tuple[int, ...]:
    """Context lengths that the slider offers: powers of two, and the longest that the model can hold."""
    longest = max(memory.model_context, memory.context_limit, _LEAST_CONTEXT)
    steps = []
    each = _LEAST_CONTEXT
    while each < longest:
        steps.append(each)
        each *= 2
    return (*steps, longest)


def what_if_sentence(found: WhatIf | None, conversations: int) -> str:
    """Whether these settings fit, and what they would cost."""
    if found is None:
        return translate("memory_values", "What other settings would take is not known for this model.")
    if found.fits:
        said = translate("memory_values", "Fits: {needed} in all, {left} stay free.")
        return said.format(needed=words.size(found.needed), left=words.size(found.left))
    over = words.size(-found.left)
    if found.conversations_that_fit:
        said = translate("memory_values", "Does not fit by {over}: {count} of {wanted} chats stay in memory at once.")
        return said.format(over=over, count=found.conversations_that_fit, wanted=conversations)
    said = translate("memory_values", "Does not fit by {over}; {longest} tokens would.")
    return said.format(over=over, longest=words.count(found.longest_context))


def what_if_bar(memory: MemoryState, found: WhatIf) -> tuple[Segment, ...]:
    """The same bar for other settings."""
    rows = (
        (translate("memory_values", "Weights"), memory.weights, "computed"),
        (translate("memory_values", "Program and workspace"), found.workspace, "muted"),
        (translate("memory_values", "KV caches, all full"), found.kv, "generated"),
    )
    return tuple(Segment(label, float(count), words.size(count), token) for label, count, token in rows)
