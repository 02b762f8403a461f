"""What `loquat explain` prints: tables in plain text, as wide as a terminal of 80 columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from engine.events import ModelInfo
from engine.explain.comparison import Comparison, Step
from engine.explain.figures import figures, shares
from engine.explain.plan import triangle, turns_left
from engine.explain.profile import MachineProfile
from engine.explain.trace import BreakReason, PrefixBreak, TurnTrace
from engine.explain.verdict import verdict
from engine.units import binary

_BAR = 40  # characters
_ROWS = 8  # of the comparison
_NOT_KNOWN = "not known"
_NAMES = {"first_token": "first token"}
_REASONS = {
    BreakReason.NOT_KNOWN: "why is not known",
    BreakReason.EDITED: "a message was edited",
    BreakReason.OTHER_BRANCH: "another version of a message was chosen",
    BreakReason.TEMPLATE: "the template made other tokens of the same messages",
    BreakReason.LEFT_OUT: "old turns were left out, the context is full",
    BreakReason.EVICTED: "the cache was not held any more",
    BreakReason.MODEL_CHANGED: "the cache belongs to another model or format",
    BreakReason.KERNELS: "faster kernels took over, whose cache has another format",
    BreakReason.MARKS: "a model of this kind can go back to a few places only",
}


def report(
    info: ModelInfo, traces: Sequence[TurnTrace], profile: MachineProfile | None, comparison: Comparison | None
) -> str:
    """Everything, ready to print."""
    about = f"{info.label}: {info.dtype}, {info.runner}; loaded in {info.load_s:,.1f} s"
    parts = [f"{about}\n{info.device}, {info.device_reason}"]
    parts += ["\n".join(_turn(number, trace, profile)) for number, trace in enumerate(traces, start=1)]
    parts += ["\n".join(_memory(traces)), "\n".join(_machine(profile))]
    if comparison:
        parts.append("\n".join(_compared(comparison)))
    return "\n\n".join(parts)


def _turn(number: int, trace: TurnTrace, profile: MachineProfile | None) -> Iterator[str]:
    prompt = f"{trace.prompt_tokens:,} tokens ({trace.cached_tokens:,} reused, {trace.computed_tokens:,} computed)"
    yield f"Turn {number}: {prompt}, {trace.generated_tokens:,} generated"
    yield from _bar(trace)
    yield from _speeds(trace)
    yield from (
        f"  token {stall.index}: {stall.gap_ms:,.0f} ms late, {stall.detail or 'cause not known'}"
        for stall in trace.stalls
    )
    if sentence := _prefix(trace.prefix):
        yield f"  {sentence}"
    found = verdict(trace, profile)
    yield f"  {found.sentence}" + (f" {found.help}" if found.help else "")


def _bar(trace: TurnTrace) -> Iterator[str]:
    bar = {share.name: share for share in shares(trace.phases)}
    for name, seconds in trace.phases.named():
        if name == "drawing":
            continue
        part = bar.get(name)
        filled = "#" * round(_BAR * part.share) if part else ""
        percent = f"{part.share:7.1%}" if part else " " * 7
        yield f"  {_NAMES.get(name, name):<12}{_seconds(seconds):>12}{percent}  {filled}".rstrip()
    yield f"  {'in all':<12}{_seconds(trace.wall_s):>12}"


def _speeds(trace: TurnTrace) -> Iterator[str]:
    found = figures(trace)
    yield f"  first token after {_ms(found.ttft_ms)}; prefill at {_rate(found.prefill_rate)}"
    percentiles = f"p95 {_ms(found.tpot_p95_ms)}, longest {_ms(found.tpot_max_ms)}"
    yield f"  then {_ms(found.tpot_p50_ms)} a token ({percentiles}); decode at {_rate(found.engine_rate)}"
    if trace.accepted:
        drafted = f"{trace.accepted:,} of {trace.drafted:,} drafted tokens were right and cost no step of their own"
        yield f"  {drafted}; a step took {_ms(found.step_ms)}"


def _prefix(found: PrefixBreak) -> str:
    if found.reason not in _REASONS:
        return ""
    where = _NOT_KNOWN if found.position is None else f"token {found.position:,}"
    message = "" if found.message is None else f", in message {found.message + 1}"
    return f"the prompt parts from the cache at {where}{message}: {_REASONS[found.reason]}; {found.lost:,} tokens lost"


def _memory(traces: Sequence[TurnTrace]) -> Iterator[str]:
    last = traces[-1]
    memory, model = last.memory, last.model
    bar = triangle(memory)
    yield f"Memory: {binary(bar.allowed)} may be taken" + (f", {memory.reason}" if memory.reason else "")
    for name, nbytes in (
        ("weights", bar.weights),
        ("workspace", bar.workspace),
        ("this chat", bar.kv_this),
        ("other chats", bar.kv_others),
        ("free", bar.free),
    ):
        yield f"  {name:<12}{binary(nbytes):>12}"
    shape = f" = {model.layers} layers x 2 x [1, {model.kv_heads}, 1, {model.head_dim}] in {model.kv_dtype}"
    yield f"  a token takes {model.kv_bytes_per_token:,} bytes" + (shape if model.layers else "")
    left = turns_left([trace.prompt_tokens + trace.generated_tokens for trace in traces], model.context_limit)
    if left:
        yield (
            f"  about {left.turns:,} turns of {left.tokens_per_turn:,} tokens are left in this context: "
            f"{left.room:,} tokens"
        )
        yield f"  {left.kept:,} tokens more are kept for a question and its answer"


def _machine(profile: MachineProfile | None) -> Iterator[str]:
    if profile is None:
        yield f"Machine: {_NOT_KNOWN}"
        return
    threads = f", {profile.threads} threads" if profile.device == "cpu" else ""
    yield f"Machine: {profile.processor}{threads}"
    for each in profile.bandwidths:
        yield f"  reads {binary(each.nbytes):>9} again and again at {each.per_s / 1e9:,.1f} GB/s"
    if profile.matrix_rate:
        yield f"  computes {profile.matrix_rate / 1e9:,.0f} GFLOP/s in {profile.format} while it reads a prompt"
    if profile.step_s is not None and profile.overhead_s is not None:
        step, overhead = 1000 * profile.step_s, 1000 * profile.overhead_s
        yield f"  a decode step takes {step:,.1f} ms, {overhead:,.1f} ms of it beyond reading the weights"


def _compared(found: Comparison) -> Iterator[str]:
    yield from _step("prefill", found.prefill)
    yield from _step("one token", found.step)
    yield "With and without the cache, milliseconds a token"
    yield f"  {'position':>8}{'with':>10}{'without':>10}"
    every = max(1, len(found.cached_ms) // _ROWS)
    for index in range(0, len(found.cached_ms), every):
        without = f"{found.fresh_ms[index]:10.1f}" if index < len(found.fresh_ms) else f"{'':>10}"
        yield f"  {found.prompt_tokens + index:>8,}{found.cached_ms[index]:10.1f}{without}"
    yield "  the same tokens both ways" if found.equal else "  the tokens differ; please report this"


def _step(name: str, step: Step) -> Iterator[str]:
    shape = f"{step.layers} layers x 2 x {list(step.shape)}, " if step.layers else ""
    tokens = "token" if step.read == 1 else "tokens"
    yield f"{name}: {step.read:,} {tokens} in {1000 * step.seconds:,.1f} ms; cache {shape}{binary(step.nbytes)}"
    best = step.candidates[0]
    yield f"  next: {best.text!r}, token {best.id}, with a probability of {best.probability:.1%}"


def _seconds(seconds: float | None) -> str:
    return _ms(None if seconds is None else 1000 * seconds)


def _ms(milliseconds: float | None) -> str:
    return _NOT_KNOWN if milliseconds is None else f"{milliseconds:,.1f} ms"


def _rate(rate: float | None) -> str:
    return _NOT_KNOWN if rate is None else f"{rate:,.0f} tokens/s"
