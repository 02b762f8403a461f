"""The memory budget: weights + workspace + KV caches, within what is allowed. Pure arithmetic over measured figures.

    allowed = a share of what the machine has
    caches  = allowed - weights - workspace          what the KV caches of all conversations may hold
    longest context = caches / bytes per token,  conversations = caches / (context * bytes per token)

Nothing is read from the machine (`engine.machine`) or from a model's files (`engine.models.shape`) here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final

from engine.errors import DoesNotFit
from engine.units import binary

GPU_UTILIZATION: Final = 0.92  # vLLM's default; the rest is fragmentation and the driver
RAM_UTILIZATION: Final = 0.75
RAM_RESERVE: Final = 1 / 16  # of all RAM, kept free of what other programs leave
SMALLEST_CONTEXT: Final = 512  # tokens; below that there is no conversation
KV_DTYPES: Final[Mapping[str, tuple[int, int]]] = {
    # bytes of a number, and of the scale of each row
    "float32": (4, 0),
    "bfloat16": (2, 0),
    "float16": (2, 0),
    "int8": (1, 4),
}


@dataclass(frozen=True, slots=True)
class Machine:
    """The memory of the device that a model runs on.

    Attributes:
        kind: "cpu", "cuda" or "mps".
        total: Bytes there are.
        available: Bytes that no other program holds, this program's own included; None for a machine that is only
            spoken of.
        runtime: Bytes that the program itself takes before any weights are loaded.
    """

    kind: str
    total: int
    available: int | None
    runtime: int


@dataclass(frozen=True, slots=True)
class Footprint:
    """What a model takes.

    Attributes:
        label: For people.
        weights: Bytes of the weights as they are held.
        code: Bytes of what computing with it loads and compiles, beyond what the program holds already.
        kv_rows: Rows cached for one token: a key and a value of each head of each layer.
        head_dim: Numbers in a row.
        kv_dtype: A key of KV_DTYPES: how they are held.
        context_limit: Most tokens of a conversation, by the model itself.
        activations: Bytes of the intermediate results of one prefill chunk.
        activations_per_token: What they grow by with each token of context (attention mask, or scores).
        logits: Bytes of one row of logits and the sampler's working copies.
        smaller_kv: What keys and values could be held in too, widest first.
    """

    label: str
    weights: int
    code: int
    kv_rows: int
    head_dim: int
    kv_dtype: str
    context_limit: int
    activations: int
    activations_per_token: int
    logits: int
    smaller_kv: tuple[str, ...] = ("float16", "int8")

    @property
    def kv_bytes_per_token(self) -> int:
        """Bytes that one token of a conversation costs."""
        number, scale = KV_DTYPES[self.kv_dtype]
        return self.kv_rows * (self.head_dim * number + scale)


@dataclass(frozen=True, slots=True)
class Limits:
    """What the person has set; None leaves it to Loquat.

    Attributes:
        utilization: Share of the machine's memory that may be taken, between 0 and 1.
        caches: Most bytes for KV caches.
    """

    utilization: float | None = None
    caches: int | None = None


NO_LIMITS: Final = Limits()


@dataclass(frozen=True, slots=True)
class Workspace:
    """Bytes that are neither weights nor caches: the program itself, one prefill chunk, one row of logits."""

    runtime: int
    activations: int
    logits: int

    @property
    def total(self) -> int:
        """All of it."""
        return self.runtime + self.activations + self.logits


@dataclass(frozen=True, slots=True)
class MemoryPlan:
    """The budget for some conversations of some length.

    Attributes:
        model: The model's label.
        total: Bytes the machine has.
        allowed: Bytes that Loquat may take of them.
        reason: Why so many, in words.
        weights: Bytes.
        workspace: With activations for `context`.
        kv_dtype: How keys and values are held.
        kv_bytes_per_token: Bytes.
        context: Tokens of each conversation.
        conversations: How many are wanted.
        caches: Bytes left for KV caches; 0 if weights and workspace alone are too much.
        longest_context: Tokens of the longest single conversation that fits, at most what the model can hold.
    """

    model: str
    total: int
    allowed: int
    reason: str
    weights: int
    workspace: Workspace
    kv_dtype: str
    kv_bytes_per_token: int
    context: int
    conversations: int
    caches: int
    longest_context: int

    @property
    def conversations_that_fit(self) -> int:
        """Conversations of `context` tokens that memory holds; more of them go to disk."""
        return self.caches // max(1, self.context * self.kv_bytes_per_token)

    @property
    def left(self) -> int:
        """Bytes left over when the wanted conversations are full; negative if they do not fit."""
        needed = self.weights + self.workspace.total + self.conversations * self.context * self.kv_bytes_per_token
        return self.allowed - needed

    @property
    def fits(self) -> bool:
        """Whether the wanted conversations fit."""
        return self.left >= 0


def allowance(machine: Machine, utilization: float | None) -> tuple[int, str]:
    """Bytes that may be taken, and why.

    A GPU is mostly free for us. RAM is shared: by default three quarters of it, and never all that other programs
    leave.

    Args:
        machine: Whose memory.
        utilization: Share of the whole, between 0 and 1; None takes the default.
    """
    if utilization is not None:
        return int(machine.total * utilization), f"{utilization:.0%} of {binary(machine.total)}, as set"
    gpu = machine.kind == "cuda"
    share = GPU_UTILIZATION if gpu else RAM_UTILIZATION
    reserve = 0 if gpu else int(machine.total * RAM_RESERVE)
    allowed = int(machine.total * share)
    if machine.available is not None and machine.available - reserve < allowed:
        left = machine.available - reserve
        if not reserve:
            return left, "all that other programs leave free"
        return max(0, left), f"all that other programs leave free but {binary(reserve)}"
    rest = "the driver" if gpu else "the system and other programs"
    return allowed, f"{share:.0%} of {binary(machine.total)}; the rest is for {rest}"


def plan(
    footprint: Footprint,
    machine: Machine,
    *,
    context: int | None = None,
    conversations: int = 1,
    limits: Limits = NO_LIMITS,
) -> MemoryPlan:
    """The budget for some conversations.

    Args:
        footprint: Of the model.
        machine: Where it runs.
        context: Tokens of each conversation; None takes the most that fit, or the fewest there can be where none fit.
        conversations: How many.
        limits: What the person has set.
    """
    allowed, reason = allowance(machine, limits.utilization)
    fixed = footprint.weights + _workspace(footprint, machine, 0).total
    if limits.caches and fixed + limits.caches < allowed:
        allowed, reason = fixed + limits.caches, f"caches are limited to {binary(limits.caches)}, as set"
    free, each = max(0, allowed - fixed), footprint.kv_bytes_per_token
    if context is None:
        context = max(_most_tokens(footprint, free, conversations), min(SMALLEST_CONTEXT, footprint.context_limit))
    return MemoryPlan(
        model=footprint.label,
        total=machine.total,
        allowed=allowed,
        reason=reason,
        weights=footprint.weights,
        workspace=_workspace(footprint, machine, context),
        kv_dtype=footprint.kv_dtype,
        kv_bytes_per_token=each,
        context=context,
        conversations=conversations,
        caches=max(0, free - footprint.activations_per_token * context),
        longest_context=_most_tokens(footprint, free, 1),
    )


def largest_that_fits(
    footprint: Footprint, machine: Machine, wanted: MemoryPlan, limits: Limits = NO_LIMITS
) -> MemoryPlan | None:
    """The largest setting that fits: a shorter context first, then fewer conversations, then a smaller KV dtype.

    Args:
        footprint: As the plan was made for.
        machine: The same.
        wanted: What was asked for.
        limits: The same.

    Returns:
        `wanted` itself if it fits; None if no conversation fits in any way.
    """
    if wanted.fits:
        return wanted
    tried = (
        plan(candidate, machine, context=context, conversations=count, limits=limits)
        for candidate in _candidates(footprint)
        for context, count in _settings(candidate, machine, wanted, limits)
    )
    return next((setting for setting in tried if setting.fits), None)


def _settings(footprint: Footprint, machine: Machine, wanted: MemoryPlan, limits: Limits) -> Iterator[tuple[int, int]]:
    """Context and conversations to try in place of what is wanted, largest first."""

    def longest(conversations: int) -> int:
        return min(wanted.context, plan(footprint, machine, conversations=conversations, limits=limits).context)

    yield longest(wanted.conversations), wanted.conversations
    fewer = plan(footprint, machine, context=wanted.context, limits=limits).conversations_that_fit
    yield wanted.context, max(1, fewer)
    yield longest(1), 1


def check(footprint: Footprint, machine: Machine, wanted: MemoryPlan, limits: Limits = NO_LIMITS) -> None:
    """Refuse a plan that does not fit.

    Raises:
        DoesNotFit: Its sentence names the largest setting that does.
    """
    if not wanted.fits:
        raise DoesNotFit(refusal(wanted, largest_that_fits(footprint, machine, wanted, limits)), repr(wanted))


def refusal(wanted: MemoryPlan, largest: MemoryPlan | None) -> str:
    """Why a plan is refused, and what would fit, in one sentence."""
    allowed = f"the {binary(wanted.allowed)} that Loquat may use ({wanted.reason})"
    if largest is None:
        needed = binary(wanted.weights + wanted.workspace.total)
        return f"{wanted.model} takes {needed} before the first word, too much for {allowed}; choose a smaller model."
    return (
        f"There is no room for {_setting(wanted)} with {wanted.model} in {allowed}; "
        f"the largest that fits is {_setting(largest)}."
    )


def _setting(of: MemoryPlan) -> str:
    if of.conversations == 1:
        return f"a context of {of.context:,} tokens ({of.kv_dtype})"
    return f"{of.conversations:,} chats of {of.context:,} tokens ({of.kv_dtype})"


def _most_tokens(footprint: Footprint, free: int, conversations: int) -> int:
    """Tokens of each of some conversations that `free` bytes have room for."""
    per_token = footprint.kv_bytes_per_token * conversations + footprint.activations_per_token
    return min(footprint.context_limit, free // max(1, per_token))


def _candidates(footprint: Footprint) -> Iterator[Footprint]:
    """The same model with keys and values as they are, then in every smaller dtype, largest first."""
    yield footprint
    smaller = [replace(footprint, kv_dtype=name) for name in footprint.smaller_kv]
    yield from (other for other in smaller if other.kv_bytes_per_token < footprint.kv_bytes_per_token)


def _workspace(footprint: Footprint, machine: Machine, context: int) -> Workspace:
    growing = footprint.activations_per_token * context
    return Workspace(machine.runtime + footprint.code, footprint.activations + growing, footprint.logits)
